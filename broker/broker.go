// Package broker serves the read verbs of an instance to a program that cannot open it, through a queue folder (retrieval 9.1).
//
// The two sides share one folder of mode 0700 and nothing else. [Server.Serve] is the host's side: it owns the folder, reads within
// the scope it was started with, and answers exactly the eight verbs of package readverb. [Ask] is the other side. All files lie in the folder
// itself, so that nobody who may write into it can lead the server elsewhere:
//
//	broker.json   the broker that serves the folder, locked for as long as it lives
//	ID.request    a question; it is gone once the broker has it
//	ID.reply      its answer; it is gone once it was read, or the time of the question is over
//
// ID is 26 characters of A to Z and 2 to 7, chosen by who asks. A file appears under its name whole, or not at all; what is a link, no
// regular file, or may be read or written by others is refused unread.
//
// A request names the broker it is for, so a question is never answered by a broker that was started after it was asked. What the two sides
// write is data for each other and no more: a reply cannot make [Ask] read the instance, and a request cannot make the server read beyond its
// scope (12.3, S6).
package broker

import (
	"errors"
	"strings"
	"time"

	"github.com/loomrun/loom/internal/atomicfile"
	"github.com/loomrun/loom/internal/boundedfile"
)

// Limits of the queue.
const (
	// MaxRequestBytes bounds a request.
	MaxRequestBytes boundedfile.Size = 64 << 10
	// MaxAnswerBytes bounds what a read prints. One that would print more is refused.
	MaxAnswerBytes = 8 << 20
	// MaxTime is how long a read may take from when the broker has the request. Who asks may give less.
	MaxTime = 30 * time.Second
	// Workers is how many reads run at a time, and MaxWaiting how many more may wait for their turn.
	Workers    = 4
	MaxWaiting = 64

	// maxFiles bounds the files of the folder. A broker whose folder has more gives up.
	maxFiles = 4096
	// maxUnread bounds what was printed and has not been read yet, of all replies together. An answer beyond it is refused.
	maxUnread = 8 * MaxAnswerBytes
	// maxHead bounds the first line of a reply, and maxPresence broker.json.
	maxHead     = 512 << 10
	maxPresence = 4 << 10
	// maxNotes bounds the notes of a reply, and maxMessage each of its texts, in bytes.
	maxNotes   = 16
	maxMessage = 4 << 10
)

// Codes of a refusal.
const (
	// Forbidden is what the queue does not serve to anybody: another verb or flag than those of the eight, or a scope or an instance.
	Forbidden = "forbidden"
	// Refused is what was not answered this time: malformed, too large, too late, too many waiting, for another broker, or a store that
	// could not be read.
	Refused = "refused"
)

// ErrNobody means that no broker answers: the queue is gone or is none, nobody serves it, or who did is gone. There is nothing to fall back to.
var ErrNobody = errors.New("no broker answers")

// Names of files in the queue.
const (
	presenceName  = "broker.json"
	presenceDraft = "broker.new"
	requestEnd    = ".request"
	replyEnd      = ".reply"
	temporary     = ".loom-" // begins the names of files that atomicfile has not named yet; digits follow
	idLength      = 26
)

// idOf gives the id in the name of a request or a reply.
func idOf(name, end string) (id string, ok bool) {
	id, ok = strings.CutSuffix(name, end)
	return id, ok && isID(id)
}

// isDraft tells whether a name is one that atomicfile gives for a while.
func isDraft(name string) bool {
	digits, ok := strings.CutPrefix(name, temporary)
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// isID tells whether a text has the form of an id, which is that of crypto/rand.Text.
func isID(s string) bool {
	if len(s) != idLength {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'A' || c > 'Z') && (c < '2' || c > '7') {
			return false
		}
	}
	return true
}

// queued writes requests and replies: a broker that starts after a crash takes what is left of them away.
var queued = atomicfile.Writer{Passing: true}
