package record_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/journal/journaltest"
	"github.com/loomrun/loom/journal/postgres"
	"github.com/loomrun/loom/journal/sqlite"
	"github.com/loomrun/loom/journal/sqlstore"
	"github.com/loomrun/loom/run/record"
)

// childVariable is the environment variable with which this program is the process of a crash test.
const childVariable = "LOOM_TEST_RECORD_CHILD"

func TestMain(m *testing.M) {
	if order := os.Getenv(childVariable); order != "" {
		os.Exit(child(order))
	}
	os.Exit(m.Run())
}

// order is what a child does: it carries out, or resumes, a ten-step run, and kills itself on the way.
type order struct {
	Database string // an address of PostgreSQL, or a path
	Run      string
	Effects  string // the path of the log of effects
	Told     string // the path of the log of what its reader was told
	Resume   bool
	Outcome  event.Outcome
	Kill     kill
}

// kill says where a process is killed; the zero kill is nowhere.
type kill struct {
	Commit int    // right before or after this commit of the run, counted from 1
	After  bool   //
	In     string // in the midst of this action
}

func (k kill) String() string {
	switch {
	case k.In != "":
		return "in " + k.In
	case k.Commit == 0:
		return "nowhere"
	case k.After:
		return fmt.Sprintf("after commit %d", k.Commit)
	}
	return fmt.Sprintf("before commit %d", k.Commit)
}

// done is what a child says that was not killed.
type done struct {
	Commits int
	Error   string
}

// open opens the database of an order.
func open(ctx context.Context, database string, o sqlstore.Options) (journal.Store, error) {
	if strings.HasPrefix(database, "postgres:") {
		return postgres.Open(ctx, database, o)
	}
	return sqlite.Open(ctx, database, o)
}

// die ends this process at once: nothing is flushed, closed or given back.
func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // until it comes
}

// child is the process of a crash test.
func child(text string) int {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var armed atomic.Bool
	var commits atomic.Int64
	ctx := context.Background()
	store, err := open(ctx, o.Database, sqlstore.Options{Connector: journaltest.Faulty(func(op journaltest.Op, after bool) error {
		if op != journaltest.Sync || !armed.Load() {
			return nil
		}
		if !after {
			commits.Add(1)
		}
		if int(commits.Load()) == o.Kill.Commit && after == o.Kill.After {
			die()
		}
		return nil
	})})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	s := newTower()
	s.id, s.store, s.holder, s.effects = o.Run, store, journal.Holder{}, &effects{path: o.Effects}
	if o.Kill.In != "" {
		s.when(o.Kill.In, func(context.Context, effect.Request) deed {
			die()
			return deed{}
		})
	}
	s.reader = func(e event.Event) error {
		body, err := journal.Encode(e)
		return cmp.Or(err, appendLine(o.Told, journal.Entry{Kind: journal.Told, Name: journal.EventName(e), Body: body}))
	}
	armed.Store(true)
	if o.Resume {
		_, err = record.Resume(ctx, s.options(), o.Run, o.Outcome)
	} else {
		_, err = record.Run(ctx, s.options())
	}
	armed.Store(false)
	said := done{Commits: int(commits.Load())}
	if err != nil {
		said.Error = err.Error()
	}
	if err := errors.Join(json.NewEncoder(os.Stdout).Encode(said), store.Close()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// carryOut has a child do an order. It reports whether the child was killed.
func (o order) carryOut(t *testing.T) (said done, killed bool) {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), program)
	command.Env = append(os.Environ(), childVariable+"="+string(text))
	var errs strings.Builder
	command.Stderr = &errs
	output, err := command.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == syscall.SIGKILL {
			return done{}, true
		}
	}
	if err == nil {
		err = json.Unmarshal(output, &said)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	return said, false
}
