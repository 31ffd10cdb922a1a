package retrieval_test

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
	"github.com/loomrun/loom/retrieval"
)

// texts draws texts of all lengths that matter, of characters of every length in UTF-8, UTF-16 and JSON.
func texts() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringN(0, 30, -1),
		rapid.StringN(0, 30, -1),
		rapid.Custom(func(t *rapid.T) string {
			piece := rapid.SampledFrom([]string{"x", "é", "京", "🎉", "\x01", "\"", "\\", "\u2028", "</a>&", "cfh:v:22222 "}).Draw(t, "piece")
			return strings.Repeat(piece, rapid.SampledFrom([]int{1, 100, 1999, 2000, 3999, 4000, 4001, 12_000}).Draw(t, "times"))
		}),
	)
}

// contents draws what a row or an envelope may hold.
func contents() *rapid.Generator[document.Value] {
	text := texts()
	scalar := rapid.OneOf(
		rapid.Just(document.Value{}), rapid.Map(rapid.Bool(), document.BoolOf), rapid.Map(text, document.TextOf), rapid.Map(text, document.TextOf),
		rapid.Map(rapid.SampledFrom([]string{"0", "-0.0", "1.50", "1e999", "123456789012345678901234567890", strings.Repeat("9", 9000)}), document.NumberOf),
	)
	nest := func(inner *rapid.Generator[document.Value]) *rapid.Generator[document.Value] {
		return rapid.OneOf(
			inner,
			rapid.Map(rapid.SliceOfN(inner, 0, 4), func(items []document.Value) document.Value { return document.ListOf(items...) }),
			rapid.Map(members(inner), func(members []document.Member) document.Value { return document.MapOf(members...) }),
		)
	}
	return nest(nest(scalar))
}

// members draws members without a label and without what an envelope has.
func members(value *rapid.Generator[document.Value]) *rapid.Generator[[]document.Member] {
	name := rapid.OneOf(rapid.SampledFrom([]string{"title", "snippet", "__proto__", "ifc ", "n\u2028", strings.Repeat("n", 5000)}), rapid.StringMatching(`[a-z]{9}`))
	member := rapid.Custom(func(t *rapid.T) document.Member {
		return document.M(name.Draw(t, "name"), value.Draw(t, "value"))
	})
	return rapid.SliceOfNDistinct(member, 0, 4, func(m document.Member) string { return m.Name })
}

// The clauses that rows and ceilings are drawn from. No ceiling has the last ones.
var clausePool = []string{
	`"a"`, `"b"`, `"c"`, `{"anyOf":["a","b"]}`, `{"anyOf":["b","a"]}`, `{"type":"t","subject":"someone"}`, `{"anyOf":["c",{"type":"t","subject":"someone"}]}`,
	`"` + strings.Repeat("l", 700) + `"`, `"` + strings.Repeat("m", 700) + `"`, `{"type":"u","x":"` + strings.Repeat("h", 1500) + `"}`,
	`"nobody"`, `"cfc:label-read-failed"`,
}

func clauses(most int) *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(rapid.SampledFrom(clausePool[:most]), 0, 3), func(list []string) string { return "[" + strings.Join(list, ",") + "]" })
}

func valueOf(text string) document.Value {
	v, err := strictjson.Parse([]byte(text), strictjson.MaxDepth)
	if err != nil {
		panic(err)
	}
	return v
}

func labelOf(clauses string) label.Label {
	l, err := label.LabelOf(valueOf(`{"confidentiality":` + clauses + `}`))
	if err != nil {
		panic(err)
	}
	return l
}

func ceilingOf(clauses string) label.Ceiling {
	c, err := label.CeilingOf(valueOf(clauses))
	if err != nil {
		panic(err)
	}
	return c
}

// rowOf draws rows: most with a label that can be read, some without one, some broken.
func rowOf() *rapid.Generator[document.Value] {
	return rapid.Custom(func(t *rapid.T) document.Value {
		var ifc document.Value
		switch rapid.SampledFrom([]string{"labelled", "labelled", "labelled", "unlabelled", "broken label", "no map"}).Draw(t, "row") {
		case "unlabelled":
			return document.MapOf(members(contents()).Draw(t, "members")...)
		case "no map":
			return rapid.SampledFrom([]document.Value{{}, document.TextOf("a text"), document.IntOf(1), document.ListOf()}).Draw(t, "value")
		case "broken label":
			ifc = valueOf(rapid.SampledFrom([]string{`null`, `{}`, `{"confidentiality":"a"}`, `{"confidentiality":[{"anyOf":[]}]}`, `{"confidentiality":[],"integrity":[1]}`}).Draw(t, "ifc"))
		default:
			ifc = valueOf(`{"confidentiality":` + clauses(len(clausePool)).Draw(t, "clauses") + rapid.SampledFrom([]string{``, `,"integrity":["seen"]`}).Draw(t, "integrity") + `}`)
		}
		list := members(contents()).Draw(t, "members")
		at := rapid.IntRange(0, len(list)).Draw(t, "place of the label")
		return document.MapOf(append(append(append([]document.Member(nil), list[:at]...), document.M("ifc", ifc)), list[at:]...)...)
	})
}

