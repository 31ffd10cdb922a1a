package retrieval_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/retrieval"
)

// written writes a file and gives its path.
func written(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const (
	viaBroker = `{"kind":"broker","queuePath":"/q"}`
	direct    = `{"kind":"direct","instanceDir":"/i","runId":"run-1"}`
)

// The configurations of 5.1 and 11.2. What is wrong is named.
func TestConfig(t *testing.T) {
	for _, c := range []struct{ number, text, wrong string }{
		{"a broker", `{"cliPath":"/bin/loom","transport":` + viaBroker + `}`, ""},
		{"direct", `{"cliPath":"/bin/loom","transport":` + direct + `}`, ""},
		{"an actor", `{"cliPath":"/bin/loom","transport":{"kind":"direct","instanceDir":"/i","runId":"r","actor":"agent:x"}}`, ""},
		{"all of it", `{"cliPath":"/bin/loom","transport":` + viaBroker + `,"readCeilingFile":"/c","facets":["work","family-2"],"timeLimitSeconds":300}`, ""},
		{"E040", `{"cliPath":"bin/loom","transport":` + viaBroker + `}`, "cliPath is not an absolute path"},
		{"E040", `{"cliPath":"/bin/loom","transport":` + viaBroker + `,"readCeilingFile":"c"}`, "readCeilingFile is not an absolute path"},
		{"E040", `{"cliPath":"/bin/loom","transport":` + viaBroker + `,"readCeilingFile":""}`, "readCeilingFile is not an absolute path"},
		{"E040", `{"cliPath":"/bin/loom","transport":{"kind":"broker","queuePath":"q"}}`, "transport.queuePath is not an absolute path"},
		{"E040", `{"cliPath":"/bin/loom","transport":{"kind":"direct","instanceDir":"i","runId":"r"}}`, "transport.instanceDir is not an absolute path"},
		{"E041", `{"cliPath":"/bin/loom","transport":{"kind":"unknown"}}`, "no other transport is supported"},
		{"E042", `{"cliPath":"/bin/loom","transport":{"kind":"direct","instanceDir":"/i","runId":" run-1"}}`, "transport.runId"},
		{"E042", `{"cliPath":"/bin/loom","transport":{"kind":"direct","instanceDir":"/i","runId":"run-1 "}}`, "transport.runId"},
		{"E042", `{"cliPath":"/bin/loom","transport":{"kind":"direct","instanceDir":"/i","runId":"   "}}`, "transport.runId"},
		{"E042", `{"cliPath":"/bin/loom","transport":{"kind":"direct","instanceDir":"/i","runId":""}}`, "transport.runId"},
		{"E042", `{"cliPath":"/bin/loom","transport":{"kind":"direct","instanceDir":"/i","runId":"a\u0007b"}}`, "transport.runId"},
		{"E042", `{"cliPath":"/bin/loom","transport":{"kind":"direct","instanceDir":"/i","runId":"` + strings.Repeat("r", 128) + `"}}`, ""},
		{"E042", `{"cliPath":"/bin/loom","transport":{"kind":"direct","instanceDir":"/i","runId":"` + strings.Repeat("r", 129) + `"}}`, "transport.runId"},
		{"E043", `{"cliPath":"/bin/loom","transport":` + viaBroker + `,"facets":["Work Stuff"]}`, "facets"},
		{"E043", `{"cliPath":"/bin/loom","transport":` + viaBroker + `,"facets":[]}`, "facets"},
		{"E043", `{"cliPath":"/bin/loom","transport":` + viaBroker + `,"facets":["-work"]}`, "facets"},
		{"E043", `{"cliPath":"/bin/loom","transport":` + viaBroker + `,"facets":["Work"]}`, "facets"},
		{"E043", `{"cliPath":"/bin/loom","transport":` + viaBroker + `,"facets":["` + strings.Repeat("w", 64) + `"]}`, ""},
		{"E043", `{"cliPath":"/bin/loom","transport":` + viaBroker + `,"facets":["` + strings.Repeat("w", 65) + `"]}`, "facets"},
		{"E043", `{"cliPath":"/bin/loom","transport":` + viaBroker + `,"facets":[7]}`, "facets"},
		{"E043", `{"cliPath":"/bin/loom","transport":` + viaBroker + `,"facets":"work"}`, "facets"},
		{"E045", `{"cliPath":"/bin/loom"}`, "transport.kind"},
		{"E045", `{"cliPath":"/bin/loom","transport":"broker"}`, "the transport is text, and not an object"},
		{"E045", `{"transport":` + viaBroker + `}`, "cliPath is not an absolute path"},
		{"E045", `{"cliPath":7,"transport":` + viaBroker + `}`, "cliPath is not a text"},
		{"E045", `not json`, "this is not JSON"},
		{"E045", `[]`, "the configuration is a list, and not an object"},
		{"D6", `{"cliPath":"/bin/loom","transport":` + viaBroker + `,"facetts":["work"]}`, `unknown member "facetts"`},
		{"D6", `{"cliPath":"/bin/loom","transport":{"kind":"broker","queuePath":"/q","queue":"/x"}}`, `unknown member "queue"`},
		{"D6", `{"cliPath":"/bin/loom","cliPath":"/bin/else","transport":` + viaBroker + `}`, "line 1"},
		{"D33", `{"cliPath":"/bin/loom","transport":` + viaBroker + `,"timeLimitSeconds":0}`, "timeLimitSeconds"},
		{"D33", `{"cliPath":"/bin/loom","transport":` + viaBroker + `,"timeLimitSeconds":301}`, "timeLimitSeconds"},
		{"D33", `{"cliPath":"/bin/loom","transport":` + viaBroker + `,"timeLimitSeconds":"1"}`, "timeLimitSeconds"},
		{"a NUL", `{"cliPath":"/bin/lo\u0000om","transport":` + viaBroker + `}`, "a path holds a NUL"},
		{"a NUL", `{"cliPath":"/bin/loom","transport":{"kind":"broker","queuePath":"/q\u0000"}}`, "a path holds a NUL"},
		{"a NUL", `{"cliPath":"/bin/loom","transport":{"kind":"direct","instanceDir":"/i\u0000","runId":"r"}}`, "a path holds a NUL"},
		{"a NUL", `{"cliPath":"/bin/loom","transport":` + viaBroker + `,"readCeilingFile":"/c\u0000"}`, "a path holds a NUL"},
		{"too much", `{"cliPath":"/` + strings.Repeat("x", 64<<10) + `","transport":` + viaBroker + `}`, "exceeds 65536 bytes"},
	} {
		path := written(t, "config.json", c.text)
		config, err := retrieval.ReadConfig(path)
		switch {
		case c.wrong == "" && err != nil, c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong) || !strings.Contains(err.Error(), path)):
			t.Errorf("%s %.80s: %v, want %q", c.number, c.text, err, c.wrong)
		case c.wrong == "":
			again, err := retrieval.ReadConfig(written(t, "again.json", string(config.JSON())))
			if diff := cmp.Diff(config, again); diff != "" || err != nil {
				t.Errorf("%s: what is written is read as another: %v\n%s", c.number, err, diff)
			}
		}
	}
	for _, path := range []string{"config.json", ""} { // E044
		if _, err := retrieval.ReadConfig(path); err == nil || !strings.Contains(err.Error(), "is not an absolute path") {
			t.Errorf("E044 %q: %v", path, err)
		}
	}
	if _, err := retrieval.ReadConfig("/nowhere/at/all.json"); err == nil {
		t.Error("a file is read that is not there")
	}
	for _, c := range []retrieval.Config{
		{CLIPath: "/x", Transport: retrieval.Transport{Kind: retrieval.Broker, QueuePath: "/q"}, TimeLimit: time.Hour},
		{CLIPath: "/x", Transport: retrieval.Transport{Kind: retrieval.Broker, QueuePath: "/q"}, Facets: []string{"A"}},
	} {
		if c.Check() == nil {
			t.Errorf("%+v is taken", c)
		}
	}
}

