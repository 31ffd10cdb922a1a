package handle_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/loomrun/loom/handle"
	"github.com/loomrun/loom/internal/strictjson"
)

func TestJSON(t *testing.T) {
	table := handle.NewTable("run-1")
	token := table.Hold(referent(t, `{"b":"</\u2028>","a":1.50}`, `{"confidentiality":[{"b":2,"type":"t","a":1.0}]}`))
	want := `{"type":"cf-harness.handle-table","version":1,"salt":"run-1","entries":[],"referents":[` +
		`{"token":"` + token + `","kind":"document","source":"loom_search","value":{"b":"</` + "\u2028" + `>","a":1.50},` +
		`"label":{"confidentiality":[{"a":1,"b":2,"type":"t"}],"integrity":[]},"labelSource":"row"}]}`
	if got := string(table.JSON()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := string(handle.NewTable("é\"").JSON()); got != `{"type":"cf-harness.handle-table","version":1,"salt":"é\"","entries":[],"referents":[]}` {
		t.Errorf("an empty table: %s", got)
	}
}

// Each line of 6.3 and of E159 that can be wrong in a table of this product. The table that is read has two referents; one place of it is
// replaced.
func TestReadRefuses(t *testing.T) {
	table := handle.NewTable("run-1")
	first := table.Hold(referent(t, `{"a":1}`, ownerLabel))
	second := table.Hold(referent(t, `{"a":2}`, `{"confidentiality":[],"integrity":["x"]}`))
	good := string(table.JSON())
	if _, err := handle.Read([]byte(good)); err != nil {
		t.Fatal(err)
	}
	start := strings.Index(good, `{"token":`)
	end := strings.Index(good, `,{"token":`)
	one := good[start:end] // the first referent
	entry := func(text string) [2]string { return [2]string{`"entries":[]`, `"entries":[` + text + `]`} }
	for _, tc := range []struct {
		name    string
		replace [2]string
		want    string // of the message
	}{
		{"no JSON", [2]string{good, `{"type":`}, "ends too early"},
		{"something behind", [2]string{good, good + "1"}, "something follows"},
		{"a member twice", [2]string{`"salt"`, `"type":1,"salt"`}, "written twice"},
		{"no map", [2]string{good, `[]`}, "line 1, column 1: it is a list"},
		{"an unknown member", [2]string{`"salt"`, `"pepper":1,"salt"`}, `unknown member "pepper"`},
		{"a wrong type", [2]string{`handle-table"`, `handle-tables"`}, "type is not"},
		{"a type that is no text", [2]string{`"cf-harness.handle-table"`, `1`}, "type is not"},
		{"no type", [2]string{`"type":"cf-harness.handle-table",`, ``}, "line 1, column 1: type is not"},
		{"another version", [2]string{`"version":1`, `"version":2`}, "version is not 1"},
		{"a version that is text", [2]string{`"version":1`, `"version":"1"`}, "version is not 1"},
		{"no version", [2]string{`"version":1,`, ``}, "version is not 1"},
		{"an empty salt", [2]string{`"salt":"run-1"`, `"salt":""`}, "salt is not"},
		{"no salt", [2]string{`"salt":"run-1",`, ``}, "salt is not"},
		{"a salt that is no text", [2]string{`"salt":"run-1"`, `"salt":1`}, "salt is not"},
		{"entries that are no list", [2]string{`"entries":[]`, `"entries":{}`}, "entries is not a list"},
		{"no entries", [2]string{`"entries":[],`, ``}, "entries is not a list"},
		{"an entry that is no map", entry(`1`), "an entry is a number"},
		{"an entry without a token", entry(`{}`), "token of an entry is malformed"},
		{"an entry with a token of a referent", entry(`{"token":"cfh:v:22222","kind":"address","ref":"of:x","addressKey":"k"}`), "token of an entry is malformed"},
		{"an entry of another kind", entry(`{"token":"cfh:a:22222","kind":"cell","ref":"of:x","addressKey":"k"}`), "kind of an entry"},
		{"an entry with an empty ref", entry(`{"token":"cfh:a:22222","kind":"address","ref":"","addressKey":"k"}`), "ref of an entry"},
		{"an entry with an empty addressKey", entry(`{"token":"cfh:a:22222","kind":"address","ref":"of:x","addressKey":""}`), "addressKey of an entry"},
		{"an entry that is right elsewhere", entry(`{"token":"cfh:a:22222","kind":"address","ref":"of:x","addressKey":"k"}`), "never gives out"},
		{"referents that are no list", [2]string{good[start-1:], `{}}`}, "referents is not a list"},
		{"referents that are null", [2]string{good[start-1:], `null}`}, "referents is not a list"},
		{"a referent that is no map", [2]string{one, `"x"`}, "a referent is text"},
		{"a referent with an unknown member", [2]string{`"kind":"document",`, `"kind":"document","provenance":{},`}, `unknown member "provenance"`},
		{"no token", [2]string{`"token":"` + first + `",`, ``}, "token of a referent is malformed"},
		{"a short token", [2]string{first, `cfh:v:2222`}, "token of a referent is malformed"},
		{"E159 a token of an address", [2]string{first, strings.Replace(first, ":v:", ":a:", 1)}, "token of a referent is malformed"},
		{"a token of another referent", [2]string{first, second}, "not the one that follows"},
		{"a token nobody gives", [2]string{first, `cfh:v:22222`}, "not the one that follows"},
		{"one character too many", [2]string{first, first + "2"}, "not the one that follows"},
		{"another salt", [2]string{`"run-1"`, `"run-2"`}, "not the one that follows"},
		{"another value", [2]string{`{"a":1}`, `{"a":3}`}, "not the one that follows"},
		{"another label", [2]string{`["owner"]`, `["nobody"]`}, "not the one that follows"},
		{"a wider label", [2]string{`["owner"]`, `[]`}, "not the one that follows"},
		{"E159 the kind cell", [2]string{`"kind":"document"`, `"kind":"cell"`}, "kind of a referent"},
		{"no kind", [2]string{`"kind":"document",`, ``}, "kind of a referent"},
		{"E159 an empty source", [2]string{`"source":"loom_search"`, `"source":""`}, "source of a referent"},
		{"no source", [2]string{`"source":"loom_search",`, ``}, "source of a referent"},
		{"no value", [2]string{`"value":{"a":1},`, ``}, "no value"},
		{"no label", [2]string{`"label":{"confidentiality":["owner"],"integrity":[]},`, ``}, "label of a referent is malformed"},
		{"a label that is no map", [2]string{`{"confidentiality":["owner"],"integrity":[]}`, `[]`}, "label of a referent is malformed"},
		{"confidentiality that is no list", [2]string{`["owner"]`, `"owner"`}, "label of a referent is malformed"},
		{"an atom of integrity without a type", [2]string{`"integrity":[]`, `"integrity":[{"name":"x"}]`}, "label of a referent is malformed"},
		{"E159 the label source guess", [2]string{`"labelSource":"row"`, `"labelSource":"guess"`}, "labelSource of a referent"},
		{"a label source of another kind", [2]string{`"labelSource":"row"`, `"labelSource":"research"`}, "labelSource of a referent"},
		{"no label source", [2]string{`,"labelSource":"row"`, ``}, "labelSource of a referent"},
		{"research with the label source of a row", [2]string{`"kind":"document"`, `"kind":"research"`}, "labelSource of a referent"},
		{"a token twice", [2]string{one, one + `,` + strings.Replace(one, `{"a":1}`, `{"a":9}`, 1)}, "token of a referent is there twice"},
		{"an identity twice", [2]string{one, one + `,` + strings.Replace(one, first, `cfh:v:22222`, 1)}, "a referent is there twice"},
		{"an identity twice in another spelling", [2]string{one, one + `,` + strings.NewReplacer(first, `cfh:v:22222`, `"a":1`, `"a":1.0`).Replace(one)}, "a referent is there twice"},
		{"a value that nests too deeply", [2]string{`{"a":1}`, strings.Repeat("[", strictjson.MaxDepth+1) + strings.Repeat("]", strictjson.MaxDepth+1)}, "nested too deeply"},
	} {
		text := strings.Replace(good, tc.replace[0], tc.replace[1], 1)
		if text == good {
			t.Fatalf("%s: nothing was replaced", tc.name)
		}
		read, err := handle.Read([]byte(text))
		if err == nil || read != nil {
			t.Errorf("%s is read", tc.name)
			continue
		}
		if !strings.HasPrefix(err.Error(), "handle table: ") || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}

func TestReadTakes(t *testing.T) {
	deep := handle.NewTable("r")
	deep.Hold(referent(t, strings.Repeat("[", strictjson.MaxDepth)+strings.Repeat("]", strictjson.MaxDepth), ownerLabel))
	for name, text := range map[string]string{
		"a table without referents":           `{"type":"cf-harness.handle-table","version":1,"salt":"r","entries":[]}`,
		"members in another order":            `{"referents":[],"entries":[],"salt":"r","version":1,"type":"cf-harness.handle-table"}`,
		"a value as deep as a payload may be": string(deep.JSON()),
	} {
		if _, err := handle.Read([]byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadIsBounded(t *testing.T) {
	const beginning, end = `{"type":"cf-harness.handle-table","version":1,"salt":"r","entries":[],"referents":[`, `]}`
	for name, tc := range map[string]struct{ text, want string }{
		"bytes":     {strings.Repeat(" ", handle.MaxBytes+1), fmt.Sprintf("more than %d bytes", handle.MaxBytes)},
		"referents": {beginning + strings.Repeat("1,", handle.MaxReferents) + "1" + end, fmt.Sprintf("more than %d referents", handle.MaxReferents)},
	} {
		if _, err := handle.Read([]byte(tc.text)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

// FuzzRead checks that whatever is read is a table that this program could have written.
func FuzzRead(f *testing.F) {
	table := handle.NewTable("run-1")
	table.Hold(referent(f, `{"b":"x","a":[1.50,null,true,{"c":"cfh:v:22222"}]}`, `{"confidentiality":[{"anyOf":["a",{"type":"t","n":1}]}],"integrity":["i"]}`))
	research := referent(f, `"found"`, `{"confidentiality":[]}`)
	research.Kind, research.LabelSource = handle.Research, handle.FromResearch
	table.Hold(research)
	f.Add(table.JSON())
	f.Add(handle.NewTable("r").JSON())
	f.Add([]byte(`{"type":"cf-harness.handle-table","version":1,"salt":"r","entries":[{"token":"cfh:a:22222"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		table, err := handle.Read(text)
		if err != nil {
			return
		}
		written := table.JSON()
		again, err := handle.Read(written)
		if err != nil {
			t.Fatalf("%s is not read again: %v", written, err)
		}
		if twice := again.JSON(); string(twice) != string(written) {
			t.Errorf("%s became %s", written, twice)
		}
		for _, r := range table.Referents() {
			if table.Clone().Hold(r) != r.Token {
				t.Errorf("%s has another token", r.Token)
			}
		}
	})
}
