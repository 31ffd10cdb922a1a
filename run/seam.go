package run

import (
	"context"
	"fmt"
)

// Step is one thing that a run has done outside of itself.
//
// The steps are "run id", "ceiling" (of a port that has one), "start" (of the effect port), "clock", "model:PHASE", "propose" (by an
// [Executor]), "authority:CAPABILITY" and "effect:ACTION". Names repeat: a step is told apart by its
// place in the order of steps.
type Step struct {
	Name string
	// About says what is going to be done, as a value that survives JSON; nil where the name says it
	// all. Of a request to a model it holds size and digest, not the text.
	About any
	// Acts tells that doing it twice would not be the same as doing it once.
	Acts bool
}

// Seam is where a run touches the world: everything that leaves the process, reads a clock or is
// random goes through Step. A run is a deterministic function of its intent, its options and the
// results of its steps, so a seam that keeps results can record a run, and one that gives kept
// results back can replay it (DESIGN, "How an intent flows").
type Seam interface {
	// Step does one thing, at most once, and leaves its outcome in result, a pointer to a value that
	// survives JSON. A step that fails while ctx is done counts as interrupted: a seam that keeps results leaves it out. An error ends the run, and of it only the text counts, so one that is given back
	// need be no more. A *ReaderError is passed on as one of [Options.Events].
	Step(ctx context.Context, step Step, result any, do func(context.Context) error) error
}

// ReaderError is what the reader of a run's events said when it failed. It fails the run, and the reader is told
// nothing more.
type ReaderError struct{ Err error }

// Error gives the reader's own words.
func (e *ReaderError) Error() string { return e.Err.Error() }

// Unwrap gives what the reader said.
func (e *ReaderError) Unwrap() error { return e.Err }

// Direct is the seam that keeps nothing.
type Direct struct{}

// Step does the thing.
func (Direct) Step(ctx context.Context, _ Step, _ any, do func(context.Context) error) error {
	return do(ctx)
}

// outside has one thing done through the seam. Once the run is interrupted nothing more is begun.
func outside[T any](ctx context.Context, r *runner, step Step, do func(context.Context) (T, error)) (result T, err error) {
	if ctx.Err() != nil {
		return result, &interruption{fmt.Errorf("the run was interrupted: %w", context.Cause(ctx))}
	}
	err = r.Seam.Step(ctx, step, &result, func(ctx context.Context) (err error) {
		result, err = do(ctx)
		return err
	})
	if err != nil && ctx.Err() != nil {
		err = &interruption{err}
	}
	return result, err
}

// interruption is an error that would not have been but for an interruption from outside, as far as
// anybody can tell.
type interruption struct{ error }

func (i *interruption) Unwrap() error { return i.error }
