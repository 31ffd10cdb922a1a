// Package command binds the actions of a protocol to a person's own programs (governed-runs 6.4, D14 to D16).
//
// A [File] says which program performs which action. [Bind] checks it against the catalog and finds the programs;
// what it gives is an [effect.Binding]. An admitted action starts its program once: directly, with its arguments as
// JSON on standard input, an empty environment but for PATH, in the current folder. What the program prints is its
// report, and evidence is in it only where the protocol lets the action produce it.
package command

import (
	"context"
	"fmt"
	"slices"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/internal/process"
	"github.com/loomrun/loom/protocol"
	"github.com/loomrun/loom/sandbox"
)

// artifact is the one artifact of a protocol that can be bound: the request as it was given.
const artifact = "intent"

// Binding performs the actions of one definition by programs. It is safe for use by several goroutines.
type Binding struct {
	file     *File
	protocol *protocol.Protocol
	where    Where
	programs map[string]string // the executable of each action, absolute
}

// Bind checks a bindings file against a catalog and finds its programs. Nothing is started. The error is the first
// problem there is, as one line.
func Bind(f *File, c catalog.Catalog, where Where) (*Binding, error) {
	entry, known := c.Get(f.Protocol)
	switch {
	case !known:
		return nil, fmt.Errorf("the catalog holds no %s", f.Protocol)
	case entry.Source.Bundled():
		return nil, fmt.Errorf("%s is bundled; only an installed protocol can be bound to commands", f.Protocol)
	}
	p := entry.Protocol()
	if len(p.Artifacts) != 1 || p.Artifacts[0].ID != artifact {
		return nil, fmt.Errorf("%s declares other artifacts than %s alone, so no command can be bound to it", f.Protocol, artifact)
	}
	if len(p.Inputs) > 0 {
		return nil, fmt.Errorf("%s declares the case input %s, so no command can be bound to it", f.Protocol, p.Inputs[0].ID)
	}
	b := &Binding{f, p, where, map[string]string{}}
	for _, bound := range f.Bound {
		if !slices.ContainsFunc(p.Actions, func(a protocol.Action) bool { return a.ID == bound.Action }) {
			return nil, fmt.Errorf("%s declares no action %s", f.Protocol, bound.Action)
		}
		program, err := where.find(bound.Argv[0])
		if err != nil {
			return nil, fmt.Errorf("the action %s: %w", bound.Action, err)
		}
		b.programs[bound.Action] = program
	}
	return b, b.checkPrograms()
}

// checkPrograms refuses a program that another could replace: one in a folder that a confined program may write. What
// runs confined today would choose what runs with all of the person's rights tomorrow.
func (b *Binding) checkPrograms() error {
	for _, writer := range b.file.Bound {
		if writer.Confine == nil {
			continue
		}
		for _, folder := range writer.Confine.Write {
			for _, bound := range b.file.Bound {
				if b.where.holds(folder, b.programs[bound.Action]) {
					return fmt.Errorf("the action %s: its program lies in %s, which the program of %s may write; keep programs elsewhere", bound.Action, folder, writer.Action)
				}
			}
		}
	}
	return nil
}

// Name gives "bound commands".
func (b *Binding) Name() string { return "bound commands" }

// SHA256 gives the digest of the bindings file.
func (b *Binding) SHA256() string { return b.file.SHA256 }

// Serves tells whether p is the definition that the file names.
func (b *Binding) Serves(p *protocol.Protocol) bool {
	return p.ID == b.protocol.ID && p.Revision == b.protocol.Revision && p.SameRules(b.protocol)
}

// Lacks names the first action, in id order, that no command is bound to.
func (b *Binding) Lacks(p *protocol.Protocol) string {
	for _, a := range p.Actions {
		if b.programs[a.ID] == "" {
			return "no command is bound to " + a.ID
		}
	}
	return ""
}

// Unconfined tells whether some program would run with all of the person's rights.
func (b *Binding) Unconfined() bool {
	return slices.ContainsFunc(b.file.Bound, func(bound Bound) bool { return bound.Confine == nil })
}

// CheckConfinement makes the sandbox of each program that is to be confined, and starts nothing in it: what it refuses
// would be refused in the midst of a run. The error may be a *sandbox.Refusal.
func (b *Binding) CheckConfinement(ctx context.Context) error {
	for _, bound := range b.file.Bound {
		if bound.Confine == nil {
			continue
		}
		c := process.Command{Path: b.programs[bound.Action], Dir: b.where.Folder}
		if _, err := sandbox.Check(ctx, b.spec(bound, c)); err != nil {
			return err
		}
	}
	return nil
}

// Open makes the port of one run.
func (b *Binding) Open(intent effect.Intent) effect.Port { return &port{b, intent} }
