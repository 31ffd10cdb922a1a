package loom_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/loomrun/loom"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/model"
)

// The zero Options but for an intent: the bundled protocols, no model, this machine's clock and zone.
func TestRunNeedsNothingButAnIntent(t *testing.T) {
	t.Setenv("TZ", "")
	outcome, err := loom.Run(context.Background(), loom.Options{Intent: "what time is it"})
	if err != nil || outcome.Reason != event.Completed || outcome.Detail != "answered" || outcome.Steps != 1 {
		t.Errorf("%+v, %v", outcome, err)
	}
	if !strings.HasPrefix(outcome.Report, "Local time: 20") || !strings.Contains(outcome.Report, "+00:00") {
		t.Errorf("the report is %q", outcome.Report)
	}
}

func TestRunRefusesAThresholdThatIsNone(t *testing.T) {
	for _, threshold := range []string{"NaN", "2", "-0.5", "half"} {
		if _, err := loom.Run(context.Background(), loom.Options{Intent: "what time is it", Threshold: threshold}); err == nil {
			t.Errorf("the threshold %s is taken", threshold)
		}
	}
}

// A classifier of its own picks; the model is then asked for actions only, which a forced move is not.
func TestRunAsksTheClassifierFirst(t *testing.T) {
	silent := refusing{errors.New("asked")}
	protocols, err := loom.Bundled().AddYAML("team-clock@1", []byte(teamClock))
	if err != nil {
		t.Fatal(err)
	}
	outcome, err := loom.Run(context.Background(), loom.Options{
		Intent: "what time is it", Catalog: protocols, Classifier: picker{}, Model: silent, MaxSteps: 1,
		Now: func() time.Time { return time.Unix(0, 0) }, Zone: time.UTC,
	})
	if err != nil || outcome.Protocol != "team-clock@1" || outcome.Reason != event.Completed {
		t.Errorf("%+v, %v", outcome, err)
	}
	if _, err := loom.Run(context.Background(), loom.Options{Intent: "what time is it", Model: silent}); !errors.Is(err, silent.err) {
		t.Errorf("without a classifier the model picks: %v", err)
	}
}

// refusing is a model that must not be asked.
type refusing struct{ err error }

func (refusing) UpstreamName() string { return "refusing" }

func (r refusing) Ask(context.Context, model.Request) (model.Reply, error) {
	return model.Reply{}, r.err
}

func TestRunUnderANamedProtocol(t *testing.T) {
	outcome, err := loom.Run(context.Background(), loom.Options{Intent: "anything", Protocol: "software-change@1"})
	if err != nil || outcome.Reason != event.NoLocalExecutor {
		t.Errorf("%+v, %v", outcome, err)
	}
	if _, err := loom.Run(context.Background(), loom.Options{Intent: "anything", Protocol: "nothing@1"}); err == nil {
		t.Error("a protocol that is not in the catalog is taken")
	}
}
