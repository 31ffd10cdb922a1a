package governor_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/protocol"
)

// sections leaves what the model gives of a decision.
func sections(d *governor.Decision) string {
	v := d.Document()
	for _, name := range []string{"format", "case", "protocol", "protocol_revision", "explanation"} {
		v = without(v, name)
	}
	return canonical(v)
}

func shown(in governor.Documents) string {
	return canonical(obj("case", in.Snapshot, "evidence", in.Evidence, "authority", in.Authority, "decisions", in.Decisions, "at", in.At))
}

// The governor decides as the reference model does, or refuses with the same code.
func TestGovernorAgreesWithTheModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		t := drawn{rt}
		p := t.protocol()
		in := t.documents(p)
		want, code := model{p, in}.decide()
		got, refused := governor.Prepare(p).EvaluateDocuments(in)
		switch {
		case refused == nil && code == "":
			if diff := cmp.Diff(canonical(want), sections(got)); diff != "" {
				rt.Fatalf("%s\n%s\n(-model +governor)\n%s", p.NormalForm(), shown(in), diff)
			}
		case refused == nil || string(refused.Code) != code:
			rt.Fatalf("%s\n%s\nmodel %q, governor %v", p.NormalForm(), shown(in), code, refused)
		}
	})
}

// checkDecisions draws requests that get a decision and checks something of each.
func checkDecisions(t *testing.T, check func(t drawn, rules *governor.Rules, in governor.Documents, d *governor.Decision)) {
	rapid.Check(t, func(rt *rapid.T) {
		t := drawn{rt}
		rules := governor.Prepare(t.protocol())
		in := t.documents(rules.Protocol())
		d, refused := rules.EvaluateDocuments(in)
		if refused != nil {
			t.SkipNow()
		}
		check(t, rules, in, d)
	})
}

// No order in which a request is written shows in the decision.
func TestOrderOfInputNeverShows(t *testing.T) {
	checkDecisions(t, func(t drawn, rules *governor.Rules, in governor.Documents, d *governor.Decision) {
		shuffled := in
		shuffled.Evidence = t.shuffled(document.ListOf(in.Evidence...)).Items
		shuffled.Authority, shuffled.Decisions = t.shuffled(in.Authority), t.shuffled(in.Decisions)
		shuffled.Snapshot = t.shuffled(in.Snapshot)
		again, refused := rules.EvaluateDocuments(shuffled)
		if refused != nil {
			t.Fatal(refused)
		}
		if diff := cmp.Diff(string(d.Bytes()), string(again.Bytes())); diff != "" {
			t.Fatalf("%s\n%s\n(-before +after)\n%s", shown(in), shown(shuffled), diff)
		}
	})
}

// shuffled changes the order of a list, or of a map and the maps in it.
func (t drawn) shuffled(v document.Value) document.Value {
	if v.Kind == document.List {
		v.Items = rapid.Permutation(v.Items).Draw(t.T, "items")
	}
	if v.Kind == document.Map {
		v.Members = rapid.Permutation(v.Members).Draw(t.T, "members")
		for i := range v.Members {
			v.Members[i].Value = t.shuffled(v.Members[i].Value)
		}
	}
	return v
}

// A request of values and the same request of documents get the same decision.
func TestValuesAndDocumentsAreDecidedAlike(t *testing.T) {
	checkDecisions(t, func(t drawn, rules *governor.Rules, in governor.Documents, d *governor.Decision) {
		again, refused := rules.Evaluate(request(in))
		if refused != nil {
			t.Fatal(refused)
		}
		if diff := cmp.Diff(string(d.Bytes()), string(again.Bytes())); diff != "" {
			t.Fatalf("%s\n(-documents +values)\n%s", shown(in), diff)
		}
	})
}

