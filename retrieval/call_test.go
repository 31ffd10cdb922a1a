package retrieval_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/loomrun/loom/handle"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/retrieval"
)

// foreign is a program that answers every call with one thing, and counts them.
type foreign struct {
	exit  retrieval.Exit
	err   error
	calls [][]string
	then  func() // what happens while it answers; nil for nothing
}

func (f *foreign) Run(_ context.Context, argv []string) (retrieval.Exit, error) {
	f.calls = append(f.calls, argv)
	if f.then != nil {
		f.then()
	}
	return f.exit, f.err
}

// session reads through a program that is there already.
func session(t testing.TB, more string, p retrieval.Program) retrieval.Session {
	t.Helper()
	return retrieval.Session{
		ConfigPath: written(t, "config.json", `{"cliPath":"/nowhere/loom","transport":`+viaBroker+more+`}`), Ceiling: label.Unbounded(),
		Program: func(*retrieval.Config) retrieval.Program { return p },
	}
}

func call(t testing.TB, tool, input string) retrieval.Call {
	t.Helper()
	v, err := strictjson.Parse([]byte(input), strictjson.MaxDepth)
	if err != nil {
		t.Fatal(err)
	}
	return retrieval.Call{OutputID: "out-1", Tool: tool, Input: v}
}

// inputs are fine ones of each tool.
var inputs = map[string]string{
	"loom_search": `{"query":"q"}`, "search with person": `{"person":"a@b.org"}`, "loom_people": `{"query":"a@b.org"}`, "loom_page_read": `{"target":"P-1"}`,
	"loom_page_inspect": `{"target":"P-1"}`, "loom_page_discover": `{}`, "loom_calendar_list": `{}`, "loom_context": `{"read":"where"}`, "loom_profile": `{}`,
}

