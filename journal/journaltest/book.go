package journaltest

import (
	"testing"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
)

// book writes the entries of one run.
type book struct {
	t       *testing.T
	run     string
	chain   journal.Chain
	entries []journal.Entry
	summary journal.Summary
}

func newBook(t *testing.T, run string) *book {
	return &book{t: t, run: run, chain: journal.NewChain(run)}
}

// batch gives one more batch of entries.
func (b *book) batch(entries ...journal.Entry) journal.Batch {
	b.t.Helper()
	for i := range entries {
		e := &entries[i]
		e.Sequence = int64(len(b.entries)) + 1
		e.Hash = b.chain.Next(*e)
		b.entries = append(b.entries, *e)
		var err error
		if b.summary, err = b.summary.With(*e); err != nil {
			b.t.Fatal(err)
		}
	}
	return journal.Batch{Entries: entries, Summary: b.summary}
}

// beginning gives the first batch of a run that began at an instant.
func (b *book) beginning(at string) journal.Batch {
	b.t.Helper()
	return b.batch(entry(b.t, journal.Begun, "", journal.Beginning{At: at, Intent: "count to three", Version: "test"}))
}

// told gives the events as a batch.
func (b *book) told(events ...event.Event) journal.Batch {
	b.t.Helper()
	var entries []journal.Entry
	for _, e := range events {
		entries = append(entries, entry(b.t, journal.Told, journal.EventName(e), e))
	}
	return b.batch(entries...)
}

func entry(t *testing.T, kind journal.Kind, name string, value any) journal.Entry {
	t.Helper()
	body, err := journal.Encode(value)
	if err != nil {
		t.Fatal(err)
	}
	return journal.Entry{Kind: kind, Name: name, Body: body}
}

// opened is a case that a book opens.
func opened(id string) event.CaseOpened {
	return event.CaseOpened{
		Case: id, Protocol: "system-query@1", SHA256: "00", Binding: "clock", Revision: 1,
		Artifacts: map[string]string{"query": "q-1"}, Inputs: map[string]string{},
	}
}

func received(id, data string) event.EvidenceReceived {
	return event.EvidenceReceived{Case: id, Step: 1, Kind: "observation", Producer: "clock", Data: data, Applies: true}
}

func observed(id, payload string) event.Observed {
	return event.Observed{Case: id, Step: 1, Source: "effect", Subject: "clock.read", Payload: payload}
}
