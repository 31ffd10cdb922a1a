package config

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
)

const allKeys = "; the keys are catalog, model, classifier_model, threshold, max_steps, output, context_policy, journal, action_bindings, loom_retrieval_config, instance"

// What the file may say, and what is said of anything else: place, key, and what it takes, but never
// the value.
func TestParse(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       string // KEY=TEXT@LINE for each key in order, or else LINE:COLUMN: message
	}{
		{"nothing", "", ""},
		{"a comment", "# nothing yet\r\n", ""},
		{"every key", "catalog = 'm.toml'\nmodel = \"large\"\nclassifier_model = 'small'\nthreshold = 0.75\nmax_steps = 40\noutput = 'jsonl'\ncontext_policy = 'bounded'\njournal = 'j.db'\n", "catalog=m.toml@1 model=large@2 classifier_model=small@3 threshold=0.75@4 max_steps=40@5 output=jsonl@6 context_policy=bounded@7 journal=j.db@8"},
		{"any order, blank lines and comments", "\n# b\n\nmodel='a' # c\n\ncatalog='c'", "catalog=c@6 model=a@4"},
		{"CRLF", "model = 'a'\r\noutput = 'human'\r\n", "model=a@1 output=human@2"},
		{"a quoted key", "\"model\" = 'a'", "model=a@1"},
		{"a text over lines", "model = '''\na\nb'''\noutput = 'human'", "model=a\nb@1 output=human@4"},
		{"escapes", `model = "\u00e9"`, "model=é@1"},
		{"a threshold keeps its digits", "threshold = 0.750", "threshold=0.750@1"},
		{"a threshold of 1", "threshold = 1", "threshold=1@1"},
		{"a threshold of +0.5", "threshold = +0.5", "threshold=+0.5@1"},
		{"a threshold of 5e-1", "threshold = 5e-1", "threshold=5e-1@1"},
		{"no steps", "max_steps = 0", "max_steps=0@1"},
		{"hexadecimal steps", "max_steps = 0x10", "max_steps=16@1"},
		{"steps with underscores", "max_steps = 1_000", "max_steps=1000@1"},

		{"an unknown key", "model = 'a'\n  modle = 'sk-secret'\n", "2:3: unknown key modle" + allKeys},
		{"an unknown table", "\n[models]\nmodel = 'a'\n", "2:2: unknown key models" + allKeys},
		{"an unknown list of tables", "[[models]]\n", "1:3: unknown key models" + allKeys},
		{"a key inside another", "output.mode = 'human'\n", "1:1: unknown key output.mode" + allKeys},
		{"an upper-case key", "Model = 'a'\n", "1:1: unknown key Model" + allKeys},
		{"an empty key", "'' = 1\n", "1:1: unknown key " + allKeys},
		{"a long unknown key", strings.Repeat("k", 65) + " = 1", "1:1: unknown key " + strings.Repeat("k", 64) + " […]" + allKeys},
		{"a long unknown key of two-byte characters", "'k" + strings.Repeat("ß", 40) + "' = 1", "1:1: unknown key k" + strings.Repeat("ß", 31) + " […]" + allKeys},
		{"a key twice", "model = 'a'\nmodel = 'sk-secret'", "2:1: model is set twice"},
		{"a table of a key", "[model]\n", "1:2: model is not an alias"},
		{"a list of tables of a key", "[[catalog]]\n", "1:3: catalog is not a path"},
		{"a number for a path", "catalog = 12345\n", "1:11: catalog is not a path"},
		{"a truth for an alias", "model = true\n", "1:9: model is not an alias"},
		{"a list for an alias", "model = ['sk-secret']\n", "1:1: model is not an alias"},
		{"a table for an alias", "model = {key = 'sk-secret'}\n", "1:9: model is not an alias"},
		{"a date for an alias", "model = 2026-11-30\n", "1:9: model is not an alias"},
		{"an empty path", "catalog = ''\n", "1:11: catalog is not a path"},
		{"a path with a NUL", `catalog = "a\u0000b"`, "1:11: catalog is not a path"},
		{"an empty alias", "classifier_model = \"\"\n", "1:20: classifier_model is not an alias"},
		{"a text for a threshold", "threshold = 'sk-secret'\n", "1:13: threshold is not a number from 0 to 1"},
		{"a threshold above 1", "threshold = 1.01\n", "1:13: threshold is not a number from 0 to 1"},
		{"a threshold below 0", "threshold = -0.1\n", "1:13: threshold is not a number from 0 to 1"},
		{"a threshold that is no number", "threshold = nan\n", "1:13: threshold is not a number from 0 to 1"},
		{"an infinite threshold", "threshold = +inf\n", "1:13: threshold is not a number from 0 to 1"},
		{"steps below 0", "max_steps = -1\n", "1:13: max_steps is not a whole number from 0"},
		{"half a step", "max_steps = 1.5\n", "1:13: max_steps is not a whole number from 0"},
		{"a text for steps", "max_steps = '40'\n", "1:13: max_steps is not a whole number from 0"},
		{"more steps than can be counted", "max_steps = 9223372036854775808\n", "1:13: max_steps is not a whole number from 0"},
		{"another mode", "output = 'sk-secret'\n", "1:10: output is not human or jsonl"},
		{"another policy", "context_policy = 'none'\n", "1:18: context_policy is not legacy or bounded"},
		{"a journal of another kind", "journal = 'mysql://u:sk-secret@h/d'\n", "1:11: journal is not a path or a postgres:// URL"},
		{"a number for a journal", "journal = 5432\n", "1:11: journal is not a path or a postgres:// URL"},
		{"an instance by name", "instance = 'work'", "instance=work@1"},
		{"an instance by path", "instance = '/mnt/loom'", "instance=/mnt/loom@1"},
		{"an instance by a relative path", "instance = 'data/loom'\n", "1:12: instance is not the name of an instance or an absolute path"},
		{"an empty instance", "instance = ''\n", "1:12: instance is not the name of an instance or an absolute path"},
		{"an empty path of bindings", "action_bindings = ''\n", "1:19: action_bindings is not a path"},
		{"a column counts characters", "# é\n\"model\" = 'é'\n'é' = 1\n", "3:1: unknown key é" + allKeys},
		{"no value", "model =\nsk-secret\n", "1:8: this is not TOML"},
		{"no end of a text", "model = 'sk-secret\n", "1:19: this is not TOML"},
		{"two values", "model = 'a' 'sk-secret'\n", "1:13: this is not TOML"},
		{"an end inside a character", "\"考", "1:2: this is not TOML"},
		{"bytes that are not UTF-8", "model = 'a'\n# \xff\n", "2:3: this is not UTF-8"},
	} {
		entries, wrong := parse([]byte(tc.text))
		got := said(entries)
		if wrong != nil {
			got = fmt.Sprintf("%d:%d: %s", wrong.Place.Line, wrong.Place.Column, wrong.Message)
		}
		if got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.name, got, tc.want)
		}
	}
}