// The outcomes of 11.3: CODE, CODE/HOSTCODE, or N admitted.
func TestOutcomes(t *testing.T) {
	for _, c := range []struct {
		number, tool string
		status       int
		stdout, want string
	}{
		{"E062", "loom_search", 0, "not json /private/path", "command_failed"},
		{"E063", "loom_search", 0, "", "command_failed"},
		{"E063", "loom_page_read", 0, " \n", "command_failed"},
		{"E061", "loom_search", 2, "", "command_failed"},
		{"E064", "loom_people", 1, "", "not_found"},
		{"E064", "loom_people", 3, "Error: /private/path", "contested"},
		{"E064", "loom_people", 2, "", "command_failed"},
		{"E065", "search with person", 1, "", "not_found"},
		{"E065", "search with person", 3, "", "contested"},
		{"E065", "loom_search", 1, "", "command_failed"},
		{"E065", "loom_search", 3, "", "command_failed"},
		{"E065", "search with person", 1, `{"hits":[]}`, "command_failed"},
		{"E066 A11", "loom_page_read", 1, `{"ok":false,"code":"unknown_page","error":"no /private/path"}`, "host_refused/unknown_page"},
		{"E067 A16", "loom_page_read", 0, `{"ok":false,"code":"unknown_page","error":"/private/path"}`, "host_refused/unknown_page"},
		{"E067 A16", "loom_search", 0, `{"ok":false,"code":"forbidden","hits":[{"title":"x"}]}`, "host_refused/forbidden"},
		{"A16", "loom_people", 1, `{"ok":false,"code":"refused"}`, "host_refused/refused"},
		{"E068", "loom_page_read", 1, `{"ok":false}`, "host_refused"},
		{"E068", "loom_page_read", 1, `{"ok":false,"code":42}`, "host_refused"},
		{"E068", "loom_page_read", 1, `{"ok":false,"code":true}`, "host_refused"},
		{"W3 A11", "loom_page_read", 1, `{"ok":false,"code":"see /private/path"}`, "host_refused"},
		{"A15", "loom_page_read", 0, `{"ok":true,"ok":false,"code":"x"}`, "host_refused/x"},
		{"E069", "loom_profile", 1, `{"name":"me","hasProfile":false,"source":"basename"}`, "1"},
		{"E070", "loom_profile", 1, `{"name":"me"}`, "command_failed"},
		{"E070", "loom_profile", 1, `{"name":"me","hasProfile":true}`, "command_failed"},
		{"E070", "loom_profile", 2, `{"name":"me","hasProfile":false}`, "command_failed"},
		{"E070", "loom_profile", 1, `{"name":"me","hasProfile":"false"}`, "command_failed"},
		{"E070", "loom_page_read", 1, `{"name":"me","hasProfile":false}`, "command_failed"},
		{"E071", "loom_search", 0, `{"hits":[{"title":"x"}]}`, "1"},
		{"E071", "loom_search", 0, `{"schemaVersion":1,"hits":[]}`, "0"},
		{"E071", "loom_search", 0, `{"schemaVersion":1.0,"hits":[]}`, "0"},
		{"E071", "loom_search", 0, `{"schemaVersion":100e-2,"hits":[]}`, "0"},
		{"E071", "loom_search", 0, `{"schemaVersion":1e999,"hits":[]}`, "schema_version_mismatch"},
		{"E071", "loom_page_discover", 0, `{"schemaVersion":2,"pages":[]}`, "0"}, // it is for searches alone
		{"E071", "loom_search", 0, `{"schemaVersion":null,"hits":[]}`, "schema_version_mismatch"},
		{"E071", "loom_search", 0, `{"schemaVersion":2,"hits":[]}`, "schema_version_mismatch"},
		{"E071", "loom_search", 0, `{"schemaVersion":"1","hits":[]}`, "schema_version_mismatch"},
		{"E071", "loom_search", 0, `{"schemaVersion":1.01,"hits":[]}`, "schema_version_mismatch"},
		{"E072", "loom_calendar_list", 0, `[]`, "0"},
		{"E073", "loom_search", 0, `{"schemaVersion":1,"hits":"none"}`, "malformed_payload"},
		{"E074", "loom_calendar_list", 0, `{"events":[]}`, "malformed_payload"},
		{"E074", "loom_page_inspect", 0, `[]`, "malformed_payload"},
		{"E074", "loom_page_inspect", 0, `"x"`, "malformed_payload"},
		{"E074", "loom_page_inspect", 0, `null`, "malformed_payload"},
		{"E075 D36", "loom_people", 1, `{"canonicalId":"person:1"}`, "not_found"},
		{"E075 D36", "loom_people", 3, `{"canonicalId":"person:1"}`, "contested"},
		{"E075", "loom_people", 2, `{"canonicalId":"person:1"}`, "command_failed"},
		{"a card", "loom_people", 0, `{"canonicalId":"person:1"}`, "1"},
		{"A15", "loom_search", 0, `{"hits":[{"n":1e999,"m":123456789012345678901234567890}]}`, "1"},
		{"A15", "loom_search", 0, `{"hits":[{"n":NaN}]}`, "command_failed"},
		{"A15 D31", "loom_search", 0, `{"hits":[{"a":1,"a":2},{"b":1}]}`, "0"}, // both are withheld
		{"A6", "loom_search", 0, `{"hits":[` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `]}`, "malformed_payload"},
		{"A6", "loom_page_read", 0, nested(125), "1"}, // a result of it nests 128 levels
		{"A6", "loom_page_read", 0, nested(126), "malformed_payload"},
		{"A6", "loom_people", 1, nested(126), "not_found"},
		{"A6", "loom_page_read", 1, nested(126), "malformed_payload"},
		{"A6", "search with person", 1, nested(126), "malformed_payload"},
		{"A15", "loom_page_read", 0, `{"a":{"b":[{"c":1,"c":2}]}}`, "0"},
		{"A15", "loom_search", 0, `{"hits":[{"n":-Infinity}]}`, "command_failed"},
		{"A15", "loom_search", 0, `{"hits":[{"n":01}]}`, "command_failed"},
		{"A15", "loom_search", 0, `{"hits":[{"s":"\ud800"}]}`, "1"},
		{"a byte order mark", "loom_search", 0, "\ufeff{\"hits\":[]}", "command_failed"},
		{"a signal", "loom_search", -1, `{"hits":[]}`, "command_failed"},
		{"a code of 32 characters", "loom_search", 0, `{"ok":false,"code":"` + strings.Repeat("c", 32) + `"}`, "host_refused/" + strings.Repeat("c", 32)},
		{"W3 a longer one", "loom_search", 0, `{"ok":false,"code":"` + strings.Repeat("c", 33) + `"}`, "host_refused"},
		{"W3 a line behind it", "loom_search", 0, `{"ok":false,"code":"a\n"}`, "host_refused"},
		{"ok is a text", "loom_page_read", 0, `{"ok":"false","code":"x"}`, "1"},
		{"ok deeper down", "loom_page_read", 0, `{"page":{"ok":false}}`, "1"},
		{"two values", "loom_search", 0, `{"hits":[]} {}`, "command_failed"},
		{"no UTF-8", "loom_search", 0, "{\"hits\":[\"\xff\"]}", "command_failed"},
	} {
		program := &foreign{exit: retrieval.Exit{Status: c.status, Stdout: []byte(c.stdout)}}
		s := session(t, "", program)
		tool, _, _ := strings.Cut(strings.Replace(c.tool, "search with person", "loom_search", 1), " ")
		o := s.Call(t.Context(), call(t, tool, inputs[c.tool]))
		got := outcomeOf(t, o)
		if got != c.want {
			t.Errorf("%s: %d %.60s: %s, want %s", c.number, c.status, c.stdout, got, c.want)
		}
		if len(program.calls) != 1 {
			t.Errorf("%s: %d processes", c.number, len(program.calls))
		}
		if text := string(o.JSON()); o.Failure != nil && strings.Contains(text+o.Failure.Message+string(o.Failure.Shown("o")), "/private") {
			t.Errorf("%s: the host's text is in %s", c.number, text)
		}
	}
}

