package record_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/run/record"
)

// Replay notices each event and each question that is not the recorded one, at its entry.
func TestReplayNoticesEveryChange(t *testing.T) {
	for _, g := range goldens {
		t.Run(g.name, func(t *testing.T) {
			rec := readGolden(t, g.name)
			bindings := g.site().bindings(true)
			replayed := func(change func(entries []journal.Entry) []journal.Entry) error {
				changed := *rec
				changed.Entries = change(slices.Clone(rec.Entries))
				return record.Replay(&changed, bindings)
			}
			for i, e := range rec.Entries {
				if e.Kind != journal.Told && e.Kind != journal.Asked {
					continue
				}
				if e.Name == "Granted" || e.Name == "Denied" {
					continue // nothing that the code does: what a run may do with it, an audit judges
				}
				body := flipped(e.Body)
				if err := replayed(func(entries []journal.Entry) []journal.Entry { entries[i].Body = body; return entries }); !differsAt(e.Sequence)(err) {
					t.Errorf("entry %d with %s: %v", e.Sequence, body, err)
				}
				if err := replayed(func(entries []journal.Entry) []journal.Entry { return slices.Insert(entries, i, e) }); !noticed(err) {
					t.Errorf("entry %d twice: %v", e.Sequence, err)
				}
				if i+1 == len(rec.Entries) {
					continue // it may break off there
				}
				if err := replayed(func(entries []journal.Entry) []journal.Entry { return slices.Delete(entries, i, i+1) }); !noticed(err) {
					t.Errorf("without entry %d: %v", e.Sequence, err)
				}
			}
		})
	}
}

func noticed(err error) bool { return as[*record.DiffersError](err) }

// flipped gives an entry's body with another letter or digit at the end of its last value.
func flipped(body string) string {
	i := strings.LastIndexFunc(body, func(r rune) bool { return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' })
	if i < 0 {
		return body + " "
	}
	other := byte('0')
	if body[i] == other {
		other = '1'
	}
	return body[:i] + string(other) + body[i+1:]
}

// Replay notices what today's code makes of a record otherwise than it was, where that first shows.
func TestReplayNamesTheFirstDifference(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(s *site, rec *journal.Record)
		at     string // the event
		step   int
		says   string
	}{
		{"a binding of another digest", func(s *site, _ *journal.Record) { s.digest = "d1d1" }, "CaseOpened", 0, `"BindingSHA256":"d1d1"`},
		{"a binding that performs less", func(s *site, _ *journal.Record) { delete(s.acts, "lay7") }, "CaseOpened", 0, `"Performs":["lay1","lay10",`},
		{"a verifier that takes less for evidence", func(s *site, _ *journal.Record) { s.sceptical = "lay6" }, "EvidenceReceived", 6, "NoEvidence"},
		{
			"another definition", func(_ *site, rec *journal.Record) {
				for digest, text := range rec.Documents {
					rec.Documents[digest] = strings.ReplaceAll(text, "Lay one stone", "Lay two stones")
				}
			}, "CaseOpened", 0, `told CaseOpened {`,
		},
		{"another clock", func(_ *site, rec *journal.Record) { replace(rec, "clock", 2, "09:20", "09:21") }, "Decided", 0, `"At":"2026-03-01T09:21:30Z"`},
		{"another report", func(_ *site, rec *journal.Record) { replace(rec, "effect:lay3", 0, "stone 3 is up", "stone 3 fell") }, "EffectReported", 3, "stone 3 fell"},
		{"another revision", func(_ *site, rec *journal.Record) { replace(rec, "effect:lay3", 0, "stones-4", "stones-x") }, "RevisionsMoved", 3, "stones-x"},
		{
			"a refusal", func(_ *site, rec *journal.Record) { replace(rec, "effect:lay3", 0, `"Refused":""`, `"Refused":"no"`) },
			"EffectReported", 3, `told StepRefused {"Step":3,"Reason":"no"}`,
		},
		{"a failure", func(_ *site, rec *journal.Record) {
			replace(rec, "effect:lay3", 0, `"Outcome":""}`, `"Outcome":""},"Error":"it broke"`)
		}, "EffectReported", 3, "it broke"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newTower()
			once(t, s)
			rec := s.whole(t)
			rec.Documents = cloned(rec.Documents)
			c.change(s, rec)
			err := record.Replay(rec, s.bindings(true))
			at := slices.IndexFunc(rec.Entries, func(e journal.Entry) bool {
				return e.Name == c.at && (c.step == 0 || strings.Contains(e.Body, fmt.Sprintf(`"Step":%d,`, c.step)))
			})
			if c.name == "another clock" { // the third: where the step is looked at again
				at = slices.IndexFunc(rec.Entries[at+1:], func(e journal.Entry) bool { return e.Name == c.at }) + at + 1
				at = slices.IndexFunc(rec.Entries[at+1:], func(e journal.Entry) bool { return e.Name == c.at }) + at + 1
			}
			if !differsAt(int64(at)+1)(err) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("want entry %d, %s: %v", at+1, c.at, err)
			}
		})
	}
}

func cloned(documents map[string]string) map[string]string {
	other := map[string]string{}
	for digest, text := range documents {
		other[digest] = text
	}
	return other
}

// replace changes the n-th report of a step, counted from 0.
func replace(rec *journal.Record, step string, n int, old, with string) {
	for i, e := range rec.Entries {
		if e.Kind != journal.Reported || e.Name != step {
			continue
		}
		if n--; n < 0 {
			rec.Entries[i].Body = strings.Replace(e.Body, old, with, 1)
			return
		}
	}
}

// A record without the definitions that it began with cannot be played again.
func TestReplayWithoutTheDefinition(t *testing.T) {
	s := newTower()
	once(t, s)
	rec := s.read(t)
	rec.Documents = nil
	err := record.Replay(rec, s.bindings(true))
	if err == nil || err.Error() != "the journal does not hold the definition of tower@1 that the run began with" {
		t.Error(err)
	}
	rec.Entries = rec.Entries[1:]
	if err := record.Replay(rec, s.bindings(true)); err == nil || err.Error() != "the record has no begin" {
		t.Error(err)
	}
}