// E048, E049: the whole environment of the program.
func TestEnvironment(t *testing.T) {
	t.Setenv("SECRET_TOKEN", "x")
	for _, c := range []struct {
		transport retrieval.Transport
		want      []string
	}{
		{
			retrieval.Transport{Kind: retrieval.Broker, QueuePath: "/q", InstanceDir: "/i", RunID: "r"},
			[]string{"PATH=/bin", "LOOM_PAGE_RPC_QUEUE=/q", "LOOM_SEARCH_BROKER_QUEUE=/q"},
		},
		{
			retrieval.Transport{Kind: retrieval.Direct, InstanceDir: "/i", RunID: "r", QueuePath: "/q", Actor: "agent:x"},
			[]string{"PATH=/bin", "LOOM_INSTANCE_DIR=/i", "LOOM_DISPATCH_ID=r"},
		},
	} {
		config := retrieval.Config{Transport: c.transport}
		if diff := cmp.Diff(c.want, config.Environment("/bin")); diff != "" {
			t.Error(diff)
		}
	}
}

// E081: the records of 5.13.
func TestRecord(t *testing.T) {
	for _, c := range []struct{ text, wrong string }{
		{`{"loomReadCeiling":["a",{"anyOf":["b","c"]}],"facets":["work"],"facetSource":"wish"}`, ""},
		{`{"loomReadCeiling":["a"],"facets":["work","work"],"facetSource":"x","runId":"r"}`, ""}, // what else it says is for others
		{`{"loomReadCeiling":[7],"facets":["work"],"facetSource":"x"}`, ""},                      // W15: it admits nothing
		{"not json", "line 1"},
		{"[]", "not an object"},
		{`{"loomReadCeiling":[],"facets":["work"],"facetSource":"x"}`, "loomReadCeiling"},
		{`{"loomReadCeiling":"a","facets":["work"],"facetSource":"x"}`, "loomReadCeiling"},
		{`{"facets":["work"],"facetSource":"x"}`, "loomReadCeiling"},
		{`{"loomReadCeiling":["a"],"facets":[],"facetSource":"x"}`, "facets"},
		{`{"loomReadCeiling":["a"],"facetSource":"x"}`, "facets"},
		{`{"loomReadCeiling":["a"],"facets":["No"],"facetSource":"x"}`, "facets"},
		{`{"loomReadCeiling":["a"],"facets":["work"],"facetSource":""}`, "facetSource"},
		{`{"loomReadCeiling":["a"],"facets":["work"],"facetSource":7}`, "facetSource"},
		{`{"loomReadCeiling":["a"],"facets":["work"]}`, "facetSource"},
		{`{"loomReadCeiling":["a"],"loomReadCeiling":["b"],"facets":["work"],"facetSource":"x"}`, "line 1"},
		{`{"loomReadCeiling":[` + strings.Repeat(`"a",`, 5000) + `"a"],"facets":["work"],"facetSource":"x"}`, "ceiling"},
	} {
		record, err := retrieval.ReadRecord(written(t, "record.json", c.text))
		if c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) || c.wrong == "" && err != nil {
			t.Errorf("%.80s: %v, want %q", c.text, err, c.wrong)
		}
		if c.wrong == "" {
			again, err := retrieval.ReadRecord(written(t, "again.json", string(record.JSON())))
			if err != nil || !again.Ceiling.Equal(record.Ceiling) || !cmp.Equal(again.Facets, record.Facets) || again.FacetSource != record.FacetSource {
				t.Errorf("%s: written and read it is %+v, %v", c.text, again, err)
			}
		}
	}
	if _, err := retrieval.ReadRecord("/nowhere/record.json"); err == nil {
		t.Error("E078: a record is read that is not there")
	}
}

