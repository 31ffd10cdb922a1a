package modeltest

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/model"
)

func TestParseRecording(t *testing.T) {
	got, err := ParseRecording([]byte(`What this is for.

-- first --
HTTP 200
Content-Type: text/event-stream
X-Twice: a
X-Twice: b: c

data: 1

data: -- not a section --

--  second, without a body  --
HTTP 503
Fault: drop
-- third --
HTTP 429
Fault: cut 3

abcdef
`))
	if err != nil {
		t.Fatal(err)
	}
	want := &Recording{Answers: []Answer{
		{
			Name: "first", Status: 200, Body: "data: 1\n\ndata: -- not a section --\n\n",
			Header: http.Header{"Content-Type": {"text/event-stream"}, "X-Twice": {"a", "b: c"}},
		},
		{Name: "second, without a body", Status: 503, Header: http.Header{}, Fault: Drop},
		{Name: "third", Status: 429, Header: http.Header{}, Body: "abcdef\n", Fault: Cut, After: 3},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseRecordingRefuses(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"", "the recording has no answer"},
		{"only a comment\n", "the recording has no answer"},
		{"-- a --\n", `answer "a": its first line is not HTTP and a status from 200 to 599`},
		{"-- a --\n200\n", `answer "a": its first line is not HTTP and a status from 200 to 599`},
		{"-- a --\nHTTP 199\n", `answer "a": its first line is not HTTP and a status from 200 to 599`},
		{"-- a --\nHTTP 600\n", `answer "a": its first line is not HTTP and a status from 200 to 599`},
		{"-- a --\nHTTP 200\ndata\n", `answer "a": the head has a line without a colon`},
		{"-- a --\nHTTP 200\nFault: burn 1\n\nab", `answer "a": the Fault is neither drop, nor cut, end or stall with a number of bytes of the body`},
		{"-- a --\nHTTP 200\nFault: cut\n\nab", `answer "a": the Fault is neither drop, nor cut, end or stall with a number of bytes of the body`},
		{"-- a --\nHTTP 200\nFault: cut 3\n\nab", `answer "a": the Fault is neither drop, nor cut, end or stall with a number of bytes of the body`},
		{"-- a --\nHTTP 200\nFault: end -1\n\nab", `answer "a": the Fault is neither drop, nor cut, end or stall with a number of bytes of the body`},
		{"-- a --\nHTTP 200\nFault: drop 1\n\nab", `answer "a": the Fault is neither drop, nor cut, end or stall with a number of bytes of the body`},
	} {
		_, err := ParseRecording([]byte(tc.text))
		if err == nil || err.Error() != tc.want {
			t.Errorf("%q: got %v, want %s", tc.text, err, tc.want)
		}
	}
}

func TestReadRecording(t *testing.T) {
	for _, name := range RecordedNames() {
		got, err := ReadRecording(filepath.Join("recordings", name+".txtar"))
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(Recorded(t, name), got); diff != "" {
			t.Error(diff)
		}
	}
	bad := filepath.Join(t.TempDir(), "bad.txtar")
	if err := os.WriteFile(bad, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{bad, t.TempDir(), "recordings/none.txtar"} {
		if _, err := ReadRecording(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v", path, err)
		}
	}
}

func post(t *testing.T, s *Server, body string) (*http.Response, string, error) {
	t.Helper()
	response, err := http.Post(s.BaseURL()+"/chat/completions?q=1", "application/json", strings.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	return response, string(got), err
}

func TestServerReplaysInOrderAndKeepsRequests(t *testing.T) {
	recording, err := ParseRecording([]byte("-- a --\nHTTP 200\nContent-Type: text/event-stream\n\ndata: a\n\n-- b --\nHTTP 429\nRetry-After: 7\n\nb"))
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	s, err := Serve(recording, func(r Request) { seen = append(seen, r.Body) })
	if err != nil {
		t.Fatal(err)
	}
	response, body, err := post(t, s, "one")
	if err != nil || response.StatusCode != 200 || response.Header.Get("Content-Type") != "text/event-stream" || body != "data: a\n\n" {
		t.Errorf("got %v %q %v", response, body, err)
	}
	response, body, err = post(t, s, "two")
	if err != nil || response.StatusCode != 429 || response.Header.Get("Retry-After") != "7" || body != "b" {
		t.Errorf("got %v %q %v", response, body, err)
	}
	response, body, err = post(t, s, "three")
	want := `{"error":{"message":"the recording is used up: this is request 3 and it has 2 answers","type":"recording_used_up"}}` + "\n"
	if err != nil || response.StatusCode != 500 || body != want {
		t.Errorf("got %v %q %v", response, body, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	requests := s.Requests()
	if len(requests) != 3 || !cmp.Equal(seen, []string{"one", "two", "three"}) {
		t.Fatalf("got %+v, saw %q", requests, seen)
	}
	first := requests[0]
	if first.Method != "POST" || first.Path != "/v1/chat/completions?q=1" || first.Body != "one" || first.Header.Get("Content-Type") != "application/json" || !strings.HasPrefix(first.Host, "127.0.0.1:") {
		t.Errorf("got %+v", first)
	}
	if n := s.Connections(); n < 1 || n > 3 {
		t.Errorf("got %d connections", n)
	}
}

func TestServerListensOnLoopbackOnly(t *testing.T) {
	s := Start(t, Recorded(t, "clock"))
	host, _, err := net.SplitHostPort(s.listener.Addr().String())
	if err != nil || host != "127.0.0.1" {
		t.Errorf("listens on %s", s.listener.Addr())
	}
}

func TestServerFaults(t *testing.T) {
	for _, tc := range []struct {
		fault string
		body  string
		want  error // nil for a clean end
	}{
		{"cut 3", "abc", io.ErrUnexpectedEOF},
		{"cut 0", "", io.ErrUnexpectedEOF},
		{"end 3", "abc", nil},
		{"end 0", "", nil},
		{"end 7", "abcdef\n", nil},
		{"drop", "", io.EOF},
	} {
		recording, err := ParseRecording([]byte("-- a --\nHTTP 200\nFault: " + tc.fault + "\n\nabcdef\n"))
		if err != nil {
			t.Fatal(err)
		}
		s := Start(t, recording)
		_, body, err := post(t, s, "x")
		if body != tc.body || !errors.Is(err, tc.want) {
			t.Errorf("%s: got %q, %v", tc.fault, body, err)
		}
		if len(s.Requests()) != 1 {
			t.Errorf("%s: the request was not kept", tc.fault)
		}
	}
}

// A stalled answer ends when the client leaves, and when the server closes.
func TestServerStalls(t *testing.T) {
	recording, err := ParseRecording([]byte("-- a --\nHTTP 200\nFault: stall 3\n\nabcdef\n"))
	if err != nil {
		t.Fatal(err)
	}
	recording.Answers = append(recording.Answers, recording.Answers[0])
	s, err := Serve(recording, nil)
	if err != nil {
		t.Fatal(err)
	}
	begin := func() *http.Response {
		response, err := http.Post(s.BaseURL(), "text/plain", nil)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 3)
		if _, err := io.ReadFull(response.Body, got); err != nil || string(got) != "abc" {
			t.Fatalf("got %q, %v", got, err)
		}
		return response
	}
	begin().Body.Close()
	second := begin()
	defer second.Body.Close()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := bufio.NewReader(second.Body).ReadByte(); err == nil {
		t.Error("more came")
	}
}

func TestServerRefusesAHugeRequest(t *testing.T) {
	s := Start(t, Recorded(t, "clock"))
	response, _, err := post(t, s, strings.Repeat("x", maxBody+1))
	if err == nil && response.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("got %v", response)
	}
	if len(s.Requests()) != 0 {
		t.Error("the request was kept")
	}
}

func TestCatalogTOML(t *testing.T) {
	for _, base := range []string{"http://127.0.0.1:8080/v1", `http://127.0.0.1/"\é`} {
		path := filepath.Join(t.TempDir(), "routes.toml")
		if err := os.WriteFile(path, []byte(CatalogTOML(base)), 0o600); err != nil {
			t.Fatal(err)
		}
		routes, err := model.ReadRoutes(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, alias := range []string{"demo-agent", "demo-classifier"} {
			b, err := routes.Resolve(alias)
			if err != nil {
				t.Fatal(err)
			}
			if b.BaseURL != base || b.UpstreamName != "demo-model" || b.AuthKind != model.Anonymous || b.Protocol != model.ChatCompletions {
				t.Errorf("%s: got %+v", alias, b)
			}
		}
	}
}

// A recorded model names the tokens of the very request.
func TestTokensOfTheRequestAreNamed(t *testing.T) {
	recording, err := ParseRecording([]byte("-- a --\nHTTP 200\n\n{{token 2}} {{token 1}} {{token 3}} {{token 0}} {{tokens}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := Start(t, recording)
	_, body, err := post(t, s, `cfh:v:22222 and cfh:v:abcde, cfh:v:22222 again, cfh:v:iiiii`)
	if want := "cfh:v:abcde cfh:v:22222 {{token 3}} {{token 0}} {{tokens}}\n"; body != want || err != nil {
		t.Errorf("%q, %v", body, err)
	}
}