// nested is a map that nests so many levels.
func nested(levels int) string {
	return `{"a":` + strings.Repeat("[", levels-1) + strings.Repeat("]", levels-1) + `}`
}

// outcomeOf says what came of a call, and holds the observation to what must be true of all of them.
func outcomeOf(t rapid.TB, o retrieval.Observed) string {
	t.Helper()
	again, err := retrieval.ReadObserved(o.JSON())
	if err != nil || string(again.JSON()) != string(o.JSON()) {
		t.Errorf("the observation is not read as it is written: %v\n%s", err, o.JSON())
	}
	if !o.CeilingHolds() || !o.FailureHolds() || !o.AskedHolds(o.Input) || o.AskedHolds(document.MapOf(document.M("else", document.IntOf(1)))) {
		t.Errorf("the observation does not hold: %s", o.JSON())
	}
	r, failure := o.Measure(handle.NewTable("r"))
	r2, failure2 := again.Measure(handle.NewTable("r"))
	if failure != nil {
		if failure2 == nil || *failure2 != *failure {
			t.Errorf("read again it fails with %+v, and before with %+v", failure2, failure)
		}
		if failure.HostCode != "" {
			return string(failure.Code) + "/" + failure.HostCode
		}
		return string(failure.Code)
	}
	if _, err := strictjson.Parse(r.Artifact(), strictjson.MaxDepth); err != nil {
		t.Errorf("the result cannot be read: %v", err)
	}
	if string(r.Artifact()) != string(r2.Artifact()) {
		t.Error("read again it shows something else")
	}
	return fmt.Sprint(r.Admitted)
}

// The order of checks of 5.5: what is refused before the process starts none.
func TestOrderOfChecks(t *testing.T) {
	record := written(t, "record.json", `{"loomReadCeiling":["a"],"facets":["b","a"],"facetSource":"x"}`)
	bad := written(t, "bad.json", `[]`)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	with := func(file string, facets string) string {
		if facets != "" {
			facets = `,"facets":` + facets
		}
		return `,"readCeilingFile":"` + file + `"` + facets
	}
	for _, c := range []struct {
		number, config, tool, input string
		ctx                         context.Context
		want                        string
	}{
		{"E076", "none", "loom_search", `{"query":"q"}`, nil, "not_configured"},
		{"E076", "", "loom_compose", `{"query":"q"}`, nil, "not_configured"},
		{"E077 A17", "", "loom_search", `{"query":"q"}`, ended, "cancelled"},
		{"E077", "none", "loom_search", `{"query":"q"}`, ended, "not_configured"},
		{"E078", with("/nowhere/record.json", ""), "loom_search", `{"query":"q"}`, nil, "ceiling_unavailable"},
		{"E079", with(record, `["work"]`), "loom_search", `{"query":"q"}`, nil, "ceiling_unavailable"},
		{"E080 A10", with(record, `["a","b"]`), "loom_search", `{"query":"q"}`, nil, "0"},
		{"A10", with(record, `["a","b","b"]`), "loom_search", `{"query":"q"}`, nil, "ceiling_unavailable"},
		{"5.5", with(record, ""), "loom_search", `{"query":"q"}`, nil, "0"},
		{"5.5", `,"facets":["else"]`, "loom_search", `{"query":"q"}`, nil, "1"}, // without a record facets have no effect
		{"E081", with(bad, ""), "loom_search", `{"query":"q"}`, nil, "ceiling_unavailable"},
		{"E082", with(bad, ""), "loom_search", `{}`, nil, "ceiling_unavailable"},
		{"E001", with(record, ""), "loom_search", `{}`, nil, "invalid_input"},
		{"5.1", `,"else":1`, "loom_search", `{"query":"q"}`, nil, "command_failed"},
	} {
		program := &foreign{exit: retrieval.Exit{Stdout: []byte(`{"hits":[{"title":"x","ifc":{"confidentiality":["secret"]}}]}`)}}
		s := session(t, c.config, program)
		if c.config == "none" {
			s.ConfigPath = ""
		}
		ctx := c.ctx
		if ctx == nil {
			ctx = t.Context()
		}
		o := s.Call(ctx, call(t, c.tool, c.input))
		if got := outcomeOf(t, o); got != c.want {
			t.Errorf("%s: %s, want %s", c.number, got, c.want)
		}
		if started := len(program.calls) > 0; started != strings.Contains("01", c.want) {
			t.Errorf("%s: %d processes", c.number, len(program.calls))
		}
	}
	// E060: an error of the start says nothing.
	s := session(t, "", &foreign{err: errors.New("fork/exec /private/path: no such file")})
	if o := s.Call(t.Context(), call(t, "loom_search", `{"query":"q"}`)); outcomeOf(t, o) != "command_failed" || strings.Contains(string(o.JSON()), "private") {
		t.Errorf("E060: %s", o.JSON())
	}
}

