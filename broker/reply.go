package broker

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/readverb"
)

// Reply is what a broker answered: the end of the command as it would have ended over the instance, or a refusal.
type Reply struct {
	// Code is "" for an answer, also for one that there is nobody or several; else [Forbidden] or [Refused].
	Code string
	// Status is the exit status: of the read, or 1 of a refusal.
	Status int
	// Stdout is what the read prints with --json, at most MaxAnswerBytes. It is the payload of an unknown page too; nothing for a person who
	// is unknown or contested.
	Stdout []byte
	// Notes are lines for a person, as in [readverb.Answer].
	Notes []string
	// Message says why there is no payload, and Caret where a query went wrong, as in [readverb.ArgumentError].
	Message, Caret string
}

// refusal makes a reply that says no.
func refusal(code, message string) Reply {
	return Reply{Code: code, Status: readverb.StatusFailed, Message: message}
}

// RefusalJSON is what a command prints with --json instead of a payload.
func RefusalJSON(code, message string) []byte {
	return append(canonjson.AppendCompact(nil, document.MapOf(
		document.M("ok", document.BoolOf(false)), document.M("code", document.TextOf(code)), document.M("error", document.TextOf(message)),
	)), '\n')
}

// file writes a reply: a line of JSON, and behind it what the read printed, as it is.
func (r Reply) file() []byte {
	notes := r.Notes
	if len(notes) > maxNotes {
		notes = notes[:maxNotes]
	}
	clipped := make([]string, 0, len(notes))
	for _, n := range notes {
		clipped = append(clipped, clip(n))
	}
	head := canonjson.AppendCompact(nil, document.MapOf(
		document.M("code", document.TextOf(r.Code)),
		document.M("status", document.IntOf(int64(r.Status))),
		document.M("notes", document.TextsOf(clipped)),
		document.M("message", document.TextOf(clip(r.Message))),
		document.M("caret", document.TextOf(clip(r.Caret))),
	))
	return append(append(head, '\n'), r.Stdout...)
}

// clip makes a text one that the other side reads.
func clip(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), maxMessage)], "")
}

var errReply = errors.New("the reply of the broker is malformed")

// readReply reads a reply. Who may write into the queue may have written it.
func readReply(data []byte) (Reply, error) {
	head, stdout, found := bytes.Cut(data, []byte("\n"))
	if !found || len(head) > maxHead || len(stdout) > MaxAnswerBytes {
		return Reply{}, errReply
	}
	v, err := strictjson.Parse(head, requestDepth)
	if err != nil || v.Kind != document.Map || len(v.Members) != 5 {
		return Reply{}, errReply
	}
	var r Reply
	for name, to := range map[string]*string{"code": &r.Code, "message": &r.Message, "caret": &r.Caret} {
		m, _ := v.Get(name)
		if m.Kind != document.Text || len(m.Text) > maxMessage {
			return Reply{}, errReply
		}
		*to = m.Text
	}
	status, _ := v.Get("status")
	r.Status, err = strconv.Atoi(status.Text)
	refused := r.Code == Forbidden || r.Code == Refused
	switch {
	case status.Kind != document.Number || err != nil:
		return Reply{}, errReply
	case refused && (r.Status != readverb.StatusFailed || len(stdout) > 0):
		return Reply{}, errReply
	case !refused && r.Code != "":
		return Reply{}, errReply
	case r.Status != readverb.StatusAnswered && r.Status != readverb.StatusFailed && r.Status != readverb.StatusContested:
		return Reply{}, errReply
	}
	notes, _ := v.Get("notes")
	if notes.Kind != document.List || len(notes.Items) > maxNotes {
		return Reply{}, errReply
	}
	for _, n := range notes.Items {
		if n.Kind != document.Text || len(n.Text) > maxMessage {
			return Reply{}, errReply
		}
		r.Notes = append(r.Notes, n.Text)
	}
	if len(stdout) > 0 {
		r.Stdout = stdout
	}
	return r, nil
}
