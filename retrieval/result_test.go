package retrieval_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/handle"
	"github.com/loomrun/loom/retrieval"
)

var update = flag.Bool("update", false, "write testdata/example.* anew")

// The example of 5.14, byte for byte: what the model sees, and the artifact.
func TestTheExampleOfTheSpecification(t *testing.T) {
	payload := `{"schemaVersion":1,"query":"donuts","filters":{"limit":20},"summary":"4 hits","hits":[
		{"id":"m1","title":"Donuts on Friday","score":1.50,"ifc":{"confidentiality":[OWNER,WORK],"integrity":[]}},
		{"id":"m2","title":"Results of the test","score":1.25,"ifc":{"confidentiality":[OWNER,HEALTH],"integrity":[]}},
		{"id":"m3","title":"Bring <coffee>\u2028& more","score":1},
		{"id":"m4","title":"Broken","ifc":{"confidentiality":"not-a-list"}}
	],"source_status":{"google.gmail":{"status":"ok","hits":4}},"warnings":["partial_index"],"truncated":false}`
	m := measuring(t, payload)
	m.Ceiling, m.Query, m.Handles = ceiling(t, `[OWNER,WORK]`), confidential(t, `[OWNER]`), handle.NewTable("run-loom")
	r := measure(t, m)
	for name, got := range map[string][]byte{"shown": r.Shown(), "artifact": r.Artifact(), "table": m.Handles.JSON()} {
		path := filepath.Join("testdata", "example."+name+".json")
		got = append(got, '\n')
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	if r.Admitted != 2 || r.Withheld != 2 || r.Omitted != 0 || r.Truncated || r.Unlabelled != 1 {
		t.Errorf("got %+v", r)
	}
}

func TestResultsWithoutRows(t *testing.T) {
	m := measuring(t, `[]`)
	m.Tool, m.OutputID = tool("calendar.list"), "out \"1\""
	r := measure(t, m)
	want := `{"outputId":"out \"1\"","status":"ok","kind":"calendar.list","notice":"NOTICE","entries":[],"admitted":0,"withheld":0,"omitted":0,"truncated":false`
	for name, pair := range map[string][2]string{
		"shown":    {string(r.Shown()), want + `}`},
		"artifact": {string(r.Artifact()), want + `,"cfc":{"version":1}}`}, // E120
	} {
		if got := strings.Replace(pair[0], retrieval.Notice, "NOTICE", 1); got != pair[1] {
			t.Errorf("%s: got %s, want %s", name, got, pair[1])
		}
	}
}

func TestFailuresAreShown(t *testing.T) {
	for _, tc := range []struct {
		failure retrieval.Failure
		want    string
	}{
		{retrieval.Failure{Code: retrieval.NotFound, Message: "nobody \"x\""}, `{"outputId":"out-1","status":"error","code":"not_found","message":"nobody \"x\""}`},
		{retrieval.Failure{Code: retrieval.HostRefused, Message: "m", HostCode: "unknown_page"}, `{"outputId":"out-1","status":"error","code":"host_refused","message":"m","hostCode":"unknown_page"}`},
	} {
		if got := string(tc.failure.Shown("out-1")); got != tc.want {
			t.Errorf("got %s, want %s", got, tc.want)
		}
	}
}
