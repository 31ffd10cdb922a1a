package codex

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/run"
)

// backend is the provider's backend and its token endpoint in one, on the loopback interface, with TLS.
type backend struct {
	*httptest.Server
	mu       sync.Mutex
	requests []*http.Request
	bodies   []string
	accepts  string // the access token that is good
	renew    http.HandlerFunc
	renewals int
}

func startBackend(t *testing.T, accepts string) *backend {
	t.Helper()
	b := &backend{accepts: accepts, renew: grants}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /oauth/token", func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		b.renewals++
		b.mu.Unlock()
		b.renew(w, r)
	})
	mux.HandleFunc("POST /backend-api/codex/responses", b.respond)
	b.Server = httptest.NewUnstartedServer(mux)
	b.Config.ErrorLog = log.New(io.Discard, "", 0)
	b.StartTLS()
	t.Cleanup(b.Close)
	return b
}

func (b *backend) provider() provider {
	roots := x509.NewCertPool()
	roots.AddCert(b.Certificate())
	return provider{tokenURL: b.URL + "/oauth/token", clientID: "client-of-the-test", baseURL: b.URL + "/backend-api/codex", roots: roots}
}

// respond picks a protocol by the documented events of the responses protocol.
func (b *backend) respond(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	b.mu.Lock()
	b.requests, b.bodies = append(b.requests, r), append(b.bodies, string(body))
	b.mu.Unlock()
	if got := r.Header.Get("Authorization"); got != "Bearer "+b.accepts {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error":{"message":"the token %s is not good","code":"token_expired"}}`, strings.TrimPrefix(got, "Bearer "))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	arguments := string(canonjson.AppendString(nil, `{"protocol":"system-query@1","confidence":0.98,"reasons":["asks for the time"]}`))
	item := func(arguments, status string) string {
		return `{"id":"fc-1","type":"function_call","call_id":"call-1","name":"pick_protocol","arguments":` + arguments + `,"status":"` + status + `"}`
	}
	for _, e := range []string{
		`{"type":"response.created","response":{"id":"resp-1","model":"another-name","status":"in_progress"}}`,
		`{"type":"response.output_item.added","output_index":0,"item":` + item(`""`, "in_progress") + `}`,
		`{"type":"response.function_call_arguments.delta","output_index":0,"item_id":"fc-1","delta":` + arguments + `}`,
		`{"type":"response.function_call_arguments.done","output_index":0,"item_id":"fc-1","arguments":` + arguments + `}`,
		`{"type":"response.output_item.done","output_index":0,"item":` + item(arguments, "completed") + `}`,
		`{"type":"response.completed","response":{"id":"resp-1","status":"completed","output":[` + item(arguments, "completed") + `],"usage":{"input_tokens":412,"output_tokens":31,"total_tokens":443}}}`,
	} {
		kind, _, _ := strings.Cut(strings.TrimPrefix(e, `{"type":"`), `"`)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, e)
	}
}

var question = model.Request{
	Instructions: "Pick.", Input: []string{"What time is it?"},
	Tools: []model.Tool{{Name: "pick_protocol", Description: "Picks.", Parameters: `{"type":"object"}`}},
}

func TestClientSendsTheLoginsTokenAndAccount(t *testing.T) {
	b := startBackend(t, newAccess)
	l := mustOpen(t, write(t, authJSON(oldAccess(time.Minute), oldRefresh, oldID)), b.provider())
	client, err := New(l, "gpt-5.6-sol")
	if err != nil {
		t.Fatal(err)
	}
	reply, err := client.Ask(t.Context(), question)
	if err != nil {
		t.Fatal(err)
	}
	if len(reply.Calls) != 1 || reply.Calls[0].Name != "pick_protocol" || *reply.Usage.InputTokens != 412 || client.UpstreamName() != "gpt-5.6-sol" {
		t.Errorf("got %+v", reply)
	}
	r := b.requests[0]
	if got := r.Header["Chatgpt-Account-Id"]; !cmp.Equal(got, []string{"acct-1"}) {
		t.Errorf("the account is %q", got)
	}
	for _, part := range []string{`"model":"gpt-5.6-sol"`, `"stream":true`, `"store":false`, `"tool_choice":{"type":"function","name":"pick_protocol"}`} {
		if !strings.Contains(b.bodies[0], part) {
			t.Errorf("the body has no %s: %s", part, b.bodies[0])
		}
	}
	if strings.Contains(b.bodies[0], "max_output_tokens") {
		t.Errorf("the body has a limit that the backend does not take: %s", b.bodies[0])
	}
}

func TestClientWithoutAnAccount(t *testing.T) {
	b := startBackend(t, oldAccess(time.Hour))
	l := mustOpen(t, write(t, `{"tokens":{"access_token":"`+oldAccess(time.Hour)+`"}}`), b.provider())
	client, err := New(l, "m")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Ask(t.Context(), question); err != nil {
		t.Fatal(err)
	}
	if _, sent := b.requests[0].Header["Chatgpt-Account-Id"]; sent {
		t.Error("an account was sent that the login does not name")
	}
}

