package command

import (
	"context"
	"slices"
	"strings"

	"github.com/loomrun/loom/effect"
)

// port performs the actions of one run.
type port struct {
	*Binding
	intent effect.Intent
}

// Start gives the revision of the intent, which never changes.
func (p *port) Start(context.Context) (map[string]string, error) {
	return map[string]string{artifact: p.intent.Revision}, nil
}

func (p *port) Performs(action string) bool { return p.programs[action] != "" }

func (p *port) bound(action string) Bound {
	i := slices.IndexFunc(p.file.Bound, func(b Bound) bool { return b.Action == action })
	return p.file.Bound[i]
}

func (p *port) Arguments(action string) string {
	if s := p.bound(action).Arguments; s != nil {
		return s.text
	}
	return anyObject
}

func (p *port) CheckArguments(action, arguments string) string {
	s := p.bound(action).Arguments
	if s == nil {
		return ""
	}
	if wrong := s.check(arguments); wrong != "" {
		return "the arguments do not fit " + action + ": " + wrong
	}
	return ""
}

// Reach says with what rights the program of an action runs (D18).
func (p *port) Reach(action string) string {
	bound := p.bound(action)
	runs := "runs " + p.programs[action]
	if bound.Confine == nil {
		return runs + ", unconfined: it may read, change and send whatever you may"
	}
	reach := runs + ", confined: it may read the files of " + p.where.Folder + " and of the system, change "
	if len(bound.Confine.Write) == 0 {
		reach += "nothing"
	} else {
		reach += strings.Join(bound.Confine.Write, ", ")
	}
	if bound.Confine.Network {
		return reach + ", and send what it can read to anybody it can connect to"
	}
	return reach + ", and use no network"
}
