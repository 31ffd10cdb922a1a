package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/process"
	"github.com/loomrun/loom/sandbox"
)

// maxStderr is how much of the end of standard error is kept.
const maxStderr = 8 << 10

// Perform starts the program of an action, once, and waits for it. A program that ends badly has refused; an error
// means that it ended well and its report cannot be used, or that its end is not known, so that what it did is not
// known either (D15).
func (p *port) Perform(ctx context.Context, r effect.Request) (effect.Report, error) {
	if refused := p.CheckArguments(r.Action, r.Arguments); refused != "" {
		return effect.Report{Refused: refused}, nil
	}
	ended, err := p.start(ctx, p.bound(r.Action), r.Arguments)
	refusal, unconfined := errors.AsType[*sandbox.Refusal](err)
	switch {
	case err != nil && ctx.Err() != nil:
		return effect.Report{}, err
	case unconfined && !ended.began:
		return effect.Report{Unconfined: refusal.Error()}, nil
	case err != nil && !ended.began:
		return effect.Report{Refused: "the program was not started: " + err.Error()}, nil
	case errors.Is(err, context.DeadlineExceeded):
		return effect.Report{Refused: fmt.Sprintf("the program was killed after %d s", int(p.file.Timeout.Seconds()))}, nil
	case err != nil:
		return effect.Report{}, fmt.Errorf("the program was started, and what it did is not known: %w", err)
	case ended.result.ExitCode != 0:
		refused := "the program ended with " + ended.result.Status
		if end := tail(ended.result.Stderr); end != "" {
			refused += ":\n" + end
		}
		return effect.Report{Refused: refused}, nil
	}
	report, err := readReport(ended.result.Stdout, ended.result.StdoutExceeded)
	if err != nil {
		return effect.Report{}, fmt.Errorf("the program ended well, and what it did is not known: %w", err)
	}
	return effect.Report{Text: canonjson.Compact(report), Source: source, Subject: artifact, Observation: observation(report, ended.confinement)}, nil
}

// end is how a program ended.
type end struct {
	result      process.Result
	confinement document.Value // what was applied, or "none"
	began       bool           // the program was started, so it may have done something
}

// start starts a program and waits for it.
func (p *port) start(ctx context.Context, bound Bound, arguments string) (end, error) {
	c := process.Command{
		Path: p.programs[bound.Action], Args: bound.Argv[1:], Dir: p.where.Folder, Env: p.where.environment(),
		Stdin: []byte(arguments), MaxStdout: MaxReportBytes, MaxStderr: maxStderr,
	}
	if bound.Confine != nil {
		result, applied, err := sandbox.Run(ctx, p.spec(bound, c))
		return end{result, applied.Document(), len(applied.Namespaces) > 0}, err
	}
	ended := end{confinement: document.TextOf("none")}
	c.Started = func(int) error {
		ended.began = true
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, p.file.Timeout)
	defer cancel()
	var err error
	ended.result, err = process.Run(ctx, c)
	return ended, err
}

// spec says how a program is confined.
func (b *Binding) spec(bound Bound, c process.Command) sandbox.Spec {
	limits := sandbox.DefaultLimits
	limits.Time = b.file.Timeout
	return sandbox.Spec{
		Command: c, Work: b.where.Folder, Home: b.where.Home, Write: bound.Confine.Write, Network: bound.Confine.Network,
		Read: []sandbox.Root{{Host: c.Path}}, Limits: limits,
	}
}
