package record_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/run"
	"github.com/loomrun/loom/run/record"
)

// A report too large to be kept ends the run, and the error has it; the effect is in doubt.
func TestAReportThatIsTooLarge(t *testing.T) {
	s := newSite(tower(2), lays(2))
	s.when("lay1", func(context.Context, effect.Request) deed {
		return deed{says: strings.Repeat("x", journal.MaxEntryBytes)}
	})
	_, err := s.run(t)
	failure, ok := errors.AsType[*record.StorageError](err)
	if !ok || failure.Step != "effect:lay1" || len(failure.Lost) < journal.MaxEntryBytes || len(err.Error()) > 16<<10 {
		t.Fatalf("%.200v", err)
	}
	rec := s.whole(t)
	if rec.Summary.InDoubt != "lay1" || rec.Summary.Stop != "failed" {
		t.Errorf("%+v", rec.Summary)
	}
	s.acts = lays(2)
	again(t, s, event.Performed)
	s.whole(t)
	if got := s.performed(t); got != "lay1@1, lay1@2, lay2@3" {
		t.Error(got)
	}
}

// An event too large to be kept ends the run; what was told before it is kept and told, and so is the failure.
func TestAnEventThatIsTooLarge(t *testing.T) {
	s := house(run.Proposal{Refused: strings.Repeat(`"`, journal.MaxEntryBytes/4)}) // each is escaped twice
	_, err := s.run(t)
	if !as[*record.StorageError](err) || errors.As(err, new(*run.ReaderError)) {
		t.Fatalf("%.200v", err)
	}
	rec := s.whole(t)
	last, failed := s.told[len(s.told)-1].(event.Failed)
	if !failed || !strings.HasPrefix(last.Error, "write the journal: it has ") || rec.Summary.InDoubt != "" {
		t.Errorf("%+v, in doubt %q", last, rec.Summary.InDoubt)
	}
}

// What was there when a run began and is not there in a further sitting fails the run where it is needed, and the
// run goes on when it is there again.
func TestWhatIsNotThereInASitting(t *testing.T) {
	t.Run("an executor", func(t *testing.T) {
		s := house()
		s.authority, s.budget = always(run.Allow), new(0)
		once(t, s)
		s.executor, s.budget = nil, nil
		if _, err := s.resume(t, ""); err == nil || err.Error() != "propose an action: it is not there in this sitting of the run" {
			t.Error(err)
		}
		s.whole(t)
		s.executor = &moves{[]run.Proposal{{Action: "front.open", Arguments: "{}"}}}
		again(t, s, "")
		s.whole(t)
		if got := s.performed(t); got != "front.open@1" {
			t.Error(got)
		}
	})
	t.Run("a classifier", func(t *testing.T) {
		s := newSite(tower(2), lays(2))
		s.classifier = says(breaks)
		if _, err := s.run(t); err == nil {
			t.Fatal("there is no answer")
		}
		s.classifier = nil
		if _, err := s.resume(t, ""); err == nil || !strings.HasSuffix(err.Error(), "the run waits for the answer of a model, and there is none in this sitting") {
			t.Error(err)
		}
		s.classifier = says(calls(`pick_protocol {"protocol":"tower@1","confidence":1,"reasons":["so"]}`))
		again(t, s, "")
		s.whole(t)
		if got := s.performed(t); got != "lay1@1, lay2@2" {
			t.Error(got)
		}
	})
}

