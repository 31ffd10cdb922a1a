package journal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
)

// every is an event of each type, each field with something in it that a careless encoding would lose.
var every = []event.Event{
	event.ReferenceFound{Kind: "JiraIssue", Value: "ABC-12"},
	event.TurnCompleted{Turn: 1, Phase: event.Action, Model: "m", Stop: "EndTurn"},
	event.ToolCalled{Turn: 1, CallID: "c", Name: "n", Arguments: "{\"a\": 1.50, \"a\": \"\u2028<\"}"},
	event.TokensUsed{Turn: 1, Model: "m", InputTokens: new(uint64(1<<63 + 1)), OutputTokens: new(uint64(0)), Final: true},
	event.Routed{Protocol: "p@1", Accepted: true},
	event.Picked{Protocol: "p@1", By: event.ByMatcher, Confidence: "0.90", Reasons: []string{"a", ""}},
	event.PickRefused{Why: "no"},
	event.FrontierComputed{ID: "i", Revision: 1<<64 - 1, At: "2026-03-01T09:20:30Z", Actions: []event.ActionStatus{{Action: "a", Status: "blocked"}}},
	event.Proposed{Step: 1, Action: "a", Arguments: "{}"},
	event.NotProposed{Step: 1, Action: "a"},
	event.EffectReported{Step: 1, Report: "two\nlines\x00"},
	event.StepRefused{Step: 1, Reason: "r"},
	event.EvidenceSubmitted{Step: 1, Kind: "k", Result: "r", Record: "e"},
	event.NoEvidence{Step: 1, Why: "w"},
	event.CaseOpened{Case: "case-1", Protocol: "p@1", SHA256: "00", Binding: "b", BindingSHA256: "11", Revision: 1, Artifacts: map[string]string{"b": "1", "a": "2"}, Performs: []string{"x"}},
	event.CaseOpened{Artifacts: map[string]string{}, Inputs: map[string]string{}, Performs: []string{}}, // empty and nil are told apart
	event.Decided{Case: "case-1", Revision: 3, Artifacts: map[string]string{"a": "1"}, Evidence: 2, At: "2026-03-01T09:20:30Z", SHA256: "ab"},
	event.CeilingSet{Ceiling: "[]", From: []string{"--ceiling work"}, Terms: "{}"},
	event.ContextObserved{Sequence: 1, Step: 2, Action: "loom_search", OutputID: "output-2", Channels: []string{"output"}, Label: "{}", Truncated: true, Context: "{}"},
	event.Observed{Case: "case-1", Step: 1, Source: "effect", Subject: "a/1", Payload: `{"n": 12345678901234567890.10}`},
	event.Admitted{Case: "case-1", Step: 1, Action: "a", Arguments: "{}", Revision: 1, SHA256: "ab", Capability: "c"},
	event.RevisionsMoved{Case: "case-1", Step: 1, Revision: 2, Artifacts: map[string]string{"a": "2"}},
	event.EvidenceReceived{Case: "case-1", Step: 1, Kind: "k", Producer: "v", Data: `{"x":1e5}`, Applies: true},
	event.Resumed{Steps: 1, Sitting: 2, Outcome: event.Performed},
	event.Stopped{Reason: event.ApprovalRequired, Detail: "a", Actions: []string{"a"}, Protocol: "p@1", Steps: 1, CaseOpen: true},
	event.Stopped{
		Reason: event.ApprovalRequired, Detail: "a", Actions: []string{"a"},
		Waiting: []event.Waiting{{Action: "a", Arguments: "{\"to\":\"\u202e\"}", Capability: "c", Case: "case-1", Revision: 1<<64 - 1, Reach: "who"}},
	},
	event.Granted{
		Action: "a", Arguments: "{\"to\":\"\u202e\"}", Capability: "c", Case: "case-1", Revision: 1<<64 - 1, SHA256: "ab",
		Expires: "2026-03-01T10:20:30.000Z", By: "ada",
	},
	event.Denied{Action: "a", Arguments: "{}", Capability: "c", Case: "case-1", Revision: 2, SHA256: "ab", By: "ada"},
	event.Failed{Error: "e", Protocol: "p@1", Steps: 1, CaseOpen: true, Interrupted: true},
}