// What the run demands of its reads reaches the measuring, and so does the ceiling that holds (D38, 4.6).
func TestTheDemandsOfARunHold(t *testing.T) {
	for _, c := range []struct {
		demand func(*retrieval.Session)
		query  string
		want   string
	}{
		{func(*retrieval.Session) {}, `[]`, "2"},
		{func(*retrieval.Session) {}, `["c"]`, "1"}, // what has no label takes that of the query
		{func(s *retrieval.Session) { s.RequireRowLabels = true }, `[]`, "1"},
		{func(s *retrieval.Session) { s.FailOnExceed = true }, `[]`, "0"},
		{func(s *retrieval.Session) { s.Ceiling, s.FailOnExceed = ceiling(t, `["a","b"]`), true }, `[]`, "3"},
		{func(s *retrieval.Session) { s.Ceiling = label.UpTo() }, `[]`, "1"},
		{func(s *retrieval.Session) { s.Ceiling = label.Unbounded() }, `["c"]`, "3"},
	} {
		s := session(t, "", &foreign{exit: retrieval.Exit{Stdout: []byte(`{"hits":[{"ifc":{"confidentiality":["a"]}},{"ifc":{"confidentiality":["b"]}},{}]}`)}})
		s.Ceiling = ceiling(t, `["a"]`)
		c.demand(&s)
		asked := call(t, "loom_search", `{"query":"q"}`)
		asked.Query = confidential(t, c.query)
		if got := outcomeOf(t, s.Call(t.Context(), asked)); got != c.want {
			t.Errorf("%+v: %s rows, want %s", s, got, c.want)
		}
	}
}

// A9, E110, E111: the record is read for every call, and only narrows.
func TestARecordThatIsReplaced(t *testing.T) {
	path := written(t, "record.json", `{"loomReadCeiling":["a","b"],"facets":["x"],"facetSource":"x"}`)
	program := &foreign{exit: retrieval.Exit{Stdout: []byte(`{"hits":[{"ifc":{"confidentiality":["a"]}},{"ifc":{"confidentiality":["b"]}},{"ifc":{"confidentiality":["c"]}}]}`)}}
	s := session(t, `,"readCeilingFile":"`+path+`"`, program)
	ask := func() string { return outcomeOf(t, s.Call(t.Context(), call(t, "loom_search", `{"query":"q"}`))) }
	if got := ask(); got != "2" {
		t.Errorf("E111: %s rows under the record alone", got)
	}
	s.Ceiling = ceiling(t, `["a","c"]`)
	if got := ask(); got != "1" {
		t.Errorf("E110: %s rows under both", got)
	}
	if err := os.WriteFile(path, []byte(`{"loomReadCeiling":["c"],"facets":["x"],"facetSource":"x"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := ask(); got != "1" {
		t.Errorf("A9: %s rows under the new record", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := ask(); got != "ceiling_unavailable" {
		t.Errorf("A9: %s without the record", got)
	}
	huge := `"` + strings.Repeat("x", 200) + `"`
	many := func(from int) string {
		var clauses []string
		for i := range 600 {
			clauses = append(clauses, fmt.Sprintf(`{"anyOf":[%d,%s]}`, from+i, huge))
		}
		return "[" + strings.Join(clauses, ",") + "]"
	}
	if err := os.WriteFile(path, []byte(`{"loomReadCeiling":`+many(0)+`,"facets":["x"],"facetSource":"x"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Ceiling = ceiling(t, many(1000))
	if got := ask(); got != "ceiling_unavailable" {
		t.Errorf("a meet that is too large: %s", got)
	}
}

// TestMain makes of this program a foreign store, where its first argument says so.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && filepath.Base(os.Args[0]) == "fakeloom" {
		fake(os.Args[1:])
		os.Exit(0)
	}
	folder, err := os.MkdirTemp("", "retrieval")
	if err == nil {
		configPath = filepath.Join(folder, "config.json")
		err = os.WriteFile(configPath, []byte(`{"cliPath":"/x","transport":`+viaBroker+`}`), 0o600)
	}
	if err != nil {
		panic(err)
	}
	status := m.Run()
	if err := os.RemoveAll(folder); err != nil {
		panic(err)
	}
	os.Exit(status)
}

// fake behaves as the query says.
func fake(argv []string) {
	fmt.Fprintln(os.Stderr, "at /private/path/of/the/host")
	switch query := argv[1]; query {
	case "environment":
		stdin, _ := io.ReadAll(os.Stdin)
		fmt.Printf(`{"hits":[{"title":%q,"snippet":%q}]}`, strings.Join(os.Environ(), " "), fmt.Sprint(len(stdin), " bytes, ", strings.Join(argv, "|")))
	case "flood":
		for block := strings.Repeat("x", 1<<16); ; {
			if _, err := os.Stdout.WriteString(block); err != nil {
				return
			}
		}
	case "much":
		fmt.Print(`{"hits":[]}` + strings.Repeat(" ", retrieval.MaxPayloadBytes-len(`{"hits":[]}`)+1))
	case "as much as may be":
		fmt.Print(`{"hits":[]}` + strings.Repeat(" ", retrieval.MaxPayloadBytes-len(`{"hits":[]}`)))
	case "hang", "stray":
		family(query)
	case "status": // which counts, whatever was printed
		fmt.Print(`{"hits":[]}`)
		os.Exit(7)
	case "lies":
		fmt.Print(`{"hits":[{"title":"open","ifc":{"confidentiality":[],"anyOf":[]}},{"title":"marker","ifc":{"confidentiality":["cfc:label-read-failed"]}},` +
			`{"title":"twice","ifc":{"confidentiality":[{"anyOf":[]}]}},{"title":"null","ifc":null}]}`)
	default:
		fmt.Print(query)
	}
}

// foreignStore gives a configuration whose program is this one.
func foreignStore(t testing.TB, transport string, limit int) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "fakeloom")
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	return written(t, "config.json", fmt.Sprintf(`{"cliPath":%q,"transport":%s,"timeLimitSeconds":%d}`, path, transport, limit))
}

