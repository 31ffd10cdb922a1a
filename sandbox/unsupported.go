//go:build !linux

package sandbox

import (
	"context"
	"runtime"

	"github.com/loomrun/loom/internal/process"
)

// Run refuses: confinement is for Linux.
func Run(context.Context, Spec) (process.Result, Applied, error) {
	return process.Result{}, Applied{}, refuse(NamespacesUnavailable, "confinement needs Linux, and this is %s", runtime.GOOS)
}

// Check refuses as Run does.
func Check(ctx context.Context, s Spec) (Applied, error) {
	_, a, err := Run(ctx, s)
	return a, err
}
