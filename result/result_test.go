package result

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/loomrun/loom/handle"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/store"
)

const derived = `{"by":"agent","type":"loom/Derived"}`

// E170, E174, 7.5: a document has the row's own label, the result that of all.
func TestLabelsOfAResult(t *testing.T) {
	r := newRun()
	finance := r.shown("finance", labelled(t, "FINANCE"))
	r.shown("health", labelled(t, "HEALTH"))
	row := r.shown("row", labelled(t, "LOOM_ROW", observed))
	w, c, err := write(t, r.request("See "+row+" and "+finance+".", row))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"confidentiality":["FINANCE","HEALTH","LOOM_ROW"],"integrity":[` + derived + `]}`; w.Label.Canonical() != want {
		t.Errorf("the result has %s", w.Label.Canonical())
	}
	if len(w.Minted) != 1 || w.Minted[0].Token != row || !w.Minted[0].Label.Equal(labelled(t, "LOOM_ROW", observed)) {
		t.Errorf("minted: %v", w.Minted)
	}
	if got := c.pages[w.Minted[0].Link].Label; !got.Equal(labelled(t, "LOOM_ROW", observed)) {
		t.Errorf("the document has %s", got.Canonical())
	}
	for path, page := range c.pages {
		if text := string(page.Record.Details); strings.Contains(text, "health") || strings.Contains(text, `\"finance`) {
			t.Errorf("%s holds a row that is not cited", path)
		}
	}
}

// What stands in a value, and what comes of it.
var values = []struct{ name, schema, value, want string }{
	{"E170 a token", `{"type":"object","properties":{"row":{"asCell":true,"type":"object","required":["title"]}}}`, `{"row":"$0"}`, `{"row":{"@link":"results/run-1/S0.md"}}`},
	{"E170 a token at the root", `{}`, `"$1"`, `{"@link":"results/run-1/S1.md"}`},
	{"a link", `{"asCell":true,"type":"string"}`, `{"@link":"$0"}`, `{"@link":"results/run-1/S0.md"}`},
	{"a token where no row is asked for", `{"type":"string"}`, `"$0"`, `{"@link":"results/run-1/S0.md"}`},
	{"no row where one may stand", `{"asCell":true,"type":"integer"}`, `7`, `7`},
	{"two of one row", `{"items":{"asCell":true}}`, `["$0","$0","$1"]`, `[{"@link":"results/run-1/S0.md"},{"@link":"results/run-1/S0.md"},{"@link":"results/run-1/S1.md"}]`},
	{"E171 a token in prose", `{}`, `{"a":"see $0, and $1."}`, `{"a":"see T0, and T1."}`},
	{"E173 a token as a name", `{}`, `{"$0":1,"of $1":[]}`, `{"T0":1,"of T1":[]}`},
	{"a name like a prototype", `{}`, `{"__proto__":"$0"}`, `{"__proto__":{"@link":"results/run-1/S0.md"}}`},
	{"a link beside something", `{}`, `{"@link":"x","n":1.50}`, `{"@link":"x","n":1.50}`},
	{"texts like links", `{}`, `["of: course","opaque:0#/a","results/run-2.md","cfh:v:234","of:2026"]`, `["of: course","opaque:0#/a","results/run-2.md","cfh:v:234","of:2026"]`},
	{"research in prose", `{}`, `"see $2 there"`, `"see T2 there"`},

	{"a value of another form", `{"type":"object","properties":{"n":{"type":"integer"}}}`, `{"n":"x"}`, "invalid_result /n: this is string, and it must be integer"},
	{"a token that is no row's form", `{"type":"integer"}`, `"$0"`, "invalid_result this is string, and it must be integer"},
	{"an address where a row may stand", `{"asCell":true,"type":"integer"}`, `"cfh:a:23456"`, "invalid_result it does not satisfy pattern; this is string, and it must be integer; this is string, and it must be object"},
	{"E172 a token of nobody", `{}`, `{"a":"cfh:v:22222"}`, "unheld_handle cfh:v:22222 at /a"},
	{"E172 in prose", `{}`, `{"a/b":["x cfh:v:22222."]}`, "unheld_handle cfh:v:22222 at /a~1b/0"},
	{"E172 as a name", `{}`, `{"cfh:v:22222":1}`, "unheld_handle cfh:v:22222 in a name at the root"},
	{"E172 in a link", `{}`, `{"@link":"cfh:v:22222"}`, "unheld_handle cfh:v:22222 at the root"},
	{"A12 one glued to more", `{}`, `"$0z"`, "unheld_handle T0z at the root"},
	{"E176 a token of a cell", `{}`, `["cfh:a:22222"]`, "unheld_handle cfh:a:22222 at /0"},
	{"E176 a cell of another space", `{}`, `{"a":"/@did:key:z6Mk/of:baedreigh"}`, "unresolvable_handle at /a: a link is the token of a row that was shown, and nothing else"},
	{"E176 a link to one", `{}`, `{"a":{"@link":"//did:key:z6Mk/of:baedreigh"}}`, "unresolvable_handle at /a: a link is the token of a row that was shown, and nothing else"},
	{"a cell", `{}`, `"of:fid1:baedreighbaedreigh"`, "unresolvable_handle at the root: a link is the token of a row that was shown, and nothing else"},
	{"a page of another run", `{}`, `{"@link":"results/run-2.md"}`, "unresolvable_handle at the root: a link is the token of a row that was shown, and nothing else"},
	{"a seal that is forged", `{}`, `{"@link":"opaque:0123#/a"}`, "unresolvable_handle at the root: a link is the token of a row that was shown, and nothing else"},
	{"a link that is no text", `{}`, `{"@link":[1]}`, "unresolvable_handle at the root: a link is the token of a row that was shown, and nothing else"},
	{"research as a row", `{}`, `"$2"`, "unheld_handle T2 at the root"},
	{"many at once", `{}`, `["cfh:v:22222","cfh:v:22223","cfh:v:22224","cfh:v:22225","cfh:v:22226","cfh:v:22227","cfh:v:22228","cfh:v:22229","cfh:v:2222a","cfh:v:2222b","cfh:v:2222c"]`, "unheld_handle cfh:v:22222 at /0; cfh:v:22223 at /1; cfh:v:22224 at /2; cfh:v:22225 at /3; cfh:v:22226 at /4; cfh:v:22227 at /5; cfh:v:22228 at /6; cfh:v:22229 at /7; cfh:v:2222a at /8; cfh:v:2222b at /9; and 1 more"},
}