var envelopeNames = map[string][]string{
	"search":        {"query", "source_status", "warnings", "truncated", "filters"},
	"page.discover": {"omittedViews", "totalPages", "query"},
}

// assembled gives the payload of a kind of these rows.
func assembled(kind string, rows []document.Value, beside []document.Member) document.Value {
	switch kind {
	case "search":
		return document.MapOf(append(append([]document.Member(nil), beside...), document.M("hits", document.ListOf(rows...)))...)
	case "page.discover":
		return document.MapOf(append([]document.Member{document.M("pages", document.ListOf(rows...))}, beside...)...)
	case "calendar.list":
		return document.ListOf(rows...)
	default:
		return rows[0]
	}
}

// world is a measuring in parts.
type world struct {
	kind   string
	rows   []document.Value
	beside []document.Member
	retrieval.Measuring
}

// measure measures the world's rows, or others in their place, with a table of its own.
func (w world) measure(t failer, rows []document.Value) (*retrieval.Result, *handle.Table) {
	m := w.Measuring
	m.Payload.Value = assembled(w.kind, rows, w.beside)
	table := handle.NewTable("run-1")
	if m.Handles != nil {
		m.Handles = table
	}
	return measure(t, m), table
}

func worlds() *rapid.Generator[world] {
	return rapid.Custom(func(t *rapid.T) world {
		w := world{kind: rapid.SampledFrom([]string{"search", "search", "page.discover", "calendar.list", "page.read"}).Draw(t, "kind")}
		w.rows = rapid.SliceOfN(rowOf(), 0, 6).Draw(t, "rows")
		if w.kind == "page.read" {
			w.rows = []document.Value{document.MapOf(rowOf().Draw(t, "row").Members...)}
		} else if len(w.rows) > 0 {
			times := rapid.SampledFrom([]int{1, 1, 3, 300}).Draw(t, "times")
			for range times - 1 {
				w.rows = append(w.rows, w.rows[:min(6, len(w.rows))]...)
				if len(w.rows) > 900 {
					break
				}
			}
		}
		for _, name := range envelopeNames[w.kind] {
			if rapid.Bool().Draw(t, "has "+name) {
				v := contents().Draw(t, name)
				if v.Kind == document.List && len(v.Items) > 0 && rapid.Bool().Draw(t, "much") {
					for range 400 {
						v.Items = append(v.Items, v.Items[0])
					}
				}
				w.beside = append(w.beside, document.M(name, v))
			}
		}
		w.OutputID, w.Tool = "out-1", tool(w.kind)
		w.Ceiling = label.Unbounded()
		if rapid.IntRange(0, 3).Draw(t, "bounded") > 0 {
			w.Ceiling = ceilingOf(clauses(10).Draw(t, "ceiling"))
		}
		w.Query = labelOf(clauses(len(clausePool)).Draw(t, "query"))
		w.RequireRowLabels = rapid.IntRange(0, 4).Draw(t, "require") == 0
		w.Payload.Repeated = rapid.IntRange(0, 9).Draw(t, "repeated") == 0
		if rapid.Bool().Draw(t, "handles") {
			w.Handles = handle.NewTable("run-1")
		}
		return w
	})
}

// fits tells, without the code under test, whether a row may be shown: an independent reading of 5.8 and 5.9.
func (w world) fits(row document.Value) bool {
	l, found, err := label.OfRow(row)
	switch {
	case w.Payload.Repeated || err != nil:
		return false
	case !found && w.RequireRowLabels:
		return false
	case !found:
		l = w.Query
	}
	return label.Fits(l, w.Ceiling)
}

