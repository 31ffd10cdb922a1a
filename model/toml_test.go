package model

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// What TOML lets a file say about one table in several places. The library's decoder is asked too: the
// reader may refuse more, but must not accept more.
func TestTOMLForms(t *testing.T) {
	numbered := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for _, tc := range []struct{ text, reason string }{
		{"", ""},
		{"# nothing\r\n", ""},
		{"a.b = 1\na.c = 2\n", ""},
		{"a.b = 1\na.b = 2\n", saidTwice},
		{"a = 1\na.b = 2\n", saidTwice},
		{"a.b = 1\n[a]\n", saidTwice},
		{"a.b = 1\n[a.c]\n", ""},
		{"a = {}\na.b = 1\n", saidTwice},
		{"a = {}\n[a.b]\n", saidTwice},
		{"a = {b.c = 1, b.d = 2}\n", ""},
		{"a = {b = 1, b = 2}\n", saidTwice},
		{"[a.b]\n[a]\n", ""},
		{"[a.b]\n[a]\n[a.c]\n", ""},
		{"[a]\n[a]\n", saidTwice},
		{"[a.b]\nx = 1\n[a]\nb.y = 2\n", saidTwice},
		{"[a.b]\n[a.b]\n", saidTwice},
		{"[a]\nb = 1\n[a.b]\n", saidTwice},
		{"[a]\nb = 1\n[a.b.c]\n", saidTwice},
		{"[[a]]\n[a.b]\n[[a]]\n[a.b]\n", ""},
		{"[[a]]\n[a.b]\n[a.b]\n", saidTwice},
		{"[[a.b]]\n[a]\n[[a.b]]\n", ""},
		{"[[a]]\n[a]\n", saidTwice},
		{"[a]\n[[a]]\n", saidTwice},
		{"[a.b]\n[[a]]\n", saidTwice},
		{"a = [{}]\n[[a]]\n", saidTwice},
		{"a = [{}]\n[a.b]\n", saidTwice},
		{"a = []\n[[a]]\n", saidTwice},
		{"a = [[[]]]\n", ""},
		{"a = [[[[]]]]\n", tooDeep},
		{"a = {b = {c = {d = 1}}}\n", ""},
		{"a = {b = {c = {d = {e = 1}}}}\n", tooDeep},
		{"a.b.c.d = 1\n", ""},
		{"a.b.c.d = {e = 1}\n", tooDeep},
		{"[a.b.c.d]\n", ""},
		{"[a.b.c.d.e]\n", tooDeep},
		{numbered("k%d = 1\n", 16), ""},
		{numbered("k%d = 1\n", 17), "the table has more fields than any table of a catalog"},
		{numbered("[k%d]\n", 17), "the table has more fields than any table of a catalog"},
		{numbered("[k%d.x]\n", 17), "the table has more fields than any table of a catalog"},
		{numbered("[[k%d]]\n", 17), "the table has more fields than any table of a catalog"},
		{numbered("k%d.x = 1\n", 17), "the table has more fields than any table of a catalog"},
		{"a = {" + numbered("k%d = 1,", 17) + "}", "the table has more fields than any table of a catalog"},
		{"a = [[" + numbered("%d,", 4096) + "]]", ""},
		{"a = [[" + numbered("%d,", 4097) + "]]", tooMany},
	} {
		_, err := readTOML([]byte(tc.text))
		got := ""
		if wrong, ok := errors.AsType[*FileError](err); ok {
			got = wrong.Reason
		}
		if got != tc.reason {
			t.Errorf("%.60q: got %v, want %q", tc.text, err, tc.reason)
		}
		var anything map[string]any
		if err := toml.Unmarshal([]byte(tc.text), &anything); err != nil && got == "" {
			t.Errorf("%.60q is accepted, but the library says %v", tc.text, err)
		}
	}
}
