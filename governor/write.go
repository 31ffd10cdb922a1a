package governor

import (
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
)

// The documents of evaluation, as trees. Their maps are written in canonical order as long as their
// lists are in the protocol's.

// document gives the snapshot as canon-case/1.
func (s *Snapshot) document() document.Value {
	v := document.MapOf(
		document.M("artifacts", revisionsOf(s.Artifacts, func(revision string) document.Value {
			return document.MapOf(document.M("revision", document.TextOf(revision)))
		})),
		document.M("format", document.TextOf(CaseFormat)),
		document.M("id", document.TextOf(s.ID)))
	if s.Inputs != nil {
		inputs := document.MapOf()
		for _, in := range s.Inputs {
			inputs.Members = append(inputs.Members, document.M(in.Input, document.TextOf(in.Value)))
		}
		v.Members = append(v.Members, document.M("inputs", inputs))
	}
	v.Members = append(v.Members, document.M("protocol", document.TextOf(s.Protocol)))
	v.Members = appendText(v.Members, "revision", s.Revision)
	v.Members = appendText(v.Members, "termination", s.Termination)
	return v
}

// JSON gives the record as a canon-evidence/1 document on one line, such as [Governor.Evidence] takes.
func (r Record) JSON() []byte { return canonjson.AppendCompact(nil, r.document()) }

func (r Record) document() document.Value {
	v := document.MapOf(
		document.M("format", document.TextOf(EvidenceFormat)),
		document.M("id", document.TextOf(r.ID)),
		document.M("kind", document.TextOf(r.Kind)))
	v.Members = appendText(v.Members, "observed_at", r.ObservedAt)
	v.Members = appendText(v.Members, "result", r.Result)
	v.Members = append(v.Members,
		document.M("subject", document.TextOf(r.Subject)),
		document.M("subject_revision", document.TextOf(r.SubjectRevision)))
	if r.UpstreamRevisions != nil {
		v.Members = append(v.Members, document.M("upstream_revisions", revisionsOf(r.UpstreamRevisions, document.TextOf)))
	}
	return v
}

func revisionsOf(revisions []ArtifactRevision, show func(revision string) document.Value) document.Value {
	v := document.MapOf()
	for _, r := range revisions {
		v.Members = append(v.Members, document.M(r.Artifact, show(r.Revision)))
	}
	return v
}

func (a Authority) document() document.Value {
	decision := "denied"
	if a.Granted {
		decision = "granted"
	}
	return document.MapOf(document.M("capability", document.TextOf(a.Capability)), document.M("decision", document.TextOf(decision)))
}

func (d ExplicitDecision) document() document.Value {
	return document.MapOf(
		document.M("case_revision", document.TextOf(d.CaseRevision)),
		document.M("decision", document.TextOf(d.Decision)),
		document.M("outcome", document.TextOf(d.Outcome)),
		document.M("principal", document.TextOf(d.Principal)))
}

func appendText(members []document.Member, name string, text *string) []document.Member {
	if text == nil {
		return members
	}
	return append(members, document.M(name, document.TextOf(*text)))
}