// request gives well-formed documents as values.
func request(in governor.Documents) governor.Request {
	optionalText := func(v document.Value, name string) *string {
		if m, given := v.Get(name); given {
			return &m.Text
		}
		return nil
	}
	r := governor.Request{Snapshot: governor.Snapshot{
		ID: text(in.Snapshot, "id"), Protocol: text(in.Snapshot, "protocol"),
		Revision: optionalText(in.Snapshot, "revision"), Termination: optionalText(in.Snapshot, "termination"),
	}}
	for _, m := range optional(in.Snapshot, "artifacts").Members {
		r.Snapshot.Artifacts = append(r.Snapshot.Artifacts, governor.ArtifactRevision{Artifact: m.Name, Revision: text(m.Value, "revision")})
	}
	for _, m := range optional(in.Snapshot, "inputs").Members {
		r.Snapshot.Inputs = append(r.Snapshot.Inputs, governor.InputValue{Input: m.Name, Value: m.Value.Text})
	}
	for _, v := range in.Evidence {
		record := governor.Record{
			ID: text(v, "id"), Kind: text(v, "kind"), Result: optionalText(v, "result"),
			Subject: text(v, "subject"), SubjectRevision: text(v, "subject_revision"), ObservedAt: optionalText(v, "observed_at"),
		}
		for _, m := range optional(v, "upstream_revisions").Members {
			record.UpstreamRevisions = append(record.UpstreamRevisions, governor.ArtifactRevision{Artifact: m.Name, Revision: m.Value.Text})
		}
		r.Evidence = append(r.Evidence, record)
	}
	if in.Authority.Kind == document.List {
		r.Authority = []governor.Authority{}
	}
	for _, v := range in.Authority.Items {
		r.Authority = append(r.Authority, governor.Authority{Capability: text(v, "capability"), Granted: text(v, "decision") == "granted"})
	}
	if in.Decisions.Kind == document.List {
		r.Decisions = []governor.ExplicitDecision{}
	}
	for _, v := range in.Decisions.Items {
		r.Decisions = append(r.Decisions, governor.ExplicitDecision{
			Decision: text(v, "decision"), Outcome: text(v, "outcome"), Principal: text(v, "principal"), CaseRevision: text(v, "case_revision"),
		})
	}
	if in.At.Kind == document.Text {
		r.At = &in.At.Text
	}
	return r
}

// The tree of a decision has its maps in canonical order, so that its compact form is as fixed as the
// canonical one.
func TestDecisionTreeIsInCanonicalOrder(t *testing.T) {
	checkDecisions(t, func(t drawn, _ *governor.Rules, _ governor.Documents, d *governor.Decision) {
		read, err := strictjson.Parse(d.Bytes(), strictjson.MaxDepth)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(canonjson.Compact(read), canonjson.Compact(d.Document())); diff != "" {
			t.Fatalf("(-canonical +tree)\n%s", diff)
		}
	})
}

// Everything that an explanation says of a claim is explained there, nothing is said of nothing, and
// evidence is in the order of its ids (4.8).
func TestExplanationIsComplete(t *testing.T) {
	checkDecisions(t, func(t drawn, rules *governor.Rules, in governor.Documents, d *governor.Decision) {
		v := d.Document()
		explanation := optional(v, "explanation")
		explained := optional(explanation, "claims")
		for _, part := range []string{"claims", "obligations", "actions", "outcomes"} {
			entries, written := explanation.Get(part)
			if written && len(entries.Members) == 0 {
				t.Errorf("%s is written and empty", part)
			}
			for _, entry := range entries.Members {
				because := optional(entry.Value, "because").Items
				if len(because) == 0 && !settledByItself(rules, entry.Name, part) {
					t.Errorf("%s %s has no because", part, entry.Name)
				}
				for _, cited := range because {
					if claim, ok := cited.Get("claim"); ok && text(explained, claim.Text, "value") == "" {
						t.Errorf("%s %s cites claim %s, which is not explained", part, entry.Name, claim.Text)
					}
				}
			}
		}
		for _, c := range d.Claims {
			if c.Value != "true" && text(explained, c.Claim, "value") != string(c.Value) {
				t.Errorf("claim %s is %s and not explained", c.Claim, c.Value)
			}
		}
		computed := optional(optional(explanation, "computed_from"), "evidence").Items
		if len(computed) != len(in.Evidence) || !slices.IsSortedFunc(computed, func(a, b document.Value) int { return strings.Compare(a.Text, b.Text) }) {
			t.Errorf("computed from %s", canonjson.Compact(val(computed)))
		}
		if t.Failed() {
			t.Logf("%s\n%s\n%s", rules.Protocol().NormalForm(), shown(in), canonical(v))
		}
	})
}

// settledByItself tells a claim that rests on nothing: its value is in its rule alone.
func settledByItself(rules *governor.Rules, claim, part string) bool {
	if part != "claims" {
		return false
	}
	return !slices.ContainsFunc(leaves(model{p: rules.Protocol()}.rule(claim)), func(p *protocol.Predicate) bool { return p.Form != protocol.OfInput })
}
