package workingcontext_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/loomrun/loom/run/workingcontext"
)

// A result that is JSON is read by what a JSON pointer (RFC 6901) names (6.3).
func TestPointers(t *testing.T) {
	pad := strings.Repeat("x", 2000) // a text that long is kept as a result
	for _, c := range []struct{ report, pointer, rendering, want string }{
		{`{"a":{"b":[1,{"c":"deep"}]},"pad":"` + pad + `"}`, "/a/b/1/c", "text", `"pointer":"/a/b/1/c","text":"deep"}`},
		{`{"a":{"b":[1,{"c":"deep"}]},"pad":"` + pad + `"}`, "/a/b/1/c", "json", `"pointer":"/a/b/1/c","json":"deep"}`},
		{`{"a":{"b":[1,{"c":"deep"}]},"pad":"` + pad + `"}`, "/a", "json", `"pointer":"/a","json":{"b":[1,{"c":"deep"}]}}`},
		{`{"a":{"b":[1,{"c":"deep"}]},"pad":"` + pad + `"}`, "/a/b/0", "json", `"json":1}`},
		{`["` + pad + `"]`, "", "json", `"pointer":"","json":["xxx`},
		{`{"a/b":1,"m~n":2,"":3,"pad":"` + pad + `"}`, "/a~1b", "json", `"json":1}`},
		{`{"a/b":1,"m~n":2,"":3,"pad":"` + pad + `"}`, "/m~0n", "json", `"json":2}`},
		{`{"a/b":1,"~1":2,"":3,"pad":"` + pad + `"}`, "/~01", "json", `"json":2}`},
		{`{"a/b":1,"m~n":2,"":3,"pad":"` + pad + `"}`, "/", "json", `"json":3}`},
		{`{"n":12345678901234567890123,"pad":"` + pad + `"}`, "/n", "json", `"json":12345678901234567890123}`},

		{`{"n":1,"pad":"` + pad + `"}`, "/n", "text", `{"lookup_failed":"the pointer names a number; rendering text takes a text, rendering json anything"}`},
		{`{"n":1,"pad":"` + pad + `"}`, "/n", "yaml", `{"lookup_failed":"rendering is not text or json"}`},
		{`{"n":1,"pad":"` + pad + `"}`, "/m", "json", `{"lookup_failed":"the pointer leads nowhere in the result"}`},
		{`{"n":1,"pad":"` + pad + `"}`, "/n/0", "json", `{"lookup_failed":"the pointer leads nowhere in the result"}`},
		{`{"n":1,"pad":"` + pad + `"}`, "n", "json", `{"lookup_failed":"a pointer is empty or begins with a slash"}`},
		{`{"n":1,"pad":"` + pad + `"}`, "/~", "json", `{"lookup_failed":"a tilde in a pointer is written ~0, a slash ~1"}`},
		{`{"n":1,"pad":"` + pad + `"}`, "/~2", "json", `{"lookup_failed":"a tilde in a pointer is written ~0, a slash ~1"}`},
		{`[1,"` + pad + `"]`, "/01", "json", `{"lookup_failed":"the pointer leads nowhere in the result"}`},
		{`[1,"` + pad + `"]`, "/-", "json", `{"lookup_failed":"the pointer leads nowhere in the result"}`},
		{`[1,"` + pad + `"]`, "/2", "json", `{"lookup_failed":"the pointer leads nowhere in the result"}`},
		{`{"a":1,"a":2,"pad":"` + pad + `"}`, "/a", "json", `{"lookup_failed":"the result is not JSON that a pointer can be followed in: `},
		{strings.Repeat("[", 129) + strings.Repeat("]", 129) + strings.Repeat(" ", 2000), "", "json", `{"lookup_failed":"the result is not JSON that a pointer can be followed in: `},
		{"[" + strings.Repeat("0,", 65_535) + "0]", "/0", "json", `{"lookup_failed":"the result has more than 65536 values, too many for a pointer"}`},
		{"[" + strings.Repeat("0,", 65_534) + "7]", "/65534", "json", `"json":7}`},
		{pad, "", "json", `{"lookup_failed":"the result is not JSON that a pointer can be followed in: `},
	} {
		ctx := workingcontext.New("go", nil)
		add(t, ctx, workingcontext.Step{Number: 1, Action: "work", Arguments: "{}", Performed: true, Effect: c.report, Evidence: "none"})
		reference := fmt.Sprintf(`{"result":"result-s1-1","sha256":"%x","select":{"kind":"json_pointer","pointer":%q},"rendering":%q}`,
			sha256.Sum256([]byte(c.report)), c.pointer, c.rendering)
		if got := answer(t, ctx, "read_result", reference); !strings.Contains(got, c.want) {
			t.Errorf("%q of %.60s as %s:\ngot  %.200s\nwant %s", c.pointer, c.report, c.rendering, got, c.want)
		}
	}
	ctx := workingcontext.New("go", nil)
	report := `["` + pad + `"]`
	add(t, ctx, workingcontext.Step{Number: 1, Action: "work", Arguments: "{}", Performed: true, Effect: report, Evidence: "none"})
	for _, selected := range []string{`{"kind":"json_pointer"}`, `{"kind":"json_pointer","pointer":"","start":1}`, `{"kind":"json_pointer","pointer":0}`} {
		reference := fmt.Sprintf(`{"result":"result-s1-1","sha256":"%x","select":%s,"rendering":"json"}`, sha256.Sum256([]byte(report)), selected)
		if got := answer(t, ctx, "read_result", reference); !strings.Contains(got, "lookup_failed") {
			t.Errorf("%s is taken: %s", selected, got)
		}
	}
}
