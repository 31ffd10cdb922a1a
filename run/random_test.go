package run_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/run"
)

// Whatever the models, executors, effects, verifiers and authorities around it do, a run ends, keeps
// the rules that hold for every run, and is the same run again when it is played from its record with
// none of them there.
func TestRunsFollowFromTheirRecords(t *testing.T) {
	ends := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		s := drawStage(t)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		s.ctx, s.cancel = ctx, cancel
		p := s.play(t)
		if t.Failed() {
			t.Logf("%+v\n%s", s, p.transcript())
		}
		ends[ending(p)]++
	})
	t.Log(ends) // what the draws reach
}

func ending(p *played) string {
	if p.err != nil {
		return "a failure"
	}
	return string(p.outcome.Reason)
}

// drawStage draws a run and all that surrounds it.
func drawStage(t *rapid.T) stage {
	s := stage{
		protocol: rapid.SampledFrom([]string{workshop, lamp, doors}).Draw(t, "protocol"),
		tick:     rapid.SampledFrom([]time.Duration{0, time.Second, 4 * time.Minute}).Draw(t, "tick"),
		performs: map[string]act{},
		intent:   rapid.SampledFrom([]string{"", "fix ABC-12", "what time is it"}).Draw(t, "intent"),
	}
	// The records that lead on.
	good := map[string][]string{
		workshop: {"checked pass on thing", "shipped on order"}, lamp: {"seen lit on lamp"}, doors: {"entered on house"},
	}[s.protocol]
	_, _, p := s.definition()
	var actions, artifacts, kinds []string
	for _, a := range p.Actions {
		actions = append(actions, a.ID)
	}
	for _, a := range p.Artifacts {
		artifacts = append(artifacts, a.ID)
	}
	for _, k := range p.EvidenceKinds {
		kinds = append(kinds, k.ID)
	}
	for _, action := range actions {
		if rapid.IntRange(0, 4).Draw(t, "performs") > 0 {
			s.performs[action] = act{
				takes: rapid.SampledFrom([]string{"", "", takesWhy}).Draw(t, "takes"),
				deeds: rapid.SliceOfN(drawDeed(good, artifacts, kinds), 0, 3).Draw(t, "deeds"),
			}
		}
	}
	if rapid.Bool().Draw(t, "budgeted") {
		s.budget = new(rapid.IntRange(-1, 8).Draw(t, "budget"))
	}
	if rapid.IntRange(0, 2).Draw(t, "classified") == 0 {
		name, _, _ := s.definition()
		s.classifier = []turn{rapid.SampledFrom([]turn{
			picks(name, "0.9"), picks(name, "0.9"), picks(name, "0.1"), picks("system-query@1", "1"), picks("x\n@1", "1"), calls("pick_protocol {}"), calls(),
		}).Draw(t, "pick")}
		s.threshold = "0.5"
	}
	switch rapid.IntRange(0, 3).Draw(t, "proposer") {
	case 0:
		s.executor = rapid.SliceOfN(drawProposal(actions), 0, 8).Draw(t, "proposals")
	case 1:
	default:
		s.agent = rapid.SliceOfN(drawTurn(actions), 0, 10).Draw(t, "turns")
	}
	if rapid.Bool().Draw(t, "authority") {
		word := rapid.SampledFrom([]run.Permission{run.NeedsApproval, run.Allow, run.Allow, run.Deny, run.Deny + 7})
		at, gate := word.Draw(t, "at a proposal"), word.Draw(t, "at the gate")
		fails := rapid.IntRange(0, 9).Draw(t, "authority fails") == 0
		s.authority = func(_ string, r effect.Request) (run.Permission, error) {
			if fails {
				return run.Allow, errGone
			}
			if r.Arguments == "" {
				return gate, nil
			}
			return at, nil
		}
	}
	return s
}