func TestValues(t *testing.T) {
	for _, tc := range values {
		t.Run(tc.name, func(t *testing.T) {
			r := newRun()
			r.shown("one", labelled(t, "A"))
			r.shown("two", labelled(t, "B"))
			r.hold(handle.Referent{Kind: handle.Research, Source: "research", Label: labelled(t, "C"), LabelSource: handle.FromResearch})
			w, _, err := write(t, r.structured(t, tc.schema, tc.value))
			got := ""
			if err != nil {
				got = string(err.Code) + " " + strings.Join(err.Refusals, "; ")
			} else {
				got = canonjson.Compact(w.Value)
				if want := `{"confidentiality":["A","B","C"],"integrity":[` + derived + `]}`; w.Label.Canonical() != want {
					t.Errorf("the label is %s", w.Label.Canonical())
				}
			}
			for i, token := range r.tokens {
				got = strings.ReplaceAll(strings.ReplaceAll(got, token, fmt.Sprintf("T%d", i)), "/"+strings.TrimPrefix(token, handle.Prefix)+".md", fmt.Sprintf("/S%d.md", i))
			}
			if got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

// Tokens outside of the value.
func TestTokensOfAnAnswer(t *testing.T) {
	r := newRun()
	row := r.shown("one", labelled(t, "A"))
	other := newRun()
	other.Table = handle.NewTable("run-2")
	foreign := other.shown("one", labelled(t, "A"))
	research := r.hold(handle.Referent{Kind: handle.Research, Source: "research", LabelSource: handle.FromResearch})
	for _, tc := range []struct {
		name, answer string
		cited        []string
		want         string
	}{
		{"none", "Nothing was found.", nil, ""},
		{"held", "As " + row + " says.", []string{row}, ""},
		{"research in words", "As " + research + " says.", nil, ""},
		{"E172 not held, in words", "As cfh:v:22222 says.", nil, "unheld_handle cfh:v:22222 in the answer"},
		{"an address, in words", "As cfh:a:22222 says.", nil, "unheld_handle cfh:a:22222 in the answer"},
		{"A20 of another run", "x", []string{row, foreign}, "unheld_handle " + foreign + " among what is cited"},
		{"no token", "x", []string{"the first row"}, "unheld_handle the first row among what is cited"},
		{"a long one", "x", []string{strings.Repeat("é", 50)}, "unheld_handle " + strings.Repeat("é", 32) + "[truncated] among what is cited"},
		{"research", "x", []string{research}, "unheld_handle " + research + " among what is cited"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w, _, err := write(t, r.request(tc.answer, tc.cited...))
			if err != nil {
				if got := string(err.Code) + " " + strings.Join(err.Refusals, "; "); got != tc.want {
					t.Errorf("%s", got)
				}
				return
			}
			if tc.want != "" || len(w.Minted) != len(tc.cited) || w.Value.Kind != document.Null {
				t.Errorf("written: %v", w)
			}
		})
	}
}

// E175, E177, E179, E180: what schema and ceiling say of labels.
func TestGates(t *testing.T) {
	const sealed = `{"@link":"opaque:ID#%s"}`
	for _, tc := range []struct {
		name          string
		ceiling       string
		schema, value string
		minted        string // which of the rows
		want          string
	}{
		{"E175 within", "FINANCE HEALTH", `{}`, `"$0"`, "0", `link`},
		{"E175 beyond", "FINANCE", `{}`, `"$0"`, "", "cfc_commit_refused what the run was shown is beyond the ceiling of the result"},
		{"public alone", "", `{}`, `1`, "", "cfc_commit_refused what the run was shown is beyond the ceiling of the result"},
		{"E177 sealed", "*", `{"properties":{"a":{"asCell":true,"ifc":{"maxConfidentiality":["FINANCE"]}}}}`, `{"a":"$1"}`, "", fmt.Sprintf(`{"a":`+sealed+`}`, "/a")},
		{"E177 not sealed", "*", `{"properties":{"a":{"asCell":true,"ifc":{"maxConfidentiality":["FINANCE"]}}}}`, `{"a":"$0"}`, "0", `link`},
		{"for public rows alone", "*", `{"properties":{"a":{"ifc":{"maxConfidentiality":[]}}}}`, `{"a":"$0"}`, "", fmt.Sprintf(`{"a":`+sealed+`}`, "/a")},
		{"sealed here, and not there", "*", `{"properties":{"a":{"ifc":{"maxConfidentiality":[]}}}}`, `{"a":"$0","b":"$0"}`, "0", `link`},
		{"allOf", "*", `{"allOf":[{"ifc":{"maxConfidentiality":["FINANCE","HEALTH"]}},{"ifc":{"maxConfidentiality":["FINANCE"]}}]}`, `"$1"`, "", fmt.Sprintf(sealed, "")},
		{"a branch that is not taken", "*", `{"anyOf":[{},{"type":"object","ifc":{"maxConfidentiality":["FINANCE"]}}]}`, `"$1"`, "", fmt.Sprintf(sealed, "")},
		{"a reference", "*", `{"$defs":{"a/b":{"ifc":{"maxConfidentiality":["FINANCE"]}}},"items":{"$ref":"#/$defs/a~1b"}}`, `["$1"]`, "", fmt.Sprintf(`[`+sealed+`]`, "/0")},
		{"the root by reference", "*", `{"properties":{"a":{"$ref":"#"},"b":{"ifc":{"maxConfidentiality":[]}}}}`, `{"a":{"b":"$0"}}`, "", fmt.Sprintf(`{"a":{"b":`+sealed+`}}`, "/a/b")},
		{"a pattern of names", "*", `{"patternProperties":{"^a":{"ifc":{"maxConfidentiality":[]}}},"additionalProperties":{}}`, `{"ab":"$0","b":1}`, "", fmt.Sprintf(`{"ab":`+sealed+`,"b":1}`, "/ab")},
		{"other members", "*", `{"properties":{"b":{}},"additionalProperties":{"ifc":{"maxConfidentiality":[]}}}`, `{"ab":"$0"}`, "", fmt.Sprintf(`{"ab":`+sealed+`}`, "/ab")},
		{"members of no other kind", "*", `{"unevaluatedProperties":{"ifc":{"maxConfidentiality":[]}}}`, `{"ab":"$0"}`, "", fmt.Sprintf(`{"ab":`+sealed+`}`, "/ab")},
		{"the first item", "*", `{"prefixItems":[{"ifc":{"maxConfidentiality":[]}}],"items":{"type":"integer"}}`, `["$0",1]`, "", fmt.Sprintf(`[`+sealed+`,1]`, "/0")},
		{"what it contains", "*", `{"contains":{"ifc":{"maxConfidentiality":[]}}}`, `["$0"]`, "", fmt.Sprintf(`[`+sealed+`]`, "/0")},
		{"a condition", "*", `{"dependentSchemas":{"a":{"properties":{"a":{"ifc":{"maxConfidentiality":[]}}}}}}`, `{"a":"$0"}`, "", fmt.Sprintf(`{"a":`+sealed+`}`, "/a")},
		{"clauses with alternatives", "*", `{"ifc":{"maxConfidentiality":[{"anyOf":["FINANCE","X"]}]}}`, `"$0"`, "", fmt.Sprintf(sealed, "")},

		{"what the run wrote, beyond", "*", `{"properties":{"a":{"ifc":{"maxConfidentiality":["FINANCE"]}}}}`, `{"a":"its own words"}`, "", "cfc_commit_refused what the run was shown is beyond what the schema admits at a place that is no row"},
		{"what the run wrote, within", "*", `{"properties":{"a":{"ifc":{"maxConfidentiality":["FINANCE","HEALTH"]}}}}`, `{"a":"its own words"}`, "", `{"a":"its own words"}`},
		{"a place that has nothing", "*", `{"properties":{"a":{"ifc":{"maxConfidentiality":[]}}}}`, `{}`, "", `{}`},

		{"E180 all carry it", "*", `{"ifc":{"requiredIntegrity":[` + verified + `]}}`, `{}`, "", `{}`},
		{"a part of its members", "*", `{"ifc":{"requiredIntegrity":[{"type":"t/Verified","by":"ada"}]}}`, `{}`, "", `{}`},
		{"another member", "*", `{"ifc":{"requiredIntegrity":[{"type":"t/Verified","by":"bob"}]}}`, `{}`, "", "cfc_commit_refused not all that the run was shown is vouched for as the schema requires"},
		{"one carries it", "*", `{"ifc":{"requiredIntegrity":[` + observed + `]}}`, `{}`, "", "cfc_commit_refused not all that the run was shown is vouched for as the schema requires"},
		{"one carries it, and is the row", "*", `{"properties":{"a":{"ifc":{"requiredIntegrity":[` + observed + `]}}}}`, `{"a":"$0"}`, "0", `link`},
		{"one carries it, and is not the row", "*", `{"properties":{"a":{"ifc":{"requiredIntegrity":[` + observed + `]}}}}`, `{"a":"$1"}`, "", "cfc_commit_refused not all that the run was shown is vouched for as the schema requires"},
		{"a concept, which nothing stands for", "*", `{"ifc":{"requiredIntegrity":[{"type":"https://commonfabric.org/cfc/atom/Concept","uri":"u"}]}}`, `{}`, "", "cfc_commit_refused not all that the run was shown is vouched for as the schema requires"},
		{"two requirements", "*", `{"ifc":{"requiredIntegrity":[` + verified + `,"v"]}}`, `{}`, "", "cfc_commit_refused not all that the run was shown is vouched for as the schema requires"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRun()
			r.shown("the bill", labelled(t, "FINANCE", observed, verified))
			r.shown("the letter", labelled(t, "HEALTH", verified))
			q := r.structured(t, tc.schema, tc.value)
			q.Ceiling = upTo(t, tc.ceiling)
			w, c, err := write(t, q)
			if err != nil {
				if got := string(err.Code) + " " + strings.Join(err.Refusals, "; "); got != tc.want {
					t.Errorf("%s", got)
				}
				if said := err.Error() + strings.Join(err.Refusals, ""); strings.Contains(said, "HEALTH") || strings.Contains(said, "letter") || errors.Unwrap(err) == nil {
					t.Errorf("it says %q, because of %v", said, errors.Unwrap(err))
				}
				return
			}
			minted := ""
			for _, m := range w.Minted {
				minted += fmt.Sprint(slices.Index(r.tokens, m.Token))
			}
			if minted != tc.minted {
				t.Errorf("minted: %q", minted)
			}
			got := canonjson.Compact(w.Value)
			if tc.want == "link" {
				if !strings.Contains(got, w.Minted[0].Link) {
					t.Error(got)
				}
				return
			}
			for _, pointer := range w.Sealed {
				got = strings.ReplaceAll(got, sealedLink("run-1", pointer), "opaque:ID#"+pointer)
			}
			if got != tc.want {
				t.Errorf("got %s", got)
			}
			if len(w.Sealed) > 0 && strings.Contains(c.source(t, w.Link), r.tokens[0]) {
				t.Error("the page names the row that it may not")
			}
		})
	}
}

// What is inherited (E179), and what is not where the run was shown something else.
func TestInheritedIntegrity(t *testing.T) {
	for _, tc := range []struct {
		name    string
		rows    [][]string
		context string // clauses beside those of the rows
		want    string
	}{
		{"nothing shown", nil, "", derived},
		{"one row", [][]string{{observed, certified}}, "", certified + "," + derived},
		{"two rows with it", [][]string{{certified, another}, {another, certified}}, "", certified + "," + another + "," + derived},
		{"two rows, one with it", [][]string{{certified}, {observed}}, "", derived},
		{"two rows, one with less", [][]string{{certified, another}, {another}}, "", another + "," + derived},
		{"something else was seen", [][]string{{certified}}, "ELSE", derived},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRun()
			for i, integrity := range tc.rows {
				r.shown(fmt.Sprint(i), labelled(t, "A", integrity...))
			}
			q := r.request("so")
			q.Context = label.Join(q.Context, labelled(t, tc.context))
			w, _, err := write(t, q)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, a := range w.Label.Integrity() {
				got = append(got, a.Canonical())
			}
			want := labelled(t, "", strings.Split(strings.ReplaceAll(tc.want, "},{", "}\n{"), "\n")...)
			if !slices.Equal(w.Label.Integrity(), want.Integrity()) {
				t.Errorf("it has %s", got)
			}
		})
	}
}

