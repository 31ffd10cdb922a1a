package wire

import (
	"errors"
	"io"
	"strings"

	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/model/sse"
)

// Answer is one answer of a protocol while its events come in.
type Answer interface {
	// Take adds one event. A failure ends the answer.
	Take(sse.Event) *model.Failure
	// Reply gives the answer once its draft is done.
	Reply() (model.Reply, *model.Failure)
	// Draft gives what has come in so far; always the same.
	Draft() *Draft
}

// Read takes a whole answer from a stream. It reads no further than the terminal event. With a
// failure the reply is zero.
func Read(stream io.Reader, a Answer) (model.Reply, *model.Failure) {
	events := sse.NewReader(stream)
	d := a.Draft()
	for !d.Done {
		event, err := events.Next()
		var failure *model.Failure
		switch {
		case err == nil:
			failure = a.Take(event)
		case errors.Is(err, sse.ErrTooLarge):
			failure = model.Fail(model.TooLarge, err, "%v", err)
		case errors.Is(err, io.EOF):
			failure = model.Fail(model.Incomplete, nil, "the answer ended before its terminal event")
		case d.Started:
			failure = model.Fail(model.Incomplete, err, "the answer broke off before its terminal event")
		default:
			failure = model.Fail(model.Unavailable, err, "the answer broke off before its first event")
		}
		if failure != nil {
			return model.Reply{}, d.complete(failure)
		}
	}
	reply, failure := a.Reply()
	if failure != nil {
		return model.Reply{}, d.complete(failure)
	}
	return reply, nil
}

// Event reads the object that an event's data is. Where the object, or the event's name, says that it
// is an error, the failure says which; known codes give its class, and without one the answer is
// Incomplete, since it was broken off.
func Event(e sse.Event) (document.Value, *model.Failure) {
	object, err := strictjson.Parse([]byte(e.Data), strictjson.MaxDepth)
	if err != nil {
		return object, model.Fail(model.Malformed, err, "an event of the answer: %v", err)
	}
	if object.Kind != document.Map {
		return object, WrongKind("an event of the answer", object, document.Map)
	}
	if said := errorIn(object, e.Name == "error"); said.isError {
		return object, said.brokeOff()
	}
	return object, nil
}

// BrokeOff is the failure that an error object in a stream means.
func BrokeOff(object document.Value) *model.Failure { return errorIn(object, true).brokeOff() }

// IsDone reports whether an event is the mark [DONE], which chat-completions ends a stream with, and
// others leave behind the end.
func IsDone(e sse.Event) bool { return strings.TrimSpace(e.Data) == "[DONE]" }