// A foreign store, as a process: whatever it does, there is a typed code and nothing else, within the time limit.
func TestForeignStore(t *testing.T) {
	t.Setenv("SECRET_TOKEN", "do not tell")
	s := retrieval.Session{ConfigPath: foreignStore(t, direct, 30), Ceiling: label.Unbounded()}
	ask := func(s retrieval.Session, query string) retrieval.Observed {
		return s.Call(t.Context(), call(t, "loom_search", fmt.Sprintf(`{"query":%q}`, query)))
	}
	for query, want := range map[string]string{
		"{": "command_failed", `{"hits":7}`: "malformed_payload", "much": "command_failed", "as much as may be": "0", "status": "command_failed", "lies": "1",
		`{"ok":false,"code":"forbidden","error":"/private"}`: "host_refused/forbidden", `{"hits":[]}`: "0",
	} {
		o := ask(s, query)
		if got := outcomeOf(t, o); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
		if o.Failure != nil && strings.Contains(string(o.Failure.Shown("x")), "private") {
			t.Errorf("%s: the host's text is in %s", query, o.Failure.Shown("x"))
		}
	}
	// E048, E049: a cleared environment and no input.
	o := ask(s, "environment")
	want := "PATH=" + os.Getenv("PATH") + " LOOM_INSTANCE_DIR=/i LOOM_DISPATCH_ID=run-1"
	for _, there := range []string{want, "0 bytes, search|environment|--json"} {
		if !strings.Contains(o.Payload, there) {
			t.Errorf("the program is run with %s, want %s", o.Payload, there)
		}
	}
	if strings.Contains(o.Payload, "SECRET") || strings.Contains(o.Payload, "HOME") {
		t.Errorf("E049: the program is run with %s", o.Payload)
	}
	// D33: it dies when the time is up, with all it has started; a flood is one that never ends.
	s.ConfigPath = foreignStore(t, direct, 1)
	if got := outcomeOf(t, ask(s, "flood")); got != "command_failed" {
		t.Errorf("flood: %s", got)
	}
	s = retrieval.Session{ConfigPath: written(t, "c.json", `{"cliPath":"/nowhere/at/all","transport":`+direct+`}`), Ceiling: label.Unbounded()}
	if got := outcomeOf(t, ask(s, "x")); got != "command_failed" {
		t.Errorf("E060: %s", got)
	}
}

// late answers when its time is up.
type late struct{}

func (late) Run(ctx context.Context, _ []string) (retrieval.Exit, error) {
	<-ctx.Done()
	return retrieval.Exit{Stdout: []byte(`{"hits":[]}`)}, nil
}