// A requirement is not met where something was seen that no row accounts for, and is where nothing was.
func TestRequirementsOfWhatWasNotHeld(t *testing.T) {
	for _, tc := range []struct {
		context string
		ok      bool
	}{{"", true}, {"ELSE", false}} {
		q := newRun().structured(t, `{"ifc":{"requiredIntegrity":["v"]}}`, `{}`)
		q.Context = labelled(t, tc.context)
		if _, _, err := write(t, q); (err == nil) != tc.ok {
			t.Errorf("%q: %v", tc.context, err)
		}
	}
}

func TestLimits(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	many := newRun()
	for i := range MaxMinted + 1 {
		many.shown(fmt.Sprint(i), label.Label{})
	}
	var text document.Value = document.TextOf(strings.Repeat("x", MaxValueBytes))
	for _, tc := range []struct {
		name string
		q    func(*Request)
		want string
	}{
		{"as many rows as may be", func(q *Request) { q.Cited = many.tokens[:MaxMinted] }, ""},
		{"one more", func(q *Request) { q.Cited = many.tokens }, "invalid_result it cites more than 200 rows"},
		{"a value that nobody asks for", func(q *Request) { q.Schema = nil; q.Value = document.BoolOf(true) }, "invalid_result there is a structured result, and none is asked for"},
		{"as deep as may be", func(q *Request) { q.Value = parsed(t, deep(MaxValueDepth)) }, ""},
		{"deeper", func(q *Request) { q.Value = document.ListOf(parsed(t, deep(MaxValueDepth))) }, "invalid_result the result is larger than 1048576 bytes, or nested more than 64 levels deep"},
		{"too large", func(q *Request) { q.Value = text }, "invalid_result the result is larger than 1048576 bytes, or nested more than 64 levels deep"},
		{"large names", func(q *Request) { q.Value = document.MapOf(document.M(text.Text, document.Value{})) }, "invalid_result the result is larger than 1048576 bytes, or nested more than 64 levels deep"},
		{"larger with its escapes", func(q *Request) { q.Value = document.TextOf(strings.Repeat("\x01", MaxValueBytes/2)) }, "invalid_result the result is larger than 1048576 bytes"},
		{"too many values", func(q *Request) { q.Value = document.ListOf(make([]document.Value, 20_000)...) }, "invalid_result there are more than 10000 values"},
		{"a number without end", func(q *Request) { q.Value = document.NumberOf("1e999999999") }, "invalid_result a number has more than 64 characters or an exponent of more than 3 digits"},
		{"a value that fills no page", func(q *Request) { q.Value = document.TextOf(strings.Repeat("x", MaxValueBytes-100)) }, "invalid_result it cannot be kept as pages: page results/run-1.md: it is larger than 1 MiB"},
		{"a row that fills no page", func(q *Request) {
			held := q.Handles.Clone()
			q.Cited = []string{held.Hold(handle.Referent{Kind: handle.Document, Value: text})}
			q.Handles = held
		}, "invalid_result it cannot be kept as pages: page results/run-1/"},
		{"bytes that are no text", func(q *Request) { q.Answer = "a\xff" }, "invalid_result it cannot be kept as pages: page results/run-1.md: it is not UTF-8 from byte "},
		{"a NUL", func(q *Request) { q.Answer = "a\x00" }, ""},
		{"a run that is a path", func(q *Request) { q.Run = "../x" }, "commit_failed the id of the run can be no name of a page"},
		{"tokens of another run", func(q *Request) { q.Run = "run-2" }, "commit_failed the tokens are those of another run"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			q := many.structured(t, `{}`, `1`)
			tc.q(&q)
			_, c, err := write(t, q)
			got := ""
			if err != nil {
				got = string(err.Code) + " " + strings.Join(err.Refusals, "; ")
			}
			if !strings.HasPrefix(got, tc.want) || tc.want == "" && got != "" {
				t.Errorf("%s", got)
			}
			if tc.want != "" && c.pages != nil {
				t.Error("it left pages")
			}
		})
	}
}

