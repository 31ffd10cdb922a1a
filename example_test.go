package loom_test

import (
	"context"
	"fmt"
	"time"

	"github.com/loomrun/loom"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/model"
)

// picker is a model client of the embedding program. This one always picks the same protocol; a real
// one sends the request to a model.
type picker struct{}

func (picker) UpstreamName() string { return "picker" }

func (picker) Ask(_ context.Context, r model.Request) (model.Reply, error) {
	return model.Reply{
		Calls: []model.Call{{
			ID:        "1",
			Name:      r.Tools[0].Name,
			Arguments: `{"protocol": "team-clock@1", "confidence": 0.9, "reasons": ["asks for the time"]}`,
		}},
		Text: "It is noon.", // what a model says is no evidence and changes nothing
		Stop: model.StopToolCalls,
	}, nil
}

const teamClock = `
format: protocol/1
protocol: {id: team.clock, revision: 1, description: Tell the team the time.}
artifacts: {intent: {}}
evidence_kinds: {system_time: {}}
claims:
  time.observed:
    true_when: {evidence: {kind: system_time, result: observed, subject: intent}}
actions:
  system.time.read: {effect: read, may_produce: [{evidence: system_time}]}
outcomes:
  answered: {requires: {claim: time.observed}}
`

// A program adds a protocol of its own, brings its own model client, and follows the run.
func Example() {
	protocols, err := loom.Bundled().AddYAML("team-clock@1", []byte(teamClock))
	if err != nil {
		fmt.Println(err)
		return
	}
	outcome, err := loom.Run(context.Background(), loom.Options{
		Intent:  "what time is it",
		Catalog: protocols,
		Model:   picker{},
		Now:     func() time.Time { return time.Date(2026, 3, 1, 9, 20, 30, 0, time.UTC) },
		Zone:    time.FixedZone("CET", 60*60),
		Events: func(e loom.Event) error {
			switch e := e.(type) {
			case event.Picked:
				fmt.Println("picked", e.Protocol)
			case event.EvidenceSubmitted:
				fmt.Println("evidence", e.Kind, e.Result)
			}
			return nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(outcome.Reason, outcome.Detail)
	fmt.Println(outcome.Report)
	// Output:
	// picked team-clock@1
	// evidence system_time observed
	// Completed answered
	// Local time: 2026-03-01T10:20:30+01:00
	// UTC: 2026-03-01T09:20:30Z
}
