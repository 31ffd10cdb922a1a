package governor_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/protocol"
)

// The cases of governed-runs 11.5, by their numbers.

// rec makes a record from its id and members, such as "e1 kind=k subject=a result=good against=b:v1".
// What is not said is kind k, subject a, revision v1.
func rec(t testing.TB, spec string) document.Value {
	words := strings.Fields(spec)
	v := obj("format", governor.EvidenceFormat, "id", words[0], "kind", "k", "subject", "a", "subject_revision", "v1")
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "against":
			artifact, revision, _ := strings.Cut(value, ":")
			v = with(v, "upstream_revisions", obj(artifact, revision))
		case "revision":
			v = with(v, "subject_revision", val(value))
		case "observed":
			v = with(v, "observed_at", val("2026-03-01T"+value+"Z"))
		case "kind", "subject", "result":
			v = with(v, name, val(value))
		default:
			t.Fatalf("record %q", spec)
		}
	}
	return v
}

func recs(t testing.TB, specs ...string) []document.Value {
	var all []document.Value
	for _, spec := range specs {
		all = append(all, rec(t, spec))
	}
	return all
}

func decide(t testing.TB, rules *governor.Rules, in governor.Documents) *governor.Decision {
	t.Helper()
	d, refused := rules.EvaluateDocuments(in)
	if refused != nil {
		t.Fatal(refused)
	}
	return d
}

// claims gives the values of claims and what was excluded from them, such as "c=unknown(e1:expired)".
func claims(d *governor.Decision) string {
	var all []string
	for _, c := range d.Claims {
		line := fmt.Sprintf("%s=%s", c.Claim, c.Value)
		for i, x := range c.Excluded {
			line += map[bool]string{true: "(", false: " "}[i == 0] + x.Record + ":" + x.Reason
			if i == len(c.Excluded)-1 {
				line += ")"
			}
		}
		all = append(all, line)
	}
	return strings.Join(all, " ")
}

const matchProtocol = `
format: protocol/1
protocol: {id: p, revision: 1}
artifacts: {a: {}, b: {}}
evidence_kinds: {k: {max_age: 1h}, other: {}}
claims:
  any: {true_when: {evidence: {kind: k}}}
  good: {true_when: {evidence: {kind: k, result: good}}}
  not_good: {true_when: {not: {evidence: {kind: k, result: good}}}}
  on_a: {true_when: {evidence: {kind: k, result: good, subject: a}}}
`

