package governor

import (
	"slices"

	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/protocol"
)

// Documents is a request whose parts are still documents: canon-case/1, canon-evidence/1 and lists
// of authority and decisions, read from JSON or YAML. Zero Values of Authority, Decisions and At are
// parts that were not given; a null that was read from a text is none, and is refused.
type Documents struct {
	Snapshot  document.Value
	Evidence  []document.Value
	Authority document.Value
	Decisions document.Value
	At        document.Value
}

// EvaluateDocuments is Evaluate for a request that has yet to be read. A part that cannot be read is
// refused in its turn (4.9).
func (r *Rules) EvaluateDocuments(d Documents) (*Decision, *Refusal) {
	return r.evaluate(untyped{&d}, false)
}

// untyped reads the parts of a request when they are asked for.
type untyped struct{ *Documents }

func (u untyped) snapshot() (Snapshot, *Refusal) {
	f := fields{part: SnapshotPart}
	s := f.snapshot(u.Snapshot)
	return s, f.refusal
}

func (u untyped) records() int { return len(u.Evidence) }

func (u untyped) record(i int) (Record, *Refusal) {
	f := fields{part: EvidencePart}
	record := f.record(u.Evidence[i])
	return record, f.refusal
}

func (u untyped) authority() ([]Authority, *Refusal) {
	if absent(u.Authority) {
		return nil, nil
	}
	f := fields{part: AuthorityPart}
	items := f.list(u.Authority, "authority")
	all := make([]Authority, 0, len(items))
	for _, v := range items {
		f.only(v, "an authority decision", "capability", "decision")
		a := Authority{Capability: f.text(v, "capability")}
		switch f.text(v, "decision") {
		case "granted":
			a.Granted = true
		case "denied":
		default:
			f.refuse(protocol.MalformedInput, "the decision about a capability is granted or denied")
		}
		all = append(all, a)
	}
	return all, f.refusal
}

func (u untyped) instant() (*string, *Refusal) {
	if absent(u.At) {
		return nil, nil
	}
	f := fields{part: TimePart}
	text := f.isText(u.At, "the evaluation instant")
	return &text, f.refusal
}

func (u untyped) decisions() ([]ExplicitDecision, *Refusal) {
	if absent(u.Decisions) {
		return nil, nil
	}
	f := fields{part: DecisionsPart}
	items := f.list(u.Decisions, "decisions")
	all := make([]ExplicitDecision, 0, len(items))
	for _, v := range items {
		f.only(v, "a decision", "decision", "outcome", "principal", "case_revision")
		all = append(all, ExplicitDecision{f.text(v, "decision"), f.text(v, "outcome"), f.text(v, "principal"), f.text(v, "case_revision")})
	}
	return all, f.refusal
}

// absent tells a part that was not given.
func absent(v document.Value) bool {
	return v.Kind == document.Null && v.Place == document.Place{}
}

// fields decodes documents. The first thing that is wrong stays in refusal, and what is decoded
// afterwards means nothing.
type fields struct {
	part    Part
	refusal *Refusal
}

func (f *fields) refuse(code protocol.Code, format string, args ...any) {
	if f.refusal == nil {
		f.refusal = refuse(f.part, code, format, args...)
	}
}

func (f *fields) snapshot(v document.Value) Snapshot {
	f.only(v, "the snapshot", "format", "id", "protocol", "artifacts", "revision", "termination", "inputs")
	format := f.text(v, "format")
	s := Snapshot{
		ID:          f.text(v, "id"),
		Protocol:    f.text(v, "protocol"),
		Revision:    f.optional(v, "revision"),
		Termination: f.optional(v, "termination"),
	}
	artifacts := f.member(v, "artifacts")
	f.isMap(artifacts, "artifacts")
	for _, m := range artifacts.Members {
		f.only(m.Value, "an artifact", "revision")
		s.Artifacts = append(s.Artifacts, ArtifactRevision{m.Name, f.text(m.Value, "revision")})
	}
	if inputs, given := v.Get("inputs"); given {
		f.isMap(inputs, "inputs")
		s.Inputs = make([]InputValue, 0, len(inputs.Members))
		for _, m := range inputs.Members {
			s.Inputs = append(s.Inputs, InputValue{m.Name, f.isText(m.Value, "a case input")})
		}
	}
	f.format(format, CaseFormat)
	return s
}

func (f *fields) record(v document.Value) Record {
	f.only(v, "a record", "format", "id", "kind", "result", "subject", "subject_revision", "observed_at", "upstream_revisions")
	format := f.text(v, "format")
	record := Record{
		ID:              f.text(v, "id"),
		Kind:            f.text(v, "kind"),
		Result:          f.optional(v, "result"),
		Subject:         f.text(v, "subject"),
		SubjectRevision: f.text(v, "subject_revision"),
		ObservedAt:      f.optional(v, "observed_at"),
	}
	if upstream, given := v.Get("upstream_revisions"); given {
		f.isMap(upstream, "upstream_revisions")
		for _, m := range upstream.Members {
			record.UpstreamRevisions = append(record.UpstreamRevisions, ArtifactRevision{m.Name, f.isText(m.Value, "an upstream revision")})
		}
	}
	f.format(format, EvidenceFormat)
	return record
}

// format comes after the shape: what cannot be read has no format to speak of (4.9).
func (f *fields) format(got, want string) {
	if got != want {
		f.refuse(protocol.UnsupportedFormat, "the format is %q; this version reads %q", got, want)
	}
}

// only checks that v is a map with known members, none twice.
func (f *fields) only(v document.Value, what string, known ...string) {
	f.isMap(v, what)
	for _, m := range v.Members {
		if !slices.Contains(known, m.Name) {
			f.refuse(protocol.MalformedInput, "%s has no member %q", what, m.Name)
		}
	}
}

func (f *fields) isMap(v document.Value, what string) {
	if v.Kind != document.Map {
		f.refuse(protocol.MalformedInput, "%s must be a map, not %s", what, v.Kind)
	}
	if twice, repeated := v.RepeatedMember(); repeated {
		f.refuse(protocol.MalformedInput, "%s has the member %q twice", what, twice.Name)
	}
}

func (f *fields) list(v document.Value, what string) []document.Value {
	if v.Kind != document.List {
		f.refuse(protocol.MalformedInput, "%s must be a list, not %s", what, v.Kind)
	}
	return v.Items
}

func (f *fields) isText(v document.Value, what string) string {
	if v.Kind != document.Text {
		f.refuse(protocol.MalformedInput, "%s must be text, not %s", what, v.Kind)
	}
	return v.Text
}

// member takes a member that must be there.
func (f *fields) member(v document.Value, name string) document.Value {
	m, given := v.Get(name)
	if !given {
		f.refuse(protocol.MalformedInput, "%s is missing", name)
	}
	return m
}

// text takes a text that must be there.
func (f *fields) text(v document.Value, name string) string {
	return f.isText(f.member(v, name), name)
}

func (f *fields) optional(v document.Value, name string) *string {
	m, given := v.Get(name)
	if !given {
		return nil
	}
	text := f.isText(m, name)
	return &text
}
