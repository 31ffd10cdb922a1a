package run

import (
	"context"
	"fmt"
)

// Seam is where a run touches the world: everything that leaves the process, reads a clock or is
// random goes through Step. A run is a deterministic function of its intent, its options and the
// results of its steps, so a seam that keeps results can record a run, and one that gives kept
// results back can replay it (DESIGN, "How an intent flows").
//
// Its steps are "run id", "start" (of the effect port), "clock", "model:PHASE", "propose" (by an
// [Executor]), "authority:CAPABILITY" and "effect:ACTION".
type Seam interface {
	// Step does one thing, at most once, and leaves its outcome in result, a pointer to a value that
	// survives JSON. Names repeat: a step is told apart by its place in the order of steps. An error
	// ends the run, and of it only the text counts, so one that is given back need be no more.
	Step(ctx context.Context, name string, result any, do func(context.Context) error) error
}

// Direct is the seam that keeps nothing.
type Direct struct{}

// Step does the thing.
func (Direct) Step(ctx context.Context, _ string, _ any, do func(context.Context) error) error {
	return do(ctx)
}

// outside has one thing done through the seam. Once the run is interrupted nothing more is begun.
func outside[T any](ctx context.Context, r *runner, name string, do func(context.Context) (T, error)) (result T, err error) {
	if ctx.Err() != nil {
		return result, fmt.Errorf("the run was interrupted: %w", context.Cause(ctx))
	}
	err = r.Seam.Step(ctx, name, &result, func(ctx context.Context) (err error) {
		result, err = do(ctx)
		return err
	})
	return result, err
}