// Q6, and what the counts have to do with the rows.
func TestQ6EveryResultIsWithinItsBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := worlds().Draw(t, "world")
		r, table := w.measure(t, w.rows)
		shown, artifact := r.Shown(), r.Artifact()
		if n := length(artifact); n > retrieval.MaxResult || length(shown) > n {
			t.Fatalf("the artifact has %d code units, what is shown %d", n, length(shown))
		}
		if r.Envelope.Kind == document.Map && length(canonjson.AppendCompact(nil, r.Envelope)) > retrieval.MaxEnvelope {
			t.Fatalf("the envelope is %s", canonjson.Compact(r.Envelope))
		}
		for _, text := range [][]byte{shown, artifact} {
			if _, err := strictjson.Parse(text, strictjson.MaxDepth); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
		cut := false
		tokens := map[string]bool{}
		for i, e := range r.Entries {
			if (e.Withheld == "") != w.fits(w.rows[i]) {
				t.Fatalf("row %d is %q", i, e.Withheld)
			}
			cut = cut || e.Truncated
			if e.Withheld == "" && w.Handles != nil {
				tokens[e.Token] = true
				if held, ok := table.Get(e.Token); !ok || canonjson.Compact(held.Value) == "" || !held.Label.Equal(e.Label) {
					t.Fatalf("row %d has the handle %q", i, e.Token)
				}
			} else if e.Token != "" {
				t.Fatalf("row %d has the handle %q", i, e.Token)
			}
		}
		if len(tokens) != len(table.Referents()) {
			t.Fatalf("%d rows are held of %d shown", len(table.Referents()), len(tokens))
		}
		if r.Admitted+r.Withheld != len(r.Entries) || len(r.Entries)+r.Omitted != len(w.rows) || (cut || r.Omitted > 0) && !r.Truncated {
			t.Fatalf("of %d rows: admitted %d, withheld %d, omitted %d, truncated %t", len(w.rows), r.Admitted, r.Withheld, r.Omitted, r.Truncated)
		}
	})
}

// Q1: rows that do not fit may hold what they like.
func TestQ1WhatDoesNotFitChangesNothing(t *testing.T) {
	const drawn = 12 // rows of which the others are drawn; more would take long
	rapid.Check(t, func(t *rapid.T) {
		w := worlds().Draw(t, "world")
		others := make([]document.Value, len(w.rows))
		for i, row := range w.rows {
			others[i] = row
			if w.fits(row) {
				continue
			}
			var kept []document.Member // the label, so that the row is withheld for the same reason
			for _, m := range row.Members {
				if m.Name == "ifc" {
					kept = append(kept, m)
				}
			}
			switch {
			case i >= drawn && row.Kind == document.Map:
				others[i] = document.MapOf(append(kept, document.M("another", document.IntOf(int64(i))))...)
			case row.Kind == document.Map:
				others[i] = document.MapOf(append(members(contents()).Draw(t, "members"), kept...)...)
			default:
				others[i] = rapid.SampledFrom([]document.Value{document.TextOf("another"), document.ListOf(row), document.IntOf(77)}).Draw(t, "value")
			}
		}
		a, heldA := w.measure(t, w.rows)
		b, heldB := w.measure(t, others)
		for name, pair := range map[string][2][]byte{
			"shown": {a.Shown(), b.Shown()}, "the artifact": {a.Artifact(), b.Artifact()}, "the table": {heldA.JSON(), heldB.JSON()},
		} {
			if diff := cmp.Diff(string(pair[0]), string(pair[1])); diff != "" {
				t.Fatalf("%s (-before +after):\n%s", name, diff)
			}
		}
	})
}

// Q2: a larger ceiling withholds no row that a smaller one admits. (It may show larger entries, and so leave out more rows at the end.)
func TestQ2ALargerCeilingWithholdsNoMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := worlds().Draw(t, "world")
		less, more := clauses(10).Draw(t, "ceiling"), clauses(10).Draw(t, "more")
		large := ceilingOf(less)
		large = label.UpTo(append(large.Clauses(), ceilingOf(more).Clauses()...)...)
		if rapid.Bool().Draw(t, "unbounded") {
			large = label.Unbounded()
		}
		w.Ceiling = ceilingOf(less)
		small, _ := w.measure(t, w.rows)
		w.Ceiling = large
		wide, _ := w.measure(t, w.rows)
		for i := range min(len(small.Entries), len(wide.Entries)) {
			if small.Entries[i].Withheld == "" && wide.Entries[i].Withheld != "" {
				t.Fatalf("row %d is withheld under the larger ceiling only: %s", i, wide.Entries[i].Withheld)
			}
			if wide.Entries[i].Withheld == unreadable != (small.Entries[i].Withheld == unreadable) {
				t.Fatalf("row %d can be read under one of the ceilings only", i)
			}
		}
	})
}

