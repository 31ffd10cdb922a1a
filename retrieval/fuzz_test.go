package retrieval_test

import (
	"testing"

	"github.com/loomrun/loom/handle"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/retrieval"
)

// FuzzMeasure checks, of whatever a host's program prints, that the result is JSON within its bound, that nothing is held but what is
// shown, and that measuring again gives the same.
func FuzzMeasure(f *testing.F) {
	for _, text := range []string{
		`{"hits":[{"a":1,"ifc":{"confidentiality":["a"]}},{"ifc":null},{},3],"query":"q","warnings":["w"],"source_status":{"s":{}},"truncated":true}`,
		`{"pages":[{"ifc":{"confidentiality":[{"anyOf":["a","b"]}],"integrity":["i"]},"n":1e999}],"totalPages":1,"omittedViews":[]}`,
		`[{"a":{"ifc":1}},{"ifc":{"confidentiality":["cfc:label-read-failed"]}}]`,
		`{"name":"x","ifc":{"confidentiality":[]}}`, `null`, `"x"`, `{"hits":{}}`,
	} {
		for kind := range uint8(4) {
			f.Add([]byte(text), kind, kind%2 == 0)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, kind uint8, bounded bool) {
		v, err := strictjson.Parse(text, strictjson.MaxDepth)
		if err != nil {
			return
		}
		m := retrieval.Measuring{
			OutputID: "out-1", Tool: tool([]string{"search", "page.discover", "calendar.list", "people"}[kind%4]),
			Payload: retrieval.Payload{Value: v, Repeated: kind > 200}, Ceiling: label.Unbounded(), Query: labelOf(`["b"]`),
			RequireRowLabels: kind > 100, Handles: handle.NewTable("run-1"),
		}
		if bounded {
			m.Ceiling = ceilingOf(`["a","b"]`)
		}
		r, failure := retrieval.Measure(m)
		if failure != nil {
			return
		}
		artifact := r.Artifact()
		if n := length(artifact); n > retrieval.MaxResult {
			t.Errorf("%d code units", n)
		}
		for _, text := range [][]byte{r.Shown(), artifact} {
			if _, err := strictjson.Parse(text, strictjson.MaxDepth+3); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
		if again := measure(t, m); string(again.Artifact()) != string(artifact) {
			t.Errorf("%s became %s", artifact, again.Artifact())
		}
		if held := len(m.Handles.Referents()); held > r.Admitted {
			t.Errorf("%d are held of %d", held, r.Admitted)
		}
		if _, err := handle.Read(m.Handles.JSON()); err != nil {
			t.Error(err)
		}
	})
}
