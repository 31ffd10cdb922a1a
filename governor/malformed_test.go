package governor_test

import (
	"strings"
	"testing"

	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/internal/strictyaml"
)

// reread gives documents as a reader gives them.
func reread(t testing.TB, in governor.Documents, read func([]byte) (document.Value, error)) (governor.Documents, error) {
	var failed error
	again := func(v document.Value) document.Value {
		if v.Kind == document.Null && v.Place == (document.Place{}) {
			return v
		}
		v, err := read([]byte(canonjson.Compact(v)))
		if err != nil {
			failed = err
		}
		return v
	}
	out := governor.Documents{Snapshot: again(in.Snapshot), Authority: again(in.Authority), Decisions: again(in.Decisions), At: again(in.At)}
	for _, r := range in.Evidence {
		out.Evidence = append(out.Evidence, again(r))
	}
	return out, failed
}

func readJSON(data []byte) (document.Value, error) {
	return strictjson.Parse(data, strictjson.MaxDepth)
}

func readYAML(data []byte) (document.Value, error) {
	return strictyaml.Parse(data, strictyaml.Options{})
}

// change gives a request one other value at a place of one of its documents.
type change func(in *governor.Documents, value document.Value)

// inSnapshot and the like change the member that a path leads to.
func inSnapshot(path ...string) change {
	return func(in *governor.Documents, v document.Value) { in.Snapshot = replaced(in.Snapshot, v, path...) }
}

func inRecord(path ...string) change {
	return func(in *governor.Documents, v document.Value) {
		in.Evidence = []document.Value{replaced(in.Evidence[0], v, path...)}
	}
}

func inAuthority(path ...string) change {
	return func(in *governor.Documents, v document.Value) {
		in.Authority = document.ListOf(replaced(in.Authority.Items[0], v, path...))
	}
}

func inDecision(path ...string) change {
	return func(in *governor.Documents, v document.Value) {
		in.Decisions = document.ListOf(replaced(in.Decisions.Items[0], v, path...))
	}
}

func replaced(v, by document.Value, path ...string) document.Value {
	if len(path) == 0 {
		return by
	}
	return with(v, path[0], replaced(optional(v, path[0]), by, path[1:]...))
}

// places are all members of all documents and the kind of value that belongs there.
var places = []struct {
	name    string
	change  change
	belongs document.Kind
}{
	{"Snapshot", inSnapshot(), document.Map},
	{"Snapshot format", inSnapshot("format"), document.Text},
	{"Snapshot id", inSnapshot("id"), document.Text},
	{"Snapshot protocol", inSnapshot("protocol"), document.Text},
	{"Snapshot revision", inSnapshot("revision"), document.Text},
	{"Snapshot termination", inSnapshot("termination"), document.Text},
	{"Snapshot artifacts", inSnapshot("artifacts"), document.Map},
	{"Snapshot artifacts.a", inSnapshot("artifacts", "a"), document.Map},
	{"Snapshot artifacts.a.revision", inSnapshot("artifacts", "a", "revision"), document.Text},
	{"Snapshot inputs", inSnapshot("inputs"), document.Map},
	{"Snapshot inputs.season", inSnapshot("inputs", "season"), document.Text},

	{"Evidence", inRecord(), document.Map},
	{"Evidence format", inRecord("format"), document.Text},
	{"Evidence id", inRecord("id"), document.Text},
	{"Evidence kind", inRecord("kind"), document.Text},
	{"Evidence result", inRecord("result"), document.Text},
	{"Evidence subject", inRecord("subject"), document.Text},
	{"Evidence subject_revision", inRecord("subject_revision"), document.Text},
	{"Evidence observed_at", inRecord("observed_at"), document.Text},
	{"Evidence upstream_revisions", inRecord("upstream_revisions"), document.Map},
	{"Evidence upstream_revisions.b", inRecord("upstream_revisions", "b"), document.Text},

	{"Authority", func(in *governor.Documents, v document.Value) { in.Authority = v }, document.List},
	{"Authority item", inAuthority(), document.Map},
	{"Authority capability", inAuthority("capability"), document.Text},
	{"Authority decision", inAuthority("decision"), document.Text},

	{"Time", func(in *governor.Documents, v document.Value) { in.At = v }, document.Text},

	{"Decisions", func(in *governor.Documents, v document.Value) { in.Decisions = v }, document.List},
	{"Decisions item", inDecision(), document.Map},
	{"Decisions decision", inDecision("decision"), document.Text},
	{"Decisions outcome", inDecision("outcome"), document.Text},
	{"Decisions principal", inDecision("principal"), document.Text},
	{"Decisions case_revision", inDecision("case_revision"), document.Text},
}

// smallest is a request without members that can be left out.
func smallest(t testing.TB) governor.Documents {
	in := smallRequest(t)
	in.Snapshot = without(in.Snapshot, "revision")
	in.Evidence = in.Evidence[:1]
	return in
}

