package governor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
)

// registry looks up small@1 and recipe-release@3.
func registry(t testing.TB) func(string) (*governor.Rules, bool) {
	rules := map[string]*governor.Rules{
		"small@1":          prepare(t, []byte(smallProtocol)),
		"recipe-release@3": prepare(t, readFile(t, "../protocol/testdata/every-feature.yaml")),
	}
	return func(name string) (*governor.Rules, bool) {
		r, known := rules[name]
		return r, known
	}
}

// answered gives what the answer to a request is: the line of the decision or of the refusal.
func answered(lookup func(string) (*governor.Rules, bool), request string) string {
	line, refused := governor.Answer([]byte(request), lookup)
	if refused != nil {
		return string(refused.Line())
	}
	return string(line)
}

// smallAnswer is a request to small@1 in JSON.
func smallAnswer(t testing.TB) document.Value {
	in := smallRequest(t)
	return obj("protocol", "small@1", "snapshot", in.Snapshot, "evidence", in.Evidence, "at", in.At)
}

// 4.12: compact JSON on one line, members in their order.
func TestAnswerLines(t *testing.T) {
	lookup := registry(t)
	for _, name := range []string{"nothing-yet", "all-good-no-authority", "bad-only"} {
		_, in := worked(t, name)
		request := obj("protocol", "recipe-release@3", "snapshot", in.Snapshot, "evidence", in.Evidence)
		if in.At.Kind == document.Text {
			request = with(request, "at", in.At)
		}
		golden(t, "answer/"+name+".json", answered(lookup, canonjson.Compact(request)))
	}
}

func TestAnswerHoldsTheWholeDecision(t *testing.T) {
	lookup := registry(t)
	in := smallRequest(t)
	in.Authority, in.Decisions = document.Value{}, document.Value{} // which a request does not carry
	rules, _ := lookup("small@1")
	line, refused := governor.Answer([]byte(canonjson.Compact(smallAnswer(t))), lookup)
	if refused != nil {
		t.Fatal(refused)
	}
	answer, err := strictjson.Parse(line, strictjson.MaxDepth)
	if err != nil {
		t.Fatal(err)
	}
	var members []string
	for _, m := range answer.Members {
		members = append(members, m.Name)
	}
	if want := []string{"protocol", "case", "actions", "claims", "obligations", "outcome", "canon"}; !slices.Equal(members, want) {
		t.Errorf("got members %v, want %v", members, want)
	}
	if diff := cmp.Diff(string(decide(t, rules, in).Bytes()), canonical(member(t, answer, "canon"))); diff != "" {
		t.Errorf("canon (-want +got):\n%s", diff)
	}
	if strings.Count(string(line), "\n") != 1 || !strings.HasSuffix(string(line), "\n") {
		t.Errorf("%q is not one line", line)
	}
}

