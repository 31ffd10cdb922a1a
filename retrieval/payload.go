package retrieval

import (
	"errors"

	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
)

// maxPayloadDepth bounds how deep a payload nests. A result nests a payload of one row three levels deeper, {"entries":[{"value":…}]}, and a table of
// handles as well; whatever reads one of them takes [strictjson.MaxDepth].
const maxPayloadDepth = strictjson.MaxDepth - 3

// errNotJSON means that what a program printed is no JSON text in UTF-8; errUnmeasurable that it is one, and too deep or too large to be looked at.
var (
	errNotJSON      = errors.New("no JSON")
	errUnmeasurable = errors.New("JSON too deep or too large")
)

// parsePayload reads what a program printed.
func parsePayload(stdout []byte) (Payload, error) {
	v, err := strictjson.ParseForeign(stdout, maxPayloadDepth)
	switch {
	case errors.Is(err, strictjson.ErrTooDeep), errors.Is(err, strictjson.ErrTooMany):
		return Payload{}, errUnmeasurable
	case err != nil:
		return Payload{}, errNotJSON
	}
	return Payload{Value: v, Repeated: repeats(v)}, nil
}

// repeats tells whether a member stands twice in a map of a value. It goes as deep as the reader lets a value nest.
func repeats(v document.Value) bool {
	if _, twice := v.RepeatedMember(); twice {
		return true
	}
	for i := range v.Members {
		if repeats(v.Members[i].Value) {
			return true
		}
	}
	for i := range v.Items {
		if repeats(v.Items[i]) {
			return true
		}
	}
	return false
}
