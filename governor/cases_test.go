package governor_test

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/protocol"
)

const caseProtocol = `
format: protocol/1
protocol: {id: p, revision: 1}
case: {inputs: {season: {values: [dry, wet]}}}
artifacts: {a: {}, b: {}}
evidence_kinds: {k: {max_age: 1h}, other: {}}
claims:
  c: {true_when: {evidence: {kind: k, subject: a}}}
  o: {true_when: {evidence: {kind: other}}}
obligations: {owed: {discharged_when: {claim: c}}}
actions:
  act: {description: to act, effect: write, precondition: {claim: c}, requires: [{capability: cap}]}
  look: {}
outcomes:
  done: {requires: {claim: c}}
  over: {requires: {claim: o}}
`

// house is a governor with one definition, p@1, and what cases of it open with.
func house(t testing.TB) (*governor.Governor, governor.Opening) {
	t.Helper()
	g, err := governor.New(governor.Definition{Name: "p@1", SHA256: "aa", Rules: prepare(t, []byte(caseProtocol))})
	if err != nil {
		t.Fatal(err)
	}
	return g, governor.Opening{Revisions: map[string]string{"a": "v1", "b": "v1"}, Inputs: map[string]string{"season": "dry"}}
}

func open(t testing.TB, g *governor.Governor, opening governor.Opening) string {
	t.Helper()
	id, err := g.OpenCase("p@1", opening)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func frontier(t testing.TB, g *governor.Governor, id, at string) governor.Frontier {
	t.Helper()
	f, err := g.Frontier(id, at)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// codeOf gives the code of a case error, and of no error none.
func codeOf(t testing.TB, err error) governor.CaseErrorCode {
	t.Helper()
	var refused *governor.CaseError
	if err != nil && (!errors.As(err, &refused) || !strings.HasPrefix(err.Error(), string(refused.Code)+": ")) {
		t.Errorf("%v is no case error", err)
	}
	if refused == nil {
		return ""
	}
	return refused.Code
}

func TestOpeningErrors(t *testing.T) { // 4.11
	g, valid := house(t)
	taken := valid
	taken.ID = "taken"
	open(t, g, taken)
	change := func(revisions, inputs map[string]string) governor.Opening {
		o := governor.Opening{Revisions: maps.Clone(valid.Revisions), Inputs: maps.Clone(valid.Inputs)}
		maps.Copy(o.Revisions, revisions)
		maps.Copy(o.Inputs, inputs)
		return o
	}
	called := func(id string) governor.Opening {
		o := valid
		o.ID = id
		return o
	}
	for _, c := range []struct {
		name    string
		opening governor.Opening
		want    governor.CaseErrorCode
	}{
		{"p@1", valid, ""},
		{"p@2", valid, governor.UnknownProtocolError},
		{"p", valid, governor.UnknownProtocolError},
		{"p@1", governor.Opening{Revisions: map[string]string{"a": "v1"}, Inputs: valid.Inputs}, governor.MissingRevisionError},
		{"p@1", change(map[string]string{"moon": "v1"}, nil), governor.UndeclaredArtifactError},
		{"p@1", change(map[string]string{"a": ""}, nil), governor.InvalidRevisionError},
		{"p@1", change(map[string]string{"a": "v 1"}, nil), governor.InvalidRevisionError},
		{"p@1", change(nil, map[string]string{"wind": "dry"}), governor.InvalidInputError},
		{"p@1", change(nil, map[string]string{"season": "dusk"}), governor.InvalidInputError},
		{"p@1", governor.Opening{Revisions: valid.Revisions}, governor.InvalidInputError},
		{"p@1", called("case 1"), governor.InvalidCaseIDError},
		{"p@1", called("case\u200b"), governor.InvalidCaseIDError},
		{"p@1", called("taken"), governor.CaseExistsError},
		{"p@1", called("free"), ""},
	} {
		if _, err := g.OpenCase(c.name, c.opening); codeOf(t, err) != c.want {
			t.Errorf("%s, %+v: got %v, want %q", c.name, c.opening, err, c.want)
		}
	}
}

func TestUnknownCases(t *testing.T) {
	g, _ := house(t)
	calls := map[string]func() error{
		"UpdateRevisions":   func() error { _, err := g.UpdateRevisions("case-1", nil); return err },
		"Revision":          func() error { _, err := g.Revision("case-1"); return err },
		"ArtifactRevisions": func() error { _, err := g.ArtifactRevisions("case-1"); return err },
		"Evidence":          func() error { _, err := g.Evidence("case-1", governor.Received{}); return err },
		"Observe":           func() error { return g.Observe("case-1", governor.Observation{}) },
		"Kept":              func() error { _, _, err := g.Kept("case-1"); return err },
		"Frontier":          func() error { _, err := g.Frontier("case-1", ""); return err },
		"Completion":        func() error { _, _, err := g.Completion("case-1", ""); return err },
	}
	for name, call := range calls {
		if code := codeOf(t, call()); code != governor.UnknownCaseError {
			t.Errorf("%s: got %q", name, code)
		}
	}
}

// 76: authority is asked for one capability at a time. 4.11: the catalog is bound when the governor is made.
func TestDefinitions(t *testing.T) {
	one := prepare(t, []byte(caseProtocol))
	two := prepare(t, []byte("{format: protocol/1, protocol: {id: p, revision: 1}, actions: {act: {requires: [{capability: x}, {capability: y}]}}}"))
	if err := governor.CheckDefinition("p@1", one.Protocol()); err != nil {
		t.Error(err)
	}
	if err := governor.CheckDefinition("p@1", two.Protocol()); err == nil || err.Error() != "p@1: action act requires x and y; at most one capability per action" {
		t.Errorf("got %v", err)
	}
	for _, c := range []struct {
		definitions []governor.Definition
		want        governor.CaseErrorCode
	}{
		{nil, ""},
		{[]governor.Definition{{Name: "p@1", Rules: one}, {Name: "p@2", Rules: one}}, ""},
		{[]governor.Definition{{Name: "p@1", Rules: two}}, governor.InvalidProtocolError},
		{[]governor.Definition{{Name: "p@1", Rules: one}, {Name: "p@1", Rules: one}}, governor.InvalidProtocolError},
	} {
		if _, err := governor.New(c.definitions...); codeOf(t, err) != c.want {
			t.Errorf("%v: got %v, want %q", c.definitions, err, c.want)
		}
	}
	g, _ := house(t)
	for _, c := range []struct {
		name, sha256 string
		want         governor.CaseErrorCode
	}{
		{"p@1", "aa", ""},
		{"p@1", "ab", governor.InvalidProtocolError},
		{"p@1", "", governor.InvalidProtocolError},
		{"p@2", "aa", governor.InvalidProtocolError},
	} {
		if code := codeOf(t, g.ValidateCatalog(c.name, c.sha256)); code != c.want {
			t.Errorf("%s of %q: got %q, want %q", c.name, c.sha256, code, c.want)
		}
	}
}

// case-<n> has the first free number, also where cases were named by hand.
func TestCaseNumbers(t *testing.T) {
	g, opening := house(t)
	var got []string
	for _, id := range []string{"", "case-2", "case-4", "", "other", "", ""} {
		opening.ID = id
		got = append(got, open(t, g, opening))
	}
	if want := []string{"case-1", "case-2", "case-4", "case-3", "other", "case-5", "case-6"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Each artifact whose revision really changes adds one to the case revision; 117: going back is a change.
func TestUpdateRevisions(t *testing.T) {
	g, opening := house(t)
	id := open(t, g, opening)
	for _, c := range []struct {
		revisions map[string]string
		want      uint64
		code      governor.CaseErrorCode
	}{
		{nil, 1, ""},
		{map[string]string{"a": "v1", "b": "v1"}, 1, ""},
		{map[string]string{"a": "v2"}, 2, ""},
		{map[string]string{"a": "v2"}, 2, ""},
		{map[string]string{"a": "v1"}, 3, ""}, // back to an old one
		{map[string]string{"a": "v3", "b": "v3"}, 5, ""},
		{map[string]string{"a": "v4", "b": "v3"}, 6, ""},
		{map[string]string{"a": "v5", "moon": "v1"}, 6, governor.UndeclaredArtifactError},
		{map[string]string{"a": "v5", "b": "v 5"}, 6, governor.InvalidRevisionError},
		{map[string]string{"a": "", "b": "v5"}, 6, governor.InvalidRevisionError},
	} {
		revision, err := g.UpdateRevisions(id, c.revisions)
		if code := codeOf(t, err); code != c.code || (err == nil && revision != c.want) {
			t.Errorf("%v: got %d, %v; want %d, %q", c.revisions, revision, err, c.want, c.code)
		}
		if now, err := g.Revision(id); now != c.want || err != nil {
			t.Errorf("after %v: the case is at %d, %v; want %d", c.revisions, now, err, c.want)
		}
	}
	if got, err := g.ArtifactRevisions(id); err != nil || !maps.Equal(got, map[string]string{"a": "v4", "b": "v3"}) {
		t.Errorf("got %v, %v", got, err)
	}
}

// What is refused says so in the same words each time.
func TestRefusedUpdateNamesTheFirstArtifact(t *testing.T) {
	g, opening := house(t)
	id := open(t, g, opening)
	for range 20 {
		if _, err := g.UpdateRevisions(id, map[string]string{"a": "", "b": ""}); !strings.Contains(err.Error(), "artifact a ") {
			t.Fatal(err)
		}
	}
}

// A governor keeps no reference to what it was given and gives none to what it keeps.
func TestGovernorSharesNothing(t *testing.T) {
	g, opening := house(t)
	id := open(t, g, opening)
	opening.Revisions["a"], opening.Inputs["season"] = "changed", "changed"
	evidence := governor.Record{ID: "e1", Kind: "k", Subject: "a", SubjectRevision: "v1"}.JSON()
	payload := []byte(`{}`)
	if applies, err := g.Evidence(id, governor.Received{Kind: "k", Data: evidence}); !applies || err != nil {
		t.Fatal(applies, err)
	}
	if err := g.Observe(id, governor.Observation{Source: governor.EffectSource, Payload: payload}); err != nil {
		t.Fatal(err)
	}
	want := frontier(t, g, id, "")
	evidence[0], payload[0] = '!', '!'
	revisions, _ := g.ArtifactRevisions(id)
	revisions["a"] = "changed"
	records, observations, _ := g.Kept(id)
	records[0].Data[0], observations[0].Payload[0] = '!', '!'
	records[0].Applies, observations[0].Source = false, "changed"
	if diff := cmp.Diff(want, frontier(t, g, id, "")); diff != "" {
		t.Errorf("(-before +after)\n%s", diff)
	}
	records, observations, _ = g.Kept(id)
	if records[0].Data[0] != '{' || !records[0].Applies || observations[0].Payload[0] != '{' || observations[0].Source != governor.EffectSource {
		t.Errorf("got %+v and %+v", records, observations)
	}
}

// Which records apply is decided on arrival; every one is kept, as it was written.
func TestEvidence(t *testing.T) {
	const e1 = `{"format":"canon-evidence/1","id":"e1","kind":"k","subject":"a","subject_revision":"v1"}`
	deep := func(levels int) string { // beside the record and the list that they stand in
		return "[" + e1 + "," + strings.Repeat("[", levels-1) + strings.Repeat("]", levels-1) + "]"
	}
	changed := func(old, by string) string {
		if !strings.Contains(e1, old) {
			t.Fatal(old)
		}
		return strings.Replace(e1, old, by, 1)
	}
	for _, c := range []struct {
		name, kind, data string
		applies          bool
		c                protocol.Truth
	}{
		{"one document", "k", e1, true, "true"},
		{"one document in a list", "k", "[" + e1 + "]", true, "true"},
		{"one among other facts", "k", `[{"format":"log/1","lines":3},` + e1 + `,{},"note",7,null]`, true, "true"},
		{"94: a fact with an integer above 64 bits", "k", `[` + e1 + `,{"size":123456789012345678901234567890}]`, true, "true"},
		{"64 levels", "k", deep(64), true, "true"},
		{"a record of another revision applies and is excluded", "k", changed(`"v1"`, `"v0"`), true, "unknown"},
		{"a record with an upstream of no artifact", "k", changed(`"v1"`, `"v1","upstream_revisions":{"moon":"v1"}`), true, "true"},

		{"another kind was announced", "other", e1, false, "unknown"},
		{"no kind was announced", "", e1, false, "unknown"},
		{"two documents", "k", "[" + e1 + "," + changed(`"e1"`, `"e2"`) + "]", false, "unknown"},
		{"the same document twice", "k", "[" + e1 + "," + e1 + "]", false, "unknown"},
		{"two documents of two kinds", "k", "[" + e1 + "," + changed(`"kind":"k"`, `"kind":"other"`) + "]", false, "unknown"},
		{"no document", "k", `[]`, false, "unknown"},
		{"no document but a fact", "k", `{"format":"log/1"}`, false, "unknown"},
		{"a document that is not in the list itself", "k", "[[" + e1 + "]]", false, "unknown"},
		{"a document in a member", "k", `{"record":` + e1 + `}`, false, "unknown"},
		{"a text", "k", `"canon-evidence/1"`, false, "unknown"},
		{"nothing", "k", ``, false, "unknown"},
		{"no JSON", "k", `e1`, false, "unknown"},
		{"two values", "k", e1 + e1, false, "unknown"},
		{"a duplicate member", "k", changed(`"id":"e1"`, `"id":"e1","id":"e1"`), false, "unknown"},
		{"a duplicate member of another fact", "k", `[` + e1 + `,{"x":1,"x":1}]`, false, "unknown"},
		{"a number in the document", "k", changed(`"v1"`, `1`), false, "unknown"},
		{"a number in the document that no 64 bits hold", "k", changed(`"v1"`, `18446744073709551616`), false, "unknown"},
		{"a number that is none", "k", `[` + e1 + `,{"x":01}]`, false, "unknown"},
		{"65 levels", "k", deep(65), false, "unknown"},
		{"an unknown member", "k", changed(`"id":"e1"`, `"id":"e1","weight":"1"`), false, "unknown"},
		{"a null", "k", changed(`"id":"e1"`, `"id":"e1","result":null`), false, "unknown"},
		{"another format", "k", changed(`evidence/1`, `evidence/2`), false, "unknown"},
		{"a format that is no text", "k", changed(`"canon-evidence/1"`, `["canon-evidence/1"]`), false, "unknown"},
		{"an invalid identifier", "k", changed(`"e1"`, `"e 1"`), false, "unknown"},
		{"an instant that is none", "k", changed(`"v1"`, `"v1","observed_at":"now"`), false, "unknown"},
		{"an undeclared kind", "gossip", changed(`"kind":"k"`, `"kind":"gossip"`), false, "unknown"},
		{"an undeclared subject", "k", changed(`"subject":"a"`, `"subject":"moon"`), false, "unknown"},
		{"not UTF-8", "k", changed(`"v1"`, "\"v\xff\""), false, "unknown"},
	} {
		g, opening := house(t)
		id := open(t, g, opening)
		applies, err := g.Evidence(id, governor.Received{Kind: c.kind, Producer: "test", Data: []byte(c.data), Applies: !c.applies})
		if err != nil || applies != c.applies {
			t.Errorf("%s: got %v, %v; want %v", c.name, applies, err, c.applies)
		}
		if got := frontier(t, g, id, "").Claims[0].Value; got != c.c {
			t.Errorf("%s: c is %s, want %s", c.name, got, c.c)
		}
		want := []governor.Received{{Kind: c.kind, Producer: "test", Data: []byte(c.data), Applies: c.applies}}
		if kept, _, err := g.Kept(id); err != nil || !cmp.Equal(kept, want, cmp.Comparer(func(a, b []byte) bool { return string(a) == string(b) })) {
			t.Errorf("%s: kept %+v, %v", c.name, kept, err)
		}
	}
}

// A record applies if evaluation with it is not refused (4.11).
func TestEvidenceAppliesWhereEvaluationTakesIt(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g, opening := house(t)
		id := open(t, g, opening)
		rules := prepare(t, []byte(caseProtocol))
		accepted := governor.Documents{
			Snapshot: tree(t, `{format: canon-case/1, id: case-1, protocol: p, revision: r1, artifacts: {a: {revision: v1}, b: {revision: v1}}, inputs: {season: dry}}`),
		}
		for _, name := range rapid.SliceOfN(rapid.SampledFrom([]string{"e1", "e2", "e3", "e 4"}), 0, 8).Draw(rt, "ids") {
			v := drawn{rt}.record(name, []string{"k", "other", "gossip"}, []string{"a", "b", "moon"})
			with := accepted
			with.Evidence = append(slices.Clone(accepted.Evidence), v)
			_, refused := rules.EvaluateDocuments(with)
			applies, err := g.Evidence(id, governor.Received{Kind: text(v, "kind"), Data: []byte(canonjson.Compact(v))})
			if err != nil || applies != (refused == nil) {
				rt.Fatalf("%s applies: %v, %v; evaluation: %v", canonjson.Compact(v), applies, err, refused)
			}
			if applies {
				accepted = with
			}
		}
		want := string(decide(t, rules, accepted).Bytes())
		if f := frontier(t, g, id, ""); f.ID != governor.FrontierID("case-1", 1, []byte(want)) {
			rt.Fatalf("the frontier does not follow from %s", want)
		}
	})
}

// JSON of a record is what Evidence takes.
func TestRecordJSON(t *testing.T) {
	g, opening := house(t)
	id := open(t, g, opening)
	full := governor.Record{
		ID: "e1", Kind: "k", Result: new("good"), Subject: "a", SubjectRevision: "v1", ObservedAt: new("2026-03-01T08:00:00Z"),
		UpstreamRevisions: []governor.ArtifactRevision{{Artifact: "b", Revision: "v1"}},
	}
	const want = `{"format":"canon-evidence/1","id":"e1","kind":"k","observed_at":"2026-03-01T08:00:00Z","result":"good","subject":"a","subject_revision":"v1","upstream_revisions":{"b":"v1"}}`
	if got := string(full.JSON()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	bare := governor.Record{ID: "e2", Kind: "k", Subject: "a", SubjectRevision: "v1"}
	if got, want := string(bare.JSON()), `{"format":"canon-evidence/1","id":"e2","kind":"k","subject":"a","subject_revision":"v1"}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, r := range []governor.Record{full, bare} {
		if applies, err := g.Evidence(id, governor.Received{Kind: r.Kind, Data: r.JSON()}); !applies || err != nil {
			t.Errorf("%s: %v, %v", r.JSON(), applies, err)
		}
	}
}

// submit gives a case a record of a kind about a at v1.
func submit(t testing.TB, g *governor.Governor, id, record, kind string) {
	t.Helper()
	r := governor.Record{ID: record, Kind: kind, Subject: "a", SubjectRevision: "v1", ObservedAt: new("2026-03-01T08:00:00Z")}
	if applies, err := g.Evidence(id, governor.Received{Kind: kind, Data: r.JSON()}); !applies || err != nil {
		t.Fatal(applies, err)
	}
}

func TestFrontier(t *testing.T) {
	g, opening := house(t)
	id := open(t, g, opening)
	want := governor.Frontier{
		Case: "case-1", Revision: 1,
		Entries: []governor.FrontierEntry{
			{Action: "act", Description: "to act", Effect: "write", Status: governor.Blocked, Capability: "cap", Reasons: []string{`{"claim":"c","value":"unknown"}`}},
			{Action: "look", Status: governor.Admissible},
		},
		Claims:          []governor.ClaimValue{{Claim: "c", Value: "unknown"}, {Claim: "o", Value: "unknown"}},
		OpenObligations: []string{"owed"},
	}
	got := frontier(t, g, id, "")
	// RFC 9562: version 8, variant 10.
	if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(got.ID) {
		t.Errorf("%s is no UUID of version 8", got.ID)
	}
	first := got.SHA256
	if !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(first) {
		t.Errorf("%q is no digest", first)
	}
	got.ID, got.SHA256 = "", ""
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	submit(t, g, id, "e1", "k")
	if _, err := g.UpdateRevisions(id, map[string]string{"b": "v2"}); err != nil {
		t.Fatal(err)
	}
	want.Revision, want.At = 2, "2026-03-01T08:30:00Z"
	// No authority is supplied: the capability is undecided.
	want.Entries[0].Status, want.Entries[0].Reasons = governor.ApprovalRequired, []string{`{"capability":"cap","decision":"none"}`}
	want.Claims[0].Value, want.OpenObligations, want.Outcome, want.Evidence = "true", nil, "done", 1
	got = frontier(t, g, id, "2026-03-01T08:30:00Z")
	if got.SHA256 == first {
		t.Error("another decision has the same digest")
	}
	got.ID, got.SHA256 = "", ""
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Equal decisions of one case at one revision have equal ids; anything else has another.
func TestFrontierIDs(t *testing.T) {
	seen := map[string]string{}
	check := func(what, id string, isNew bool) {
		t.Helper()
		if first, known := seen[id]; known == isNew {
			t.Errorf("%s has the id %s, which %q has", what, id, first)
		}
		seen[id] = what
	}
	g, opening := house(t)
	id := open(t, g, opening)
	now := func() string { return frontier(t, g, id, "").ID }
	check("a new case", now(), true)
	check("the same case", now(), false)
	if err := g.Observe(id, governor.Observation{Source: governor.ExecutorSource, Subject: "look", Payload: []byte(`{}`)}); err != nil {
		t.Fatal(err)
	}
	check("the case after an observation", now(), false)
	if applies, err := g.Evidence(id, governor.Received{Kind: "k"}); applies || err != nil {
		t.Fatal(applies, err)
	}
	check("the case after a record that was set aside", now(), false)
	submit(t, g, id, "e1", "k")
	check("the case after a record that applies", now(), true)
	check("the case at an instant", frontier(t, g, id, "2026-03-01T08:30:00Z").ID, true)
	check("the case at that instant again", frontier(t, g, id, "2026-03-01T08:30:00Z").ID, false)
	check("the case at another instant", frontier(t, g, id, "2026-03-01T08:30:01Z").ID, true)
	for _, revision := range []string{"v2", "v1"} {
		if _, err := g.UpdateRevisions(id, map[string]string{"b": revision}); err != nil {
			t.Fatal(err)
		}
		check("the case with b at "+revision+" again", now(), true)
	}
	check("another case", frontier(t, g, open(t, g, opening), "").ID, true)
	made := []byte("{}\n") // 4.11: of case id, case revision and decision bytes
	check("made", governor.FrontierID("c", 1, made), true)
	check("made of another case", governor.FrontierID("d", 1, made), true)
	check("made of another revision", governor.FrontierID("c", 11, made), true)
	check("made of other bytes", governor.FrontierID("c", 1, made[:2]), true)
	same, opening := house(t)
	check("a case like the first of another governor", frontier(t, same, open(t, same, opening), "").ID, false)
}

// 91b, D23: with an instant the ages of records count; without one nothing expires.
func TestInstantOfTheHost(t *testing.T) {
	g, opening := house(t)
	id := open(t, g, opening)
	submit(t, g, id, "e1", "k") // observed at 08:00:00, for one hour
	for at, want := range map[string]protocol.Truth{
		"":                     "true",
		"2026-03-01T09:00:00Z": "true",
		"2026-03-01T09:00:01Z": "unknown",
	} {
		if got := frontier(t, g, id, at).Claims[0].Value; got != want {
			t.Errorf("at %q: c is %s, want %s", at, got, want)
		}
		if _, complete, err := g.Completion(id, at); err != nil || complete != (want == "true") {
			t.Errorf("at %q: complete is %v, %v", at, complete, err)
		}
	}
	for _, call := range []func() error{
		func() error { _, err := g.Frontier(id, "now"); return err },
		func() error { _, _, err := g.Completion(id, "now"); return err },
	} {
		var refused *governor.Refusal
		if err := call(); !errors.As(err, &refused) || refused.Part != governor.TimePart || refused.Code != governor.InvalidInstant {
			t.Errorf("got %v", err)
		}
	}
}

// 90: a case with two legitimate outcomes is open.
func TestCompletion(t *testing.T) {
	g, opening := house(t)
	id := open(t, g, opening)
	for _, c := range []struct {
		kind, outcome string
		complete      bool
	}{{"", "", false}, {"k", "done", true}, {"other", "", false}} {
		if c.kind != "" {
			submit(t, g, id, "e-"+c.kind, c.kind)
		}
		if outcome, complete, err := g.Completion(id, ""); outcome != c.outcome || complete != c.complete || err != nil {
			t.Errorf("after %q: got %q, %v, %v", c.kind, outcome, complete, err)
		}
	}
}

// Records and observations are kept in the order in which they came, each in its own list.
func TestKept(t *testing.T) {
	g, opening := house(t)
	id := open(t, g, opening)
	for i := range 3 {
		if _, err := g.Evidence(id, governor.Received{Kind: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
		if err := g.Observe(id, governor.Observation{Source: governor.EffectSource, Subject: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	records, observations, err := g.Kept(id)
	if err != nil || len(records) != 3 || len(observations) != 3 {
		t.Fatal(records, observations, err)
	}
	for i := range 3 {
		if records[i].Kind != fmt.Sprint(i) || observations[i].Subject != fmt.Sprint(i) {
			t.Errorf("%d: got %+v and %+v", i, records[i], observations[i])
		}
	}
}

// All methods may be called at once; the race detector looks on.
func TestGovernorIsUsedConcurrently(t *testing.T) {
	g, opening := house(t)
	shared := open(t, g, opening)
	const workers, rounds = 8, 20
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			own, err := g.OpenCase("p@1", opening)
			if err != nil {
				t.Error(err)
				return
			}
			for i := range rounds {
				for _, id := range []string{own, shared} {
					r := governor.Record{ID: fmt.Sprintf("e-%d-%d", w, i), Kind: "k", Subject: "a", SubjectRevision: "v1"}
					if applies, err := g.Evidence(id, governor.Received{Kind: "k", Data: r.JSON()}); !applies || err != nil {
						t.Error(applies, err)
					}
					if err := g.Observe(id, governor.Observation{Source: governor.EffectSource}); err != nil {
						t.Error(err)
					}
					if _, err := g.UpdateRevisions(id, map[string]string{"b": fmt.Sprintf("v-%d-%d", w, i)}); err != nil {
						t.Error(err)
					}
					f, err := g.Frontier(id, "")
					if err != nil || f.Claims[0].Value != protocol.True {
						t.Error(f, err)
					}
					if outcome, complete, err := g.Completion(id, ""); !complete || outcome != "done" || err != nil {
						t.Error(outcome, complete, err)
					}
					if _, _, err := g.Kept(id); err != nil {
						t.Error(err)
					}
					if _, err := g.Revision(id); err != nil {
						t.Error(err)
					}
					if _, err := g.ArtifactRevisions(id); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	if revision, err := g.Revision(shared); revision != 1+workers*rounds || err != nil {
		t.Errorf("the shared case is at %d, %v", revision, err)
	}
	records, observations, err := g.Kept(shared)
	if len(records) != workers*rounds || len(observations) != workers*rounds || err != nil {
		t.Errorf("the shared case has %d records and %d observations, %v", len(records), len(observations), err)
	}
}
