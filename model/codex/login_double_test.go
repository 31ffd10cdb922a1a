package codex

import (
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/loomrun/loom/model"
)

// noon is when these tests play.
var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func atNoon() time.Time { return noon }

// jwt makes a token that ends at an instant. Its last part is a mark to look for in outputs.
func jwt(mark string, ends time.Time) string {
	return jwtOf(fmt.Sprintf(`{"sub":"%s","exp":%d}`, mark, ends.Unix()), mark)
}

func jwtOf(claims, mark string) string {
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(`{"alg":"RS256"}`)) + "." + encode([]byte(claims)) + "." + encode([]byte("signature-of-"+mark))
}

// The tokens of most tests: an old access token with some time left, and what a renewal gives.
var (
	oldRefresh = "rt-old-0123456789abcdef"
	newRefresh = "rt-new-0123456789abcdef"
	newAccess  = jwt("new", noon.Add(10*24*time.Hour))
	newID      = jwt("new-id", noon.Add(time.Hour))
	oldID      = jwt("old-id", noon.Add(-time.Hour))
)

func oldAccess(left time.Duration) string { return jwt("old", noon.Add(left)) }

// authJSON is a file as Codex writes it, with members that no one here knows.
func authJSON(access, refresh, id string) string {
	return `{
  "OPENAI_API_KEY": null,
  "tokens": {
    "id_token": "` + id + `",
    "unknown\u0020member": {"access_token": "not this one", "n": 1.10},
    "access_token": "` + access + `",
    "refresh_token": "` + refresh + `",
    "account_id": "acct-1"
  },
  "last_refresh": "2026-11-20T08:00:00.000000001Z",
  "später": ["é", "\u00e9", 1e400]
}
`
}

// write puts a login's file into a folder of its own.
func write(t testing.TB, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "auth.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// tokenEndpoint is a token endpoint on the loopback interface, with TLS.
type tokenEndpoint struct {
	*httptest.Server
	mu      sync.Mutex
	asked   []*http.Request
	forms   []url.Values
	respond func(w http.ResponseWriter, r *http.Request)
}

func startTokenEndpoint(t testing.TB, respond http.HandlerFunc) *tokenEndpoint {
	t.Helper()
	e := &tokenEndpoint{respond: respond}
	e.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		e.mu.Lock()
		e.asked, e.forms = append(e.asked, r), append(e.forms, r.PostForm)
		e.mu.Unlock()
		e.respond(w, r)
	}))
	e.Config.ErrorLog = nil
	t.Cleanup(e.Close)
	return e
}

func (e *tokenEndpoint) requests() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.asked)
}

func (e *tokenEndpoint) provider() provider {
	roots := x509.NewCertPool()
	roots.AddCert(e.Certificate())
	return provider{tokenURL: e.URL + "/oauth/token", clientID: "client-of-the-test", baseURL: e.URL, roots: roots}
}

// grants answers with the new tokens.
func grants(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"access_token":%q,"refresh_token":%q,"id_token":%q,"token_type":"Bearer","expires_in":864000}`, newAccess, newRefresh, newID)
}

// answers answers with a status and a body.
func answers(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

func mustOpen(t testing.TB, path string, p provider) *Login {
	t.Helper()
	l, err := open(path, p, atNoon)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func failureOf(t testing.TB, err error) *model.Failure {
	t.Helper()
	failure, ok := err.(*model.Failure)
	if !ok {
		t.Fatalf("%v is no failure", err)
	}
	return failure
}
