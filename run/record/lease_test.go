package record_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/journal/sqlstore"
	"github.com/loomrun/loom/run/record"
)

// Two that resume one run, each with a store of its own: one works, the other says who does and changes nothing.
func TestTwoThatResumeOneRun(t *testing.T) {
	for name, database := range map[string]func(t *testing.T) (address func(t *testing.T) string){
		"sqlite":   sqliteFiles,
		"postgres": postgresDatabase,
	} {
		t.Run(name, func(t *testing.T) {
			address := database(t)(t)
			log := &effects{}
			sites := make([]*site, 2)
			for i := range sites {
				store, err := open(t.Context(), address, sqlstore.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer store.Close()
				s := newTower()
				s.store, s.effects, s.holder = store, log, journal.Holder{}
				sites[i] = s
			}
			first, second := sites[0], sites[1]
			first.budget = new(2)
			if _, err := first.run(t); err != nil {
				t.Fatal(err)
			}
			first.budget = nil
			asked := onlyOnce(func() {
				before := second.read(t)
				ended, err := second.resume(t, "")
				held, ok := errors.AsType[*journal.HeldError](err)
				if !ok || held.Holder != journal.ThisProcess() || !strings.Contains(err.Error(), held.Holder.String()) {
					t.Errorf("the other is told %v", err)
				}
				if diff := cmp.Diff(before, second.read(t)) + cmp.Diff(record.Ended{}, ended); diff != "" || second.told != nil {
					t.Errorf("the other has changed something, told %v:\n%s", second.told, diff)
				}
			})
			first.when("lay5", func(ctx context.Context, r effect.Request) deed {
				asked()
				return lays(rungs)["lay5"].does(ctx, r)
			})
			if _, err := first.resume(t, ""); err != nil {
				t.Fatal(err)
			}
			first.whole(t)
			if got := first.performed(t); got != "lay1@1, lay2@2, lay3@3, lay4@4, lay5@5, lay6@6, lay7@7, lay8@8, lay9@9, lay10@10" {
				t.Error(got)
			}
			if _, err := second.resume(t, ""); !as[*record.OverError](err) {
				t.Error(err)
			}
		})
	}
}

// Many that resume one run at once: each effect is begun once all the same.
func TestManyThatResumeOneRun(t *testing.T) {
	address := sqliteFiles(t)(t)
	log := &effects{}
	site := func() *site {
		store, err := open(t.Context(), address, sqlstore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		s := newTower()
		s.store, s.effects = store, log
		return s
	}
	s := site()
	s.budget = new(1)
	if _, err := s.run(t); err != nil {
		t.Fatal(err)
	}
	const takers = 6
	errs := make([]error, takers)
	var takes sync.WaitGroup
	for i := range errs {
		other := site()
		other.holder = journal.ThisProcess()
		takes.Go(func() { _, errs[i] = other.resume(t, "") })
	}
	takes.Wait()
	worked := 0
	for _, err := range errs {
		switch {
		case err == nil:
			worked++
		case !as[*journal.HeldError](err) && !as[*record.OverError](err):
			t.Error(err)
		}
	}
	s.sound(t)
	if got := s.final(t); worked != 1 || got.Stop != "Completed" {
		t.Errorf("%d worked: %+v", worked, got)
	}
}

// A lease whose holder is dead is taken over; one whose holder may be alive is not.
func TestALeaseThatIsTakenOver(t *testing.T) {
	s := newSite(tower(3), lays(3))
	s.budget = new(1)
	if _, err := s.run(t); err != nil {
		t.Fatal(err)
	}
	m := s.store.(*memory)
	other := journal.Holder{Host: "there", Process: 7}
	if _, err := m.Take(t.Context(), id, other); err != nil {
		t.Fatal(err)
	}
	s.budget = nil
	if _, err := s.resume(t, ""); err == nil || err.Error() != "the run is held by process 7 on there" {
		t.Errorf("a lease that is held: %v", err)
	}
	m.dead[other] = true
	if _, err := s.resume(t, ""); err != nil {
		t.Error(err)
	}
	s.whole(t)
}

// A run that another process took over while it performed an effect stops, says what the effect reported, begins no
// further effect, and leaves the other its lease.
func TestALeaseThatIsLostInAnEffect(t *testing.T) {
	s := newSite(tower(3), lays(3))
	m := s.store.(*memory)
	other := journal.Holder{Host: "there", Process: 7}
	s.when("lay2", func(ctx context.Context, r effect.Request) deed {
		m.dead[s.holder] = true
		if _, err := m.Take(ctx, id, other); err != nil {
			t.Error(err)
		}
		return lays(3)["lay2"].does(ctx, r)
	})
	_, err := s.run(t)
	failure, ok := errors.AsType[*record.StorageError](err)
	if !ok || !errors.Is(err, journal.ErrLeaseLost) || failure.Step != "effect:lay2" || !strings.Contains(failure.Lost, "stone 2 is up") {
		t.Errorf("%v", err)
	}
	rec := s.sound(t)
	if got := s.performed(t); got != "lay1@1, lay2@2" || rec.Summary.InDoubt != "lay2" || *m.runs[id].holder != other {
		t.Errorf("performed %s, in doubt %s, held by %v", got, rec.Summary.InDoubt, m.runs[id].holder)
	}
	recorded := events(t, rec)
	if told := s.told[:len(s.told)-1]; cmp.Diff(recorded, told) != "" {
		t.Errorf("the reader heard what the record does not hold:\n%s", cmp.Diff(recorded, told))
	}
}

// A lease is renewed as long as a run goes on, however long an effect takes, and no longer.
func TestALeaseIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(tower(2), lays(2))
		m := s.store.(*memory)
		m.renews = func() error { return errors.New("the database is away") } // which it may survive
		s.when("lay1", func(ctx context.Context, r effect.Request) deed {
			wait(ctx, 4*journal.RenewEvery+journal.RenewEvery/2)
			return lays(2)["lay1"].does(ctx, r)
		})
		if _, err := s.run(t); err != nil {
			t.Error(err)
		}
		s.whole(t)
		time.Sleep(10 * journal.RenewEvery)
		if m.renewals != 4 {
			t.Errorf("%d renewals", m.renewals)
		}
		s.told = nil
	})
}