// A schema that has much to say of little is stopped, whoever finds it: what judges values, or what looks for labels.
func TestWorkOfASchema(t *testing.T) {
	var patterns, members []string
	for i := range 300 {
		patterns = append(patterns, fmt.Sprintf(`"^x%d$":{}`, i))
	}
	for i := range 2000 {
		members = append(members, fmt.Sprintf(`"m%d":0`, i))
	}
	const nested = 60
	for _, tc := range []struct{ name, schema, value, want string }{
		{"it refers to itself twice", `{"ifc":{"maxConfidentiality":["A"]},"patternProperties":{".":{"$ref":"#"}},"properties":{"a":{"$ref":"#"}}}`, strings.Repeat(`{"a":`, nested) + `0` + strings.Repeat(`}`, nested), "to check them against the schema takes more than 500000 steps"},
		{"it refers to itself", `{"ifc":{"maxConfidentiality":["A"]},"allOf":[{},{}],"properties":{"a":{"$ref":"#"}}}`, strings.Repeat(`{"a":`, nested) + `0` + strings.Repeat(`}`, nested), ""},
		{"many conditions on items", `{"if":false,"then":{"allOf":[{"ifc":{"maxConfidentiality":[]}}` + strings.Repeat(`,{"items":{}}`, 400) + `]}}`, `[0` + strings.Repeat(`,0`, 2000) + `]`, "to find what the schema says of labels at each place takes more than 500000 steps"},
		{"many patterns", `{"ifc":{"maxConfidentiality":["A"]},"patternProperties":{` + strings.Join(patterns, ",") + `}}`, `{` + strings.Join(members, ",") + `}`, "to find what the schema says of labels at each place takes more than 500000 steps"},
		{"many patterns, and no label", `{"patternProperties":{` + strings.Join(patterns, ",") + `}}`, `{` + strings.Join(members, ",") + `}`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Check(newRun().structured(t, tc.schema, tc.value))
			if tc.want == "" {
				if err != nil {
					t.Error(failure(t, err).Refusals)
				}
				return
			}
			if e := failure(t, err); e.Code != InvalidResult || !slices.Equal(e.Refusals, []string{tc.want}) {
				t.Errorf("%v %q", e, e.Refusals)
			}
		})
	}
}

