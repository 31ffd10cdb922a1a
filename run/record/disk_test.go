package record_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/journal/journaltest"
	"github.com/loomrun/loom/journal/sqlstore"
	"github.com/loomrun/loom/run/record"
)

// A disk that fails at the n-th write, commit or read of a run, for every n, before or after it is done: the run
// stops with a *StorageError that has what the journal does not, no effect is begun whose asking is not stored,
// what is stored opens and holds, and the run can be resumed.
func TestFailingDisk(t *testing.T) {
	for name, opener := range map[string]func(t *testing.T) func(t *testing.T, d *disk){"sqlite": ownFiles, "postgres": oneDatabase} {
		for kind, fail := range map[string]func(t *testing.T, d *disk){"run": failingRun, "resume": failingResumption} {
			for _, after := range []bool{false, true} {
				t.Run(fmt.Sprint(name, " ", kind, " after ", after), func(t *testing.T) {
					t.Parallel()
					open := opener(t)
					for n := int64(1); ; n++ {
						d := &disk{run: fmt.Sprintf("%s-%v-%d", kind, after, n), at: n, after: after}
						open(t, d)
						fail(t, d)
						if t.Failed() {
							t.Fatalf("operation %d, a %s", n, d.failed)
						}
						if d.failed == "" {
							t.Logf("%d operations", n-1)
							return
						}
					}
				})
			}
		}
	}
}

// deadHolders lets every lease be taken, also one that could not be given back.
func deadHolders(journal.Holder) (alive, known bool) { return false, true }

// ownFiles gives each disk a file of its own, that is opened anew to look at it.
func ownFiles(t *testing.T) func(t *testing.T, d *disk) {
	t.Helper()
	address := sqliteFiles(t)
	return func(t *testing.T, d *disk) {
		t.Helper()
		path := address(t)
		reopen := func() {
			if d.store != nil {
				if err := d.store.Close(); err != nil {
					t.Fatal(err)
				}
			}
			var err error
			if d.store, err = open(t.Context(), path, sqlstore.Options{Connector: journaltest.Faulty(d.hook), Alive: deadHolders}); err != nil {
				t.Fatal(err)
			}
		}
		reopen()
		d.reopen, d.close = reopen, func() { _ = d.store.Close() }
	}
}

