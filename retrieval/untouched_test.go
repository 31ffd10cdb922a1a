package retrieval_test

import (
	"strings"
	"testing"

	"github.com/loomrun/loom/handle"
	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/retrieval"
)

// E160: what looks like an address, a bare hash, a token or a prototype in a row is text like any other, in values and in names, and is shown as it stands.
func TestWhatLooksLikeALinkStays(t *testing.T) {
	tool, _ := retrieval.ToolNamed("loom_page_read")
	const row = `{"__proto__":{"x":1},"a":"opaque:abc#/p","b":"4f2d9c8b7a6e5d4c3b2a1908f7e6d5c4","c":{"@link":"of:fid1:abcdefgh"},"cfh:v:22222":"cfh:a:22222"}`
	held := handle.NewTable("r")
	r, failure := retrieval.Measure(retrieval.Measuring{Tool: tool, Payload: retrieval.Payload{Value: parse(t, row)}, Ceiling: label.Unbounded(), Handles: held})
	if failure != nil || !strings.Contains(string(r.Shown()), `"value":`+row) {
		t.Errorf("%v: %s", failure, r.Shown())
	}
	if _, known := held.Get("cfh:v:22222"); known {
		t.Error("a token that stands in a row is held")
	}
}