// A backend that repeats the token it does not take, and a login that cannot be renewed: neither
// failure shows a token, and the second opens no connection to the backend.
func TestClientFailures(t *testing.T) {
	b := startBackend(t, "another")
	l := mustOpen(t, write(t, authJSON(oldAccess(time.Hour), oldRefresh, oldID)), b.provider())
	client, err := New(l, "m")
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Ask(t.Context(), question)
	if failure := failureOf(t, err); failure.Class != model.Unauthorized || !strings.Contains(failure.Detail, "[secret]") {
		t.Error(failure)
	}
	assertNoToken(t, "a token that is not taken", fmt.Sprintf("%v %+v", err, err))
	asked := len(b.requests)
	if err := os.WriteFile(l.path, []byte(authJSON(oldAccess(time.Minute), oldRefresh, oldID)), 0o600); err != nil {
		t.Fatal(err)
	}
	l.expires = noon
	l.provider.tokenURL = "https://["
	_, err = client.Ask(t.Context(), question)
	if failure := failureOf(t, err); failure.Class != model.InvalidRequest || len(b.requests) != asked {
		t.Error(failure)
	}
	assertNoToken(t, "a login that is not renewed", fmt.Sprintf("%v %+v", err, err))
}

func TestNewRefusesWhatIsNoModel(t *testing.T) {
	l := mustOpen(t, write(t, authJSON(oldAccess(time.Hour), oldRefresh, oldID)), openAI)
	for _, tc := range []struct{ id, want string }{
		{"", "the model has no id"},
		{strings.Repeat("m", 257), "the model's id exceeds 256 bytes"},
		{"m\xff", "the model's id is not UTF-8"},
	} {
		if client, err := New(l, tc.id); err == nil || err.Error() != tc.want || client != nil {
			t.Errorf("%.10q: got %v", tc.id, err)
		}
	}
	broken := openAI
	broken.baseURL = "ftp://x"
	if client, err := New(mustOpen(t, l.path, broken), "m"); err == nil || client != nil {
		t.Errorf("a base URL of another kind: %v", err)
	}
}

// A whole run by a login that has to be renewed first (issue 3, item 4). No token is part of anything
// that leaves the run: its events, its error, what is logged, or the file's other members.
func TestRunByALogin(t *testing.T) {
	var logged bytes.Buffer
	log.SetOutput(&logged)
	t.Cleanup(func() { log.SetOutput(io.Discard) })
	for _, tc := range []struct {
		name    string
		accepts string
		renew   http.HandlerFunc
		want    event.StopReason // empty: the run fails
		asked   int
	}{
		{"the renewed token is good", newAccess, grants, event.Completed, 1},
		{"the renewed token is not taken", "another", grants, "", 1},
		{"the login is not renewed", newAccess, answers(http.StatusUnauthorized, oldRefresh), "", 0},
		{"the token endpoint is overloaded, which is no reason to ask it again", newAccess, answers(http.StatusServiceUnavailable, oldRefresh), "", 0},
	} {
		b := startBackend(t, tc.accepts)
		b.renew = tc.renew
		path := write(t, authJSON(oldAccess(time.Minute), oldRefresh, oldID))
		l := mustOpen(t, path, b.provider())
		client, err := New(l, "gpt-5.6-sol")
		if err != nil {
			t.Fatal(err)
		}
		var events strings.Builder
		steps := 3
		outcome, err := run.Run(t.Context(), run.Options{
			Intent: "need to know the current time", Catalog: catalog.Bundled(), Bindings: []effect.Binding{effect.HostClock()},
			Classifier: model.Retry(client), Agent: model.Retry(client), Threshold: run.DefaultThreshold, MaxSteps: &steps,
			Events: func(e event.Event) error {
				fmt.Fprintf(&events, "%T %+v\n", e, e)
				return nil
			},
		})
		if outcome.Reason != tc.want || (err == nil) != (tc.want != "") {
			t.Errorf("%s: %v, %v\n%s", tc.name, outcome, err, events.String())
		}
		if renewed := read(t, path) == authJSON(newAccess, newRefresh, newID); renewed != (tc.asked > 0) {
			t.Errorf("%s: the file is renewed: %t", tc.name, renewed)
		}
		if len(b.requests) != tc.asked || b.renewals != 1 {
			t.Errorf("%s: %d requests and %d renewals", tc.name, len(b.requests), b.renewals)
		}
		assertNoToken(t, tc.name, fmt.Sprintf("%s %v %+v %#v %s", events.String(), err, outcome, l, logged.String()))
	}
}

// A login is what a program may print by mistake.
func TestALoginPrintsNoToken(t *testing.T) {
	l := mustOpen(t, write(t, authJSON(oldAccess(time.Hour), oldRefresh, oldID)), openAI)
	status := Inspect(l.path)
	assertNoToken(t, "a status", fmt.Sprintf("%v %+v %#v", status, status, status))
	assertNoToken(t, "a login", fmt.Sprintf("%v %+v %#v %#v", l, l, l, *l))
}