func TestAnswerRefusals(t *testing.T) {
	lookup := registry(t)
	valid := canonjson.Compact(smallAnswer(t))
	edit := func(change func(v document.Value) document.Value) string {
		return canonjson.Compact(change(smallAnswer(t)))
	}
	replace := func(name, value string) string {
		return edit(func(v document.Value) document.Value { return with(v, name, tree(t, value)) })
	}
	evidence := func(items ...string) string { return replace("evidence", "["+strings.Join(items, ", ")+"]") }
	snapshot := func(members string) string {
		return edit(func(v document.Value) document.Value {
			return with(v, "snapshot", set(t, member(t, v, "snapshot"), members))
		})
	}
	const (
		e0     = `{format: canon-evidence/1, id: e0, kind: k, subject: a, subject_revision: v}`
		e1     = `{format: canon-evidence/1, id: e1, kind: k, subject: a, subject_revision: v}`
		gossip = `{format: canon-evidence/1, id: e0, kind: gossip, subject: a, subject_revision: v}`
		moon   = `{format: canon-evidence/1, id: e1, kind: k, subject: moon, subject_revision: v}`
	)
	for _, c := range []struct{ name, request, want string }{
		{"no request", ``, `{"input":"Request","code":"malformed","message":"the request is empty"}`},
		{"white space", " \n", `{"input":"Request","code":"malformed","message":"the request is empty"}`},
		{"no JSON", `protocol: small@1`, `{"input":"Request","code":"malformed","message":"line 1, column 1: this is not JSON"}`},
		{"half of it", valid[:len(valid)-1], fmt.Sprintf(`{"input":"Request","code":"malformed","message":"line 1, column %d: the JSON value ends too early"}`, len(valid))},
		{"more than one", valid + valid, fmt.Sprintf(`{"input":"Request","code":"malformed","message":"line 1, column %d: something follows the JSON value"}`, len(valid)+1)},
		{"not UTF-8", "{\"protocol\":\"\xff\"}", `{"input":"Request","code":"malformed","message":"line 1, column 14: the input is not UTF-8"}`},
		{"no map", `[]`, `{"input":"Request","code":"malformed","message":"the request must be a map, not a list"}`},
		{"null", `null`, `{"input":"Request","code":"malformed","message":"the request must be a map, not null"}`},
		{"a member twice", `{"protocol":"a","protocol":"a"}`, `{"input":"Request","code":"malformed","message":"line 1, column 17: a member is written twice"}`},
		{"a member twice, deep down", strings.Replace(valid, `"kind":"k"`, `"kind":"k","kind":"k"`, 1), fmt.Sprintf(`{"input":"Request","code":"malformed","message":"line 1, column %d: a member is written twice"}`, strings.Index(valid, `"kind":"k"`)+len(`"kind":"k",`)+1)},
		{"authority is no member (D25)", replace("authority", "[]"), `{"input":"Request","code":"malformed","message":"the request has no member \"authority\""}`},
		{"nor are decisions (D25)", replace("decisions", "[]"), `{"input":"Request","code":"malformed","message":"the request has no member \"decisions\""}`},
		{"members are told apart by case", `{"Protocol":"small@1"}`, `{"input":"Request","code":"malformed","message":"the request has no member \"Protocol\""}`},
		{"no protocol", edit(func(v document.Value) document.Value { return without(v, "protocol") }), `{"input":"Request","code":"malformed","message":"protocol is missing"}`},
		{"no snapshot", edit(func(v document.Value) document.Value { return without(v, "snapshot") }), `{"input":"Request","code":"malformed","message":"snapshot is missing"}`},
		{"no evidence", edit(func(v document.Value) document.Value { return without(v, "evidence") }), `{"input":"Request","code":"malformed","message":"evidence is missing"}`},
		{"a number for a protocol", replace("protocol", "1"), `{"input":"Request","code":"malformed","message":"protocol must be text, not a number"}`},
		{"a map for evidence", replace("evidence", "{}"), `{"input":"Request","code":"malformed","message":"evidence must be a list, not a map"}`},

		{"a protocol nobody holds", replace("protocol", "large@1"), `{"input":"Protocol","code":"unknown-protocol","message":"the catalog holds no \"large@1\""}`},
		{"a protocol by its id", replace("protocol", "p"), `{"input":"Protocol","code":"unknown-protocol","message":"the catalog holds no \"p\""}`},

		{"a snapshot that is none", replace("snapshot", "[]"), `{"input":"Snapshot","code":"malformed-input","message":"the snapshot must be a map, not a list"}`},
		{"a snapshot that is null", strings.Replace(replace("snapshot", "nothing"), `"nothing"`, `null`, 1), `{"input":"Snapshot","code":"malformed-input","message":"the snapshot must be a map, not null"}`},
		{"a snapshot of another protocol", snapshot("protocol: q"), `{"input":"Snapshot","code":"malformed-input","message":"the snapshot is of protocol \"q\", not \"p\""}`},
		{"89: an undeclared artifact", snapshot("artifacts: {a: {revision: v}, b: {revision: v}, moon: {revision: v}}"), `{"input":"Snapshot","code":"undeclared-artifact","message":"the snapshot lists artifact \"moon\", which p does not declare"}`},
		{"89: a missing artifact", snapshot("artifacts: {a: {revision: v}}"), `{"input":"Snapshot","code":"malformed-input","message":"the snapshot misses artifact \"b\", which p declares"}`},
		{"an illegitimate termination", snapshot("termination: dropped"), `{"input":"Snapshot","code":"illegitimate-termination","message":"the case claims to have ended with outcome dropped, which is not legitimate"}`},

		{"a record that is none", evidence(e0, "record"), `{"input":"Evidence","evidence_index":1,"code":"malformed-input","message":"a record must be a map, not text"}`},
		{"a record of another format", evidence(e0, strings.Replace(e1, "evidence/1", "evidence/2", 1)), `{"input":"Evidence","evidence_index":1,"code":"unsupported-format","message":"the format is \"canon-evidence/2\"; this version reads \"canon-evidence/1\""}`},
		{"a record with a number beyond 64 bits", evidence(e0, strings.Replace(e1, "subject_revision: v", "subject_revision: 18446744073709551616", 1)), `{"input":"Evidence","evidence_index":1,"code":"malformed-input","message":"subject_revision must be text, not a number"}`},
		{"a record with an invalid instant", evidence(strings.Replace(e0, "id: e0", "id: e0, observed_at: now", 1)), `{"input":"Evidence","evidence_index":0,"code":"invalid-instant","message":"record e0 was observed at \"now\", which is not a UTC date and time such as 2026-03-01T08:00:00Z"}`},
		{"a repeated id", evidence(e0, e1, e0), `{"input":"Evidence","evidence_index":2,"code":"duplicate-identifier","message":"the record id \"e0\" was used before"}`},
		{"an id repeated by a record that is set aside", evidence(e0, gossip), `{"input":"Evidence","evidence_index":1,"code":"duplicate-identifier","message":"the record id \"e0\" was used before"}`},
		{"an id first used by a record that is set aside", evidence(gossip, e0), `{"input":"Evidence","evidence_index":1,"code":"duplicate-identifier","message":"the record id \"e0\" was used before"}`},
		{"a record that is set aside must be readable", evidence(strings.Replace(moon, "id: e1", "id: e 1", 1)), `{"input":"Evidence","evidence_index":0,"code":"invalid-identifier","message":"the record id must be text without white space, control or format characters"}`},

		{"an instant that is none", replace("at", "soon"), `{"input":"Time","code":"invalid-instant","message":"the evaluation instant \"soon\" is not a UTC date and time such as 2026-03-01T08:00:00Z"}`},
		{"an instant in a number", replace("at", "1772352000"), `{"input":"Time","code":"malformed-input","message":"the evaluation instant must be text, not a number"}`},
		{"an instant that is null", strings.Replace(replace("at", "soon"), `"at":"soon"`, `"at":null`, 1), `{"input":"Time","code":"malformed-input","message":"the evaluation instant must be text, not null"}`},

		{"95: terminated, and a repeated id", strings.Replace(snapshot("termination: dropped"), `"id":"e1"`, `"id":"e0"`, 1), `{"input":"Evidence","evidence_index":1,"code":"duplicate-identifier","message":"the record id \"e0\" was used before"}`},
		{"95: terminated, and an instant that is none", strings.Replace(snapshot("termination: dropped"), `"at":"2026-03-01T08:30:00Z"`, `"at":"soon"`, 1), `{"input":"Time","code":"invalid-instant","message":"the evaluation instant \"soon\" is not a UTC date and time such as 2026-03-01T08:00:00Z"}`},
	} {
		if diff := cmp.Diff(c.want+"\n", answered(lookup, c.request)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	if got := answered(lookup, valid); !strings.HasPrefix(got, `{"protocol":"small@1","case":"CASE-1",`) {
		t.Errorf("without a fault: %s", got)
	}
}

// 4.12: what does not apply since its kind or subject is not declared is set aside and not listed.
func TestAnswerSetsRecordsAside(t *testing.T) {
	lookup := registry(t)
	request := smallAnswer(t)
	plain := answered(lookup, canonjson.Compact(request))
	for _, aside := range []string{
		`{format: canon-evidence/1, id: a0, kind: gossip, subject: a, subject_revision: v}`,
		`{format: canon-evidence/1, id: a0, kind: k, subject: moon, subject_revision: v}`,
		`{format: canon-evidence/1, id: a0, kind: gossip, subject: moon, subject_revision: v}`,
	} {
		for i := range 3 {
			evidence := member(t, request, "evidence")
			evidence.Items = slices.Insert(slices.Clone(evidence.Items), i, tree(t, aside))
			if diff := cmp.Diff(plain, answered(lookup, canonjson.Compact(with(request, "evidence", evidence)))); diff != "" {
				t.Errorf("%s at %d (-without +with):\n%s", aside, i, diff)
			}
		}
	}
}

// 4.12: 128 levels are read; 129 and 100,000 are not, whatever they stand in.
func TestAnswerDepth(t *testing.T) {
	lookup := registry(t)
	nested := func(levels int) string {
		// The request is one level, the list of records another.
		return `{"protocol":"small@1","snapshot":{},"evidence":` + strings.Repeat("[", levels-1) + strings.Repeat("]", levels-1) + `}`
	}
	for levels, want := range map[int]string{
		128:     `{"input":"Snapshot","code":"malformed-input","message":"format is missing"}`,
		129:     `{"input":"Request","code":"malformed","message":"line 1, column 175: the JSON value is nested too deeply"}`,
		100_000: `{"input":"Request","code":"malformed","message":"line 1, column 175: the JSON value is nested too deeply"}`,
	} {
		if got := answered(lookup, nested(levels)); got != want+"\n" {
			t.Errorf("%d levels: got %s", levels, got)
		}
	}
}

// The order of a request shows nowhere in its answer.
func TestAnswerIsTheSameInAnyOrder(t *testing.T) {
	lookup := registry(t)
	request := smallAnswer(t)
	want := answered(lookup, canonjson.Compact(request))
	if !strings.Contains(want, `"canon":{"actions":`) {
		t.Errorf("canon does not begin with its first member in canonical order: %s", want)
	}
	var reversed func(v document.Value) document.Value
	reversed = func(v document.Value) document.Value {
		v.Items, v.Members = slices.Clone(v.Items), slices.Clone(v.Members)
		slices.Reverse(v.Items)
		slices.Reverse(v.Members)
		for i := range v.Members {
			v.Members[i].Value = reversed(v.Members[i].Value)
		}
		return v
	}
	if diff := cmp.Diff(want, answered(lookup, canonjson.Compact(reversed(request)))); diff != "" {
		t.Errorf("(-as written +reversed):\n%s", diff)
	}
}

// A request of kilobytes must not be answered with gigabytes.
func TestAnswerDoesNotExplainWithoutBound(t *testing.T) {
	const claims, records = 2_100, 2_000
	var yaml strings.Builder
	yaml.WriteString("format: protocol/1\nprotocol: {id: wide, revision: 1}\nartifacts: {a: {}}\nevidence_kinds: {k: {}}\nclaims:\n")
	for i := range claims {
		fmt.Fprintf(&yaml, "  c%d: {true_when: {evidence: {kind: k, result: good}}}\n", i)
	}
	rules := prepare(t, []byte(yaml.String()))
	request := func(n int) []byte {
		var b strings.Builder
		b.WriteString(`{"protocol":"wide@1","snapshot":{"format":"canon-case/1","id":"c","protocol":"wide","artifacts":{"a":{"revision":"1"}}},"evidence":[`)
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"format":"canon-evidence/1","id":"r%d","kind":"k","result":"bad","subject":"a","subject_revision":"1"}`, i)
		}
		b.WriteString("]}")
		return []byte(b.String())
	}
	lookup := func(string) (*governor.Rules, bool) { return rules, true }
	if _, refused := governor.Answer(request(10), lookup); refused != nil {
		t.Error(refused)
	}
	_, refused := governor.Answer(request(records), lookup)
	if refused == nil || refused.Part != governor.RequestPart || refused.Code != governor.Unrepresentable {
		t.Errorf("got %v, want %s", refused, governor.Unrepresentable)
	}
}
