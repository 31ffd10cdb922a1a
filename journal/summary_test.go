package journal_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
)

func TestSummary(t *testing.T) {
	began := entry(t, journal.Begun, "", journal.Beginning{At: "2026-03-01T09:20:30Z", Intent: "go home"})
	asked := entry(t, journal.Asked, "effect:door.open", journal.Asking{})
	resumed := func(o event.Outcome) journal.Entry {
		return entry(t, journal.Resumed, "", journal.Resumption{Told: event.Resumed{Steps: 2, Sitting: 2, Outcome: o}})
	}
	stopped := told(t, event.Stopped{Reason: event.StepBudget, Protocol: "doors@1", Steps: 2})
	base := journal.Summary{Began: "2026-03-01T09:20:30Z", Intent: "go home"}
	for _, c := range []struct {
		what    string
		entries []journal.Entry
		want    func(*journal.Summary)
	}{
		{"a begin", nil, func(*journal.Summary) {}},
		{"an open case", []journal.Entry{told(t, event.CaseOpened{Protocol: "doors@1"})}, func(s *journal.Summary) { s.Protocol = "doors@1" }},
		{"a step", []journal.Entry{told(t, event.Proposed{Step: 1})}, func(s *journal.Summary) { s.Steps = 1 }},
		{"a step without a proposal", []journal.Entry{told(t, event.NotProposed{Step: 2})}, func(s *journal.Summary) { s.Steps = 2 }},
		{"a stop", []journal.Entry{stopped}, func(s *journal.Summary) { s.Protocol, s.Stop = "doors@1", "StepBudget" }},
		{"a stop with a detail", []journal.Entry{told(t, event.Stopped{Reason: event.Completed, Detail: "home"})}, func(s *journal.Summary) { s.Stop, s.Detail = "Completed", "home" }},
		{"a failure", []journal.Entry{told(t, event.Failed{Error: "no"})}, func(s *journal.Summary) { s.Stop, s.Detail = journal.FailedStop, "no" }},
		{"an interruption", []journal.Entry{told(t, event.Failed{Error: "no", Interrupted: true})}, func(s *journal.Summary) { s.Stop = journal.InterruptedStop }},
		{"what a person says of a stop", []journal.Entry{stopped, told(t, event.Granted{}), told(t, event.Denied{})}, func(s *journal.Summary) { s.Protocol, s.Stop = "doors@1", "StepBudget" }},
		{"a resumption", []journal.Entry{stopped, resumed("")}, func(s *journal.Summary) { s.Protocol = "doors@1" }},
		{"a model that is asked", []journal.Entry{entry(t, journal.Asked, "model:Action", journal.Asking{})}, func(*journal.Summary) {}},
		{"an effect that was begun", []journal.Entry{asked}, func(s *journal.Summary) { s.InDoubt = "door.open" }},
		{"an effect that reported", []journal.Entry{asked, entry(t, journal.Reported, "effect:door.open", journal.Report{})}, func(*journal.Summary) {}},
		{"an effect that failed", []journal.Entry{asked, entry(t, journal.Reported, "effect:door.open", journal.Report{Error: "no"})}, func(s *journal.Summary) { s.InDoubt = "door.open" }},
		{"an effect that was not begun", []journal.Entry{asked, entry(t, journal.Reported, "effect:door.open", journal.Report{NotBegun: true})}, func(*journal.Summary) {}},
		{"an effect that a person has looked at", []journal.Entry{asked, resumed(event.NotPerformed)}, func(*journal.Summary) {}},
		{"what was shown", []journal.Entry{told(t, event.ContextObserved{Label: "a", Context: "b"})}, func(s *journal.Summary) { s.Label = "b" }},
		{"an effect that nobody has looked at", []journal.Entry{asked, resumed("")}, func(s *journal.Summary) { s.InDoubt = "door.open" }},
	} {
		want := base
		c.want(&want)
		got, err := journal.Summarise(append([]journal.Entry{began}, c.entries...))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", c.what, err, diff)
		}
	}
	for _, e := range []journal.Entry{
		{Kind: journal.Begun, Body: "{"}, {Kind: journal.Reported, Name: "effect:x", Body: "{"}, {Kind: journal.Told, Name: "Stopped", Body: "{"},
	} {
		if _, err := journal.Summarise([]journal.Entry{e}); err == nil {
			t.Errorf("%+v is summarised", e)
		}
	}
}