// D33: an answer that comes when the time is up is none.
func TestALateAnswerIsNone(t *testing.T) {
	s := session(t, "", late{})
	synctest.Test(t, func(t *testing.T) {
		if got := outcomeOf(t, s.Call(t.Context(), call(t, "loom_search", `{"query":"q"}`))); got != "command_failed" {
			t.Error(got)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	s = session(t, "", &foreign{exit: retrieval.Exit{Stdout: []byte(`{"hits":[]}`)}, then: cancel})
	if got := outcomeOf(t, s.Call(ctx, call(t, "loom_search", `{"query":"q"}`))); got != "cancelled" {
		t.Errorf("A17: %s", got)
	}
}

// A program that gives more than it may through another way is no better.
func TestAProgramThatGivesTooMuch(t *testing.T) {
	s := session(t, "", &foreign{exit: retrieval.Exit{Stdout: []byte(strings.Repeat(" ", retrieval.MaxPayloadBytes) + `{"hits":[]}`)}})
	if got := outcomeOf(t, s.Call(t.Context(), call(t, "loom_search", `{"query":"q"}`))); got != "command_failed" {
		t.Error(got)
	}
}

// Q9: whatever the host prints, the message is one of a finite list.
func TestMessagesAreAFiniteList(t *testing.T) {
	messages := map[string]bool{}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"loom_search", "search with person", "loom_people", "loom_profile", "loom_page_read", "loom_calendar_list"}).Draw(t, "tool")
		stdout := rapid.OneOf(
			rapid.String(),
			rapid.SampledFrom([]string{`{"ok":false,"code":"a_b"}`, `{"ok":false,"code":"/x y"}`, `[]`, `{}`, `{"hits":[]}`, `null`, `{"schemaVersion":3}`, `{"hasProfile":false}`}),
		).Draw(t, "stdout")
		var err error
		if rapid.IntRange(0, 5).Draw(t, "fails") == 0 {
			err = errors.New(stdout)
		}
		program := &foreign{retrieval.Exit{Status: rapid.IntRange(-1, 4).Draw(t, "status"), Stdout: []byte(stdout)}, err, nil, nil}
		s := retrieval.Session{ConfigPath: configPath, Ceiling: label.Unbounded(), Program: func(*retrieval.Config) retrieval.Program { return program }}
		v, _ := strictjson.Parse([]byte(inputs[name]), strictjson.MaxDepth)
		o := s.Call(context.Background(), retrieval.Call{OutputID: "o", Tool: strings.Replace(name, "search with person", "loom_search", 1), Input: v})
		outcomeOf(t, o)
		if o.Failure != nil {
			messages[o.Failure.Message] = true
		}
	})
	if len(messages) > 10 {
		t.Errorf("there are %d messages", len(messages))
	}
}

// configPath is a configuration for tests that make many calls; TestMain writes it.
var configPath string

// An observation that says something else than the program could have observed does not hold.
func TestObservationsThatDoNotHold(t *testing.T) {
	s := session(t, "", &foreign{exit: retrieval.Exit{Stdout: []byte(`{"hits":[]}`)}})
	s.Ceiling = ceiling(t, `["a"]`)
	o := s.Call(t.Context(), call(t, "loom_search", `{"query":"q"}`))
	wider := o
	wider.Ceiling = label.Unbounded()
	if wider.CeilingHolds() || !o.CeilingHolds() {
		t.Error("a wider ceiling holds")
	}
	for _, f := range []*retrieval.Failure{
		{Code: retrieval.CommandFailed, Message: "/private/path"},
		{Code: "else", Message: "the read failed"},
		{Code: retrieval.InvalidInput, Message: "x"},
		{Code: retrieval.CommandFailed, Message: "the read failed", HostCode: "x"},
		{Code: retrieval.HostRefused, Message: "the read was refused", HostCode: "/x y"},
	} {
		o.Failure = f
		if o.FailureHolds() {
			t.Errorf("%+v holds", f)
		}
	}
	other := o
	other.Failure, other.Argv = nil, []string{"search", "x", "--json"}
	if other.AskedHolds(o.Input) {
		t.Error("the program was asked something else, and that holds")
	}
	o.Failure, o.Tool = nil, "loom_compose"
	if _, f := o.Measure(handle.NewTable("r")); f == nil || f.Code != retrieval.NotConfigured {
		t.Errorf("%+v", f)
	}
	o.Tool, o.Payload = "loom_search", "{"
	if _, f := o.Measure(handle.NewTable("r")); f == nil || f.Code != retrieval.CommandFailed {
		t.Errorf("%+v", f)
	}
}

func TestObservationsThatCannotBeRead(t *testing.T) {
	s := session(t, "", &foreign{exit: retrieval.Exit{Stdout: []byte(`{"hits":[]}`)}})
	good := string(s.Call(t.Context(), call(t, "loom_search", `{"query":"q"}`)).JSON())
	for _, c := range [][2]string{
		{good, ""},
		{`"tool"`, `"tooll"`},
		{`"runCeiling":"null"`, `"runCeiling":"x"`},
		{`"ceiling":"null"`, `"ceiling":7`},
		{`"input":"{`, `"input":"`},
		{`"requireRowLabels":false`, `"requireRowLabels":"no"`},
		{`"argv":["search"`, `"argv":[7`},
		{`\"integrity\":[]`, `\"integrity\":[\"x\"]`}, // Call takes the integrity away
		{`"payload":"{`, `"code":"command_failed","payload":"{`},
		{`{`, `{"message":"x",`},
		{`"query":"{`, `"query":"`},
		{`,"payload"`, `, "payload"`},
		{`"failOnExceed":false`, `"failOnExceed":0`},
		{`"ceiling":"null"`, `"ceiling":""`},
		{`"argv":["search"`, `"argv":[null,"search"`},
	} {
		text := strings.Replace(good, c[0], c[1], 1)
		if text == good {
			t.Fatalf("%s is not there in %s", c[0], good)
		}
		if o, err := retrieval.ReadObserved([]byte(text)); err == nil {
			t.Errorf("%s is read as %s", text, o.JSON())
		}
	}
	if _, err := retrieval.ReadObserved(make([]byte, retrieval.MaxObservedBytes+1)); err == nil {
		t.Error("too much is read")
	}
}

