package journaltest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/journal/sqlstore"
)

func casesFollow(t *testing.T, open Opener) {
	s, b, l := begun(t, open, sqlstore.Options{}, "run-1")
	aside := received("case-1", `[]`)
	aside.Applies = false
	byExecutor := observed("case-1", `"proposed"`)
	byExecutor.Source = "executor"
	other := opened("case-2")
	other.Inputs = map[string]string{"mode": "fast"}
	for _, batch := range []journal.Batch{
		b.told(opened("case-1"), byExecutor, event.Stopped{}),
		b.told(observed("case-1", `{}`), event.RevisionsMoved{Case: "case-1", Revision: 3, Artifacts: map[string]string{"query": "q-3"}}, received("case-1", `{"a": 1}`)),
		b.told(other, received("case-2", `2`), aside, received("case-1", `1`), observed("case-1", `null`)),
	} {
		if err := s.Append(t.Context(), l, batch); err != nil {
			t.Fatal(err)
		}
	}
	want := []*journal.Case{
		{
			Run: "run-1", ID: "case-1", Protocol: "system-query@1", SHA256: "00", Revision: 3,
			Artifacts: map[string]string{"query": "q-3"}, Inputs: map[string]string{},
			Received: []governor.Received{
				{Kind: "observation", Producer: "clock", Data: []byte(`{"a": 1}`), Applies: true},
				{Kind: "observation", Producer: "clock", Data: []byte(`[]`)},
				{Kind: "observation", Producer: "clock", Data: []byte(`1`), Applies: true},
			},
			Observations: []governor.Observation{
				{Source: governor.ExecutorSource, Subject: "clock.read", Payload: []byte(`"proposed"`)},
				{Source: governor.EffectSource, Subject: "clock.read", Payload: []byte(`{}`)},
				{Source: governor.EffectSource, Subject: "clock.read", Payload: []byte(`null`)},
			},
		},
		{
			Run: "run-1", ID: "case-2", Protocol: "system-query@1", SHA256: "00", Revision: 1,
			Artifacts: map[string]string{"query": "q-1"}, Inputs: map[string]string{"mode": "fast"},
			Received: []governor.Received{{Kind: "observation", Producer: "clock", Data: []byte(`2`), Applies: true}},
		},
	}
	for _, c := range want {
		got, err := s.Case(t.Context(), "run-1", c.ID)
		if diff := cmp.Diff(c, got); diff != "" || err != nil {
			t.Error(diff, err)
		}
	}
	_, err := s.Case(t.Context(), "run-1", "case-3")
	expectCode(t, "a case that was not opened", err, governor.UnknownCaseError)
	intact(t, s, b)
}

func expectCode(t *testing.T, name string, err error, code governor.CaseErrorCode) {
	t.Helper()
	if refused, ok := errors.AsType[*governor.CaseError](err); !ok || refused.Code != code {
		t.Errorf("%s: %v, want %s", name, err, code)
	}
}

// Case 96, and ids that are none.
func caseID(t *testing.T, open Opener) {
	s, b, l := begun(t, open, sqlstore.Options{}, "run-1")
	for _, id := range []string{strings.Repeat("x", 123), strings.Repeat("\u00e9", 61) + "x", "", "a b", "a\x00b", "\u200b"} {
		undo := *b
		expectCode(t, fmt.Sprintf("%q", id), s.Append(t.Context(), l, b.told(opened(id))), governor.InvalidCaseIDError)
		*b = undo
	}
	for _, id := range []string{strings.Repeat("x", 122), strings.Repeat("\u00e9", 61)} {
		if err := s.Append(t.Context(), l, b.told(opened(id))); err != nil {
			t.Fatal(err)
		}
		if c, err := s.Case(t.Context(), "run-1", id); err != nil || c.ID != id {
			t.Errorf("%+v, %v", c, err)
		}
	}
	intact(t, s, b)
}

