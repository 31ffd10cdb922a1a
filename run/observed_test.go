package run_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/run"
)

// contexts gives the events of what came before the model, a line each.
func contexts(p *played) []string {
	var lines []string
	for _, e := range p.events {
		if e, ok := e.(event.ContextObserved); ok {
			lines = append(lines, fmt.Sprint(e.Sequence, " ", e.Step, " ", e.Action, " ", e.OutputID, " ", e.Channels, " ", e.Label, " ", e.Truncated, " -> ", e.Context))
		}
	}
	return lines
}

// What was shown labels everything that is proposed afterwards, and only that (retrieval 4.4, 4.5). It only grows; what is public
// leaves it as it is, and is no observation (E120).
func TestWhatWasShownLabelsWhatIsProposed(t *testing.T) {
	var asked []string
	s := stage{
		bound: &effect.Bound{Ceiling: `["a","b"]`, From: []string{"--ceiling"}, Terms: "{}"},
		performs: map[string]act{"thing.look": {takes: takesWhy, deeds: []deed{
			{says: "s1", shows: `{"rows":1}`, labelled: "b"}, {says: "s2", shows: `{"rows":2}`}, {says: "s3", shows: `{"rows":3}`, labelled: "a b"}, {says: "s4"},
		}}, "thing.make": makes},
		agent:  []turn{calls("thing_look {}"), calls("thing_look {}"), calls("thing_look {}"), calls("thing_look {}"), calls("thing_make {}")},
		budget: new(5), authority: always(run.Allow),
	}
	p := s.play(t)
	for _, e := range p.events {
		if e, ok := e.(event.EffectReported); ok {
			asked = append(asked, e.Report)
		}
	}
	const bound, b, ba = ` under ["a","b"] knowing `, `{"confidentiality":["b"],"integrity":[]}`, `{"confidentiality":["b","a"],"integrity":[]}`
	if diff := cmp.Diff([]string{"s1" + bound, "s2" + bound + b, "s3" + bound + b, "s4" + bound + ba}, asked[:4]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{
		"1 1 thing.look out-1 [output] " + b + " false -> " + b,
		`2 3 thing.look out-3 [output] {"confidentiality":["a","b"],"integrity":[]} true -> ` + ba,
	}, contexts(p)); diff != "" {
		t.Error(diff)
	}
	if !strings.HasPrefix(p.loop(), "~ the ceiling is asked for\n") {
		t.Errorf("the ceiling is not the first thing that is asked for: %s", p.loop())
	}
	set := event.CeilingSet{Ceiling: `["a","b"]`, From: []string{"--ceiling"}, Terms: "{}"}
	found := false
	for _, e := range p.events {
		if e, ok := e.(event.CeilingSet); ok {
			found = cmp.Equal(e, set)
		}
		if _, opened := e.(event.CaseOpened); opened && !found {
			t.Error("the case opens before the ceiling is told")
		}
	}
}

// The model reads what is disclosed, and not what people are told.
func TestWhatIsDisclosedIsShown(t *testing.T) {
	long := `{"rows":"` + strings.Repeat("x", 100_000) + `"}`
	for _, policy := range []run.ContextPolicy{run.ContextLegacy, run.ContextBounded} {
		s := stage{
			policy: policy,
			performs: map[string]act{"thing.look": {takes: takesWhy, deeds: []deed{
				{says: "for people", shows: long, labelled: "b"}, {says: "for people", shows: `{"rows":"two"}`, labelled: "b"},
			}}, "thing.make": makes},
			agent: []turn{calls("thing_look {}"), calls("thing_look {}"), calls("thing_look {}")}, budget: new(3),
		}
		p := s.play(t)
		shown := strings.Join(p.asked[2].Input, "\n")
		if strings.Contains(shown, "for people") || !strings.Contains(shown, "two") {
			t.Errorf("%s: a model is shown %.300s", policy, shown)
		}
		if policy == run.ContextLegacy && !strings.Contains(shown, "1. thing.look {}\n  effect: "+long+"\n  evidence: none\n2. ") {
			t.Errorf("what is disclosed is cut: %d characters", len(shown))
		}
	}
}

// Of long disclosures the newest are shown, and of the others that they were.
func TestDisclosuresAreBoundedTogether(t *testing.T) {
	big := `{"rows":"` + strings.Repeat("x", 100_000) + `"}`
	s := stage{
		performs: map[string]act{"thing.look": {takes: takesWhy, deeds: []deed{{says: "s", shows: big}}}, "thing.make": makes},
		agent:    []turn{calls("thing_look {}"), calls("thing_look {}"), calls("thing_look {}"), calls("thing_look {}"), calls("thing_look {}")}, budget: new(5),
	}
	shown := strings.Join(s.play(t).asked[4].Input, "\n")
	if n := strings.Count(shown, big); n != 2 {
		t.Errorf("%d of four disclosures are shown, want the last two", n)
	}
	if n := strings.Count(shown, "was shown before"); n != 2 {
		t.Errorf("%d are said to have been shown", n)
	}
}

// A run whose ceiling cannot be had, or cannot be kept, opens no case.
func TestARunWithoutItsCeilingFails(t *testing.T) {
	for _, c := range []struct {
		bound effect.Bound
		want  string
	}{
		{effect.Bound{}, "the ceiling of the run: there is none"},
		{effect.Bound{Ceiling: "[]", Terms: "unknown"}, "the ceiling of the run: terms that nobody knows"},
	} {
		s := stage{bound: &c.bound, performs: map[string]act{"thing.make": makes}}
		p := s.play(t)
		if p.err == nil || p.err.Error() != c.want || p.outcome.Case != "" {
			t.Errorf("%v, case %q", p.err, p.outcome.Case)
		}
	}
}

// A label that cannot be read fails the run rather than being passed over.
func TestAnUnreadableLabelFailsTheRun(t *testing.T) {
	s := stage{
		performs: map[string]act{"thing.look": does(deed{says: "s", shows: "{}", labelled: "\x01\""}), "thing.make": makes},
		agent:    []turn{calls("thing_look {}")}, budget: new(1),
	}
	if p := s.play(t); p.err == nil || !strings.Contains(p.err.Error(), "the label of what thing.look shows") {
		t.Errorf("%v", p.err)
	}
}
