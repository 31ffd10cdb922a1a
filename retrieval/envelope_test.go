package retrieval_test

import (
	"strings"
	"testing"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/retrieval"
)

// D32, E145, E146 and A8. Where want is "", the whole envelope stays.
func TestTheEnvelopeIsBounded(t *testing.T) {
	text := func(n int) string { return strings.Repeat("w", n) }
	quoted := func(n int) string { return `"` + text(n) + `"` }
	list := func(n int, item string) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }
	for _, tc := range []struct {
		name, kind, payload string
		want                string
		truncated           bool
	}{
		{"E145 one long warning is cut", "search", `"warnings":[` + quoted(60_000) + `]`, `{"warnings":[` + quoted(4000) + `]}`, false},
		{"E145 a warning of the greatest length", "search", `"warnings":[` + quoted(4000) + `]`, ``, false},
		{"texts are cut at any depth", "search", `"source_status":{"a":{"b":[` + quoted(4001) + `]}}`, `{"source_status":{"a":{"b":[` + quoted(4000) + `]}}}`, false},
		{"E146 many long warnings", "search", `"query":"q","warnings":[` + list(30, quoted(4000)) + `],"truncated":true`, `{"query":"q","warnings":[` + quoted(4000) + `],"truncated":true}`, true},
		{"as much as there is room for", "search", `"warnings":[` + quoted(4000) + `,` + quoted(3978) + `]`, ``, false},
		{"one character more", "search", `"warnings":[` + quoted(4000) + `,` + quoted(3979) + `]`, `{"warnings":[` + quoted(4000) + `]}`, true},
		{"the first entries stay, and none behind one that does not fit", "search", `"warnings":["a",` + list(2, quoted(3990)) + `,"b"]`, `{"warnings":["a",` + quoted(3990) + `]}`, true},
		{"of a map too", "search", `"source_status":{"z":1,"a":` + quoted(4000) + `,"b":` + quoted(4000) + `,"c":2}`, `{"source_status":{"z":1,"a":` + quoted(4000) + `}}`, true},
		{"names count, and are not cut", "search", `"source_status":{"` + text(9000) + `":1,"b":2}`, `{"source_status":{}}`, true},
		{"a name is left whole", "search", `"source_status":{"` + text(5000) + `":1}`, ``, false},
		{"single members come before entries", "search", `"source_status":{"a":` + quoted(3900) + `,"b":` + quoted(3900) + `},"query":` + quoted(4000) + `,"truncated":false`, `{"query":` + quoted(4000) + `,"source_status":{"a":` + quoted(3900) + `},"truncated":false}`, true},
		{"no room for a list at all", "search", `"query":` + quoted(4000) + `,"truncated":` + quoted(3964) + `,"warnings":[]`, `{"query":` + quoted(4000) + `,"truncated":` + quoted(3964) + `}`, true},
		{"a text that is long only as JSON has it", "search", `"query":"` + strings.Repeat(`\u0001`, 4000) + `","truncated":false`, `{"truncated":false}`, true},
		{"the length is that of characters beyond the basic plane", "search", `"warnings":["` + strings.Repeat("🎉", 2000) + `","` + strings.Repeat("🎉", 2000) + `"]`, `{"warnings":["` + strings.Repeat("🎉", 2000) + `"]}`, true},
		{"a number of very many digits", "page.discover", `"totalPages":` + strings.Repeat("9", 60_000) + `,"omittedViews":["a"]`, `{"omittedViews":["a"]}`, true},
		{"many entries", "page.discover", `"omittedViews":[` + list(5000, "1") + `]`, `{"omittedViews":[` + list(3990, "1") + `]}`, true},
	} {
		member := map[string]string{"search": "hits", "page.discover": "pages"}[tc.kind]
		m := measuring(t, `{"`+member+`":[{"id":1}],`+tc.payload+`}`)
		m.Tool = tool(tc.kind)
		before := canonjson.Compact(m.Payload.Value)
		r := measure(t, m)
		want := tc.want
		if want == "" {
			want = `{` + tc.payload + `}`
		}
		envelope := canonjson.Compact(r.Envelope)
		if envelope != want {
			t.Errorf("%s: the envelope is %.200s… of %d, want %.200s… of %d", tc.name, envelope, len(envelope), want, len(want))
		}
		if r.Truncated != tc.truncated || r.Admitted != 1 {
			t.Errorf("%s: truncated %t, admitted %d", tc.name, r.Truncated, r.Admitted)
		}
		if n := length([]byte(envelope)); n > retrieval.MaxEnvelope {
			t.Errorf("%s: the envelope has %d code units", tc.name, n)
		}
		if canonjson.Compact(m.Payload.Value) != before {
			t.Errorf("%s: the payload was changed", tc.name)
		}
	}
}

// The order of the envelope is that of 5.7, whatever that of the payload.
func TestTheEnvelopeHasOneOrder(t *testing.T) {
	m := measuring(t, `{"truncated":false,"warnings":[],"hits":[],"source_status":{"b":1,"a":2},"query":"q"}`)
	if got := canonjson.Compact(measure(t, m).Envelope); got != `{"query":"q","source_status":{"b":1,"a":2},"warnings":[],"truncated":false}` {
		t.Errorf("got %s", got)
	}
	if measure(t, measuring(t, `{"hits":[]}`)).Envelope.Kind != document.Null {
		t.Error("an envelope of nothing")
	}
}