// Case 98: what is cut, added or damaged is an error, not less; and a failed read changes nothing.
func rowsDamaged(t *testing.T, open Opener) {
	s, b, l := begun(t, open, sqlstore.Options{}, "run-1")
	if err := s.Append(t.Context(), l, b.told(opened("case-1"), observed("case-1", `[1]`), observed("case-1", `[2]`), received("case-1", `[1]`), received("case-1", `[2]`))); err != nil {
		t.Fatal(err)
	}
	db := open.raw(t)
	if _, err := s.Case(t.Context(), "run-1", "case-1"); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ damage, repair string }{
		{"DELETE FROM journal_case_observations WHERE position = 2", "INSERT INTO journal_case_observations VALUES ('run-1', 'case-1', 2, 'effect', 'clock.read', '[2]')"},
		{"DELETE FROM journal_case_observations WHERE position = 1", "INSERT INTO journal_case_observations VALUES ('run-1', 'case-1', 1, 'effect', 'clock.read', '[1]')"},
		{"INSERT INTO journal_case_observations VALUES ('run-1', 'case-1', 3, 'effect', 'clock.read', '[3]')", "DELETE FROM journal_case_observations WHERE position = 3"},
		{"UPDATE journal_case_observations SET payload = '[2' WHERE position = 2", "UPDATE journal_case_observations SET payload = '[2]' WHERE position = 2"},
		{"UPDATE journal_case_observations SET source = 'model' WHERE position = 2", "UPDATE journal_case_observations SET source = 'effect' WHERE position = 2"},
		{"UPDATE journal_case_records SET position = 3 WHERE position = 2", "UPDATE journal_case_records SET position = 2 WHERE position = 3"},
		{"UPDATE journal_case_records SET data = '' WHERE position = 1", "UPDATE journal_case_records SET data = '[1]' WHERE position = 1"},
		{`UPDATE journal_case_records SET data = '{"a":1,"a":2}' WHERE position = 1`, "UPDATE journal_case_records SET data = '[1]' WHERE position = 1"},
		{"UPDATE journal_cases SET records = 1", "UPDATE journal_cases SET records = 2"},
		{"UPDATE journal_cases SET observations = 3", "UPDATE journal_cases SET observations = 2"},
		{"UPDATE journal_cases SET revision = -1", "UPDATE journal_cases SET revision = 1"},
		{`UPDATE journal_cases SET artifacts = '{"query":"q-1","query":"q-2"}'`, `UPDATE journal_cases SET artifacts = '{"query":"q-1"}'`},
		{`UPDATE journal_cases SET artifacts = '{"query":1}'`, `UPDATE journal_cases SET artifacts = '{"query":"q-1"}'`},
		{`UPDATE journal_cases SET inputs = '{} {}'`, `UPDATE journal_cases SET inputs = '{}'`},
	} {
		execute(t, db, tc.damage)
		for range 2 {
			if c, err := s.Case(t.Context(), "run-1", "case-1"); !errors.Is(err, journal.ErrDamaged) || c != nil {
				t.Errorf("%s: %+v, %v", tc.damage, c, err)
			}
		}
		execute(t, db, tc.repair)
		if _, err := s.Case(t.Context(), "run-1", "case-1"); err != nil {
			t.Errorf("after %s: %v", tc.repair, err)
		}
	}
	intact(t, s, b)
	execute(t, db, "DELETE FROM journal_cases")
	if c, err := s.Case(t.Context(), "run-1", "case-1"); !errors.Is(err, journal.ErrDamaged) {
		t.Errorf("a case without its row: %+v, %v", c, err)
	}
	execute(t, db, "UPDATE journal_entries SET hash = $1 WHERE sequence = 2", []byte("short"))
	if r, err := s.Read(t.Context(), "run-1"); !errors.Is(err, journal.ErrDamaged) {
		t.Errorf("a short hash: %+v, %v", r, err)
	}
	execute(t, db, "UPDATE journal_entries SET hash = $1, body = body || ' ' WHERE sequence = 2", b.entries[1].Hash[:])
	execute(t, db, "DELETE FROM journal_entries WHERE sequence = 3")
	if r, err := s.Read(t.Context(), "run-1"); err != nil || r.Verify() == nil || len(r.Entries) != len(b.entries)-1 {
		t.Errorf("a record is read as it is stored: %+v, %v", r, err)
	}
	for column, value := range map[string]any{"head": []byte("short"), "summary": "{}x", "holder": "null}"} {
		execute(t, db, "UPDATE journal_runs SET "+column+" = $1", value)
		_, err := s.Read(t.Context(), "run-1")
		if column == "holder" {
			_, err = s.Take(t.Context(), "run-1", alive)
		}
		if !errors.Is(err, journal.ErrDamaged) {
			t.Errorf("%s: %v", column, err)
		}
		execute(t, db, "UPDATE journal_runs SET head = $1, summary = '{}', holder = NULL", b.entries[0].Hash[:])
	}
}