// Q4: what a run has seen after a call is what it had seen before and the labels of the rows it was shown.
func TestQ4TheObservedLabelIsTheJoinOfWhatWasAdmitted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := worlds().Draw(t, "world")
		before := labelOf(clauses(len(clausePool)).Draw(t, "before"))
		r, _ := w.measure(t, w.rows)
		all := []label.Label{before}
		for _, e := range r.Entries {
			if e.Withheld == "" {
				all = append(all, e.Label)
			}
		}
		if got, want := label.Join(before, r.Observed), label.Join(all...); !got.Equal(want) {
			t.Fatalf("observed %s: %s, want %s", r.Observed.Canonical(), got.Canonical(), want.Canonical())
		}
		if len(r.Observed.Integrity()) != 0 || !label.Fits(r.Observed, w.Ceiling) {
			t.Fatalf("observed %s", r.Observed.Canonical())
		}
	})
}

// Q5: no eight characters of a withheld row are shown, unless what may be shown has them too.
func TestQ5NothingOfAWithheldRowIsShown(t *testing.T) {
	const window, looked = 8, 12 // characters, rows
	rapid.Check(t, func(t *rapid.T) {
		w := worlds().Draw(t, "world")
		for i := range w.rows { // each row has something that no other has
			if w.rows[i].Kind == document.Map && i < looked {
				secret := rapid.StringMatching(`[а-я]{12}`).Draw(t, "secret")
				w.rows[i] = document.MapOf(append(append([]document.Member(nil), w.rows[i].Members...), document.M("s"+secret, document.TextOf(secret)))...)
			}
		}
		r, _ := w.measure(t, w.rows)
		allowed := strings.Builder{}
		fmt.Fprintln(&allowed, canonjson.Compact(r.Envelope), retrieval.Notice, `{"status":"withheld","reasonCode":"cfc_label_read_failed cfc_ceiling_exceeded cfc_label_missing "`)
		fmt.Fprintln(&allowed, `{"outputId":"out-1","status":"ok","kind":"`+w.kind+`","notice":"`, `","entries":[`, `,"labelSource":"row","value":`, `,"labelSource":"query","value":`, `,"handle":"cfh:v:`)
		for _, e := range r.Entries {
			if e.Withheld == "" {
				fmt.Fprintln(&allowed, canonjson.Compact(e.Value), canonjson.Compact(handle.Names(e.Label)))
			}
		}
		shown := string(r.Shown())
		for i, row := range w.rows {
			if i >= looked || w.fits(row) {
				continue
			}
			for _, text := range textsIn(row, nil) {
				chars := []rune(text)
				for at := 0; at+window <= len(chars) && at < 40; at++ {
					piece := string(chars[at : at+window])
					if strings.Contains(shown, piece) && !strings.Contains(allowed.String(), piece) {
						t.Fatalf("%q of row %d is shown in %s", piece, i, shown)
					}
				}
			}
		}
	})
}

// textsIn lists the names and texts in a value, but for its label.
func textsIn(v document.Value, list []string) []string {
	if v.Kind == document.Text {
		list = append(list, v.Text)
	}
	for _, item := range v.Items {
		list = textsIn(item, list)
	}
	for _, m := range v.Members {
		if m.Name != "ifc" {
			list = textsIn(m.Value, append(list, m.Name))
		}
	}
	return list
}

// Q7: the same measuring gives the same bytes and tokens, also with a table that holds some of the rows already; and what is held then is
// not held twice.
func TestQ7MeasuringAgainGivesTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := worlds().Draw(t, "world")
		w.Handles = handle.NewTable("run-1")
		m := w.Measuring
		m.Payload.Value = assembled(w.kind, w.rows, w.beside)
		first := measure(t, m)
		held := string(m.Handles.JSON())
		again := measure(t, m)
		fresh, table := w.measure(t, w.rows)
		for _, r := range []*retrieval.Result{again, fresh} {
			if string(r.Artifact()) != string(first.Artifact()) {
				t.Fatalf("%s became %s", first.Artifact(), r.Artifact())
			}
		}
		if string(m.Handles.JSON()) != held || string(table.JSON()) != held {
			t.Fatalf("the table %s became %s and %s", held, m.Handles.JSON(), table.JSON())
		}
		read, err := handle.Read([]byte(held))
		if err != nil || string(read.JSON()) != held {
			t.Fatalf("%s: %v", held, err)
		}
	})
}
