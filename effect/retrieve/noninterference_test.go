package retrieve_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/loomrun/loom/effect/retrieve"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/internal/codeunits"
	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/readverb"
	"github.com/loomrun/loom/retrieval"
	"github.com/loomrun/loom/store"
	"github.com/loomrun/loom/store/storetest"
)

// scoped answers reads from a store as a broker of some facets does.
type scoped struct {
	*storetest.Memory
	facets []string
}

func (s scoped) Run(ctx context.Context, argv []string) (retrieval.Exit, error) {
	verb, err := readverb.Parse(argv)
	if err != nil {
		return retrieval.Exit{}, err
	}
	answer, err := verb.Read(ctx, readverb.Reader{View: s.View(store.Scope{Facets: s.facets}), Now: time.Date(2026, 3, 12, 9, 0, 0, 0, time.UTC)})
	exit := retrieval.Exit{Status: readverb.StatusOf(answer, err)}
	if err == nil {
		exit.Stdout, err = answer.JSON()
	} else {
		err = nil // a message on standard error
	}
	return exit, err
}

// letter is a message in some facets.
type letter struct {
	source string
	facets []string
	text   string
	at     int // minutes
}

var letters = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) letter {
	facets := rapid.SampledFrom([][]string{nil, {"work"}, {"family"}, {"family", "work"}, {"health"}}).Draw(t, "facets")
	return letter{
		source: "s-" + strings.Join(append([]string{"x"}, facets...), "-"), facets: facets,
		text: strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"apple", "pear", "plum", "cfh:v:22222", "<b>", "🎉", strings.Repeat("long ", 900)}), 1, 4).Draw(t, "text"), " "),
		at:   rapid.IntRange(0, 30).Draw(t, "at"),
	}
}), 0, 8)

// filled makes a store of the letters that are kept.
func filled(all []letter, keep func(letter) bool) *storetest.Memory {
	observed := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	m := storetest.NewMemory(store.Owner{Subject: "ada", Zone: "UTC", Facets: []string{"family", "health", "work"}})
	added := map[string]bool{}
	for i, l := range all {
		if !keep(l) {
			continue
		}
		if !added[l.source] {
			added[l.source] = true
			m.AddSource(store.SourceState{Source: store.Source{Name: l.source, Kind: store.MailSource, Format: "mbox", Facets: l.facets}, Synced: observed, Complete: true})
		}
		m.Put(l.source, observed, &store.Record{
			Ref: fmt.Sprint("m", i), Kind: store.Mail, Title: codeunits.Cut(l.text, 100), Body: "about " + l.text, Time: observed.Add(time.Duration(l.at) * time.Minute),
			From: []store.Party{{Name: "Grace", Address: "grace@example.com"}},
		})
	}
	return m
}

// Q1: through a broker of some facets and under the ceiling of these, what a model is shown is, byte for byte, what it is shown of a store that
// holds nothing else; and so are the tokens, the labels and the lines for people (W1 and W2 are closed, S6).
func TestNoninterference(t *testing.T) {
	path := config(t, "")
	asks := []string{
		`loom_search {"query":"apple"}`, `loom_search {"query":"pear OR plum","rank":"score","limit":3}`, `loom_people {"query":"grace@example.com","shape":"card"}`,
		`loom_search {"person":"grace@example.com"}`, `loom_page_discover {}`, `loom_calendar_list {"all":true}`, `loom_profile {}`,
	}
	rapid.Check(t, func(t *rapid.T) {
		facets := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"family", "work"}), 1, 2, rapid.ID).Draw(t, "facets")
		slices.Sort(facets)
		all := letters.Draw(t, "letters")
		within := func(l letter) bool {
			return slices.ContainsFunc(l.facets, func(f string) bool { return slices.Contains(facets, f) })
		}
		var seen [2]string
		var told [2][]event.Event
		for i, m := range []*storetest.Memory{filled(all, func(letter) bool { return true }), filled(all, within)} {
			s := stage{
				options: retrieve.Options{
					ConfigPath: path, Ceiling: label.ScopeCeiling("ada", store.Classes(), facets), RequireRowLabels: true, ResultCeiling: label.Unbounded(),
				},
				reads: scoped{m, facets}, turns: asks,
			}
			p := s.play(t)
			if p.err != nil {
				t.Fatal(p.err)
			}
			seen[i] = strings.Join(p.agent.asked, "\n\n")
			for _, e := range p.events {
				switch e.(type) {
				case event.EffectReported, event.ContextObserved, event.EvidenceSubmitted, event.NoEvidence, event.StepRefused:
					told[i] = append(told[i], e)
				}
			}
		}
		if diff := cmp.Diff(seen[1], seen[0]); diff != "" {
			t.Errorf("a model is shown something else (-without +with what is outside):\n%s", diff)
		}
		if diff := cmp.Diff(told[1], told[0]); diff != "" {
			t.Errorf("people are told something else:\n%s", diff)
		}
		if strings.Contains(seen[0], `"withheld","reasonCode"`) {
			t.Error("something is withheld, where nothing else exists")
		}
	})
}