// Case 99.
func factDepth(t *testing.T, open Opener) {
	nested := func(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }
	s, b, l := begun(t, open, sqlstore.Options{}, "run-1")
	if err := s.Append(t.Context(), l, b.told(opened("case-1"))); err != nil {
		t.Fatal(err)
	}
	for _, depth := range []int{strictjson.MaxFactDepth - 1, strictjson.MaxFactDepth} {
		if err := s.Append(t.Context(), l, b.told(received("case-1", nested(depth)))); err != nil {
			t.Errorf("depth %d: %v", depth, err)
		}
	}
	for _, depth := range []int{strictjson.MaxDepth - 1, strictjson.MaxDepth} {
		if err := s.Append(t.Context(), l, b.told(observed("case-1", nested(depth)))); err != nil {
			t.Errorf("depth %d: %v", depth, err)
		}
	}
	for _, e := range []event.Event{received("case-1", nested(strictjson.MaxFactDepth+1)), observed("case-1", nested(strictjson.MaxDepth+1))} {
		undo := *b
		expectCode(t, "too deep", s.Append(t.Context(), l, b.told(e)), governor.StoreUnavailableError)
		*b = undo
	}
	c, err := s.Case(t.Context(), "run-1", "case-1")
	if err != nil || len(c.Received) != 2 || len(c.Observations) != 2 || string(c.Received[1].Data) != nested(strictjson.MaxFactDepth) {
		t.Errorf("%+v, %v", c, err)
	}
	intact(t, s, b)
}

// Case 100: what a process has written before it was killed is there, and nothing else.
func observationWithoutEvidence(t *testing.T, open Opener) {
	s, b, l := begun(t, open, sqlstore.Options{Alive: look}, "run-1")
	if err := s.Append(t.Context(), l, b.told(opened("case-1"), observed("case-1", `{"done": true}`))); err != nil {
		t.Fatal(err)
	}
	// The process ends here. Another one sees:
	s = open.must(t, sqlstore.Options{Alive: func(journal.Holder) (bool, bool) { return false, true }})
	if _, err := s.Take(t.Context(), "run-1", alive); err != nil {
		t.Fatal(err)
	}
	c, err := s.Case(t.Context(), "run-1", "case-1")
	if err != nil || len(c.Observations) != 1 || string(c.Observations[0].Payload) != `{"done": true}` || len(c.Received) != 0 {
		t.Errorf("%+v, %v", c, err)
	}
	intact(t, s, b)
}

func caseRefused(t *testing.T, open Opener) {
	s, b, l := begun(t, open, sqlstore.Options{}, "run-1")
	if err := s.Append(t.Context(), l, b.told(opened("case-1"))); err != nil {
		t.Fatal(err)
	}
	high := opened("case-2")
	high.Revision = 1 << 63
	noSource := observed("case-1", "{}")
	noSource.Source = "model"
	odd := received("case-1", "{}")
	odd.Producer = "a\x00b"
	for name, e := range map[string]event.Event{
		"opened twice":       opened("case-1"),
		"never opened":       observed("case-9", "{}"),
		"no record":          received("case-9", "{}"),
		"no revision":        event.RevisionsMoved{Case: "case-9", Revision: 2},
		"too high":           high,
		"a source":           noSource,
		"a NUL":              odd,
		"no JSON":            received("case-1", "{"),
		"a member twice":     received("case-1", `{"a":1,"a":1}`),
		"nothing":            observed("case-1", ""),
		"more than one":      observed("case-1", "1 2"),
		"a lone surrogate":   observed("case-1", `"\ud800"`),
		"opened twice again": opened("case-1"),
	} {
		// The good one before it is not kept either.
		undo := *b
		expectCode(t, name, s.Append(t.Context(), l, b.told(observed("case-1", "1"), e)), governor.StoreUnavailableError)
		*b = undo
	}
	undo := *b
	expectCode(t, "twice in one batch", s.Append(t.Context(), l, b.told(opened("case-3"), opened("case-3"))), governor.StoreUnavailableError)
	*b = undo
	c, err := s.Case(t.Context(), "run-1", "case-1")
	if err != nil || len(c.Received) != 0 || len(c.Observations) != 0 {
		t.Errorf("%+v, %v", c, err)
	}
	intact(t, s, b)
}

// 4.11: member order and the spelling of numbers are kept, and so is every other byte.
func spelling(t *testing.T, open Opener) {
	const data = " {\"z\": 18446744073709551617, \"a\": [1e400, 0.10, 1.0E+2, -0, 1E-999],\n\t\"m\": \"\\u0041\\/\u2028\u00e9 '' \\\\\" } "
	s, b, l := begun(t, open, sqlstore.Options{}, "run-1")
	if err := s.Append(t.Context(), l, b.told(opened("case-1"), received("case-1", data), observed("case-1", data))); err != nil {
		t.Fatal(err)
	}
	c, err := s.Case(t.Context(), "run-1", "case-1")
	if err != nil || string(c.Received[0].Data) != data || string(c.Observations[0].Payload) != data {
		t.Errorf("%+v, %v", c, err)
	}
	intact(t, s, b)
}