// A lease that is lost interrupts what the run is doing, and nothing is begun any more.
func TestALostLeaseInterruptsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(tower(3), lays(3))
		m := s.store.(*memory)
		other := journal.Holder{Host: "there", Process: 7}
		s.when("lay2", func(ctx context.Context, _ effect.Request) deed {
			m.dead[s.holder] = true
			if _, err := m.Take(ctx, id, other); err != nil {
				t.Error(err)
			}
			if cause := wait(ctx, time.Hour); !errors.Is(cause, journal.ErrLeaseLost) {
				t.Errorf("it is interrupted because of %v", cause)
			}
			return deed{fails: "called off"}
		})
		began := time.Now()
		_, err := s.run(t)
		if took := time.Since(began); took != journal.RenewEvery || !errors.Is(err, journal.ErrLeaseLost) {
			t.Errorf("after %s: %v", took, err)
		}
		rec := s.sound(t)
		if got := s.performed(t); got != "lay1@1, lay2@2" || rec.Summary.InDoubt != "lay2" || *m.runs[id].holder != other {
			t.Errorf("performed %s, in doubt %s, held by %v", got, rec.Summary.InDoubt, m.runs[id].holder)
		}
	})
}

// wait waits for a time or until a context is done, and gives why it was done.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
	return context.Cause(ctx)
}

// A lease that is lost between two effects keeps the next one from being begun.
func TestALeaseThatIsLostBetweenEffects(t *testing.T) {
	s := newSite(tower(3), lays(3))
	m := s.store.(*memory)
	lose := onlyOnce(func() { m.runs[id].lease++ })
	s.now = func() time.Time {
		if len(s.effects.log) == 1 {
			lose()
		}
		return moment
	}
	ended, err := s.run(t)
	if failure, ok := errors.AsType[*record.StorageError](err); !ok || !errors.Is(err, journal.ErrLeaseLost) || failure.Lost != "" {
		t.Errorf("%v", err)
	}
	rec := s.sound(t)
	if diff := cmp.Diff(rec.Summary, ended.Summary); s.performed(t) != "lay1@1" || rec.Summary.InDoubt != "" || diff != "" {
		t.Errorf("performed %s, in doubt %q\n%s", s.performed(t), rec.Summary.InDoubt, diff)
	}
}
