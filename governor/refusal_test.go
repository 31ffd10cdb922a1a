package governor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictyaml"
)

const smallProtocol = `
format: protocol/1
protocol: {id: p, revision: 1}
case: {inputs: {season: {values: [dry, wet]}}}
artifacts: {a: {}, b: {}}
evidence_kinds: {k: {max_age: 1h}}
claims: {c: {true_when: {evidence: {kind: k, result: good}}}}
obligations: {owed: {discharged_when: {claim: c}}}
actions: {act: {precondition: {claim: c}, requires: [{capability: cap}]}}
outcomes: {done: {requires: {claim: c}}, dropped: {requires: {decision: drop}}}
invalidation: {moved: {upstream: b, invalidates: [c]}}
`

// smallRequest is a request for smallProtocol that gets a decision and has every member.
func smallRequest(t testing.TB) governor.Documents {
	return governor.Documents{
		Snapshot: tree(t, `{format: canon-case/1, id: CASE-1, protocol: p, revision: r9, inputs: {season: dry}, artifacts: {a: {revision: v}, b: {revision: v}}}`),
		Evidence: []document.Value{
			tree(t, `{format: canon-evidence/1, id: e0, kind: k, subject: a, subject_revision: v, result: good, observed_at: 2026-03-01T08:00:00Z, upstream_revisions: {b: v}}`),
			tree(t, `{format: canon-evidence/1, id: e1, kind: k, subject: b, subject_revision: v, result: good, observed_at: 2026-03-01T08:00:00Z, upstream_revisions: {b: v}}`),
		},
		Authority: tree(t, `[{capability: cap, decision: granted}]`),
		Decisions: tree(t, `[{decision: drop, outcome: dropped, principal: ann, case_revision: r1}]`),
		At:        val("2026-03-01T08:30:00Z"),
	}
}

// tree reads YAML.
func tree(t testing.TB, yaml string) document.Value {
	t.Helper()
	v, err := strictyaml.Parse([]byte(yaml), strictyaml.Options{})
	if err != nil {
		t.Fatalf("%s: %v", yaml, err)
	}
	return v
}

// spoil is one thing to do to a request, what it is done to, and the list that that is in.
type spoil struct {
	list, touches string
	do            func(t testing.TB, d *governor.Documents)
}

// set gives a map the members of a YAML map, beside or instead of its own.
func set(t testing.TB, v document.Value, members string) document.Value {
	for _, m := range tree(t, members).Members {
		v = without(v, m.Name)
		v.Members = append(v.Members, m)
	}
	return v
}

func name(members string) string { return strings.SplitN(members, ":", 2)[0] }

func snapshot(members string) spoil {
	return spoil{"", "snapshot " + name(members), func(t testing.TB, d *governor.Documents) { d.Snapshot = set(t, d.Snapshot, members) }}
}

// listed spoils the artifacts or inputs of the snapshot.
func listed(list, members string) spoil {
	return spoil{list, list + name(members), func(t testing.TB, d *governor.Documents) {
		d.Snapshot = with(d.Snapshot, list, set(t, member(t, d.Snapshot, list), members))
	}}
}

func unlisted(list, id string) spoil {
	return spoil{list, list + id, func(t testing.TB, d *governor.Documents) {
		d.Snapshot = with(d.Snapshot, list, without(member(t, d.Snapshot, list), id))
	}}
}

func record(i int, members string) spoil {
	return spoil{"", fmt.Sprint("record ", i, name(members)), func(t testing.TB, d *governor.Documents) {
		d.Evidence = slices.Clone(d.Evidence)
		d.Evidence[i] = set(t, d.Evidence[i], members)
	}}
}

func authority(item string) spoil {
	return spoil{"authority", item, func(t testing.TB, d *governor.Documents) { d.Authority = plus(d.Authority, tree(t, item)) }}
}

func decision(item string) spoil {
	return spoil{"decisions", item, func(t testing.TB, d *governor.Documents) { d.Decisions = plus(d.Decisions, tree(t, item)) }}
}

func at(v document.Value) spoil {
	return spoil{"", "at", func(_ testing.TB, d *governor.Documents) { d.At = v }}
}

func with(v document.Value, name string, value document.Value) document.Value {
	v = without(v, name)
	v.Members = append(v.Members, document.M(name, value))
	return v
}

func plus(list, item document.Value) document.Value {
	list.Items = append(slices.Clone(list.Items), item)
	return list
}