// 4.6: what an operator may bound a run with.
func TestParseCeiling(t *testing.T) {
	own := label.User("ada").Canonical()
	for _, c := range []struct{ text, owner, want string }{
		{`["a",{"type":"T","x":1},{"anyOf":["b","c"]}]`, "", `["a",{"type":"T","x":1},{"anyOf":["b","c"]}]`},
		{`[{"__ctCurrentPrincipal":true},{"anyOf":[{"__ctDbOwner":true}]}]`, "ada", `[` + own + `]`},
		{`[{"__ctCurrentPrincipal":true}]`, "", "!clause 1 of the ceiling: a placeholder for the owner"},
		{`[{"anyOf":["a",{"__ctDbOwner":true}]}]`, "", "!clause 1 of the ceiling: a placeholder for the owner"},
		{`[{"__ctDbOwner":false}]`, "ada", "!clause 1 of the ceiling: __ctDbOwner is not true"},
		{`[{"__ctCurrentPrincipal":"true"}]`, "ada", "!clause 1 of the ceiling: __ctCurrentPrincipal is not true"},
		{`[{"__ctDbOwner":true,"x":1}]`, "", `[{"__ctDbOwner":true,"x":1}]`},
		{`[]`, "", "!the ceiling has no clause; to have no ceiling, leave it out"},
		{`{}`, "", "!the ceiling is a map, and not a list of clauses"},
		{`null`, "", "!the ceiling is null, and not a list"},
		{`["a",null]`, "", "!clause 2 of the ceiling: "},
		{`["a",""]`, "", "!clause 2 of the ceiling: an empty text"},
		{`[7]`, "", "!clause 1 of the ceiling: a number, where a text or a record stands"},
		{`[["a"]]`, "", "!clause 1 of the ceiling: a list"},
		{`[{"anyOf":[]}]`, "", "!clause 1 of the ceiling has no alternative"},
		{`[{"anyOf":"a"}]`, "", "!clause 1 of the ceiling has no alternative"},
		{`[{"anyOf":[7]}]`, "", "!clause 1 of the ceiling: a number"},
		{`["a"`, "", "!the ceiling: "},
		{`["` + strings.Repeat("a", label.MaxBytes) + `"]`, "", "!the ceiling has more than"},
		{`[` + strings.Repeat(`"a",`, 5000) + `"a"]`, "", "!the ceiling: "},
	} {
		got, err := retrieval.ParseCeiling(c.text, c.owner)
		if why, refused := strings.CutPrefix(c.want, "!"); refused {
			if err == nil || !strings.HasPrefix(err.Error(), why) {
				t.Errorf("%.80s: %v, want %s", c.text, err, why)
			}
			continue
		}
		want, _ := label.ReadCeiling([]byte(c.want))
		if err != nil || !got.Equal(want) {
			t.Errorf("%s: %s, %v", c.text, got.Canonical(), err)
		}
	}
}