func said(entries map[string]entry) string {
	var all []string
	for _, k := range keys {
		if e, ok := entries[k.Name]; ok {
			all = append(all, fmt.Sprintf("%s=%s@%d", k.Name, e.text, e.line))
		}
	}
	return strings.Join(all, " ")
}

// A file that is nested as deeply as its size permits is refused like any other wrong value.
func TestDeepNesting(t *testing.T) {
	for _, text := range []string{
		"model = " + strings.Repeat("[", int(maxFile)/2-4) + strings.Repeat("]", int(maxFile)/2-4),
		"model = " + strings.Repeat("{a=", int(maxFile)/4-4) + "1" + strings.Repeat("}", int(maxFile)/4-4),
		strings.Repeat("a.", int(maxFile)/2-4) + "a = 1",
	} {
		entries, wrong := parse([]byte(text))
		if wrong == nil || entries != nil {
			t.Errorf("%.20s… is taken", text)
		} else if len(wrong.Message) > len("unknown key  […]")+maxNameShown+len(allKeys) {
			t.Errorf("%.20s…: a message of %d bytes", text, len(wrong.Message))
		}
	}
}

// Whatever the bytes are, there is no panic; what is taken is TOML by the library's own decoder, holds
// known keys only, and reads the same again; and an error has a place in the text.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"catalog = 'm.toml'\nmodel = \"large\"\nclassifier_model = 'small'\nthreshold = 0.75\nmax_steps = 40\noutput = 'jsonl'\n",
		"[models]\nx = 1", "[[model]]", "a.b.c = {d = [1, 2]}", "max_steps = 0x_1", "model = '''\n", "\xff", "\x80", "\"考", "threshold = nan", "model = 1979-05-27T07:32:00Z",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, wrong := parse(data)
		if wrong != nil {
			lines := strings.Split(string(data), "\n")
			if at := wrong.Place; at.Line < 1 || at.Line > len(lines) || at.Column < 1 || at.Column > utf8.RuneCountInString(lines[at.Line-1])+1 {
				t.Fatalf("%q: no such place: %v", data, wrong)
			}
			return
		}
		var decoded map[string]any
		if err := toml.Unmarshal(data, &decoded); err != nil {
			t.Fatalf("%q is taken, but the library says %v", data, err)
		}
		if len(decoded) != len(entries) {
			t.Fatalf("%q gives %d entries of %d", data, len(entries), len(decoded))
		}
		for name, e := range entries {
			key, known := find(name)
			if !known || e.line < 1 {
				t.Fatalf("%q gives %s at line %d", data, name, e.line)
			}
			if text, ok := key.form.read(e.text); !ok || text != e.text {
				t.Fatalf("%q: %s is %q, and reads as %q", data, name, e.text, text)
			}
			if given, ok := decoded[name].(string); ok && given != e.text {
				t.Fatalf("%q: %s is %q for us and %q for the library", data, name, e.text, given)
			}
		}
	})
}