// faults are in the order of 4.9.
var faults = []struct {
	spoil
	want, says string // the part, the index and the code; a piece of the message
}{
	{snapshot("owner: ann"), "Snapshot malformed-input", `no member "owner"`},
	{snapshot("format: canon-case/2"), "Snapshot unsupported-format", `"canon-case/2"`},
	{snapshot("id: CASE 1"), "Snapshot invalid-identifier", "case id"},
	{snapshot("protocol: 'p\u200b'"), "Snapshot invalid-identifier", "protocol id"},
	{snapshot("revision: r 1"), "Snapshot invalid-identifier", "case revision"},
	{snapshot("termination: ''"), "Snapshot invalid-identifier", "termination"},
	{listed("artifacts", "m n: {revision: v}"), "Snapshot invalid-identifier", "artifact id"},
	{listed("artifacts", "a: {revision: v 1}"), "Snapshot invalid-identifier", "artifact revision"},
	{snapshot("protocol: q"), "Snapshot malformed-input", `of protocol "q", not "p"`},
	{listed("artifacts", "moon: {revision: v}"), "Snapshot undeclared-artifact", `"moon"`},
	{unlisted("artifacts", "b"), "Snapshot malformed-input", `misses artifact "b"`},
	{listed("inputs", "wind: dry"), "Snapshot malformed-input", `case input "wind"`},
	{listed("inputs", "season: dusk"), "Snapshot malformed-input", `"dusk"`},
	{unlisted("inputs", "season"), "Snapshot malformed-input", `misses case input "season"`},

	{record(0, "weight: heavy"), "Evidence 0 malformed-input", `no member "weight"`},
	{record(0, "format: canon-evidence/2"), "Evidence 0 unsupported-format", `"canon-evidence/2"`},
	{record(0, "id: e 0"), "Evidence 0 invalid-identifier", "record id"},
	{record(0, "kind: k k"), "Evidence 0 invalid-identifier", "evidence kind"},
	{record(0, "subject: a a"), "Evidence 0 invalid-identifier", "subject must"},
	{record(0, "subject_revision: v 1"), "Evidence 0 invalid-identifier", "subject revision"},
	{record(0, "upstream_revisions: {b b: v}"), "Evidence 0 invalid-identifier", "upstream artifact"},
	{record(0, "upstream_revisions: {b: v 1}"), "Evidence 0 invalid-identifier", "upstream revision"},
	{record(0, "observed_at: 2026-03-01"), "Evidence 0 invalid-instant", `"2026-03-01"`},
	{record(0, "kind: gossip"), "Evidence 0 undeclared-evidence-kind", `"gossip"`},
	{record(1, "weight: heavy"), "Evidence 1 malformed-input", `no member "weight"`},
	{record(1, "format: canon-evidence/2"), "Evidence 1 unsupported-format", `"canon-evidence/2"`},
	{record(1, "id: e 1"), "Evidence 1 invalid-identifier", "record id"},
	{record(1, "observed_at: 2026-02-29T00:00:00Z"), "Evidence 1 invalid-instant", `"2026-02-29T00:00:00Z"`},
	{record(1, "id: e0"), "Evidence 1 duplicate-identifier", `"e0"`},
	{record(1, "kind: gossip"), "Evidence 1 undeclared-evidence-kind", `"gossip"`},

	{authority("granted"), "Authority malformed-input", "must be a map"},
	{authority("{capability: cup cup, decision: granted}"), "Authority invalid-identifier", "capability"},
	{authority("{capability: cap, decision: denied}"), "Authority duplicate-identifier", `"cap"`},

	{at(val("2026-03-01T24:00:00Z")), "Time invalid-instant", `"2026-03-01T24:00:00Z"`},

	{decision("drop"), "Decisions malformed-input", "must be a map"},
	{decision("{decision: drop it, outcome: dropped, principal: ann, case_revision: r1}"), "Decisions invalid-identifier", "decision"},
	{decision("{decision: zip, outcome: dropped out, principal: ann, case_revision: r1}"), "Decisions invalid-identifier", "outcome"},
	{decision("{decision: zip, outcome: dropped, principal: ann b, case_revision: r1}"), "Decisions invalid-identifier", "principal"},
	{decision("{decision: zip, outcome: dropped, principal: ann, case_revision: r 1}"), "Decisions invalid-identifier", "case revision"},
	{decision("{decision: drop, outcome: dropped, principal: ann, case_revision: r1}"), "Decisions duplicate-identifier", "ann"},

	{record(0, "subject: moon"), "Evidence 0 undeclared-artifact", `"moon"`},
	{record(1, "subject: moon"), "Evidence 1 undeclared-artifact", `"moon"`},

	{snapshot("termination: nowhere"), "Snapshot undeclared-outcome", `"nowhere"`},
	{decision("{decision: drop, outcome: nowhere, principal: ann, case_revision: r1}"), "Decisions undeclared-outcome", `"nowhere"`},
	{decision("{decision: drop, outcome: done, principal: ann, case_revision: r1}"), "Decisions undeclared-decision", `done does not require decision "drop"`},
	{decision("{decision: keep, outcome: dropped, principal: ann, case_revision: r1}"), "Decisions undeclared-decision", `dropped does not require decision "keep"`},
	{snapshot("termination: dropped"), "Snapshot illegitimate-termination", "dropped"},
}

func refusalOf(t testing.TB, rules *governor.Rules, in governor.Documents, spoils ...spoil) (kind, message string) {
	t.Helper()
	for _, s := range spoils {
		s.do(t, &in)
	}
	d, refused := rules.EvaluateDocuments(in)
	switch {
	case refused == nil:
		return "a decision", string(d.Bytes())
	case refused.Part == governor.EvidencePart:
		return fmt.Sprintf("%s %d %s", refused.Part, refused.Index, refused.Code), refused.Message
	default:
		return fmt.Sprintf("%s %s", refused.Part, refused.Code), refused.Message
	}
}

