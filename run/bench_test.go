package run_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/run"
)

// A whole offline run on the clock of this machine: match the intent, open the case, read the clock and
// the time zone, verify, complete.
func BenchmarkRunClock(b *testing.B) {
	options := run.Options{
		Intent: "need to know the current time", Catalog: catalog.Bundled(), Threshold: run.DefaultThreshold,
		Bindings: []effect.Binding{effect.HostClock()}, Events: func(event.Event) error { return nil },
	}
	b.ReportAllocs()
	for b.Loop() {
		if outcome, err := run.Run(context.Background(), options); err != nil || outcome.Reason != event.Completed {
			b.Fatal(outcome, err)
		}
	}
}

// Steps of a run whose effects say much: the governor is asked, a request is made of all that came
// before, the proposal is read, admitted and performed.
func BenchmarkRunSteps(b *testing.B) {
	for _, steps := range []int{1, 64, 256} {
		b.Run(fmt.Sprint(steps), func(b *testing.B) {
			s := stage{
				performs: map[string]act{"thing.look": does(deed{says: string(make([]byte, 8<<10))}), "thing.make": makes},
				budget:   &steps, tick: time.Second,
			}
			for range steps {
				s.agent = append(s.agent, calls("thing_look {}"))
			}
			b.ReportAllocs()
			for b.Loop() {
				p := &played{}
				if outcome, err := run.Run(context.Background(), s.options(p)); err != nil || outcome.Steps != steps {
					b.Fatal(outcome, err)
				}
			}
		})
	}
}

// The largest intent there is, made of nothing but references.
func BenchmarkRunManyReferences(b *testing.B) {
	intent := manyReferences()
	b.ReportAllocs()
	for b.Loop() {
		if outcome, err := run.Run(context.Background(), run.Options{Intent: intent, Catalog: catalog.Bundled()}); err != nil || outcome.Detail != "unsure" {
			b.Fatal(outcome, err)
		}
	}
}
