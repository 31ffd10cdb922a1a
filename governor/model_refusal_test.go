package governor_test

import (
	"slices"

	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/protocol"
)

// refusal gives the code of the first fault in the order of 4.9, or nothing. The outcomes are those of
// the decision that there would be.
func (m model) refusal(outcomes document.Value) string {
	faults := []string{m.snapshotFault()}
	for i := range m.Evidence {
		faults = append(faults, m.recordFault(i))
	}
	faults = append(faults, m.authorityFault())
	if _, ok := instant(m.At.Text); m.At.Kind != document.Null && !ok {
		faults = append(faults, "invalid-instant")
	}
	faults = append(faults, m.decisionsFault())
	for _, r := range m.Evidence {
		if !declared(m.p.Artifacts, func(a protocol.Artifact) string { return a.ID }, text(r, "subject")) {
			faults = append(faults, "undeclared-artifact")
		}
	}
	faults = append(faults, m.endFault(outcomes))
	return append(matching(faults, func(code string) bool { return code != "" }), "")[0]
}

func (m model) snapshotFault() string {
	artifacts, inputs := optional(m.Snapshot, "artifacts"), optional(m.Snapshot, "inputs")
	ids := []string{text(m.Snapshot, "id"), text(m.Snapshot, "protocol")}
	if revision, ok := m.Snapshot.Get("revision"); ok {
		ids = append(ids, revision.Text)
	}
	for _, a := range artifacts.Members {
		ids = append(ids, a.Name, text(a.Value, "revision"))
	}
	switch {
	case text(m.Snapshot, "format") != "canon-case/1":
		return "unsupported-format"
	case !identifiers(ids...):
		return "invalid-identifier"
	case text(m.Snapshot, "protocol") != m.p.ID:
		return "malformed-input" // D25
	}
	for _, a := range artifacts.Members {
		if !declared(m.p.Artifacts, func(a protocol.Artifact) string { return a.ID }, a.Name) {
			return "undeclared-artifact"
		}
	}
	if len(artifacts.Members) < len(m.p.Artifacts) {
		return "malformed-input" // D25
	}
	// 2.12 names no code for case inputs, and 4.9 has only one that fits.
	if len(inputs.Members) != len(m.p.Inputs) {
		return "malformed-input"
	}
	for _, in := range m.p.Inputs {
		if !slices.Contains(in.Values, text(inputs, in.ID)) {
			return "malformed-input"
		}
	}
	return ""
}

func (m model) recordFault(i int) string {
	r := m.Evidence[i]
	ids := []string{text(r, "id"), text(r, "kind"), text(r, "subject"), text(r, "subject_revision")}
	for _, upstream := range optional(r, "upstream_revisions").Members {
		ids = append(ids, upstream.Name, upstream.Value.Text)
	}
	observed, given := r.Get("observed_at")
	_, real := instant(observed.Text)
	switch {
	case text(r, "format") != "canon-evidence/1":
		return "unsupported-format"
	case !identifiers(ids...):
		return "invalid-identifier"
	case given && !real:
		return "invalid-instant"
	case slices.ContainsFunc(m.Evidence[:i], func(q document.Value) bool { return text(q, "id") == text(r, "id") }):
		return "duplicate-identifier"
	case !declared(m.p.EvidenceKinds, func(k protocol.EvidenceKind) string { return k.ID }, text(r, "kind")):
		return "undeclared-evidence-kind"
	}
	return ""
}

func (m model) authorityFault() string {
	var names []string
	for _, a := range m.Authority.Items {
		names = append(names, text(a, "capability"))
	}
	switch {
	case slices.ContainsFunc(m.Authority.Items, func(a document.Value) bool {
		return text(a, "decision") != "granted" && text(a, "decision") != "denied"
	}):
		return "malformed-input"
	case !identifiers(names...):
		return "invalid-identifier"
	case repeats(names):
		return "duplicate-identifier"
	}
	return ""
}

func (m model) decisionsFault() string {
	var ids, whole []string
	for _, d := range m.Decisions.Items {
		ids = append(ids, text(d, "decision"), text(d, "outcome"), text(d, "principal"), text(d, "case_revision"))
		whole = append(whole, canonical(d))
	}
	switch {
	case !identifiers(ids...):
		return "invalid-identifier"
	case repeats(whole):
		return "duplicate-identifier"
	}
	return ""
}

// endFault is the last step of 4.9: the outcomes that termination and decisions name.
func (m model) endFault(outcomes document.Value) string {
	name := func(o protocol.Outcome) string { return o.ID }
	termination, terminated := m.Snapshot.Get("termination")
	undeclared := terminated && !declared(m.p.Outcomes, name, termination.Text)
	astray := false
	for _, d := range m.Decisions.Items {
		undeclared = undeclared || !declared(m.p.Outcomes, name, text(d, "outcome"))
		for _, o := range m.p.Outcomes {
			astray = astray || o.ID == text(d, "outcome") && o.Decision != text(d, "decision")
		}
	}
	switch {
	case undeclared:
		return "undeclared-outcome"
	case astray:
		return "undeclared-decision"
	case terminated && text(outcomes, termination.Text, "status") != "legitimate":
		return "illegitimate-termination"
	}
	return ""
}
