package retrieval_test

import (
	"strings"
	"testing"

	"github.com/loomrun/loom/retrieval"
)

// With onExceed "fail" (4.6) a read with a row above the ceiling shows none of its rows; one without shows them all.
func TestFailOnExceed(t *testing.T) {
	tool, _ := retrieval.ToolNamed("loom_search")
	for _, c := range []struct{ hits, want string }{
		{`{"title":"one","ifc":{"confidentiality":["a"]}},{"title":"two","ifc":{"confidentiality":["b"]}}`, "cfc_ceiling_exceeded cfc_ceiling_exceeded"},
		{`{"title":"one","ifc":{"confidentiality":["a"]}},{"title":"two","ifc":7}`, " cfc_label_read_failed"},
		{`{"title":"one","ifc":{"confidentiality":["a"]}},{"title":"two"}`, " "},
	} {
		m := retrieval.Measuring{
			Tool: tool, Payload: retrieval.Payload{Value: parse(t, `{"hits":[`+c.hits+`]}`)}, Ceiling: ceiling(t, `["a"]`), FailOnExceed: true,
		}
		r, failure := retrieval.Measure(m)
		if failure != nil {
			t.Fatal(failure)
		}
		var reasons []string
		for _, e := range r.Entries {
			reasons = append(reasons, e.Withheld)
		}
		if got := strings.Join(reasons, " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.hits, got, c.want)
		}
	}
}
