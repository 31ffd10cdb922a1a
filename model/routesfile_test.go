package model

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/pelletier/go-toml/v2"

	"github.com/loomrun/loom/internal/boundedfile"
)

func example(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile("testdata/routes.toml")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// change replaces the first place in text where old stands.
func change(t testing.TB, text, old, replacement string) string {
	t.Helper()
	if !strings.Contains(text, old) {
		t.Fatalf("the example has no %q", old)
	}
	return strings.Replace(text, old, replacement, 1)
}

func TestRoutesFileIsReadInFull(t *testing.T) {
	routes, err := ReadRoutes("testdata/routes.toml")
	if err != nil {
		t.Fatal(err)
	}
	lab := account{id: "lab-anon", providerID: "lab", auth: Anonymous, billing: SelfHosted}
	shop := account{
		id: "shop-key", providerID: "shop", auth: APIKey, billing: Metered,
		secret: "env:LOOM_TEST_SHOP_KEY", secretAt: strings.Index(example(t), `"env:LOOM_TEST_SHOP_KEY"`),
	}
	small := servingModel{
		id: "small-chat", upstream: "lab-small-1", protocol: ChatCompletions,
		endpoint: endpoint{id: "lab-http", account: lab, baseURL: "http://127.0.0.1:8080/v1"},
		capabilities: Capabilities{
			Tools: true, ToolChoice: true, Temperature: true,
			ReasoningEfforts: []string{"low", "high"}, ContextWindow: 32768, MaxOutputTokens: 4096,
		},
	}
	large := servingModel{
		id: "large-chat", upstream: "shop-large-9", protocol: ChatCompletions,
		endpoint:     endpoint{id: "shop-http", account: shop, baseURL: "https://models.shop.example/v1/"},
		capabilities: Capabilities{Tools: true, ToolChoice: true, ContextWindow: 200000, MaxOutputTokens: 16384},
	}
	want := map[string]route{
		"lab-agent":  {targets: []servingModel{small}},
		"shop-agent": {targets: []servingModel{large, small}},
	}
	internals := cmp.AllowUnexported(route{}, servingModel{}, endpoint{}, account{})
	if diff := cmp.Diff(want, routes.byAlias, internals); diff != "" {
		t.Error(diff)
	}
}

// TOML has several ways to write the same tables.
func TestRoutesFileInOtherSpellings(t *testing.T) {
	plain, err := ReadRoutes("testdata/routes.toml")
	if err != nil {
		t.Fatal(err)
	}
	header := "[serving_models.capabilities]\ntools = true\ntool_choice = true\ntemperature = true\ntop_p = false\nreasoning_efforts = [\"low\", \"high\"]\ncontext_window = 32_768\nmax_output_tokens = 4096\n"
	for name, edit := range map[string][2]string{
		"dotted keys":     {header, "capabilities.tools = true\ncapabilities.tool_choice = true\ncapabilities.temperature = true\ncapabilities.top_p = false\ncapabilities.reasoning_efforts = ['low', \"high\",]\ncapabilities.context_window = 0x8000\ncapabilities.max_output_tokens = +4_096\n"},
		"an inline table": {header, "capabilities = {tools = true, tool_choice = true, temperature = true, top_p = false, reasoning_efforts = [\"low\", \"\\u0068igh\"], context_window = 0o100000, max_output_tokens = 0b1_0000_0000_0000}\n"},
		"quoted keys":     {"[[providers]]\nid = \"lab\"", "[['providers']]\n\"id\" = '''lab'''"},
		"a list of inline tables": {
			"[[models]]\nid = \"small\"\nupstream_name = \"lab-small-1\"\n\n[[models]]\nid = \"large\"\nupstream_name = \"shop-large-9\"\n", "",
		},
		"CRLF": {"\n", "\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.ReplaceAll(example(t), edit[0], edit[1])
			if name == "a list of inline tables" {
				text = change(t, text, "\n[[providers]]", "models = [{id = \"small\", upstream_name = \"lab-small-1\"}, {id = \"large\", upstream_name = \"shop-large-9\"}]\n\n[[providers]]")
			}
			routes, err := parseRoutes([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			internals := cmp.AllowUnexported(route{}, servingModel{}, endpoint{}, account{})
			noOffsets := cmpopts.IgnoreFields(account{}, "secretAt")
			if diff := cmp.Diff(plain.byAlias, routes.byAlias, internals, noOffsets); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Each case edits the example once. The mark § stands where the error must point, and is not part of
// the file.
func TestRoutesFileRules(t *testing.T) {
	target := "[[targets]]\nid = \"t3\"\nroute_id = \"r2\"\nserving_model_id = \"large-chat\"\nposition = 0\n"
	for _, tc := range []struct{ name, old, replacement, reason string }{
		{"no format", "format = \"llm.catalog/1\"\n", "", "format is missing in the catalog"},
		{"another format", `"llm.catalog/1"`, `§"llm.catalog/2"`, "format is not llm.catalog/1"},
		{"a format that is a number", `"llm.catalog/1"`, `§1`, "format is not text"},
		{"an unknown table", "[[models]]", "[[§modles]]", "the catalog has no field of this name"},
		{"an unknown field", "category =", "§kategory =", "providers has no field of this name"},
		{"a field in other letters", "category =", "§Category =", "providers has no field of this name"},
		{"an unknown capability", "top_p", "§top_q", "capabilities has no field of this name"},
		{"a table that is no list", "[[providers]]\nid = \"lab\"\ncategory = \"self-hosted\"\n\n[[providers]]\nid = \"shop\"\ncategory = \"hosted\"\n", "[§providers]\nid = \"lab\"\n", "providers is not a list of tables"},
		{"a list of texts", "[[providers]]\nid = \"lab\"\ncategory = \"self-hosted\"\n\n[[providers]]\nid = \"shop\"\ncategory = \"hosted\"\n", "providers = [§\"lab\"]\n", "an entry of providers is not a table"},
		{"a table twice", "[[models]]", "[§format]\n[[models]]", "this key or table is written twice"},
		{"a field twice", "upstream_name = \"lab-small-1\"", "upstream_name = \"lab-small-1\"\n§upstream_name = \"x\"", "this key or table is written twice"},
		{"a list of tables continued under another form", "[[models]]", "[[§format]]\n[[models]]", "this key or table is written twice"},
		{"capabilities in two forms", "[serving_models.capabilities]", "capabilities.tools = true\n[serving_models.§capabilities]", "this key or table is written twice"},
		{"capabilities closed and reopened", "[serving_models.capabilities]", "capabilities = {}\n§capabilities.tools = true", "this key or table is written twice"},
		{"a text with parts", "id = \"small\"", "id = \"small\"\n§id.x = 1", "this key or table is written twice"},
		{"a header below a text", "[[models]]", "[§format.x]\n[[models]]", "this key or table is written twice"},
		{"seventeen fields", "category = \"self-hosted\"", "category = \"self-hosted\"\na=1\nb=1\nc=1\nd=1\ne=1\nf=1\ng=1\nh=1\ni=1\nj=1\nk=1\nl=1\nm=1\nn=1\n§o=1", "the table has more fields than any table of a catalog"},
		{"a missing id", "[[providers]]\nid = \"lab\"", "[[§providers]]", "id is missing in providers"},
		{"an empty id", `id = "lab"`, `id = §""`, "id is empty"},
		{"an id twice", `id = "shop"`, `id = §"lab"`, "the id is used by an earlier entry of providers"},
		{"a missing category", "category = \"self-hosted\"\n\n[[providers]]", "\n[[providers]]", "category is missing in providers"},
		{"a provider that is not there", `provider_id = "lab"`, `provider_id = §"lob"`, "provider_id names no entry of the catalog"},
		{"another auth kind", `"anonymous"`, `§"none"`, "auth_kind is none of anonymous, bearer, api-key, subscription-oauth"},
		{"another billing kind", `billing_kind = "metered"`, `billing_kind = §"free"`, "billing_kind is none of self-hosted, metered, subscription"},
		{"anonymous with a secret", "auth_kind = \"anonymous\"", "auth_kind = \"anonymous\"\nsecret_reference_id = §\"env:X\"", "an anonymous account has a secret_reference_id"},
		{"a key without a secret", "[[accounts]]\nid = \"shop-key\"\nprovider_id = \"shop\"\nauth_kind = \"api-key\"\nbilling_kind = \"metered\"\nsecret_reference_id = \"env:LOOM_TEST_SHOP_KEY\"", "[[§accounts]]\nid = \"shop-key\"\nprovider_id = \"shop\"\nauth_kind = \"api-key\"\nbilling_kind = \"metered\"", "an account that is not anonymous has no secret_reference_id"},
		{"a subscription's secret used again after it", "[[endpoints]]", "[[accounts]]\nid = \"again\"\nprovider_id = \"shop\"\nauth_kind = \"bearer\"\nbilling_kind = \"metered\"\nsecret_reference_id = §\"seat-login\"\n\n[[endpoints]]", "the secret of a subscription is used by two accounts"},
		{"a subscription's secret used before it", "seat-login\"", "env:LOOM_TEST_SHOP_KEY\"", "the secret of a subscription is used by two accounts"},
		{"an account that is not there", `account_id = "lab-anon"`, `account_id = §"lab"`, "account_id names no entry of the catalog"},
		{"a file for a base URL", "\"http://127.0.0.1:8080/v1\"", "§\"file:///v1\"", "base_url does not start with http:// or https://"},
		{"a socket for a base URL", "\"http://127.0.0.1:8080/v1\"", "§\"unix:/run/model\"", "base_url does not start with http:// or https://"},
		{"a host alone", "\"http://127.0.0.1:8080/v1\"", "§\"127.0.0.1\"", "base_url does not start with http:// or https://"},
		{"user information", "\"http://127.0.0.1:8080/v1\"", "§\"http://me:pw@127.0.0.1/v1\"", "base_url has user information"},
		{"an empty user", "\"http://127.0.0.1:8080/v1\"", "§\"http://@127.0.0.1/v1\"", "base_url has user information"},
		{"no host", "\"http://127.0.0.1:8080/v1\"", "§\"http:///v1\"", "base_url has no host"},
		{"an opaque URL", "\"http://127.0.0.1:8080/v1\"", "§\"http:v1\"", "base_url has no host"},
		{"a query", "\"http://127.0.0.1:8080/v1\"", "§\"http://127.0.0.1/v1?\"", "base_url has a query or a fragment"},
		{"a fragment", "\"http://127.0.0.1:8080/v1\"", "§\"http://127.0.0.1/v1#\"", "base_url has a query or a fragment"},
		{"port 0", "\"http://127.0.0.1:8080/v1\"", "§\"http://127.0.0.1:0/v1\"", "base_url has a port that is not from 1 to 65535"},
		{"port 65536", "\"http://127.0.0.1:8080/v1\"", "§\"http://127.0.0.1:65536/v1\"", "base_url has a port that is not from 1 to 65535"},
		{"a control character in a URL", "\"http://127.0.0.1:8080/v1\"", `§"http://127.0.0.1/\u0007"`, "base_url is not a URL"},
		{"an empty upstream name", `"lab-small-1"`, `§""`, "upstream_name is empty"},
		{"an endpoint that is not there", `endpoint_id = "lab-http"`, `endpoint_id = §"lab"`, "endpoint_id names no entry of the catalog"},
		{"a model that is not there", `model_id = "small"`, `model_id = §"tiny"`, "model_id names no entry of the catalog"},
		{"another protocol", `"chat-completions"`, `§"chat"`, "protocol is none of chat-completions, messages, responses"},
		{"no capabilities", "[[serving_models]]\nid = \"small-chat\"", "[[serving_models]]\nid = \"none\"\nendpoint_id = \"lab-http\"\nmodel_id = \"small\"\nprotocol = \"messages\"\n\n[[serving_models]]\nid = \"small-chat\"", "capabilities is missing in serving_models"},
		{"capabilities that are a list", "[serving_models.capabilities]", "[[serving_models.§capabilities]]", "capabilities is not a table"},
		{"a missing capability", "tools = true\n", "", "tools is missing in capabilities"},
		{"a capability that is text", "tools = true", `tools = §"true"`, "tools is not true or false"},
		{"efforts that are text", `["low", "high"]`, `§"low"`, "reasoning_efforts is not a list"},
		{"an effort that is a number", `["low", "high"]`, `["low", §1]`, "an entry of reasoning_efforts is not text"},
		{"an empty effort", `["low", "high"]`, `["low", §""]`, "an entry of reasoning_efforts is not text"},
		{"a window of nothing", "32_768", "§0", "context_window is out of range"},
		{"a window that is a fraction", "32_768", "§1.5", "context_window is not a whole number"},
		{"a window that is a date", "32_768", "§2026-01-01", "context_window is not a whole number"},
		{"a window beyond 64 bits", "32_768", "§9223372036854775808", "context_window is out of range"},
		{"a negative output", "max_output_tokens = 4096", "max_output_tokens = §-1", "max_output_tokens is out of range"},
		{"a route that is not there", `route_id = "r1"`, `route_id = §"r9"`, "route_id names no entry of the catalog"},
		{"a serving model that is not there", `serving_model_id = "small-chat"`, `serving_model_id = §"small"`, "serving_model_id names no entry of the catalog"},
		{"a fallback that is a number", "fallback_enabled = false", "fallback_enabled = §0", "fallback_enabled is not true or false"},
		{"an alias twice", `alias = "shop-agent"`, `alias = §"lab-agent"`, "the alias of this route is the alias of an earlier route"},
		{"a route without a target", `alias = "lab-agent"`, "alias = \"lab-agent\"\n\n[[routes]]\nid = \"r0\"\nalias = §\"nowhere\"", "the route has no target"},
		{"a negative position", "position = 1", "position = §-1", "position is out of range"},
		{"positions with a gap", "alias = \"shop-agent\"", "alias = §\"shop-agent\"\n#", "the positions of the route's targets are not 0, 1, 2 and so on"},
		{"a position twice", target, "[[§targets]]\nid = \"t3\"\nroute_id = \"r2\"\nserving_model_id = \"large-chat\"\nposition = 1\n", "the position is taken by an earlier target of the route"},
		{"a serving model twice", target, "[[§targets]]\nid = \"t3\"\nroute_id = \"r2\"\nserving_model_id = \"small-chat\"\nposition = 0\n", "the serving model is an earlier target of the route"},
		{"fallback from a subscription", "alias = \"shop-agent\"\nfallback_enabled = false", "alias = §\"shop-agent\"\nfallback_enabled = true", "the route falls back between a subscription and another billing"},
		{"a bare word for a value", "position = 1", "position = §one", notTOML},
		{"an open text", `id = "t1"`, `id = "t1§`, notTOML},
		{"an open list", `["low", "high"]`, `["low", "high"`, notTOML},
		{"no value", "position = 1", "position =§", notTOML},
		{"bytes that are not UTF-8", "# Two", "# \xff Two", notTOML},
		{"an end in the middle", target, "[[targets", notTOML},
		{"a list in a list in a list", "reasoning_efforts = [\"low\"", "§reasoning_efforts = [[[[\"low\"]]]", tooDeep},
		{"a long dotted key", "tools = true", "a.b.c.d.§e = true", tooDeep},
		{"a long header", "[[models]]", "[a.b.c.d.§e]\n[[models]]", tooDeep},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := change(t, example(t), tc.old, tc.replacement)
			switch tc.name {
			case "positions with a gap":
				text = change(t, text, "position = 1", "position = 2")
			case "fallback from a subscription":
				text = change(t, text, "route_id = \"r2\"\nserving_model_id = \"small-chat\"", "route_id = \"r2\"\nserving_model_id = \"large-seat\"")
			}
			before, after, marked := strings.Cut(text, "§")
			_, err := parseRoutes([]byte(before + after))
			var wrong *FileError
			if !errors.As(err, &wrong) {
				t.Fatalf("got error %v, want a *FileError", err)
			}
			if wrong.Reason != tc.reason {
				t.Errorf("got reason %q, want %q", wrong.Reason, tc.reason)
			}
			if marked && wrong.Offset != int64(len(before)) {
				t.Errorf("got byte %d, want %d", wrong.Offset, len(before))
			}
			if wrong.Offset < 0 || wrong.Offset > int64(len(before+after)) {
				t.Errorf("byte %d is outside of the file", wrong.Offset)
			}
		})
	}
}

func TestRoutesFileErrorNamesPathAndByte(t *testing.T) {
	path := filepath.Join(t.TempDir(), "routes.toml")
	if err := os.WriteFile(path, []byte("format = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := ReadRoutes(path)
	if want := path + ": byte 9: format is not text"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A table may have 4,096 entries, and a route 64 targets.
func TestRoutesFileTableSizes(t *testing.T) {
	fallbackable := func(targets int) string {
		text := example(t) + "\n[[routes]]\nid = \"wide\"\nalias = \"wide\"\n"
		for i := range targets {
			text += fmt.Sprintf("[[serving_models]]\nid = \"s%d\"\nendpoint_id = \"lab-http\"\nmodel_id = \"small\"\nprotocol = \"chat-completions\"\n"+
				"capabilities = {tools=true,tool_choice=true,temperature=true,top_p=true,reasoning_efforts=[],context_window=1,max_output_tokens=1}\n"+
				"[[targets]]\nid = \"w%d\"\nroute_id = \"wide\"\nserving_model_id = \"s%d\"\nposition = %d\n", i, i, i, i)
		}
		return text
	}
	providers := func(n int) string {
		var b strings.Builder
		b.WriteString("format = \"llm.catalog/1\"\n")
		for i := range n {
			fmt.Fprintf(&b, "[[providers]]\nid = \"p%d\"\ncategory = \"c\"\n", i)
		}
		return b.String()
	}
	inline := func(n int) string {
		return "format = \"llm.catalog/1\"\nproviders = [" + strings.Repeat("{},", n) + "]\n"
	}
	for _, tc := range []struct {
		name, text, reason string
	}{
		{"4,096 providers", providers(4096), ""},
		{"4,097 providers", providers(4097), tooMany},
		{"4,096 inline providers", inline(4096), "id is missing in providers"},
		{"4,097 inline providers", inline(4097), tooMany},
		{"64 targets", fallbackable(64), ""},
		{"65 targets", fallbackable(65), "the route has more than 64 targets"},
		{"nothing but the format", "format = \"llm.catalog/1\"", ""},
		{"nothing", "", "format is missing in the catalog"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := parseRoutes([]byte(tc.text))
			got := ""
			if wrong, ok := errors.AsType[*FileError](err); ok {
				got = wrong.Reason
			}
			if got != tc.reason {
				t.Errorf("got %v, want %q", err, tc.reason)
			}
		})
	}
}

// governed-runs 11.1, cases 1 to 4: what a path can lead to.
func TestRoutesFileThatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	text := example(t)
	full := filepath.Join(dir, "full.toml")
	padded := text + "#" + strings.Repeat("x", 2<<20-len(text)-1)
	over := filepath.Join(dir, "over.toml")
	for path, content := range map[string]string{full: padded, over: padded + "x"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		path string
		want error
	}{
		{fifo, boundedfile.ErrNotRegular},
		{dir, boundedfile.ErrNotRegular},
		{"/dev/zero", boundedfile.ErrNotRegular},
		{filepath.Join(dir, "none"), fs.ErrNotExist},
		{over, boundedfile.ErrTooLarge},
		{full, nil},
	} {
		_, err := ReadRoutes(tc.path)
		if !errors.Is(err, tc.want) || (err == nil) != (tc.want == nil) {
			t.Errorf("%s: got %v, want %v", tc.path, err, tc.want)
		}
		if err != nil && !strings.Contains(err.Error(), tc.path) {
			t.Errorf("%q does not name %s", err, tc.path)
		}
	}
}

// Files that would take a decoder minutes or its whole stack. They end this test by its time limit
// if they do so here.
func TestRoutesFileThatIsHostile(t *testing.T) {
	numbered := func(format string) string {
		var b strings.Builder
		for i := 0; b.Len() < 2<<20-32; i++ {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	const deep = 200_000
	for name, text := range map[string]string{
		"lists":                 "a = " + strings.Repeat("[", deep),
		"closed lists":          "a = " + strings.Repeat("[", deep) + strings.Repeat("]", deep),
		"inline tables":         "a = " + strings.Repeat("{a=", deep) + "1" + strings.Repeat("}", deep),
		"a dotted key":          strings.Repeat("a.", deep) + "a = 1",
		"a header":              "[" + strings.Repeat("a.", deep) + "a]",
		"a list of tables":      "[[" + strings.Repeat("a.", deep) + "a]]",
		"many keys":             numbered("k%d=1\n"),
		"many tables":           numbered("[t%d]\n"),
		"many lists of tables":  numbered("[[t%d]]\n"),
		"many fields in a list": "providers = [" + numbered("{k%d=1},") + "]",
		"one long list":         "providers = [" + strings.Repeat("1,", 1<<20-16) + "]",
		"one long text":         "format = \"" + strings.Repeat("\\n", 1<<20-16) + "\"",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parseRoutes([]byte(text)); err == nil {
				t.Error("was accepted")
			}
		})
	}
}

// governed-runs 11.1, case 5: wherever a secret is pasted, no error shows it.
func TestRoutesFileErrorsShowNoSecret(t *testing.T) {
	const secret = "sk_live_51Hq8ZxT3pasted"
	text := example(t)
	placements := map[string]string{
		"front":   secret + "\n" + text,
		"end":     text + secret,
		"comment": text + "# " + secret + "\x00",
		"key":     text + "\n" + secret + " = 1\n",
		"keys":    text + "\n" + secret + "." + secret + " = " + secret + "\n",
	}
	for start := 0; start < len(text); {
		line, _, _ := strings.Cut(text[start:], "\n")
		end := start + len(line)
		put := func(how, replacement string) {
			placements[fmt.Sprintf("%s at %d", how, start)] = text[:start] + replacement + text[end:]
		}
		put("line", secret)
		put("quoted line", `"`+secret+`"`)
		put("before", secret+line)
		put("behind", line+secret)
		put("header", "["+secret+"]")
		put("list header", "[["+secret+"]]")
		put("open header", "[["+secret)
		if key, value, ok := strings.Cut(line, "="); ok {
			put("value", key+`= "`+secret+`"`)
			put("bare value", key+"= "+secret)
			put("open value", key+`= "`+secret)
			put("open literal", key+`= '''`+secret)
			put("escaped value", key+`= "`+secret+`\q"`)
			put("listed value", key+`= ["`+secret+`"]`)
			put("tabled value", key+`= {`+secret+` = "`+secret+`"}`)
			put("number", key+"= 0x"+secret)
			put("date", key+"= 2026-13-"+secret)
			put("key", secret+"="+value)
			put("quoted key", `"`+secret+`"=`+value)
			put("dotted key", key+"."+secret+"="+value)
			put("user of a URL", key+`= "https://`+secret+`@host.example"`)
			put("host of a URL", key+`= "https://`+secret+`:x/"`)
			put("query of a URL", key+`= "https://host.example?k=`+secret+`"`)
			put("scheme", key+`= "`+secret+`://"`)
			put("environment", key+`= "env:`+secret+`"`)
			put("file", key+`= "file:/`+secret+`"`)
			put("relative file", key+`= "file:`+secret+`"`)
		}
		start = end + 1
	}
	t.Setenv("LOOM_TEST_SHOP_KEY", "")
	refused := 0
	for how, text := range placements {
		routes, err := parseRoutes([]byte(text))
		errs := []error{err}
		if err == nil {
			for alias := range routes.byAlias {
				if strings.Contains(alias, secret) { // whoever asks for an alias knows it
					continue
				}
				_, err := routes.Resolve(alias)
				errs = append(errs, err)
			}
		}
		for _, err := range errs {
			for ; err != nil; err = errors.Unwrap(err) {
				refused++
				for _, shown := range []string{err.Error(), fmt.Sprintf("%v", err), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", err)} {
					if strings.Contains(shown, secret[:8]) {
						t.Fatalf("%s: %s", how, shown)
					}
				}
			}
		}
	}
	if refused < len(placements)*3/4 {
		t.Errorf("only %d of %d placements were refused", refused, len(placements))
	}
}

// decoded is the catalog as the TOML library's own decoder fills it.
type decoded struct {
	Format    string                          `toml:"format"`
	Providers []struct{ ID, Category string } `toml:"providers"`
	Accounts  []struct {
		ID                string
		ProviderID        string  `toml:"provider_id"`
		AuthKind          string  `toml:"auth_kind"`
		BillingKind       string  `toml:"billing_kind"`
		SecretReferenceID *string `toml:"secret_reference_id"`
	} `toml:"accounts"`
	Endpoints []struct {
		ID        string
		AccountID string `toml:"account_id"`
		BaseURL   string `toml:"base_url"`
	} `toml:"endpoints"`
	Models []struct {
		ID           string
		UpstreamName string `toml:"upstream_name"`
	} `toml:"models"`
	ServingModels []struct {
		ID           string
		EndpointID   string `toml:"endpoint_id"`
		ModelID      string `toml:"model_id"`
		Protocol     string
		Capabilities struct {
			Tools            bool
			ToolChoice       bool `toml:"tool_choice"`
			Temperature      bool
			TopP             bool     `toml:"top_p"`
			ReasoningEfforts []string `toml:"reasoning_efforts"`
			ContextWindow    int64    `toml:"context_window"`
			MaxOutputTokens  int64    `toml:"max_output_tokens"`
		}
	} `toml:"serving_models"`
	Routes []struct {
		ID, Alias       string
		FallbackEnabled bool `toml:"fallback_enabled"`
	}
	Targets []struct {
		ID             string
		RouteID        string `toml:"route_id"`
		ServingModelID string `toml:"serving_model_id"`
		Position       int64
	}
}

// FuzzRoutesFile holds the reader against the TOML library's decoder: what is accepted is TOML of
// the same content. Its inputs are edits of the example, since hardly any text is a catalog; an edit
// that starts beyond the example's end is the whole file.
func FuzzRoutesFile(f *testing.F) {
	text := example(f)
	f.Add(uint16(0), uint16(0), "")
	for _, edit := range [][2]string{
		{`"lab"`, `'''lab'''`},
		{`"lab"`, "\"\"\"\\\n  l\\u0061b\"\"\""},
		{"32_768", "0x80_00"},
		{"32_768", "+0"},
		{"[serving_models.capabilities]", "[ serving_models . \"capabilities\" ] # x"},
		{"tools = true", "capabilities.tools = true"},
		{`["low", "high"]`, "[\n'low' # x\n,\n]"},
		{"fallback_enabled = false", "fallback_enabled = true"},
		{`alias = "lab-agent"`, "alias = 1979-05-27T07:32:00Z"},
	} {
		f.Add(uint16(strings.Index(text, edit[0])), uint16(len(edit[0])), edit[1])
	}
	for _, whole := range []string{
		"format = \"llm.catalog/1\"\n",
		"format = \"llm.catalog/1\"\nproviders = [{id = \"a\", category = \"b\"}]\n",
		"a = [[[[[]]]]]\nb.c.d = {e = 1979-05-27T07:32:00Z}\n[x.y]\n[[x.z]]\n",
	} {
		f.Add(uint16(1<<16-1), uint16(0), whole)
	}
	f.Fuzz(func(t *testing.T, start, length uint16, insert string) {
		data := []byte(insert)
		if from := int(start); from <= len(text) {
			data = []byte(text[:from] + insert + text[min(from+int(length), len(text)):])
		}
		routes, err := parseRoutes(data)
		if err != nil {
			wrong, ok := errors.AsType[*FileError](err)
			if !ok || wrong.Offset < 0 || wrong.Offset > int64(len(data)) || wrong.Reason == "" {
				t.Fatalf("not a good error: %#v", err)
			}
			return
		}
		if !utf8.Valid(data) {
			t.Fatal("accepted bytes that are not UTF-8")
		}
		var other decoded
		decoder := toml.NewDecoder(bytes.NewReader(data))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&other); err != nil {
			t.Fatalf("accepted what the library refuses: %v", err)
		}
		if other.Format != routesFormat || len(other.Routes) != len(routes.byAlias) {
			t.Fatalf("the library reads another catalog: %+v", other)
		}
		for _, r := range other.Routes {
			found, ok := routes.byAlias[r.Alias]
			if !ok || found.fallback != r.FallbackEnabled {
				t.Fatalf("the library reads another route: %+v", r)
			}
			for position, target := range found.targets {
				matched := false
				for _, tt := range other.Targets {
					matched = matched || tt.RouteID == r.ID && tt.Position == int64(position) && tt.ServingModelID == target.id
				}
				if !matched {
					t.Fatalf("the library reads another target %d of %+v", position, r)
				}
				for _, s := range other.ServingModels {
					c := Capabilities{
						s.Capabilities.Tools, s.Capabilities.ToolChoice, s.Capabilities.Temperature, s.Capabilities.TopP,
						s.Capabilities.ReasoningEfforts, s.Capabilities.ContextWindow, s.Capabilities.MaxOutputTokens,
					}
					if s.ID == target.id && !cmp.Equal(c, target.capabilities, cmpopts.EquateEmpty()) {
						t.Fatalf("the library reads other capabilities: %+v", s)
					}
				}
			}
		}
	})
}
