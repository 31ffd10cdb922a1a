package record_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/journal/sqlite"
	"github.com/loomrun/loom/journal/sqlstore"
	"github.com/loomrun/loom/protocol"
	"github.com/loomrun/loom/run"
	"github.com/loomrun/loom/run/audit"
	"github.com/loomrun/loom/run/record"
)

// turning is a protocol whose one action can be taken for ever: each step gives evidence of the wrong result.
const turning = `
format: protocol/1
protocol: {id: turning, revision: 1}
artifacts: {wheel: {}}
evidence_kinds: {turned: {}}
claims: {there: {true_when: {evidence: {kind: turned, result: arrived, subject: wheel}}}}
actions: {wheel.turn: {may_produce: [{evidence: turned}]}}
outcomes: {arrived: {requires: {claim: there}}}
`

// wheel performs nothing at all and says so.
type wheel struct{ protocol *protocol.Protocol }

func (w wheel) Name() string   { return "wheel" }
func (w wheel) SHA256() string { return "00" }

func (wheel) Lacks(*protocol.Protocol) string { return "" }

func (wheel) Reach(action string) string          { return "does " + action }
func (w wheel) Serves(p *protocol.Protocol) bool  { return p.SameRules(w.protocol) }
func (w wheel) Open(effect.Intent) effect.Port    { return w }
func (w wheel) Performs(string) bool              { return true }
func (w wheel) Arguments(string) string           { return effect.NoArguments }
func (w wheel) CheckArguments(_, _ string) string { return "" }
func (w wheel) Start(context.Context) (map[string]string, error) {
	return map[string]string{"wheel": "wheel-1"}, nil
}

func (w wheel) Perform(context.Context, effect.Request) (effect.Report, error) {
	return effect.Report{Text: "turned", Source: "wheel", Subject: "wheel", Observation: "{}", Revisions: map[string]string{}}, nil
}

func (w wheel) Verify(effect.Request, effect.Report) (effect.Verdict, error) {
	return effect.Verdict{Why: "it turned, and that is all"}, nil
}

func turn(tb testing.TB, steps int) record.Options {
	tb.Helper()
	p, err := protocol.Compile([]byte(turning))
	if err != nil {
		tb.Fatal(err)
	}
	protocols, err := catalog.Bundled().AddYAML("turning@1", []byte(turning))
	if err != nil {
		tb.Fatal(err)
	}
	return record.Options{Options: run.Options{
		Intent: "turn", Protocol: "turning@1", Catalog: protocols, Bindings: []effect.Binding{wheel{p}}, MaxSteps: &steps,
		Events: func(event.Event) error { return nil },
	}}
}

// What the durable record of a governed step costs: a forced move whose effect does nothing, with both its
// commits, beside the two bare commits that it cannot do without, and beside the same step with no record.
func BenchmarkStep(b *testing.B) {
	const steps = 200
	open := func(b *testing.B) (path string, o record.Options) {
		path = filepath.Join(b.TempDir(), "journal.db")
		store, err := sqlite.Open(b.Context(), path, sqlstore.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = store.Close() })
		o = turn(b, steps)
		o.Store = store
		return path, o
	}
	perStep := func(b *testing.B) { b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*steps), "ns/step") }
	b.Run("no record", func(b *testing.B) {
		o := turn(b, steps)
		for b.Loop() {
			if outcome, err := run.Run(b.Context(), o.Options); err != nil || outcome.Steps != steps {
				b.Fatal(outcome, err)
			}
		}
		perStep(b)
	})
	b.Run("two bare commits", func(b *testing.B) {
		path, _ := open(b)
		db, err := sql.Open("sqlite", "file:"+path+"?_pragma=synchronous(FULL)&_txlock=immediate")
		if err != nil {
			b.Fatal(err)
		}
		defer db.Close()
		db.SetMaxOpenConns(1)
		if _, err := db.Exec("CREATE TABLE bare (n INTEGER PRIMARY KEY)"); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			for range 2 * steps {
				if _, err := db.Exec("INSERT INTO bare DEFAULT VALUES"); err != nil {
					b.Fatal(err)
				}
			}
		}
		perStep(b)
	})
	b.Run("recorded", func(b *testing.B) {
		_, o := open(b)
		for b.Loop() {
			if ended, err := record.Run(b.Context(), o); err != nil || ended.Steps != steps {
				b.Fatal(ended, err)
			}
		}
		perStep(b)
	})
}

// An audit, and a replay, of a run of 1,000 steps.
func BenchmarkLongRun(b *testing.B) {
	const steps = 1000
	o := turn(b, steps)
	store, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "journal.db"), sqlstore.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	o.Store = store
	ended, err := record.Run(b.Context(), o)
	if err != nil || ended.Steps != steps {
		b.Fatal(ended, err)
	}
	b.Run("audit", func(b *testing.B) {
		for b.Loop() {
			rec, err := store.Read(b.Context(), ended.Run)
			if err != nil {
				b.Fatal(err)
			}
			c, err := store.Case(b.Context(), ended.Run, ended.Case)
			if err != nil {
				b.Fatal(err)
			}
			if report := audit.Check(rec, []*journal.Case{c}); report.Verdict != audit.Pass {
				b.Fatal(report)
			}
		}
	})
	b.Run("replay", func(b *testing.B) {
		rec, err := store.Read(b.Context(), ended.Run)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if err := record.Replay(rec, o.Bindings); err != nil {
				b.Fatal(err)
			}
		}
	})
}