func drawDeed(good, artifacts, kinds []string) *rapid.Generator[deed] {
	return rapid.Custom(func(t *rapid.T) deed {
		if rapid.Bool().Draw(t, "good") {
			return deed{says: "done", proves: []string{rapid.SampledFrom(good).Draw(t, "record")}}
		}
		d := deed{says: rapid.SampledFrom([]string{"", "done", "two\nlines", "\xff", "é"}).Draw(t, "says")}
		switch rapid.IntRange(0, 19).Draw(t, "outcome") {
		case 0:
			d.fails = "it broke"
		case 1:
			d.lies = "that is not so"
		case 2:
			d.interrupts = true
		case 3, 4:
			d.refuses = "not\nnow"
		}
		if rapid.IntRange(0, 2).Draw(t, "moves") == 0 {
			to := rapid.SampledFrom(append(slices.Clone(artifacts), "other")).Draw(t, "artifact")
			d.moves = map[string]string{to: to + rapid.SampledFrom([]string{"-1", "-2", "-3", ""}).Draw(t, "revision")}
		}
		for range rapid.IntRange(0, 2).Draw(t, "records") {
			result := rapid.SampledFrom([]string{"", " pass", " fail", " lit"}).Draw(t, "result")
			tail := rapid.SampledFrom([]string{"", "", "", " at thing-2", " as one", " seen 2026-03-01T09:20:30Z", " seen noon"}).Draw(t, "tail")
			kind := rapid.SampledFrom(append(slices.Clone(kinds), "unknown")).Draw(t, "kind")
			d.proves = append(d.proves, kind+result+" on "+rapid.SampledFrom(append(slices.Clone(artifacts), "other")).Draw(t, "subject")+tail)
		}
		return d
	})
}

var drawArguments = rapid.SampledFrom([]string{"{}", "{}", "{}", ` { "why" : 1.0 } `, `{"how":1}`, "[]", "", "{", "\x00"})

func drawProposal(actions []string) *rapid.Generator[run.Proposal] {
	return rapid.Custom(func(t *rapid.T) run.Proposal {
		switch rapid.IntRange(0, 11).Draw(t, "proposal") {
		case 0:
			return run.Proposal{None: true}
		case 1:
			return run.Proposal{NeedsModel: true}
		case 2:
			return run.Proposal{Refused: "I cannot say", Action: "x\ny"}
		case 3:
			return run.Proposal{Action: "undeclared", Arguments: "{}"}
		}
		return run.Proposal{Action: rapid.SampledFrom(actions).Draw(t, "action"), Arguments: drawArguments.Draw(t, "arguments")}
	})
}

func drawTurn(actions []string) *rapid.Generator[turn] {
	return rapid.Custom(func(t *rapid.T) turn {
		if rapid.Bool().Draw(t, "good") { // one of the tools that are offered
			n := rapid.IntRange(0, 3).Draw(t, "tool")
			return func(r model.Request) (model.Reply, error) {
				return calls(r.Tools[n%len(r.Tools)].Name + " {}")(r)
			}
		}
		call := func() model.Call {
			name := strings.ReplaceAll(rapid.SampledFrom(append(slices.Clone(actions), "undeclared", "a\nb")).Draw(t, "tool"), ".", "_")
			return model.Call{ID: fmt.Sprint("c", rapid.IntRange(1, 9).Draw(t, "id")), Name: name, Arguments: drawArguments.Draw(t, "arguments")}
		}
		reply := model.Reply{Stop: model.StopToolCalls, Calls: []model.Call{call()}}
		switch rapid.IntRange(0, 11).Draw(t, "turn") {
		case 0:
			reply.Calls = nil
		case 1:
			reply.Calls = append(reply.Calls, call())
		case 2:
			reply.Text, reply.Usage = "done", &model.Usage{InputTokens: new(uint64(1) << 60), Final: true}
		case 3:
			return func(model.Request) (model.Reply, error) {
				return model.Reply{}, model.Fail(model.Unavailable, nil, "busy")
			}
		}
		return replies(reply)
	})
}
