package journal_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/journal"
)

// Cases 96 and 99, and what else the tables of cases do not take.
func TestCheckCase(t *testing.T) {
	nested := func(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }
	const id, store = governor.InvalidCaseIDError, governor.StoreUnavailableError
	for name, tc := range map[string]struct {
		event event.Event
		want  governor.CaseErrorCode // empty: it passes
	}{
		"an id of 122 bytes":           {event.CaseOpened{Case: strings.Repeat("x", 122)}, ""},
		"an id of 123 bytes":           {event.CaseOpened{Case: strings.Repeat("x", 123)}, id},
		"122 bytes of 61 characters":   {event.CaseOpened{Case: strings.Repeat("\u00e9", 61)}, ""},
		"124 bytes of 62 characters":   {event.CaseOpened{Case: strings.Repeat("\u00e9", 62)}, id},
		"no id":                        {event.CaseOpened{}, id},
		"an id with a space":           {event.CaseOpened{Case: "a b"}, id},
		"an id that is not UTF-8":      {event.CaseOpened{Case: "a\xff"}, id},
		"a protocol with a NUL":        {event.CaseOpened{Case: "c", Protocol: "\x00"}, store},
		"the highest revision":         {event.CaseOpened{Case: "c", Revision: 1<<63 - 1}, ""},
		"a revision too high":          {event.CaseOpened{Case: "c", Revision: 1 << 63}, store},
		"moved too high":               {event.RevisionsMoved{Case: "c", Revision: 1 << 63}, store},
		"facts at the limit":           {event.EvidenceReceived{Data: nested(64)}, ""},
		"facts beyond it":              {event.EvidenceReceived{Data: nested(65)}, store},
		"facts with a member twice":    {event.EvidenceReceived{Data: `{"a":1,"a":1}`}, store},
		"no facts":                     {event.EvidenceReceived{}, store},
		"a kind that is not UTF-8":     {event.EvidenceReceived{Kind: "\xff", Data: "1"}, store},
		"a producer with a NUL":        {event.EvidenceReceived{Producer: "\x00", Data: "1"}, store},
		"a payload at the limit":       {event.Observed{Source: "effect", Payload: nested(128)}, ""},
		"a payload beyond it":          {event.Observed{Source: "executor", Payload: nested(129)}, store},
		"a payload that is cut":        {event.Observed{Source: "executor", Payload: "{"}, store},
		"a source that is none":        {event.Observed{Source: "model", Payload: "1"}, store},
		"a subject with a NUL":         {event.Observed{Source: "effect", Subject: "\x00", Payload: "1"}, store},
		"an event of something else":   {event.Failed{Error: "\x00\xff"}, ""},
		"another event of the case":    {event.Decided{Case: "a b"}, ""},
		"moved, whatever the revision": {event.RevisionsMoved{}, ""},
	} {
		err := journal.CheckCase(tc.event)
		refused, ok := errors.AsType[*governor.CaseError](err)
		if ok != (tc.want != "") || ok && refused.Code != tc.want || !ok && err != nil {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}