// Nothing durable where a cabinet fails, and what it says is for the host alone.
func TestCabinetsThatFail(t *testing.T) {
	broken := errors.New("disk full at /home/ada")
	for _, tc := range []struct {
		name string
		c    cabinet
		want string
	}{
		{"no trust", cabinet{failAt: 1, err: broken}, "commit_failed"},
		{"no trust again", cabinet{failAt: 2, err: broken}, "commit_failed"},
		{"no writing", cabinet{failAt: 3, err: broken}, "commit_failed"},
		{"trust changes in between", cabinet{trust: []store.Trust{"a", "b"}}, "cfc_commit_refused the trust that the receipt was prepared under has changed meanwhile"},
		{"trust changes in the end", cabinet{trust: []store.Trust{"a", "a", "b"}}, "cfc_commit_refused the trust that the receipt was prepared under has changed meanwhile"},
	} {
		for _, cites := range []bool{false, true} {
			t.Run(fmt.Sprint(tc.name, " ", cites), func(t *testing.T) {
				r := newRun()
				row := r.shown("one", labelled(t, "A"))
				q := r.request("x")
				if cites {
					q.Cited = []string{row}
				}
				c := tc.c
				_, err := Write(context.Background(), &c, q)
				e := failure(t, err)
				if got := strings.TrimSpace(string(e.Code) + " " + strings.Join(e.Refusals, "; ")); got != tc.want || c.pages != nil {
					t.Errorf("%s, %v", got, c.pages)
				}
				if tc.c.err != nil && (!errors.Is(err, broken) || strings.Contains(e.Error(), "ada")) {
					t.Errorf("%v because of %v", err, errors.Unwrap(err))
				}
			})
		}
	}
}

func TestWritingThatIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("the person left")
	cancel(why)
	_, err := Write(ctx, &cabinet{failAt: 1, err: ctx.Err()}, newRun().request("x"))
	if _, refused := errors.AsType[*Error](err); refused || !errors.Is(err, why) || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// What is only proposed needs no id of a run, and what is written does.
func TestARunWithoutAnID(t *testing.T) {
	q := Request{Answer: "x", Ceiling: label.Unbounded()}
	if p, err := Check(q); err != nil || p.Link != "results/proposed.md" {
		t.Errorf("%v, %v", p, err)
	}
	if _, err := Write(context.Background(), &cabinet{}, q); failure(t, err).Code != CommitFailed {
		t.Error(err)
	}
	q.Run = "run-9"
	if w, err := Write(context.Background(), &cabinet{}, q); err != nil || w.Label.Canonical() != `{"integrity":[`+derived+`]}` && w.Label.Canonical() != `{"confidentiality":[],"integrity":[`+derived+`]}` {
		t.Errorf("%v, %v", w, err)
	}
}

// Q8: where the label of a result fits, so do the labels of all that the run was shown, and that of what it was shown besides.
func TestResultFitsOnlyWhereAllFits(t *testing.T) {
	clauses := []string{"A", "B", "C", "A|B", "B|C", "A|C"}
	pick := rapid.Custom(func(rt *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(clauses), 0, 3).Draw(rt, "clauses"), " ")
	})
	rapid.Check(t, func(rt *rapid.T) {
		r := newRun()
		for i := range rapid.IntRange(0, 5).Draw(rt, "rows") {
			r.shown(fmt.Sprint(i), labelled(t, pick.Draw(rt, "row"), rapid.SampledFrom([]string{certified, observed, another}).Draw(rt, "integrity")))
		}
		q := r.request("x")
		for _, token := range r.tokens {
			if rapid.Bool().Draw(rt, "cited") {
				q.Cited = append(q.Cited, token)
			}
		}
		q.Context = label.Join(q.Context, labelled(t, pick.Draw(rt, "context")))
		q.Ceiling = upTo(t, pick.Draw(rt, "ceiling"))
		fits := label.Fits(q.Context, q.Ceiling)
		for _, row := range r.Referents() {
			fits = fits && label.Fits(row.Label, q.Ceiling)
		}
		w, c, err := write(t, q)
		switch {
		case err != nil && err.Code != CommitRefused:
			rt.Fatal(err)
		case (err == nil) != fits:
			rt.Fatalf("all fits: %v; %v", fits, err)
		case err != nil:
			return
		}
		for _, m := range w.Minted {
			row, _ := r.Get(m.Token)
			if !c.pages[m.Link].Label.Equal(row.Label) {
				rt.Fatal("a document has another label than its row")
			}
		}
	})
}
