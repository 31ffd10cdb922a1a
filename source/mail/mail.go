// Package mail reads mail into the store from files: a mailbox file (mbox; RFC 4155), a Maildir with its folders, a folder of messages
// of one file each.
//
// # Records
//
// Ref is the Message-ID with a hash of the content behind it, see [Reader]. Title is the subject. Body is what a person reads: the plain form
// of a message or its page as text without what the page hides, then the text of attachments that are text, the headers and text of messages within,
// and the name of each attachment on a line of its own. Time is the Date field, else the time of the From_ line, else of the newest
// Received field. From is From, or Sender without it; To is To and Cc, never Bcc. Folder is the name of the mailbox, of the folder, or the labels of
// Google Takeout without those for read and unread. Thread is the same for the messages of one conversation.
//
// Details is an object with those of these members that say something:
//
//	messageId    string, without brackets
//	inReplyTo    string, the first
//	references   strings; of more than 50 the first and the last
//	cc           strings, addresses
//	listId       string
//	attachments  objects of name, type and size in bytes
//	cut          true where the message or its text was too long to be kept whole
//
// The flags of a Maildir (seen, answered, flagged) and of a mailbox's Status fields are left out: they change each time a person reads, and a record
// that changes is indexed again.
package mail

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/loomrun/loom/internal/boundedfile"
	"github.com/loomrun/loom/source"
)

// Formats of mail.
const (
	Mbox    = "mbox"    // a mailbox file, or a folder with files named .mbox or .mbx
	Maildir = "maildir" // a Maildir with its folders
	EML     = "eml"     // a file that is one message, or a folder of such files
)

// Formats are all there are.
var Formats = []string{Mbox, Maildir, EML}

// Reader gives the reader of a format for an absolute path. The format is one of [Formats].
//
// A mailbox is one container whose positions are byte offsets of its From_ lines. Where it has only grown since the last reading, only
// what was added is read. In the other formats each file is a container of its own with one message at position 0; a file of the format eml that is
// not called .eml and begins as a mailbox does is read as one.
//
// A message that stands in several places has the same Ref in each. The Ref holds a hash of sender, date, subject and text, so that
// a message which copies a Message-ID is another record.
func Reader(format, location string) (source.Reader, error) {
	switch format {
	case Mbox:
		return &mboxReader{location}, nil
	case Maildir:
		return &maildirReader{location}, nil
	case EML:
		return &emlReader{location}, nil
	}
	return nil, fmt.Errorf("there is no format of mail %q: the formats are %s", format, strings.Join(Formats, ", "))
}

// Limits of looking for the format.
const (
	maxLooked   = 1000 // entries of a folder
	maxLookedIn = 3    // folders within each other
	sniffBytes  = 64 << 10
)

// Detect says which format of mail a path holds. It reads names and the beginnings of a few files.
func Detect(location string) (format string, ok bool) {
	info, err := os.Stat(location)
	if err != nil {
		return "", false
	}
	if !info.IsDir() {
		format = sniff(location)
		return format, format != ""
	}
	found := map[string]int{}
	survey(location, 0, found)
	for _, format := range []string{Maildir, Mbox, EML} {
		if found[format] > 0 {
			return format, true
		}
	}
	return "", false
}

// survey counts in a folder what is of a format.
func survey(folder string, depth int, found map[string]int) {
	entries := readFolder(folder)
	names := map[string]bool{}
	for _, e := range entries {
		if e.IsDir() {
			names[e.Name()] = true
		}
	}
	if names["cur"] && names["new"] {
		found[Maildir]++
		return
	}
	const enough = 20 // files whose content is looked at
	tried := 0
	for _, e := range entries {
		name := e.Name()
		switch {
		case e.IsDir():
			if depth < maxLookedIn && found[Maildir] == 0 {
				survey(filepath.Join(folder, name), depth+1, found)
			}
		case !e.Type().IsRegular():
		case isMailbox(name):
			found[Mbox]++
		case isEML(name):
			found[EML]++
		case isMessage(name) && tried < enough:
			tried++
			if sniff(filepath.Join(folder, name)) != "" {
				found[EML]++
			}
		}
	}
}

func readFolder(folder string) []os.DirEntry {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	return entries[:min(len(entries), maxLooked)]
}

// sniff says what a file holds by how it begins.
func sniff(file string) string {
	start, err := boundedfile.Head(file, sniffBytes)
	if err != nil {
		return ""
	}
	line, rest := cutFromLine(start)
	known := line != nil
	if _, ok := fromLine(line); known && !ok {
		return ""
	}
	h, _ := readHeader(rest)
	known = known || h.from != nil || h.received != nil || h.date != nil && h.subject != nil
	switch {
	case h.fields == 0 || !known:
		return ""
	case line != nil && !isEML(file):
		return Mbox
	}
	return EML
}