func TestEachFaultIsRefused(t *testing.T) {
	rules := prepare(t, []byte(smallProtocol))
	if got, message := refusalOf(t, rules, smallRequest(t)); got != "a decision" {
		t.Fatalf("without a fault: %s: %s", got, message)
	}
	for _, f := range faults {
		if got, message := refusalOf(t, rules, smallRequest(t), f.spoil); got != f.want || !strings.Contains(message, f.says) {
			t.Errorf("%s: got %s: %s; want %s with %s", f.touches, got, message, f.want, f.says)
		}
	}
}

// Of any two faults the one that comes first in 4.9 is refused. Of two that are alike, in entries of
// one list, which of them is left to where they stand in it.
func TestEarlierFaultIsRefused(t *testing.T) {
	rules := prepare(t, []byte(smallProtocol))
	for i, first := range faults {
		for _, second := range faults[i+1:] {
			if first.touches == second.touches {
				continue
			}
			for _, order := range [][]spoil{{first.spoil, second.spoil}, {second.spoil, first.spoil}} {
				got, message := refusalOf(t, rules, smallRequest(t), order...)
				alike := first.want == second.want && first.list != "" && first.list == second.list
				if got != first.want || !(alike || strings.Contains(message, first.says)) {
					t.Errorf("%s and %s: got %s: %s; want %s with %s", order[0].touches, order[1].touches, got, message, first.want, first.says)
				}
			}
		}
	}
}

// What documents cannot say, since a map has each member once, values can.
func TestRepeatsInValuesAreRefused(t *testing.T) {
	rules := prepare(t, []byte(smallProtocol))
	for _, c := range []struct {
		change func(*governor.Request)
		want   string
	}{
		{func(r *governor.Request) {
			r.Snapshot.Artifacts = append(r.Snapshot.Artifacts, governor.ArtifactRevision{Artifact: "a", Revision: "w"})
		}, `Snapshot: duplicate-identifier: the snapshot lists artifact "a" twice`},
		{func(r *governor.Request) {
			r.Snapshot.Inputs = append(r.Snapshot.Inputs, governor.InputValue{Input: "season", Value: "wet"})
		}, `Snapshot: duplicate-identifier: the snapshot gives case input "season" twice`},
		{func(r *governor.Request) { r.Evidence[1].ID = "e0" }, `Evidence 1: duplicate-identifier: the record id "e0" was used before`},
	} {
		r := request(smallRequest(t))
		c.change(&r)
		if _, refused := rules.Evaluate(r); refused == nil || refused.Error() != c.want {
			t.Errorf("got %v, want %s", refused, c.want)
		}
	}
}

// 2.8: an instant is a real date and time of UTC in whole seconds.
func TestInstants(t *testing.T) {
	rules := prepare(t, []byte(smallProtocol))
	for instant, want := range map[string]string{
		"2024-02-29T00:00:00Z":      "a decision", // a leap year
		"2000-02-29T23:59:59Z":      "a decision",
		"0000-01-01T00:00:00Z":      "a decision",
		"9999-12-31T23:59:59Z":      "a decision",
		"2026-02-29T00:00:00Z":      "Time invalid-instant", // no leap year
		"1900-02-29T00:00:00Z":      "Time invalid-instant",
		"2026-13-01T00:00:00Z":      "Time invalid-instant",
		"2026-00-01T00:00:00Z":      "Time invalid-instant",
		"2026-04-31T00:00:00Z":      "Time invalid-instant",
		"2026-03-01T24:00:00Z":      "Time invalid-instant",
		"2026-03-01T23:59:60Z":      "Time invalid-instant", // a leap second
		"2026-03-01T23:60:00Z":      "Time invalid-instant",
		"2026-03-01T08:00:00.0Z":    "Time invalid-instant",
		"2026-03-01T08:00:00,5Z":    "Time invalid-instant",
		"2026-03-01T08:00:00z":      "Time invalid-instant",
		"2026-03-01t08:00:00Z":      "Time invalid-instant",
		"2026-03-01 08:00:00Z":      "Time invalid-instant",
		"2026-03-01T08:00:00+00:00": "Time invalid-instant",
		"2026-03-01T08:00:00":       "Time invalid-instant",
		"2026-03-01T8:00:00Z":       "Time invalid-instant",
		"2026-3-01T08:00:00Z":       "Time invalid-instant",
		"+2026-03-01T08:00:00Z":     "Time invalid-instant",
		"10000-01-01T00:00:00Z":     "Time invalid-instant",
		" 2026-03-01T08:00:00Z":     "Time invalid-instant",
		"":                          "Time invalid-instant",
	} {
		if got, _ := refusalOf(t, rules, smallRequest(t), at(val(instant))); got != want {
			t.Errorf("%q: got %s, want %s", instant, got, want)
		}
	}
}