func TestMatches(t *testing.T) {
	rules := prepare(t, []byte(matchProtocol))
	snapshot := tree(t, `{format: canon-case/1, id: C, protocol: p, artifacts: {a: {revision: v1}, b: {revision: v1}}}`)
	for _, c := range []struct {
		name    string
		records []document.Value
		at      string
		want    string
	}{
		{"80: no record is unknown, and so is its not", nil, "", "any=unknown good=unknown not_good=unknown on_a=unknown"},
		{"a record of another kind is no record", recs(t, "e1 kind=other result=good"), "", "any=unknown good=unknown not_good=unknown on_a=unknown"},
		{"all have the result: true", recs(t, "e1 result=good", "e2 result=good"), "", "any=true good=true not_good=false on_a=true"},
		{"none has the result: false", recs(t, "e1 result=bad", "e2 result=worse"), "", "any=true good=false not_good=true on_a=false"},
		{"81: one pass and one fail: unknown", recs(t, "e1 result=good", "e2 result=bad"), "", "any=true good=unknown not_good=unknown on_a=unknown"},
		{"82: without a result: false for a match with one", recs(t, "e1"), "", "any=true good=false not_good=true on_a=false"},
		{"one without a result and one with it: unknown", recs(t, "e1", "e2 result=good"), "", "any=true good=unknown not_good=unknown on_a=unknown"},
		{"83: about another artifact: read without a subject only", recs(t, "e1 subject=b result=good"), "", "any=true good=true not_good=false on_a=unknown"},
		{"about both artifacts: the match without a subject reads both", recs(t, "e1 subject=b result=bad", "e2 result=good"), "", "any=true good=unknown not_good=unknown on_a=true"},
		{"91a: a fail and a later pass of one revision: unknown for good", recs(t, "e1 result=bad observed=08:00:00", "e2 result=good observed=09:00:00"), "", "any=true good=unknown not_good=unknown on_a=unknown"},
		{"91a: a new revision clears it", recs(t, "e1 revision=v0 result=bad", "e2 result=good"), "", "any=true(e1:revision_mismatch) good=true(e1:revision_mismatch) not_good=false(e1:revision_mismatch) on_a=true(e1:revision_mismatch)"},
		{"of another revision: excluded wherever it would be read", recs(t, "e1 subject=b revision=v0 result=good"), "", "any=unknown(e1:revision_mismatch) good=unknown(e1:revision_mismatch) not_good=unknown(e1:revision_mismatch) on_a=unknown"},
		{"84: exactly max_age applies", recs(t, "e1 result=good observed=08:00:00"), "09:00:00", "any=true good=true not_good=false on_a=true"},
		{"84: one second more has expired", recs(t, "e1 result=good observed=08:00:00"), "09:00:01", "any=unknown(e1:expired) good=unknown(e1:expired) not_good=unknown(e1:expired) on_a=unknown(e1:expired)"},
		{"84, 91b: without an instant nothing expires", recs(t, "e1 result=good observed=08:00:00"), "", "any=true good=true not_good=false on_a=true"},
		{"without observed_at nothing expires", recs(t, "e1 result=good"), "23:00:00", "any=true good=true not_good=false on_a=true"},
		{"a record from the future applies", recs(t, "e1 result=good observed=23:00:00"), "08:00:00", "any=true good=true not_good=false on_a=true"},
		{"binding precedes freshness", recs(t, "e1 revision=v0 result=good observed=08:00:00"), "23:00:00", "any=unknown(e1:revision_mismatch) good=unknown(e1:revision_mismatch) not_good=unknown(e1:revision_mismatch) on_a=unknown(e1:revision_mismatch)"},
		{"excluded records stand by their ids", recs(t, "e2 revision=v0", "e10 revision=v0", "e1 observed=08:00:00"), "23:00:00", "any=unknown(e1:expired e10:revision_mismatch e2:revision_mismatch) good=unknown(e1:expired e10:revision_mismatch e2:revision_mismatch) not_good=unknown(e1:expired e10:revision_mismatch e2:revision_mismatch) on_a=unknown(e1:expired e10:revision_mismatch e2:revision_mismatch)"},
	} {
		in := governor.Documents{Snapshot: snapshot, Evidence: c.records}
		if c.at != "" {
			in.At = val("2026-03-01T" + c.at + "Z")
		}
		if got := claims(decide(t, rules, in)); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

// 73: an age of 0s expires whenever the instant is later than the observation. Ages are counted in 64
// bits, which the longest does not overflow.
func TestAges(t *testing.T) {
	for _, c := range []struct{ age, observed, at, want string }{
		{"0s", "2026-03-01T08:00:00Z", "2026-03-01T08:00:00Z", "c=true"},
		{"0s", "2026-03-01T08:00:00Z", "2026-03-01T08:00:01Z", "c=unknown(e1:expired)"},
		{"1d", "2024-02-28T00:00:00Z", "2024-02-29T00:00:00Z", "c=true"},
		{"1d", "2023-02-28T00:00:00Z", "2023-03-01T00:00:01Z", "c=unknown(e1:expired)"},
		{"18446744073709551615s", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "c=true"},
		{"315537897598s", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "c=unknown(e1:expired)"},
		{"315537897599s", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "c=true"},
	} {
		rules := prepare(t, fmt.Appendf(nil, `{format: protocol/1, protocol: {id: p, revision: 1}, artifacts: {a: {}}, evidence_kinds: {k: {max_age: %s}}, claims: {c: {true_when: {evidence: {kind: k}}}}}`, c.age))
		d := decide(t, rules, governor.Documents{
			Snapshot: tree(t, `{format: canon-case/1, id: C, protocol: p, artifacts: {a: {revision: v1}}}`),
			Evidence: []document.Value{with(rec(t, "e1"), "observed_at", val(c.observed))},
			At:       val(c.at),
		})
		if got := claims(d); got != c.want {
			t.Errorf("max_age %s, observed %s, at %s: got %s, want %s", c.age, c.observed, c.at, got, c.want)
		}
	}
}

// 85: an invalidated record is taken away from the named claims and from those built on them.
func TestInvalidation(t *testing.T) {
	rules := prepare(t, []byte(`
format: protocol/1
protocol: {id: p, revision: 1}
artifacts: {a: {}, b: {}, d: {}}
evidence_kinds: {k: {max_age: 1h}}
claims:
  apart: {true_when: {evidence: {kind: k}}}
  base: {true_when: {evidence: {kind: k}}}
  named: {true_when: {claim: base}}
  on_named: {true_when: {any: [not: {claim: named}, all: [claim: apart, {claim: base, is: unknown}]]}}
  on_top: {true_when: {claim: on_named, is: false}}
actions:
  act: {precondition: {evidence: {kind: k}}}
  on_base: {precondition: {claim: base}}
  on_named: {precondition: {claim: named}}
invalidation:
  b_moved: {upstream: b, invalidates: [named]}
  d_moved: {upstream: d, invalidates: [on_top, apart]}
`))
	for _, c := range []struct{ name, record, at, want string }{
		{"nothing moved", "e1 against=b:v1", "", "apart=true base=true named=true on_named=false on_top=true act=admissible on_base=admissible on_named=admissible"},
		// on_named sees apart and base without the record: unknown, so that base is unknown is true.
		{"the named claim and what is built on it", "e1 against=b:v0", "", "apart=true base=true named=unknown(e1:invalidated) on_named=unknown(e1:invalidated) on_top=unknown(e1:invalidated) act=admissible on_base=admissible on_named=blocked"},
		{"another rule names other claims", "e1 against=d:v0", "", "apart=unknown(e1:invalidated) base=true named=true on_named=unknown(e1:invalidated) on_top=unknown(e1:invalidated) act=admissible on_base=admissible on_named=admissible"},
		{"a record that does not name the upstream is kept", "e1 against=a:v0", "", "apart=true base=true named=true on_named=false on_top=true act=admissible on_base=admissible on_named=admissible"},
		{"binding precedes invalidation, everywhere", "e1 revision=v0 against=b:v0", "", "apart=unknown(e1:revision_mismatch) base=unknown(e1:revision_mismatch) named=unknown(e1:revision_mismatch) on_named=unknown(e1:revision_mismatch) on_top=unknown(e1:revision_mismatch) act=blocked on_base=blocked on_named=blocked"},
		{"freshness precedes invalidation, everywhere", "e1 observed=08:00:00 against=b:v0", "2026-03-01T09:00:01Z", "apart=unknown(e1:expired) base=unknown(e1:expired) named=unknown(e1:expired) on_named=unknown(e1:expired) on_top=unknown(e1:expired) act=blocked on_base=blocked on_named=blocked"},
	} {
		in := governor.Documents{
			Snapshot: tree(t, `{format: canon-case/1, id: C, protocol: p, artifacts: {a: {revision: v1}, b: {revision: v1}, d: {revision: v1}}}`),
			Evidence: recs(t, c.record),
		}
		if c.at != "" {
			in.At = val(c.at)
		}
		d := decide(t, rules, in)
		got := claims(d)
		for _, a := range d.Actions {
			got += fmt.Sprintf(" %s=%s", a.Action, a.Status)
		}
		if got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

// A record that two moved artifacts take away from a claim is taken away once.
func TestRecordAgainstTwoMovedArtifacts(t *testing.T) {
	rules := prepare(t, []byte(`
format: protocol/1
protocol: {id: p, revision: 1}
artifacts: {a: {}, b: {}, d: {}}
evidence_kinds: {k: {}}
claims: {c: {true_when: {evidence: {kind: k, result: good}}}}
invalidation: {b_moved: {upstream: b, invalidates: [c]}, d_moved: {upstream: d, invalidates: [c]}}
`))
	d := decide(t, rules, governor.Documents{
		Snapshot: tree(t, `{format: canon-case/1, id: C, protocol: p, artifacts: {a: {revision: v1}, b: {revision: v1}, d: {revision: v1}}}`),
		Evidence: []document.Value{with(rec(t, "e1 result=good"), "upstream_revisions", obj("b", "v0", "d", "v0")), rec(t, "e2 result=good"), rec(t, "e3 result=bad")},
	})
	if got, want := claims(d), "c=unknown(e1:invalidated)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// More artifacts are watched than a word has bits.
func TestManyMovedArtifactsAreToldApart(t *testing.T) {
	s := newShape(3, func(int) *protocol.Predicate { return match("k") })
	s.kind("k")
	for i := range 129 {
		s.artifact(number("u", i))
	}
	for i := range 129 {
		s.invalidates(number("u", i), number("c", 2)) // so that all are watched
	}
	s.invalidates(number("u", 32), number("c", 0))
	s.invalidates(number("u", 128), number("c", 1))
	s.record("k", "v1", number("u", 32))
	s.record("k", "v1", number("u", 64))
	if got, want := claims(s.decide(t)), "c000000=true(e000000:invalidated) c000001=true c000002=unknown(e000000:invalidated e000001:invalidated)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// actions gives statuses and reasons, one action in a line.
func actions(d *governor.Decision) []string {
	var all []string
	for _, a := range d.Actions {
		line := fmt.Sprintf("%s %s", a.Action, a.Status)
		for _, r := range a.Reasons {
			line += " " + r.String()
		}
		all = append(all, line)
	}
	return all
}

func TestActions(t *testing.T) {
	rules := prepare(t, []byte(`
format: protocol/1
protocol: {id: p, revision: 1}
case: {inputs: {season: {values: [dry, wet]}}}
artifacts: {a: {}}
evidence_kinds: {k: {}}
claims: {c: {true_when: {evidence: {kind: k}}}}
actions:
  blocked: {precondition: {claim: c}, requires: [{capability: x}]}
  free: {}
  one: {requires: [{capability: x}]}
  two: {requires: [{capability: y}, {capability: x}]}
  wet: {precondition: {all: [{input: season, in: [wet]}, {claim: c}]}}
`))
	for _, c := range []struct {
		name, authority string
		want            []string
	}{
		{"without authority every capability is undecided", "[]", []string{
			`blocked blocked {"claim":"c","value":"unknown"}`,
			`free admissible`,
			`one approval-required {"capability":"x","decision":"none"}`,
			`two approval-required {"capability":"x","decision":"none"} {"capability":"y","decision":"none"}`,
			`wet blocked {"input":"season","value":"dry"}`,
		}},
		{"86: a blocked action says nothing of its denied capability; 87: denied outranks undecided", "[{capability: x, decision: denied}]", []string{
			`blocked blocked {"claim":"c","value":"unknown"}`,
			`free admissible`,
			`one blocked {"capability":"x","decision":"denied"}`,
			`two blocked {"capability":"x","decision":"denied"}`,
			`wet blocked {"input":"season","value":"dry"}`,
		}},
		{"every denied capability is named", "[{capability: y, decision: denied}, {capability: x, decision: denied}]", []string{
			`blocked blocked {"claim":"c","value":"unknown"}`,
			`free admissible`,
			`one blocked {"capability":"x","decision":"denied"}`,
			`two blocked {"capability":"x","decision":"denied"} {"capability":"y","decision":"denied"}`,
			`wet blocked {"input":"season","value":"dry"}`,
		}},
		{"a grant serves its capability alone, and what no action names is ignored", "[{capability: x, decision: granted}, {capability: z, decision: denied}]", []string{
			`blocked blocked {"claim":"c","value":"unknown"}`,
			`free admissible`,
			`one admissible`,
			`two approval-required {"capability":"y","decision":"none"}`,
			`wet blocked {"input":"season","value":"dry"}`,
		}},
	} {
		d := decide(t, rules, governor.Documents{
			Snapshot:  tree(t, `{format: canon-case/1, id: C, protocol: p, artifacts: {a: {revision: v1}}, inputs: {season: dry}}`),
			Authority: tree(t, c.authority),
		})
		if got := actions(d); !slices.Equal(got, c.want) {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, strings.Join(got, "\n     "), strings.Join(c.want, "\n     "))
		}
	}
}

// 4.7: which leaves decide, in which order, each once.
func TestReasons(t *testing.T) {
	const declarations = `
format: protocol/1
protocol: {id: p, revision: 1}
case: {inputs: {season: {values: [dry, wet]}}}
artifacts: {a: {}, b: {}}
evidence_kinds: {k: {}, none: {}}
claims:
  f: {true_when: {any: []}}
  t: {true_when: {all: []}}
  u: {true_when: {evidence: {kind: none}}}
  v: {true_when: {evidence: {kind: none}}}
`
	for _, c := range []struct{ name, precondition, want string }{
		{"a leaf", "{claim: u}", `{"claim":"u","value":"unknown"}`},
		{"a claim shows its own value, whatever was tested", "{claim: t, is: false}", `{"claim":"t","value":"true"}`},
		{"a claim that is not unknown", "{claim: f, is: unknown}", `{"claim":"f","value":"false"}`},
		{"in a conjunction a false member decides alone", "{all: [claim: u, claim: f, claim: t]}", `{"claim":"f","value":"false"}`},
		{"without a false member every unknown one decides", "{all: [claim: v, claim: u, claim: t]}", `{"claim":"u","value":"unknown"} {"claim":"v","value":"unknown"}`},
		{"of a disjunction every member decides", "{any: [claim: u, claim: f]}", `{"claim":"f","value":"false"} {"claim":"u","value":"unknown"}`},
		{"not turns an any into a conjunction", "{not: {any: [claim: u, claim: t, claim: f]}}", `{"claim":"t","value":"true"}`},
		{"and an all into a disjunction", "{not: {all: [claim: t, {claim: u, is: unknown}]}}", `{"claim":"t","value":"true"} {"claim":"u","value":"unknown"}`},
		{"an unknown not", "{not: {any: [claim: u, claim: f]}}", `{"claim":"u","value":"unknown"}`},
		{"twice not is nothing", "{not: {not: {claim: u}}}", `{"claim":"u","value":"unknown"}`},
		{"a claim once", "{any: [claim: u, {claim: u, is: false}]}", `{"claim":"u","value":"unknown"}`},
		{"nothing could help", "{any: []}", `{"requirement":"unsatisfiable"}`},
		{"nothing could help, deeper", "{all: [{any: []}, {claim: u}]}", `{"requirement":"unsatisfiable"}`},
		{"an empty disjunction beside a claim says nothing", "{all: [{any: []}, {claim: f}]}", `{"claim":"f","value":"false"}`},
		{"not of nothing", "{not: {all: []}}", `{"requirement":"unsatisfiable"}`},
		{"a record with the wrong result is present", "{evidence: {kind: k, result: good}}", `{"evidence":"k","present":true}`},
		{"about the wrong artifact it is not", "{evidence: {kind: k, result: good, subject: b}}", `{"evidence":"k","present":false,"subject":"b"}`},
		{"matches that differ in the result are one reason", "{any: [evidence: {kind: k, result: good}, evidence: {kind: k, result: fine}]}", `{"evidence":"k","present":true}`},
		{
			"claims, then evidence by kind, no subject first, then inputs", "{any: [{input: season, in: [wet]}, evidence: {kind: none}, evidence: {kind: k, result: good, subject: b}, evidence: {kind: k, result: good}, evidence: {kind: k, result: good, subject: a}, claim: u]}",
			`{"claim":"u","value":"unknown"} {"evidence":"k","present":true} {"evidence":"k","present":true,"subject":"a"} {"evidence":"k","present":false,"subject":"b"} {"evidence":"none","present":false} {"input":"season","value":"dry"}`,
		},
	} {
		rules := prepare(t, []byte(declarations+"actions: {act: {precondition: "+c.precondition+"}}\n"))
		d := decide(t, rules, governor.Documents{
			Snapshot: tree(t, `{format: canon-case/1, id: C, protocol: p, artifacts: {a: {revision: v1}, b: {revision: v1}}, inputs: {season: dry}}`),
			Evidence: recs(t, "e1 result=bad"),
		})
		if got := actions(d)[0]; got != "act blocked "+c.want {
			t.Errorf("%s:\ngot  %s\nwant act blocked %s", c.name, got, c.want)
		}
	}
}

// outcomes gives what a decision says of outcomes, one in a line.
func outcomes(d *governor.Decision) []string {
	var all []string
	for _, o := range d.Outcomes {
		line := fmt.Sprintf("%s %s", o.Outcome, o.Status)
		for _, r := range o.Reasons {
			line += " " + r.String()
		}
		if o.DecidedBy != nil {
			line += fmt.Sprintf(" %s %v", o.DecidedBy.Decision, o.DecidedBy.Principals)
		}
		all = append(all, line)
	}
	return all
}

const outcomeProtocol = `
format: protocol/1
protocol: {id: p, revision: 1}
artifacts: {a: {}}
evidence_kinds: {k: {}}
claims: {c: {true_when: {evidence: {kind: k}}}}
outcomes:
  done: {requires: {claim: c}}
  kept: {requires: {decision: keep}}
  shelved: {requires: {decision: shelve}}
  zero: {requires: {not: {claim: c}}}
`

func TestOutcomes(t *testing.T) {
	rules := prepare(t, []byte(outcomeProtocol))
	const (
		done   = `done blocked {"claim":"c","value":"unknown"}`
		kept   = `kept blocked {"decision":"keep","present":false}`
		shelve = `shelved blocked {"decision":"shelve","present":false}`
		zero   = `zero blocked {"claim":"c","value":"unknown"}`
	)
	for _, c := range []struct {
		name, revision, decisions string
		want                      []string
	}{
		{"no decision", "r2", "[]", []string{done, kept, shelve, zero}},
		{"a decision serves its outcome", "r2", "[{decision: shelve, outcome: shelved, principal: ann, case_revision: r2}]", []string{done, kept, "shelved legitimate shelve [ann]", zero}},
		{"88: one for another case revision does not count", "r2", "[{decision: shelve, outcome: shelved, principal: ann, case_revision: r1}]", []string{done, kept, shelve, zero}},
		{"88: principals are sorted", "r2", "[{decision: shelve, outcome: shelved, principal: cid, case_revision: r2}, {decision: shelve, outcome: shelved, principal: bob, case_revision: r1}, {decision: shelve, outcome: shelved, principal: ann, case_revision: r2}]", []string{done, kept, "shelved legitimate shelve [ann cid]", zero}},
		{"a snapshot without a revision has no current decision", "", "[{decision: shelve, outcome: shelved, principal: ann, case_revision: r2}]", []string{done, kept, shelve, zero}},
	} {
		in := governor.Documents{
			Snapshot:  tree(t, `{format: canon-case/1, id: C, protocol: p, artifacts: {a: {revision: v1}}}`),
			Decisions: tree(t, c.decisions),
		}
		if c.revision != "" {
			in.Snapshot = with(in.Snapshot, "revision", val(c.revision))
		}
		if got := outcomes(decide(t, rules, in)); !slices.Equal(got, c.want) {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, strings.Join(got, "\n     "), strings.Join(c.want, "\n     "))
		}
	}
}

// 88: a decision that an outcome does not require is never ignored, whatever its case revision.
func TestDecisionThatIsNotRequired(t *testing.T) {
	rules := prepare(t, []byte(outcomeProtocol))
	for _, c := range []struct{ decision, outcome, want string }{
		{"shelve", "done", "Decisions undeclared-decision"}, // which is by predicate
		{"shelve", "kept", "Decisions undeclared-decision"}, // which requires another
		{"guess", "kept", "Decisions undeclared-decision"},
		{"shelve", "nowhere", "Decisions undeclared-outcome"},
		{"shelve", "shelved", "a decision"},
	} {
		in := governor.Documents{Snapshot: tree(t, `{format: canon-case/1, id: C, protocol: p, revision: r2, artifacts: {a: {revision: v1}}}`)}
		in.Decisions = document.ListOf(obj("decision", c.decision, "outcome", c.outcome, "principal", "ann", "case_revision", "r1"))
		if got, _ := refusalOf(t, rules, in); got != c.want {
			t.Errorf("%s for %s: got %s, want %s", c.decision, c.outcome, got, c.want)
		}
	}
}

// 4.6: a termination must be legitimate by the decision itself.
func TestTermination(t *testing.T) {
	rules := prepare(t, []byte(outcomeProtocol))
	for _, c := range []struct {
		termination string
		records     []document.Value
		decisions   string
		want        string
	}{
		{"done", recs(t, "e1"), "[]", "a decision"},
		{"done", nil, "[]", "Snapshot illegitimate-termination"},
		{"zero", recs(t, "e1"), "[]", "Snapshot illegitimate-termination"},
		{"shelved", nil, "[{decision: shelve, outcome: shelved, principal: ann, case_revision: r2}]", "a decision"},
		{"shelved", nil, "[{decision: shelve, outcome: shelved, principal: ann, case_revision: r1}]", "Snapshot illegitimate-termination"},
		{"kept", recs(t, "e1"), "[]", "Snapshot illegitimate-termination"}, // though done is legitimate
		{"nowhere", nil, "[]", "Snapshot undeclared-outcome"},
	} {
		in := governor.Documents{
			Snapshot:  tree(t, `{format: canon-case/1, id: C, protocol: p, revision: r2, artifacts: {a: {revision: v1}}}`),
			Evidence:  c.records,
			Decisions: tree(t, c.decisions),
		}
		in.Snapshot = with(in.Snapshot, "termination", val(c.termination))
		if got, message := refusalOf(t, rules, in); got != c.want {
			t.Errorf("%s with %s: got %s: %s; want %s", c.termination, c.decisions, got, message, c.want)
		}
	}
}

// 2.12: applicable_when decides before discharged_when.
func TestObligations(t *testing.T) {
	rules := prepare(t, []byte(`
format: protocol/1
protocol: {id: p, revision: 1}
case: {inputs: {season: {values: [dry, wet]}}}
artifacts: {a: {}}
evidence_kinds: {k: {}, none: {}}
claims:
  k: {true_when: {evidence: {kind: k}}}
  u: {true_when: {evidence: {kind: none}}}
obligations:
  always: {discharged_when: {claim: k}}
  never: {applicable_when: {input: season, in: [wet]}, discharged_when: {claim: u}}
  now: {applicable_when: {input: season, in: [dry]}, discharged_when: {claim: k}}
  now_open: {applicable_when: {evidence: {kind: k}}, discharged_when: {claim: u}}
  perhaps: {applicable_when: {claim: u}, discharged_when: {claim: k}}
`))
	d := decide(t, rules, governor.Documents{
		Snapshot: tree(t, `{format: canon-case/1, id: C, protocol: p, artifacts: {a: {revision: v1}}, inputs: {season: dry}}`),
		Evidence: recs(t, "e1"),
	})
	want := []governor.ObligationDecision{
		{Obligation: "always", Status: governor.Discharged},
		{Obligation: "never", Status: governor.NotApplicable},
		{Obligation: "now", Status: governor.Discharged},
		{Obligation: "now_open", Status: governor.Open},
		{Obligation: "perhaps", Status: governor.Open},
	}
	if !slices.Equal(d.Obligations, want) {
		t.Errorf("got %v, want %v", d.Obligations, want)
	}
}

// 89: a snapshot that lists an undeclared artifact, or misses one, is refused.
func TestSnapshotListsTheDeclaredArtifacts(t *testing.T) {
	rules := prepare(t, []byte(matchProtocol))
	for artifacts, want := range map[string]string{
		"{a: {revision: v1}, b: {revision: v1}}":                    "a decision",
		"{b: {revision: v1}, a: {revision: v1}}":                    "a decision",
		"{a: {revision: v1}, b: {revision: v1}, m: {revision: v1}}": "Snapshot undeclared-artifact",
		"{a: {revision: v1}}":                                       "Snapshot malformed-input", // D25
		"{}":                                                        "Snapshot malformed-input",
	} {
		in := governor.Documents{Snapshot: tree(t, "{format: canon-case/1, id: C, protocol: p, artifacts: "+artifacts+"}")}
		if got, _ := refusalOf(t, rules, in); got != want {
			t.Errorf("%s: got %s, want %s", artifacts, got, want)
		}
	}
}

// 90: with two legitimate outcomes a case has not come to one.
func TestTwoLegitimateOutcomesAreNone(t *testing.T) {
	rules := prepare(t, []byte(outcomeProtocol))
	in := governor.Documents{
		Snapshot: tree(t, `{format: canon-case/1, id: C, protocol: p, revision: r2, artifacts: {a: {revision: v1}}}`),
		Evidence: recs(t, "e1"),
	}
	if outcome, ok := decide(t, rules, in).Legitimate(); outcome != "done" || !ok {
		t.Errorf("with one: got %q, %v", outcome, ok)
	}
	in.Decisions = tree(t, "[{decision: keep, outcome: kept, principal: ann, case_revision: r2}]")
	if outcome, ok := decide(t, rules, in).Legitimate(); outcome != "" || ok {
		t.Errorf("with two: got %q, %v", outcome, ok)
	}
	in.Evidence, in.Decisions = nil, document.ListOf()
	if outcome, ok := decide(t, rules, in).Legitimate(); outcome != "" || ok {
		t.Errorf("with none: got %q, %v", outcome, ok)
	}
}

// 91: the evidence set reversed gives the same bytes.
func TestReversedEvidence(t *testing.T) {
	for _, name := range []string{"conflict", "recipe-moved", "pantry-moved", "tasting-expired"} {
		rules, in := worked(t, name)
		want := string(decide(t, rules, in).Bytes())
		in.Evidence = slices.Clone(in.Evidence)
		slices.Reverse(in.Evidence)
		if got := string(decide(t, rules, in).Bytes()); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// A decision outlives the request it was made from.
func TestDecisionDoesNotChangeWithItsRequest(t *testing.T) {
	rules := prepare(t, []byte(smallProtocol))
	r := request(smallRequest(t))
	r.Evidence[0].SubjectRevision = "v0"
	d, refused := rules.Evaluate(r)
	if refused != nil {
		t.Fatal(refused)
	}
	want := string(d.Bytes())
	*r.Snapshot.Revision, *r.At, *r.Evidence[0].Result = "changed", "changed", "changed"
	r.Snapshot.Artifacts[0].Revision, r.Snapshot.Inputs[0].Value = "changed", "changed"
	r.Evidence[0].ID, r.Evidence[0].UpstreamRevisions[0].Revision = "changed", "changed"
	r.Authority[0].Capability, r.Decisions[0].Principal = "changed", "changed"
	if got := string(d.Bytes()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A decision and the rules it follows may be read by several goroutines; the race detector looks on.
func TestDecisionIsReadConcurrently(t *testing.T) {
	for _, name := range []string{"all-good-no-authority", "pantry-moved"} {
		rules, in := worked(t, name)
		d := decide(t, rules, in)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				again, refused := rules.EvaluateDocuments(in)
				if refused != nil || string(again.Bytes()) != string(d.Bytes()) {
					t.Errorf("%s: got another decision: %v", name, refused)
				}
			})
		}
		all.Wait()
	}
}

// D22: the semantics version is the product's, or another that the host gives.
func TestSemanticsVersion(t *testing.T) {
	p := prepare(t, []byte(matchProtocol)).Protocol()
	for version, rules := range map[string]*governor.Rules{governor.SemanticsVersion: governor.Prepare(p), "9.9.9": governor.PrepareAs(p, "9.9.9")} {
		d := decide(t, rules, governor.Documents{Snapshot: tree(t, `{format: canon-case/1, id: C, protocol: p, artifacts: {a: {revision: v1}, b: {revision: v1}}}`)})
		if got := text(d.Document(), "explanation", "computed_from", "semantics", "canon"); got != version {
			t.Errorf("got %q, want %q", got, version)
		}
	}
}

// 72: the deepest predicate that a protocol may hold is evaluated, inside one rule and through claims.
func TestDeepestPredicates(t *testing.T) {
	nested := strings.Repeat("{not: ", protocol.MaxPredicateDepth-1) + "{evidence: {kind: k}}" + strings.Repeat("}", protocol.MaxPredicateDepth-1)
	var chain strings.Builder
	for i := range protocol.MaxPredicateDepth - 1 {
		fmt.Fprintf(&chain, "  c%d: {true_when: {claim: c%d, is: false}}\n", i, i+1)
	}
	for name, claims := range map[string]string{
		"one rule": "  c0: {true_when: " + nested + "}\n",
		"claims":   chain.String() + fmt.Sprintf("  c%d: {true_when: {evidence: {kind: k}}}\n", protocol.MaxPredicateDepth-1),
	} {
		rules := prepare(t, []byte("format: protocol/1\nprotocol: {id: p, revision: 1}\nartifacts: {a: {}}\nevidence_kinds: {k: {}}\nclaims:\n"+claims))
		d := decide(t, rules, governor.Documents{
			Snapshot: tree(t, `{format: canon-case/1, id: C, protocol: p, artifacts: {a: {revision: v1}}}`),
			Evidence: recs(t, "e1"),
		})
		if d.Claims[0].Value != protocol.False { // an odd number of turns
			t.Errorf("%s: c0 is %s", name, d.Claims[0].Value)
		}
	}
}
