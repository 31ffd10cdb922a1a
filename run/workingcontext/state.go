package workingcontext

import (
	"maps"
	"slices"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
)

const (
	maxRecentArtifacts = 8
	maxReasonBytes     = 1024 // of a refusal in the state; its event has all of it
)

// state is the working state of 7.6. It follows from the revisions that effects reported and from the
// refusals of this program, never from a text, so whatever a file or a model says changes nothing.
// What the tests of a software change say of the revision joins it with the effect that runs them.
type state struct {
	latest  string // a revision; empty when there is none, or none that is the one
	refusal *refusal
	moved   []artifact // the last ones, the latest last
}

type refusal struct{ action, reason string }

type artifact struct{ id, revision string }

func (s *state) observe(step Step) {
	if !step.Performed {
		s.refusal = &refusal{step.Action, step.Refused}
		return
	}
	if len(step.Moved) == 0 {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(step.Moved)) {
		s.moved = slices.DeleteFunc(s.moved, func(a artifact) bool { return a.id == id })
		s.moved = append(s.moved, artifact{id, step.Moved[id]})
	}
	s.moved = s.moved[max(len(s.moved)-maxRecentArtifacts, 0):]
	// Where an effect moved several artifacts the report's own is meant; without one there is no
	// saying which revision is the latest.
	s.latest = step.Moved[step.Subject]
	if len(step.Moved) == 1 {
		s.latest = s.moved[len(s.moved)-1].revision
	}
}

// json gives the state on one line, with what there is; empty when there is nothing.
func (s *state) json() string {
	var members []document.Member
	text := func(name, text string, limit int) document.Member {
		return document.M(name, document.TextOf(cut(text, limit)))
	}
	if s.latest != "" {
		members = append(members, text("latest_revision", s.latest, maxNameBytes))
	}
	if s.refusal != nil {
		members = append(members, document.M("latest_refusal", document.MapOf(
			text("action", s.refusal.action, maxNameBytes), text("reason", s.refusal.reason, maxReasonBytes))))
	}
	if len(s.moved) > 0 {
		var list []document.Value
		for _, a := range s.moved {
			list = append(list, document.MapOf(text("artifact", a.id, maxNameBytes), text("revision", a.revision, maxNameBytes)))
		}
		members = append(members, document.M("recent_artifacts", document.ListOf(list...)))
	}
	if members == nil {
		return ""
	}
	return canonjson.Compact(document.MapOf(members...))
}
