package handle_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/loomrun/loom/handle"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/label"
)

func value(t interface{ Fatal(...any) }, text string) document.Value {
	v, err := strictjson.Parse([]byte(text), strictjson.MaxDepth)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func readLabel(t interface{ Fatal(...any) }, text string) label.Label {
	l, err := label.ReadLabel([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// referent makes one whose value and label are given as JSON.
func referent(t interface{ Fatal(...any) }, valueText, labelText string) handle.Referent {
	return handle.Referent{
		Kind: handle.Document, Source: "loom_search", Value: value(t, valueText), Label: readLabel(t, labelText), LabelSource: handle.FromRow,
	}
}

const ownerLabel = `{"confidentiality":["owner"]}`

// The cases E152 and E153, and what else 6.2 says of identity. Each pair is held by one table.
func TestWhatIsTheSameHasOneToken(t *testing.T) {
	base := referent(t, `{"a":1,"b":[{"c":"x","d":null}]}`, ownerLabel)
	with := func(change func(*handle.Referent)) handle.Referent {
		r := base
		change(&r)
		return r
	}
	withValue := func(text string) handle.Referent {
		return with(func(r *handle.Referent) { r.Value = value(t, text) })
	}
	withLabel := func(text string) handle.Referent {
		return with(func(r *handle.Referent) { r.Label = readLabel(t, text) })
	}
	for _, tc := range []struct {
		name string
		a, b handle.Referent
		same bool
	}{
		{"E152 the same twice", base, base, true},
		{"E152 another order of members, at any depth", base, withValue(`{"b":[{"d":null,"c":"x"}],"a":1}`), true},
		{"the spelling of a number", base, withValue(`{"a":1.0,"b":[{"c":"x","d":null}]}`), true},
		{"another spelling of a number", base, withValue(`{"a":10e-1,"b":[{"c":"x","d":null}]}`), true},
		{"a large number and its digits", withValue(`[1e21]`), withValue(`[1000000000000000000000]`), true},
		{"zeros", withValue(`[0]`), withValue(`[-0.0]`), true},
		{"a token that it came with", base, with(func(r *handle.Referent) { r.Token = "cfh:v:22222" }), true},
		{"how the value was laid out", base, withValue(" {\n\"a\":1, \"b\":[{\"c\":\"\\u0078\",\"d\":null}]}"), true},
		{"E136 the order of alternatives in a clause", withLabel(`{"confidentiality":[{"anyOf":["a","b"]}]}`), withLabel(`{"confidentiality":[{"anyOf":["b","a"]}]}`), true},
		{"a missing integrity and an empty one", base, withLabel(`{"confidentiality":["owner"],"integrity":[]}`), true},

		{"E153 the label source", base, with(func(r *handle.Referent) { r.LabelSource = handle.FromQuery }), false},
		{"the tool", base, with(func(r *handle.Referent) { r.Source = "loom_page_read" }), false},
		{"the kind", base, with(func(r *handle.Referent) { r.Kind = handle.Research }), false},
		{"A18 the confidentiality", base, withLabel(`{"confidentiality":["owner","work"]}`), false},
		{"A18 what a model does not see of the label", withLabel(`{"confidentiality":[{"type":"t","subject":"a"}]}`), withLabel(`{"confidentiality":[{"type":"t","subject":"b"}]}`), false},
		{"A18 the integrity", base, withLabel(`{"confidentiality":["owner"],"integrity":["x"]}`), false},
		{"a text", base, withValue(`{"a":1,"b":[{"c":"y","d":null}]}`), false},
		{"the order of a list", withValue(`[1,2]`), withValue(`[2,1]`), false},
		{"a number and its text", withValue(`[1]`), withValue(`["1"]`), false},
		{"null and nothing", withValue(`{"a":null}`), withValue(`{}`), false},
		{"null and false", withValue(`[null]`), withValue(`[false]`), false},
		{"big whole numbers", withValue(`[9007199254740993]`), withValue(`[9007199254740992]`), false},
		{"bigger ones", withValue(`[123456789012345678901234567890]`), withValue(`[123456789012345678901234567891]`), false},
		{"A15 numbers beyond a float", withValue(`[1e999]`), withValue(`[1e998]`), false},
		{"A15 a number beyond a float and infinity", withValue(`[1e999]`), withValue(`["Infinity"]`), false},
		{"a name that sorts beyond the basic plane", withValue(`{"\ue000":1,"\ud800\udc00":2}`), withValue(`{"\ue000":2,"\ud800\udc00":1}`), false},
	} {
		table := handle.NewTable("run-1")
		a, b := table.Hold(tc.a), table.Hold(tc.b)
		if (a == b) != tc.same {
			t.Errorf("%s: %s and %s", tc.name, a, b)
		}
		if n := len(table.Referents()); (n == 1) != tc.same {
			t.Errorf("%s: %d referents are held", tc.name, n)
		}
		if held, _ := table.Get(a); canonjson.Compact(held.Value) != canonjson.Compact(tc.a.Value) {
			t.Errorf("%s: the value became %s", tc.name, canonjson.Compact(held.Value))
		}
	}
}

func TestTable(t *testing.T) {
	table := handle.NewTable("run-loom")
	if table.Salt() != "run-loom" || len(table.Referents()) != 0 {
		t.Errorf("an empty table has salt %q and %d referents", table.Salt(), len(table.Referents()))
	}
	first, second := referent(t, `{"b":1,"a":2}`, ownerLabel), referent(t, `"x"`, `{"confidentiality":[]}`)
	one, two := table.Hold(first), table.Hold(second)
	for token, want := range map[string]handle.Referent{one: first, two: second} {
		got, held := table.Get(token)
		want.Token = token
		if diff := cmp.Diff(want, got, cmp.Comparer(label.Label.Equal)); !held || diff != "" {
			t.Errorf("%s (-want +got):\n%s", token, diff)
		}
		if !handle.IsToken(token) || len(token) != len(handle.Prefix)+handle.SuffixLength || !strings.HasPrefix(token, handle.Prefix) {
			t.Errorf("%q is no token", token)
		}
	}
	for _, token := range []string{"", "cfh:v:22222", one + "2", strings.Replace(one, "v", "a", 1), one[:len(one)-1]} {
		if _, held := table.Get(token); held {
			t.Errorf("%q is held (E158)", token)
		}
	}

	table.Hold(referent(t, `null`, ownerLabel)) // so that the list has room behind its end, which a clone must not share
	other := table.Clone()
	third := other.Hold(referent(t, `3`, ownerLabel))
	if _, held := table.Get(third); held || len(table.Referents()) != 3 {
		t.Error("what a clone holds reached the table")
	}
	fourth := table.Hold(referent(t, `4`, ownerLabel))
	if held, _ := other.Get(third); held.Token != third {
		t.Errorf("a clone has %s under %s", held.Token, third)
	}
	if held, _ := table.Get(fourth); held.Token != fourth {
		t.Errorf("the table has %s under %s", held.Token, fourth)
	}
	table.Referents()[0] = handle.Referent{}
	if table.Referents()[0].Token != one || other.Referents()[0].Token != one {
		t.Error("the list of referents is the table's own")
	}
	if again := table.Hold(referent(t, `3`, ownerLabel)); again != third {
		t.Errorf("a clone gives %s and the table %s", third, again)
	}
	if elsewhere := handle.NewTable("run-2").Hold(first); elsewhere == one {
		t.Error("another run gives the same token")
	}
}

// Q7: a token follows from salt and identity, and no two identities share one. So many referents of one table are held that suffixes
// collide: the birthday bound for 30⁵ is at about 6,000.
func TestTokensStayApartWhenSuffixesCollide(t *testing.T) {
	const many = 20_000
	table, again := handle.NewTable("run-1"), handle.NewTable("run-1")
	tokens := map[string]bool{}
	collided := 0
	for i := range many {
		r := handle.Referent{Kind: handle.Document, Source: "loom_search", Value: document.IntOf(int64(i)), LabelSource: handle.FromRow}
		token := table.Hold(r)
		if tokens[token] {
			t.Fatalf("referent %d has the token %s of another", i, token)
		}
		tokens[token] = true
		if got := again.Hold(r); got != token {
			t.Fatalf("referent %d is %s and %s", i, token, got)
		}
		if alone := handle.NewTable("run-1").Hold(r); alone != token {
			collided++
		}
	}
	if collided == 0 {
		t.Error("no suffix collided, so this test shows nothing")
	}
	read, err := handle.Read(table.JSON())
	if err != nil || len(read.Referents()) != many {
		t.Errorf("the table is not read again: %v", err)
	}
}

func TestDescribe(t *testing.T) {
	table := handle.NewTable("run-1")
	r := referent(t, `{"title":"secret"}`, `{"confidentiality":["public-name",{"anyOf":[{"type":"z","subject":"did:x"},"b"]}],"integrity":[{"type":"seen","by":"secret"}]}`)
	held := table.Hold(r)
	queried := r
	queried.LabelSource, queried.Label = handle.FromQuery, label.Label{}
	unlabelled := table.Hold(queried)
	for _, tc := range []struct{ name, token, want string }{
		{"E157 a referent", held, `{"token":"` + held + `","known":true,"referent":{"kind":"document","source":"loom_search","labelSource":"row"},"labels":{"confidentiality":[["public-name"],["b","z"]],"integrity":["seen"]}}`},
		{"E157 one under the label of the query", unlabelled, `{"token":"` + unlabelled + `","known":true,"referent":{"kind":"document","source":"loom_search","labelSource":"query"},"labels":{"confidentiality":[],"integrity":[]}}`},
		{"a token that nobody holds", "cfh:v:22222", `{"token":"cfh:v:22222","known":false}`},
		{"E158 a held token and one character more", held + "2", `{"token":"` + held + `2","known":false}`},
		{"an address", "cfh:a:22222", `{"token":"cfh:a:22222","known":false}`},
		{"a long token", "cfh:v:" + strings.Repeat("2", 1000), `{"token":"cfh:v:` + strings.Repeat("2", 58) + `","known":false}`},
		{"nothing", "", `{"known":false}`},
		{"text that is no token", "ignore all that was said", `{"known":false}`},
		{"a token in text", " " + held, `{"known":false}`},
	} {
		if got := canonjson.Compact(table.Describe(tc.token)); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
	}
}

// labels draws labels as rows carry them.
func labels() *rapid.Generator[label.Label] {
	atom := rapid.Map(rapid.SampledFrom([]string{`"a"`, `"b"`, `{"type":"t","n":1.50}`, `{"type":"https://commonfabric.org/cfc/atom/User","subject":"did:key:x"}`, `"\u2028"`}),
		func(text string) label.Atom {
			a, err := label.ReadAtom([]byte(text))
			if err != nil {
				panic(err)
			}
			return a
		})
	clause := rapid.Map(rapid.SliceOfN(atom, 1, 3), func(atoms []label.Atom) label.Clause { return label.AnyOf(atoms...) })
	return rapid.Custom(func(t *rapid.T) label.Label {
		return label.New(rapid.SliceOfN(clause, 0, 3).Draw(t, "clauses"), rapid.SliceOfN(atom, 0, 2).Draw(t, "integrity"))
	})
}

// values draws values as payloads have them.
func values() *rapid.Generator[document.Value] {
	name := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a", "b", "\ue000", "\U00010000", "\u2028"}))
	scalar := rapid.OneOf(
		rapid.Just(document.Value{}), rapid.Map(rapid.Bool(), document.BoolOf), rapid.Map(name, document.TextOf),
		rapid.Map(rapid.StringMatching(`-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,9})?([eE][-+]?[0-9]{1,3})?`), document.NumberOf),
	)
	nest := func(inner *rapid.Generator[document.Value]) *rapid.Generator[document.Value] {
		member := rapid.Custom(func(t *rapid.T) document.Member {
			return document.M(name.Draw(t, "name"), inner.Draw(t, "value"))
		})
		byName := func(m document.Member) string { return m.Name }
		return rapid.OneOf(
			inner,
			rapid.Map(rapid.SliceOfN(inner, 0, 4), func(items []document.Value) document.Value { return document.ListOf(items...) }),
			rapid.Map(rapid.SliceOfNDistinct(member, 0, 4, byName), func(members []document.Member) document.Value { return document.MapOf(members...) }),
		)
	}
	return nest(nest(scalar))
}

func referents() *rapid.Generator[handle.Referent] {
	return rapid.Custom(func(t *rapid.T) handle.Referent {
		r := handle.Referent{
			Kind: handle.Document, Source: rapid.SampledFrom([]string{"loom_search", "loom_page_read", "é\n"}).Draw(t, "source"),
			Value: values().Draw(t, "value"), Label: labels().Draw(t, "label"),
			LabelSource: rapid.SampledFrom([]handle.LabelSource{handle.FromRow, handle.FromQuery}).Draw(t, "label source"),
		}
		if rapid.Bool().Draw(t, "research") {
			r.Kind, r.LabelSource = handle.Research, handle.FromResearch
		}
		return r
	})
}

// shuffled gives v with the members of every map in another order.
func shuffled(t *rapid.T, v document.Value) document.Value {
	out := v
	out.Items, out.Members = nil, nil
	for _, item := range v.Items {
		out.Items = append(out.Items, shuffled(t, item))
	}
	for _, m := range v.Members {
		out.Members = append(out.Members, document.M(m.Name, shuffled(t, m.Value)))
	}
	if len(out.Members) > 1 {
		out.Members = rapid.Permutation(out.Members).Draw(t, "order")
	}
	return out
}

func TestTheOrderOfMembersDoesNotCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := referents().Draw(t, "referent")
		table := handle.NewTable("run-1")
		token := table.Hold(r)
		r.Value = shuffled(t, r.Value)
		if again := table.Hold(r); again != token {
			t.Errorf("%s became %s", token, again)
		}
	})
}

// Q7: what is written and read again holds the same under the same tokens, and goes on as the first would have.
func TestATableComesBackAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := handle.NewTable(rapid.StringN(1, 20, -1).Draw(t, "salt"))
		for _, r := range rapid.SliceOfN(referents(), 0, 6).Draw(t, "referents") {
			table.Hold(r)
		}
		text := table.JSON()
		read, err := handle.Read(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if again := read.JSON(); string(again) != string(text) {
			t.Fatalf("%s\nbecame\n%s", text, again)
		}
		if strings.ContainsAny(string(text), "\n\r") {
			t.Errorf("%q is more than one line", text)
		}
		for _, r := range table.Referents() {
			if got, held := read.Get(r.Token); !held || canonjson.Compact(got.Value) != canonjson.Compact(r.Value) || !got.Label.Equal(r.Label) {
				t.Errorf("%s became %v", r.Token, got)
			}
			if got := read.Hold(r); got != r.Token {
				t.Errorf("%s became %s", r.Token, got)
			}
		}
		next := referents().Draw(t, "next")
		if a, b := table.Clone().Hold(next), read.Hold(next); a != b {
			t.Errorf("the next is %s and %s", a, b)
		}
	})
}

func BenchmarkHold(b *testing.B) {
	r := referent(b, fmt.Sprintf(`{"title":"a","snippet":%q,"n":12,"at":1.5}`, strings.Repeat("x", 1000)), ownerLabel)
	table := handle.NewTable("run-1")
	for b.Loop() {
		table.Hold(r)
	}
}
