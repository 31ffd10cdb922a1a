package journal_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
)

// recordOf chains entries into a record.
func recordOf(t testing.TB, run string, entries ...journal.Entry) *journal.Record {
	t.Helper()
	chain := journal.NewChain(run)
	for i := range entries {
		entries[i].Sequence = int64(i) + 1
		entries[i].Hash = chain.Next(entries[i])
	}
	return &journal.Record{Run: run, Entries: entries, Head: entries[len(entries)-1].Hash}
}

func entry(t testing.TB, kind journal.Kind, name string, body any) journal.Entry {
	t.Helper()
	text, err := journal.Encode(body)
	if err != nil {
		t.Fatal(err)
	}
	return journal.Entry{Kind: kind, Name: name, Body: text}
}

func told(t testing.TB, e event.Event) journal.Entry {
	t.Helper()
	return entry(t, journal.Told, journal.EventName(e), e)
}

func sample(t testing.TB) *journal.Record {
	return recordOf(
		t, "run1",
		entry(t, journal.Begun, "", journal.Beginning{Intent: "go"}),
		told(t, event.Proposed{Step: 1, Action: "ring", Arguments: "{}"}),
		entry(t, journal.Asked, "effect:ring", journal.Asking{About: []byte(`{"Step":1}`)}),
		entry(t, journal.Reported, "effect:ring", journal.Report{Result: []byte(`{}`)}),
		told(t, event.Stopped{Reason: event.Completed, Detail: "home", Steps: 1, CaseOpen: true}),
	)
}

// The hashes are an interface: a record made by one version is checked by every later one.
func TestTheChainIsAlwaysTheSame(t *testing.T) {
	const want = "ed06ed18efd925f02dabf1999674a4763e5a15887035507c633a48292a4d5671"
	if got := sample(t).Head.String(); got != want {
		t.Errorf("head %s, want %s", got, want)
	}
}

// A changed, removed, added or moved entry is found, and so is a cut end.
func TestVerifyFindsEveryChange(t *testing.T) {
	if err := sample(t).Verify(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what   string
		change func(*journal.Record)
		at     int64
		why    string
	}{
		{"a body", func(r *journal.Record) { r.Entries[2].Body = `{"About":{"Step":2}}` }, 3, "it is not what was written"},
		{"a name", func(r *journal.Record) { r.Entries[2].Name = "effect:rinse" }, 3, "it is not what was written"},
		{"a kind", func(r *journal.Record) { r.Entries[2].Kind = journal.Reported }, 3, "it is not what was written"},
		{"a hash", func(r *journal.Record) { r.Entries[2].Hash[0]++ }, 3, "it is not what was written"},
		{"the run", func(r *journal.Record) { r.Run = "run2" }, 1, "it is not what was written"},
		{"text moved from the name to the body", func(r *journal.Record) {
			r.Entries[2].Name, r.Entries[2].Body = "effect:rin", "g"+r.Entries[2].Body
		}, 3, "it is not what was written"},
		{"two entries in the place of each other", func(r *journal.Record) {
			r.Entries[2], r.Entries[3] = r.Entries[3], r.Entries[2]
			r.Entries[2].Sequence, r.Entries[3].Sequence = 3, 4
		}, 3, "it is not what was written"},
		{"a gap", func(r *journal.Record) { r.Entries = slices.Delete(r.Entries, 1, 2) }, 2, "it is missing; the next one there is is 3"},
		{"no first entry", func(r *journal.Record) { r.Entries = r.Entries[1:] }, 1, "it is missing; the next one there is is 2"},
		{"a cut end", func(r *journal.Record) { r.Entries = r.Entries[:4] }, 5, "entries are missing at the end"},
		{"nothing left", func(r *journal.Record) { r.Entries = nil }, 1, "it is missing"},
		{"a second begin", func(r *journal.Record) { *r = *recordOf(t, "run1", r.Entries[0], r.Entries[0]) }, 2, "a record begins once, with its first entry"},
		{"no begin", func(r *journal.Record) { *r = *recordOf(t, "run1", r.Entries[1]) }, 1, "a record begins once, with its first entry"},
	} {
		r := sample(t)
		c.change(r)
		broken, ok := errors.AsType[*journal.BrokenError](r.Verify())
		if !ok || broken.Sequence != c.at || broken.Why != c.why {
			t.Errorf("%s changed: %v, want entry %d: %s", c.what, r.Verify(), c.at, c.why)
		}
	}
}

// Lists of entries that are not the same have different heads, also where their texts are when put together.
func TestHeadsDiffer(t *testing.T) {
	texts := rapid.SampledFrom([]string{"", "a", "b", "ab", "a\x00b", "ba"})
	draw := func(t *rapid.T) (list string, head journal.Hash) {
		run := texts.Draw(t, "run")
		chain := journal.NewChain(run)
		list = fmt.Sprintf("%q", run)
		for i := range rapid.IntRange(1, 3).Draw(t, "entries") {
			e := journal.Entry{Sequence: int64(i) + 1, Kind: journal.Kind(texts.Draw(t, "kind")), Name: texts.Draw(t, "name"), Body: texts.Draw(t, "body")}
			head = chain.Next(e)
			list += fmt.Sprintf(" %q %q %q", e.Kind, e.Name, e.Body)
		}
		return list, head
	}
	rapid.Check(t, func(t *rapid.T) {
		oneList, one := draw(t)
		otherList, other := draw(t)
		if (oneList == otherList) != (one == other) {
			t.Errorf("heads of %s and of %s: %s and %s", oneList, otherList, one, other)
		}
	})
}

func TestParseHash(t *testing.T) {
	head := sample(t).Head
	if got, err := journal.ParseHash(head.String()); err != nil || got != head {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"", "zz", head.String()[2:], head.String() + "00", head.String()[1:] + "g"} {
		if _, err := journal.ParseHash(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