// 2.4, as far as it bounds a run.
func TestManifest(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{}`, "null false"},
		{`{"type":"cf-harness.loom-run-manifest","version":1,"source":"loom","wishId":"W-1","extra":{"x":[1]},"else":null}`, "null false"},
		{`{"type":"cf-harness.loom-run-manifest","version":1,"source":"loom","wishId":"W-1","cfc":{"enforcementMode":"observe","labelSource":"loom-run-manifest"}}`, "null false"},
		{`{"cfc":{"maxConfidentiality":["a"]}}`, `["a"] false`},
		{`{"cfc":{"maxConfidentiality":["a"],"onExceed":"skip"}}`, `["a"] false`},
		{`{"cfc":{"onExceed":"fail","maxConfidentiality":["a"]}}`, `["a"] true`},
		{`{"cfc":{"onExceed":"skip"}}`, "!cfc.onExceed says what to do"},
		{`{"cfc":{"onExceed":"fail"}}`, "!cfc.onExceed says what to do"},
		{`{"cfc":{"maxConfidentiality":["a"],"onExceed":"stop"}}`, "!cfc.onExceed is neither fail nor skip"},
		{`{"cfc":{"maxConfidentiality":[]}}`, "!the ceiling has no clause"},
		{`{"cfc":{"maxConfidentiality":null}}`, "!"},
		{`{"cfc":{"enforcementMode":"enforce-strict","maxConfidentiality":[{"__ctDbOwner":true}]}}`, `[` + label.User("ada").Canonical() + `] false`},
		{`{"cfc":{"enforcementMode":"off"}}`, "!cfc.enforcementMode is none of disabled, observe"},
		{`{"cfc":{"enforcementMode":null}}`, "!cfc.enforcementMode is none of"},
		{`{"cfc":{"maxConfidentiality":["a"],"maxConfidentiality":["b"]}}`, "!line 1"},
		{`{"cfc":{"labelSource":"else"}}`, "!cfc.labelSource is not loom-run-manifest"},
		{`{"cfc":{"posture":"x"}}`, `!cfc has an unknown member "posture"`},
		{`{"cfc":[]}`, "!cfc is a list"},
		{`{"type":"else"}`, "!type is not cf-harness.loom-run-manifest"},
		{`{"version":2}`, "!version is not 1"},
		{`{"version":"1"}`, "!version is not 1"},
		{`{"source":"else"}`, "!source is not loom"},
		{`[]`, "!it is a list, and not an object"},
		{`{`, "!line 1"},
	} {
		m, err := retrieval.ReadManifest(written(t, "manifest.json", c.text), "ada")
		if why, refused := strings.CutPrefix(c.want, "!"); refused {
			if err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("%s: %v, want %s", c.text, err, why)
			}
			continue
		}
		got := m.Ceiling.Canonical() + " false"
		if m.FailOnExceed {
			got = m.Ceiling.Canonical() + " true"
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %s, %v", c.text, got, err)
		}
	}
	if _, err := retrieval.ReadManifest("/nowhere/manifest.json", ""); err == nil {
		t.Error("a manifest is read that is not there")
	}
}