// oneDatabase gives all disks of a test the same connections, since a new one takes PostgreSQL so long.
func oneDatabase(t *testing.T) func(t *testing.T, d *disk) {
	t.Helper()
	var now atomic.Pointer[disk]
	store, err := open(t.Context(), postgresDatabase(t)(t), sqlstore.Options{
		Connector: journaltest.Faulty(func(op journaltest.Op, after bool) error {
			if d := now.Load(); d != nil {
				return d.hook(op, after)
			}
			return nil
		}), Alive: deadHolders,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return func(t *testing.T, d *disk) {
		t.Helper()
		now.Store(d)
		d.store, d.reopen, d.close = store, func() {}, func() {}
	}
}

// disk is a database of which one operation fails while it is armed.
type disk struct {
	run          string
	store        journal.Store
	reopen       func()
	close        func()
	at           int64 // the operation, counted from 1 while it is armed
	after        bool
	armed        atomic.Bool
	before, past atomic.Int64 // how many operations were asked for, and done
	failed       journaltest.Op
}

func (d *disk) hook(op journaltest.Op, after bool) error {
	if !d.armed.Load() || after && op == journaltest.Read { // a read that fails after it is done does what one before does
		return nil
	}
	count := &d.before
	if after {
		count = &d.past
	}
	if count.Add(1) != d.at || after != d.after {
		return nil
	}
	d.failed = op
	return journaltest.ErrPlanted
}

// site makes the site of a run on the disk.
func (d *disk) site() *site {
	s := newSite(tower(2), lays(2))
	s.id, s.store = d.run, d.store
	return s
}

// look opens the database anew, as the next process does.
func (d *disk) look(s *site) {
	d.armed.Store(false)
	d.reopen()
	s.store = d.store
}

func failingRun(t *testing.T, d *disk) {
	s := d.site()
	d.armed.Store(true)
	ended, err := s.run(t)
	d.look(s)
	defer d.close()
	if _, readErr := s.store.Read(t.Context(), s.id); errors.Is(readErr, journal.ErrNoRun) {
		if !as[*record.StorageError](err) || s.performed(t) != "" || ended.Run != "" {
			t.Errorf("there is no record of %q; error %v, performed %s", ended.Run, err, s.performed(t))
		}
		s.told = nil
		if _, err := s.run(t); err != nil {
			t.Errorf("run again: %v", err)
		}
		return
	}
	d.check(t, s, ended, err)
	d.finish(t, s)
}

func failingResumption(t *testing.T, d *disk) {
	s := d.site()
	s.budget = new(1)
	if _, err := s.run(t); err != nil {
		t.Fatal(err)
	}
	before, told := len(s.read(t).Entries), len(s.told)
	s.budget = nil
	d.armed.Store(true)
	ended, err := s.resume(t, "")
	d.look(s)
	defer d.close()
	if rec := s.read(t); len(rec.Entries) == before && !as[*record.StorageError](err) {
		// It was refused, before it went on.
		if !errors.Is(err, journaltest.ErrPlanted) || len(s.told) != told || s.performed(t) != "lay1@1" {
			t.Errorf("nothing is stored; error %v, told %+v, performed %s", err, s.told[told:], s.performed(t))
		}
	} else {
		d.check(t, s, ended, err)
	}
	d.finish(t, s)
}

// check checks what a run that was not refused left behind.
func (d *disk) check(t *testing.T, s *site, ended record.Ended, err error) {
	t.Helper()
	rec := s.sound(t)
	failure, failed := errors.AsType[*record.StorageError](err)
	switch {
	case !failed && err != nil:
		t.Errorf("error %T %v", err, err)
	case !failed && rec.Summary.Stop != "Completed":
		t.Errorf("no error, and the record ends with %q", rec.Summary.Stop)
	case failed && !errors.Is(err, journaltest.ErrPlanted):
		t.Errorf("error %v does not say what the disk said", err)
	}
	if done := d.failed == journaltest.Sync && d.after; !done {
		if diff := cmp.Diff(rec.Summary, ended.Summary); diff != "" {
			t.Errorf("the run ended with another summary than its record has:\n%s", diff)
		}
	}
	d.checkLost(t, s, rec, failure)
	told := s.told
	if failed { // the reader learns that, and nothing else that is not stored
		last, ok := told[len(told)-1].(event.Failed)
		if !ok || !strings.Contains(last.Error, "write the journal: ") {
			t.Errorf("the reader heard %+v", told[len(told)-1])
		}
		told = told[:len(told)-1]
	}
	recorded := events(t, rec)
	if len(told) > len(recorded) || cmp.Diff(recorded[:len(told)], told) != "" {
		t.Errorf("the reader heard what the record does not hold:\n%s", cmp.Diff(recorded, told))
	}
}

// checkLost checks that what the last effect reported is in the record or else in the error.
func (d *disk) checkLost(t *testing.T, s *site, rec *journal.Record, failure *record.StorageError) {
	t.Helper()
	begun, err := s.effects.begun()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range begun {
		report := fmt.Sprintf(`"Text":"stone %d is up"`, b.Step)
		if slices.ContainsFunc(rec.Entries, func(e journal.Entry) bool { return e.Kind == journal.Reported && strings.Contains(e.Body, report) }) {
			continue
		}
		if failure == nil || failure.Step != journal.EffectStep+b.Action || !strings.Contains(failure.Lost, report) || !strings.Contains(failure.Error(), "stones-") {
			t.Errorf("what %s reported is nowhere: %+v", b.Action, failure)
		}
		if rec.Summary.InDoubt != b.Action {
			t.Errorf("%s was begun and has no report, and %q is in doubt", b.Action, rec.Summary.InDoubt)
		}
	}
}

// finish resumes the run and checks that it comes to the end it would have come to.
func (d *disk) finish(t *testing.T, s *site) {
	t.Helper()
	rec := s.read(t)
	if rec.Summary.Stop == "Completed" {
		return
	}
	var outcome event.Outcome
	if rec.Summary.InDoubt != "" {
		performed := s.performed(t)
		if _, err := s.resume(t, ""); !as[*record.InDoubtError](err) || s.performed(t) != performed {
			t.Errorf("%s is in doubt: %v, performed %s", rec.Summary.InDoubt, err, s.performed(t))
		}
		outcome = event.NotPerformed
	}
	if _, err := s.resume(t, outcome); err != nil {
		t.Errorf("resume: %v", err)
	}
	s.sound(t)
	want := final{
		Stop: "Completed", Detail: "built", Revision: 3, Artifacts: map[string]string{"plan": "plan-1", "stones": "stones-3"},
		Evidence: []string{"laid1 well on plan by double: true", "laid2 well on plan by double: true"},
	}
	if diff := cmp.Diff(want, s.final(t)); diff != "" {
		t.Error(diff)
	}
}