// RET-3: the text of a withheld row is found where it stands, and what may be shown is not taken for it.
func TestLeaked(t *testing.T) {
	s := session(t, "", &foreign{exit: retrieval.Exit{Stdout: []byte(`{"query":"the query text","hits":[` +
		`{"title":"an open title","ifc":{"confidentiality":["a"]}},` +
		`{"title":"a \"secret\" title","also":["an open title","the query text"],"tags":{"x":["hidden words"]},"short":"abc","ifc":{"confidentiality":["bbbbbbbbbbb"]}}]}`)}})
	s.Ceiling = ceiling(t, `["a"]`)
	o := s.Call(t.Context(), call(t, "loom_search", `{"query":"the query text"}`))
	held := handle.NewTable("r")
	r, _ := o.Measure(held.Clone())
	for shown, want := range map[string]int{
		string(r.Shown()): 0, `x a \"secret\" title x`: 1, `hidden words`: 1, `abc bbbbbbbbbbb`: 0, `an open title the query text`: 0,
	} {
		if got := retrieval.Leaked(o, shown, held); got != want {
			t.Errorf("%s: %d rows, want %d", shown, got, want)
		}
	}
	o.Payload = "{"
	if retrieval.Leaked(o, "hidden words", held) != 0 {
		t.Error("no payload leaks")
	}
	o.Payload = `{"hits":7}`
	if retrieval.Leaked(o, "hidden words", held) != 0 {
		t.Error("no rows leak")
	}
}

// Whatever a run may read and has seen, its observation is read as it was written, and its ceiling is within both that it was made from.
func TestObservationsAreReadAsTheyAreWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record.json")
	config := written(t, "config.json", `{"cliPath":"/x","transport":`+viaBroker+`,"readCeilingFile":"`+path+`"}`)
	odd := append(slices.Clone(clausePool), `7`, `null`, `{"x":[null,1.50e3]}`, `{"anyOf":[]}`, `"\u2028\u0000</a>"`, `{"anyOf":["b"],"x":1}`)
	rapid.Check(t, func(t *rapid.T) {
		record := retrieval.Record{
			Ceiling: ceilingOf("[" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(odd), 1, 4).Draw(t, "record"), ",") + "]"),
			Facets:  []string{"x"}, FacetSource: rapid.StringN(1, 5, -1).Draw(t, "source"),
		}
		if err := os.WriteFile(path, record.JSON(), 0o600); err != nil {
			t.Fatal(err)
		}
		program := &foreign{exit: retrieval.Exit{Stdout: []byte(canonjson.Compact(rapid.OneOf(rowOf(), rowOf(), contents()).Draw(t, "payload")))}}
		s := retrieval.Session{
			ConfigPath: config, Ceiling: rapid.SampledFrom([]label.Ceiling{label.Unbounded(), label.UpTo(), ceilingOf(`["a"]`), ceilingOf(`["a",{"anyOf":["c",1]}]`)}).Draw(t, "run"),
			RequireRowLabels: rapid.Bool().Draw(t, "require"), FailOnExceed: rapid.Bool().Draw(t, "fail"),
			Program: func(*retrieval.Config) retrieval.Program { return program },
		}
		input := document.MapOf(document.M("target", contents().Draw(t, "target")))
		if rapid.Bool().Draw(t, "fine") {
			input = document.MapOf(document.M("target", document.TextOf("P-1")))
		}
		query := label.New(labelOf(clauses(len(clausePool)).Draw(t, "query")).Confidentiality(), []label.Atom{label.Observed("mail.mbox")})
		o := s.Call(context.Background(), retrieval.Call{OutputID: rapid.String().Draw(t, "id"), Tool: "loom_page_read", Input: input, Query: query})
		outcomeOf(t, o)
		if !o.RecordCeiling.Equal(record.Ceiling) {
			t.Errorf("the record's ceiling is %s, and was %s", o.RecordCeiling.Canonical(), record.Ceiling.Canonical())
		}
		if !o.Query.Equal(label.New(query.Confidentiality(), nil)) {
			t.Errorf("the query's label is %s, and was %s", o.Query.Canonical(), query.Canonical())
		}
	})
}