// Everywhere, a value of another kind is malformed: null too, in JSON. YAML has no null to read.
func TestValueOfAnotherKindIsMalformed(t *testing.T) {
	rules := prepare(t, []byte(smallProtocol))
	for _, place := range places {
		for _, written := range []string{`null`, `1`, `1.5`, `18446744073709551616`, `true`, `"text"`, `[]`, `{}`} {
			wrong, err := readJSON([]byte(written))
			if err != nil {
				t.Fatal(err)
			}
			if wrong.Kind == place.belongs {
				continue
			}
			for reader, read := range map[string]func([]byte) (document.Value, error){"JSON": readJSON, "YAML": readYAML} {
				in := smallest(t)
				place.change(&in, wrong)
				in, err := reread(t, in, read)
				if written == "null" && reader == "YAML" {
					if err == nil {
						t.Errorf("%s: YAML reads null", place.name)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				checkMalformed(t, rules, in, place.name, reader+" "+written)
			}
		}
	}
}

func checkMalformed(t *testing.T, rules *governor.Rules, in governor.Documents, place, what string) {
	t.Helper()
	part, _, _ := strings.Cut(place, " ")
	if part == "Evidence" {
		part += " 0"
	}
	if got, message := refusalOf(t, rules, in); got != part+" malformed-input" {
		t.Errorf("%s: %s: got %s: %s", place, what, got, message)
	}
}

// Every map takes the members it has and no others; those it must have it must have.
func TestMembersOfDocuments(t *testing.T) {
	rules := prepare(t, []byte(smallProtocol))
	for _, c := range []struct {
		part     string
		get      func(in governor.Documents) document.Value
		change   change
		required string
	}{
		{"Snapshot", func(in governor.Documents) document.Value { return in.Snapshot }, inSnapshot(), "format id protocol artifacts"},
		{"Snapshot", func(governor.Documents) document.Value { return tree(t, "{revision: v}") }, inSnapshot("artifacts", "a"), "revision"},
		{"Evidence", func(in governor.Documents) document.Value { return in.Evidence[0] }, inRecord(), "format id kind subject subject_revision"},
		{"Authority", func(in governor.Documents) document.Value { return in.Authority.Items[0] }, inAuthority(), "capability decision"},
		{"Decisions", func(in governor.Documents) document.Value { return in.Decisions.Items[0] }, inDecision(), "decision outcome principal case_revision"},
	} {
		in := smallest(t)
		c.change(&in, with(c.get(in), "surprise", val("x")))
		checkMalformed(t, rules, in, c.part, "unknown member")
		for _, name := range strings.Fields(c.required) {
			in := smallest(t)
			c.change(&in, without(c.get(in), name))
			checkMalformed(t, rules, in, c.part, "without "+name)
		}
	}
}

// A tree that a lenient reader made has repeated members. They are refused everywhere.
func TestRepeatedMembersAreMalformed(t *testing.T) {
	rules := prepare(t, []byte(smallProtocol))
	repeat := func(v document.Value) document.Value {
		v.Members = append(v.Members, v.Members[0])
		return v
	}
	for name, spoil := range map[string]func(in *governor.Documents){
		"Snapshot": func(in *governor.Documents) { in.Snapshot = repeat(in.Snapshot) },
		"Snapshot artifacts": func(in *governor.Documents) {
			in.Snapshot = with(in.Snapshot, "artifacts", repeat(optional(in.Snapshot, "artifacts")))
		},
		"Snapshot artifacts.a": func(in *governor.Documents) {
			in.Snapshot = replaced(in.Snapshot, repeat(tree(t, "{revision: v}")), "artifacts", "a")
		},
		"Snapshot inputs": func(in *governor.Documents) {
			in.Snapshot = with(in.Snapshot, "inputs", repeat(optional(in.Snapshot, "inputs")))
		},
		"Evidence": func(in *governor.Documents) { in.Evidence[0] = repeat(in.Evidence[0]) },
		"Evidence upstream_revisions": func(in *governor.Documents) {
			in.Evidence[0] = with(in.Evidence[0], "upstream_revisions", repeat(tree(t, "{b: v}")))
		},
		"Authority": func(in *governor.Documents) { in.Authority = document.ListOf(repeat(in.Authority.Items[0])) },
		"Decisions": func(in *governor.Documents) { in.Decisions = document.ListOf(repeat(in.Decisions.Items[0])) },
	} {
		in := smallest(t)
		spoil(&in)
		checkMalformed(t, rules, in, name, "repeated member")
	}
}

// What is left out is not given: no authority, no decisions, no instant, no inputs.
func TestPartsMayBeLeftOut(t *testing.T) {
	in := governor.Documents{
		Snapshot: tree(t, `{format: canon-case/1, id: CASE-1, protocol: p, artifacts: {}}`),
	}
	d, refused := prepare(t, []byte("{format: protocol/1, protocol: {id: p, revision: 1}}")).EvaluateDocuments(in)
	if refused != nil {
		t.Fatal(refused)
	}
	const want = `{"case":"CASE-1","claims":{},"explanation":{"computed_from":{` +
		`"case":{"artifacts":{},"format":"canon-case/1","id":"CASE-1","protocol":"p"},` +
		`"evidence":[],"protocol":"p","protocol_revision":1,"semantics":{"canon":"0.1.0","format":"canon-decision/1"}}},` +
		`"format":"canon-decision/1","protocol":"p","protocol_revision":1}`
	if got := canonjson.Compact(d.Document()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// What is given and empty was given: an explanation says so (4.8: the snapshot as given, and authority
// and decisions when supplied).
func TestEmptyPartsAreGiven(t *testing.T) {
	in := governor.Documents{
		Snapshot:  tree(t, `{format: canon-case/1, id: CASE-1, protocol: p, artifacts: {}, inputs: {}}`),
		Authority: document.ListOf(),
		Decisions: document.ListOf(),
	}
	d, refused := prepare(t, []byte("{format: protocol/1, protocol: {id: p, revision: 1}}")).EvaluateDocuments(in)
	if refused != nil {
		t.Fatal(refused)
	}
	from := optional(optional(d.Document(), "explanation"), "computed_from")
	for _, name := range []string{"authority", "decisions"} {
		if v, given := from.Get(name); !given || canonjson.Compact(v) != "[]" {
			t.Errorf("%s is %s", name, canonjson.Compact(v))
		}
	}
	if v, given := optional(from, "case").Get("inputs"); !given || canonjson.Compact(v) != "{}" {
		t.Errorf("inputs is %s", canonjson.Compact(v))
	}
}