func TestEveryEventComesBackAsItWas(t *testing.T) {
	for _, e := range every {
		kept := told(t, e)
		if strings.Contains(kept.Body, "\n") {
			t.Errorf("%T takes more than one line: %s", e, kept.Body)
		}
		again, err := kept.Event()
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(e, again); diff != "" {
			t.Errorf("%T (-kept +read):\n%s", e, diff)
		}
	}
}

// A stop for which nothing waits has the bytes that it had before a stop said what does.
func TestAStopWithoutApprovalsKeepsItsBytes(t *testing.T) {
	const want = `{"Reason":"Completed","Detail":"home","Actions":null,"Protocol":"p@1","Steps":1,"CaseOpen":true}`
	if got := told(t, event.Stopped{Reason: event.Completed, Detail: "home", Protocol: "p@1", Steps: 1, CaseOpen: true}).Body; got != want {
		t.Errorf("it is kept as %s, not as %s", got, want)
	}
}

// A type of event that was added and cannot be read again would make records unreadable.
func TestEveryTypeOfEventIsKnown(t *testing.T) {
	files, err := parser.ParseFile(token.NewFileSet(), "../event/event.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, e := range every {
		known[reflect.TypeOf(e).Name()] = true
	}
	found := 0
	for _, d := range files.Decls {
		method, ok := d.(*ast.FuncDecl)
		if !ok || method.Name.Name != "isEvent" {
			continue
		}
		found++
		if name := method.Recv.List[0].Type.(*ast.Ident).Name; !known[name] {
			t.Errorf("event.%s is not among the events of this test", name)
		}
	}
	if found == 0 {
		t.Error("no event was found")
	}
}

func TestWhatIsNoEventIsRefused(t *testing.T) {
	for _, c := range []struct {
		what string
		e    journal.Entry
	}{
		{"an unknown type", journal.Entry{Kind: journal.Told, Name: "Celebrated", Body: "{}"}},
		{"an unknown member", journal.Entry{Kind: journal.Told, Name: "Routed", Body: `{"Protocol":"p@1","Accepted":true,"x":1}`}},
		{"a member twice", journal.Entry{Kind: journal.Told, Name: "Routed", Body: `{"Accepted":true,"Accepted":false}`}},
		{"a member in other letters", journal.Entry{Kind: journal.Told, Name: "Routed", Body: `{"accepted":true}`}},
		{"another type", journal.Entry{Kind: journal.Told, Name: "Routed", Body: `{"Accepted":1}`}},
		{"a cut body", journal.Entry{Kind: journal.Told, Name: "Routed", Body: `{"Accepted":true`}},
		{"more than one value", journal.Entry{Kind: journal.Told, Name: "Routed", Body: `{} {}`}},
		{"a resumption that is none", journal.Entry{Kind: journal.Resumed, Body: `[]`}},
	} {
		if e, err := c.e.Event(); err == nil {
			t.Errorf("%s is read as %+v", c.what, e)
		}
	}
	for _, kind := range []journal.Kind{journal.Begun, journal.Asked, journal.Reported} {
		if e, err := (journal.Entry{Kind: kind, Body: "{}"}).Event(); e != nil || err != nil {
			t.Errorf("%s tells %v, %v", kind, e, err)
		}
	}
}

func TestABodyIsBounded(t *testing.T) {
	if _, err := journal.Encode(strings.Repeat("x", journal.MaxEntryBytes-2)); err != nil {
		t.Error(err)
	}
	if _, err := journal.Encode(strings.Repeat("x", journal.MaxEntryBytes-1)); err == nil {
		t.Error("a body of one byte more is taken")
	}
}

// Whatever an entry holds, reading it gives an event that is kept in the same bytes from then on, or an error.
func FuzzEntryEvent(f *testing.F) {
	for _, e := range every {
		body, _ := journal.Encode(e)
		f.Add(journal.EventName(e), body)
	}
	f.Fuzz(func(t *testing.T, name, body string) {
		e, err := journal.Entry{Kind: journal.Told, Name: name, Body: body}.Event()
		if err != nil {
			return
		}
		kept := told(t, e)
		again, err := kept.Event()
		if err != nil || kept.Name != name {
			t.Fatalf("%s %s is kept as %s %s: %v", name, body, kept.Name, kept.Body, err)
		}
		if diff := cmp.Diff(e, again); diff != "" {
			t.Error(diff)
		}
	})
}
