package record_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/run/record"
)

// run carries the site's intent out.
func (s *site) run(t rapid.TB) (record.Ended, error) {
	t.Helper()
	return record.Run(s.context(), s.options())
}

// resume goes on with the site's run.
func (s *site) resume(t rapid.TB, outcome event.Outcome) (record.Ended, error) {
	t.Helper()
	return record.Resume(s.context(), s.options(), s.id, outcome)
}

// read gives the record of the site's run.
func (s *site) read(t rapid.TB) *journal.Record {
	t.Helper()
	rec, err := s.store.Read(context.Background(), s.id)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// events gives the events that a record holds, in order.
func events(t rapid.TB, rec *journal.Record) []event.Event {
	t.Helper()
	var all []event.Event
	for _, e := range rec.Entries {
		told, err := e.Event()
		if err != nil {
			t.Fatal(err)
		}
		if told != nil {
			all = append(all, told)
		}
	}
	return all
}

// whole checks what must hold of every record that nobody is writing: it is in one piece, says what its readers
// were told, is played again alike, and each of its proposals had at most one effect. It gives the record.
func (s *site) whole(t rapid.TB) *journal.Record {
	t.Helper()
	rec := s.sound(t)
	if diff := cmp.Diff(slices.DeleteFunc(events(t, rec), isSaid), s.told); diff != "" {
		t.Errorf("the readers were told something else (-record +told):\n%s", diff)
	}
	listed, err := s.store.List(context.Background())
	if err != nil || len(listed) != 1 || listed[0].Holder != nil {
		t.Errorf("the run is still held: %+v, %v", listed, err)
	}
	return rec
}

// isSaid tells whether an event is what a person said between two sittings. Readers of a run do not hear it.
func isSaid(e event.Event) bool {
	switch e.(type) {
	case event.Granted, event.Denied:
		return true
	}
	return false
}

// sound checks what must hold of every record, also of one that breaks off.
func (s *site) sound(t rapid.TB) *journal.Record {
	t.Helper()
	rec := s.read(t)
	if err := rec.Verify(); err != nil {
		t.Errorf("the record does not hold: %v", err)
	}
	summary, err := journal.Summarise(rec.Entries)
	if diff := cmp.Diff(summary, rec.Summary); diff != "" || err != nil {
		t.Errorf("the summary that is kept is not that of the entries: %v\n%s", err, diff)
	}
	if err := record.Replay(rec, s.bindings(true)); err != nil {
		t.Errorf("replay: %v", err)
	}
	s.onceEach(t, rec)
	return rec
}

// onceEach checks that no effect was begun twice for a proposal, or without its asking being in the record.
func (s *site) onceEach(t rapid.TB, rec *journal.Record) {
	t.Helper()
	begun, err := s.effects.begun()
	if err != nil {
		t.Fatal(err)
	}
	steps := map[int]bool{}
	for _, b := range begun {
		if steps[b.Step] {
			t.Errorf("%s is begun twice for step %d", b.Action, b.Step)
		}
		steps[b.Step] = true
		asked := fmt.Sprintf(`"Step":%d,`, b.Step)
		if !slices.ContainsFunc(rec.Entries, func(e journal.Entry) bool {
			return e.Kind == journal.Asked && e.Name == journal.EffectStep+b.Action && strings.Contains(e.Body, asked)
		}) {
			t.Errorf("%s is begun in step %d, and the record does not hold that it was asked for", b.Action, b.Step)
		}
	}
}

// shown gives a record, one entry a line.
func shown(rec *journal.Record) string {
	var text strings.Builder
	for _, e := range rec.Entries {
		body := e.Body
		if len(body) > 300 {
			body = body[:300] + "…"
		}
		fmt.Fprintf(&text, "%d %s %s %s\n", e.Sequence, e.Kind, e.Name, body)
	}
	return text.String()
}

// final is what a case has come to, without what depends on the number of steps that it took.
type final struct {
	Stop, Detail string
	Revision     uint64
	Artifacts    map[string]string
	Evidence     []string
}

// final gives what the site's case has come to, from the tables of cases.
func (s *site) final(t rapid.TB) final {
	t.Helper()
	rec := s.read(t)
	f := final{Stop: rec.Summary.Stop, Detail: rec.Summary.Detail}
	at := slices.IndexFunc(rec.Entries, func(e journal.Entry) bool { return e.Name == journal.EventName(event.CaseOpened{}) })
	if at < 0 {
		return f
	}
	opened, err := rec.Entries[at].Event()
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.store.Case(context.Background(), s.id, opened.(event.CaseOpened).Case)
	if err != nil {
		t.Fatal(err)
	}
	f.Revision, f.Artifacts = c.Revision, c.Artifacts
	for _, r := range c.Received {
		var fields struct{ Kind, Result, Subject string }
		if err := json.Unmarshal(r.Data, &fields); err != nil {
			t.Fatal(err)
		}
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s %s on %s by %s: %v", fields.Kind, fields.Result, fields.Subject, r.Producer, r.Applies))
	}
	return f
}

// stops gives the reasons of all stops and failures that a record holds, with the resumptions between them.
func stops(t rapid.TB, rec *journal.Record) string {
	t.Helper()
	var all []string
	for _, e := range events(t, rec) {
		switch e := e.(type) {
		case event.Stopped:
			all = append(all, strings.TrimSpace(string(e.Reason)+" "+e.Detail))
		case event.Failed:
			word := journal.FailedStop
			if e.Interrupted {
				word = journal.InterruptedStop
			}
			all = append(all, word)
		case event.Resumed:
			all = append(all, strings.TrimSpace(fmt.Sprintf("| %s", e.Outcome)))
		}
	}
	return strings.Join(all, " ")
}

// performed gives what was begun, as ACTION ARGUMENTS @STEP.
func (s *site) performed(t rapid.TB) string {
	t.Helper()
	begun, err := s.effects.begun()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, b := range begun {
		all = append(all, strings.TrimSuffix(b.Action+" "+b.Arguments, " {}")+fmt.Sprintf("@%d", b.Step))
	}
	return strings.Join(all, ", ")
}

// as tells whether an error is of a type.
func as[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