// A bundled definition that is another one by now is read from the journal: the record is played under what the run
// began with.
func TestABundledDefinitionThatHasChanged(t *testing.T) {
	s := newTower()
	s.budget = new(1)
	once(t, s)
	const name, text = "support-triage@1", "# As it was.\n" + "format: protocol/1\nprotocol: {id: support.triage, revision: 1}\n"
	m := s.store.(*memory)
	m.documents["old"] = text
	m.rewrite(func(e *journal.Entry) bool {
		var b journal.Beginning
		if err := journal.Decode(e.Body, &b); err != nil {
			t.Fatal(err)
		}
		for i := range b.Catalog {
			if b.Catalog[i].Name == name {
				b.Catalog[i].SHA256 = "old"
			}
		}
		var err error
		if e.Body, err = journal.Encode(b); err != nil {
			t.Fatal(err)
		}
		return true
	})
	if err := record.Replay(s.read(t), s.bindings(true)); err != nil {
		t.Error(err)
	}
	m.documents["old"] = "no definition"
	if err := record.Replay(s.read(t), s.bindings(true)); err == nil || !strings.HasPrefix(err.Error(), "the definition that the run began with: ") {
		t.Error(err)
	}
}

// A failure that is recorded where today's code goes on is a difference, also where a step that does not act comes next.
func TestAFailureThatIsNoneToday(t *testing.T) {
	s := newTower()
	once(t, s)
	m := s.store.(*memory)
	m.cut(5) // behind CaseOpened; next the clock is read
	rec := s.read(t)
	body, err := journal.Encode(event.Failed{Error: "no", Protocol: "tower@1", CaseOpen: true})
	if err != nil {
		t.Fatal(err)
	}
	rec.Entries = append(rec.Entries, journal.Entry{Sequence: 6, Kind: journal.Told, Name: journal.EventName(event.Failed{}), Body: body})
	if err := record.Replay(rec, s.bindings(true)); !differsAt(6)(err) {
		t.Error(err)
	}
	rec.Entries = append(rec.Entries[:5:5], journal.Entry{Sequence: 6, Kind: journal.Resumed, Body: "{"})
	if err := record.Replay(rec, s.bindings(true)); !errors.Is(err, journal.ErrDamaged) {
		t.Error(err)
	}
}

// A record that goes on where a run is over is a difference at the first entry that is too many.
func TestARecordThatGoesOnTooLong(t *testing.T) {
	s := newTower()
	once(t, s)
	rec := s.read(t)
	n := len(rec.Entries)
	rec.Entries = append(rec.Entries, rec.Entries[n-2])
	rec.Entries[n].Sequence = int64(n) + 1
	err := record.Replay(rec, s.bindings(true))
	if !differsAt(int64(n)+1)(err) || !strings.HasSuffix(err.Error(), "and this version has the end of the run") {
		t.Error(err)
	}
}

// A store that refuses what its tables of cases cannot hold stops the run, and the record ends before that.
func TestACaseThatCannotBeKept(t *testing.T) {
	s := newSite(tower(2), lays(2))
	s.producer = "\x00"
	_, err := s.run(t)
	rec := s.sound(t)
	if !as[*record.StorageError](err) || !as[*governor.CaseError](err) || rec.Summary.Stop != "" || s.performed(t) != "lay1@1" {
		t.Errorf("stop %q, performed %s: %v", rec.Summary.Stop, s.performed(t), err)
	}
}

// A step that was not begun ends its sitting; where a record goes on behind it, the end of the sitting is what differs.
func TestARecordThatGoesOnBehindAStepThatWasNotBegun(t *testing.T) {
	s := newTower()
	s.reader = func(event.Event) error { return errors.New("the reader has gone") }
	_, _ = s.run(t)
	rec := s.sound(t)
	n := len(rec.Entries)
	if !strings.Contains(rec.Entries[n-2].Body, `"NotBegun":true`) {
		t.Fatal(shown(rec))
	}
	for _, rest := range [][]journal.Entry{rec.Entries[:n-1], rec.Entries} {
		changed := *rec
		changed.Entries = rest
		if err := record.Replay(&changed, s.bindings(true)); err != nil {
			t.Errorf("%d entries: %v", len(rest), err)
		}
	}
	rec.Entries = append(rec.Entries, rec.Entries[4])
	if err := record.Replay(rec, s.bindings(true)); !differsAt(int64(n))(err) {
		t.Error(err)
	}
}