// FuzzPayload checks, of whatever a host's program prints and however it ends, that a call gives rows or a typed failure that says nothing of it,
// and an observation that is read as it is written.
func FuzzPayload(f *testing.F) {
	for _, text := range []string{
		"", "not json /private", `{"hits":[{"a":1,"ifc":{"confidentiality":["a"]}},{"ifc":null},{}],"schemaVersion":1}`, `{"schemaVersion":2,"hits":[]}`,
		`{"ok":false,"code":"unknown_page","error":"/private"}`, `{"ok":false,"code":"a b"}`, `{"name":"me","hasProfile":false}`, `[{"a":1,"a":2},1e999]`,
		`{"pages":[{}],"totalPages":1}`, `"\ud800"`, nested(126),
	} {
		for tool := range uint8(9) {
			f.Add([]byte(text), tool, int8(tool%4))
		}
	}
	names := slices.Sorted(maps.Keys(inputs))
	f.Fuzz(func(t *testing.T, stdout []byte, tool uint8, status int8) {
		name := names[int(tool)%len(names)]
		program := &foreign{exit: retrieval.Exit{Status: int(status), Stdout: stdout}}
		s := retrieval.Session{ConfigPath: configPath, Ceiling: ceilingOf(`["a","b"]`), Program: func(*retrieval.Config) retrieval.Program { return program }}
		o := s.Call(t.Context(), call(t, strings.Replace(name, "search with person", "loom_search", 1), inputs[name]))
		_ = outcomeOf(t, o)
		if (o.Failure == nil) != (o.Payload != "") {
			t.Errorf("a payload and a failure: %s", o.JSON())
		}
	})
}

// What anybody may write in a file is read or refused, and an observation that is read is written as it was.
func FuzzObserved(f *testing.F) {
	f.Add([]byte(`{"outputId":"o","tool":"loom_search","input":"{}","runCeiling":"null","recordCeiling":"null","ceiling":"null","query":"{\"confidentiality\":[],\"integrity\":[]}","requireRowLabels":false,"failOnExceed":false,"argv":["search"],"payload":"{\"hits\":[]}"}`))
	f.Add([]byte(`{"code":"x"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := retrieval.ReadObserved(data)
		if err != nil {
			return
		}
		if diff := cmp.Diff(string(data), string(o.JSON())); diff != "" {
			t.Error(diff)
		}
		_, _ = o.Measure(handle.NewTable("r"))
		_ = o.CeilingHolds() && o.FailureHolds()
	})
}

func FuzzFiles(f *testing.F) {
	f.Add(`{"cliPath":"/x","transport":{"kind":"broker","queuePath":"/q"}}`)
	f.Add(`{"loomReadCeiling":["a"],"facets":["x"],"facetSource":"x"}`)
	f.Add(`["a",{"anyOf":[{"__ctDbOwner":true},"b"]},{"type":"T","n":1.50}]`)
	f.Add(`{"cfc":{"maxConfidentiality":["a",{"anyOf":[{"__ctDbOwner":true}]}],"onExceed":"fail"}}`)
	path := filepath.Join(f.TempDir(), "file.json")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if c, err := retrieval.ReadConfig(path); err == nil {
			again, err := retrieval.ReadConfig(written(t, "again.json", string(c.JSON())))
			if diff := cmp.Diff(c, again); diff != "" || err != nil || c.Check() != nil {
				t.Errorf("a configuration is read that is not written so, or does not hold: %v, %v\n%s", err, c.Check(), diff)
			}
		}
		if r, err := retrieval.ReadRecord(path); err == nil {
			again, err := retrieval.ReadRecord(written(t, "again.json", string(r.JSON())))
			if err != nil || !r.Ceiling.Bounded() || !again.Ceiling.Equal(r.Ceiling) || !slices.Equal(again.Facets, r.Facets) || again.FacetSource != r.FacetSource {
				t.Errorf("a record that is read is not written so: %v, %s", err, r.JSON())
			}
		}
		if m, err := retrieval.ReadManifest(path, "ada"); err == nil && m.FailOnExceed && !m.Ceiling.Bounded() {
			t.Error("a manifest says what to do with what exceeds nothing")
		}
		if c, err := retrieval.ParseCeiling(text, "ada"); err == nil {
			again, err := label.ReadCeiling([]byte(c.Canonical()))
			if err != nil || !again.Equal(c) || len(c.Clauses()) == 0 || strings.Contains(c.Canonical(), `{"__ctDbOwner":true}`) {
				t.Errorf("a ceiling that is read is %s, and %s when it is read again: %v", c.Canonical(), again.Canonical(), err)
			}
		}
	})
}

// BenchmarkCall is a call without a process, and the measuring of its 20 rows.
func BenchmarkCall(b *testing.B) {
	var rows []string
	for i := range 20 {
		rows = append(rows, fmt.Sprintf(`{"title":"row %d","snippet":%q,"ifc":{"confidentiality":["a"],"integrity":["b"]}}`, i, strings.Repeat("words ", 160)))
	}
	program := &foreign{exit: retrieval.Exit{Stdout: []byte(`{"hits":[` + strings.Join(rows, ",") + `]}`)}}
	s := session(b, "", program)
	s.Ceiling = ceiling(b, `["a"]`)
	input := document.MapOf(document.M("query", document.TextOf("q")))
	for b.Loop() {
		program.calls = nil
		o := s.Call(b.Context(), retrieval.Call{OutputID: "o", Tool: "loom_search", Input: input})
		if r, f := o.Measure(handle.NewTable("r")); f != nil || r.Admitted != 20 {
			b.Fatal(f)
		}
	}
}
