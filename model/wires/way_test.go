package wires

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/model/modeltest"
	"github.com/loomrun/loom/model/wire"
)

// A request that no wire can send, or that nobody waits for, opens no connection.
func TestNothingIsSentInVain(t *testing.T) {
	forEach(t, func(t *testing.T, s speech) {
		server := serve(t, s.picked())
		c := client(t, s.binding(server.BaseURL()))
		reply, err := c.Ask(context.Background(), model.Request{Input: []string{"x"}})
		if got := modeltest.AsFailure(t, reply, err).Class; got != model.InvalidRequest {
			t.Errorf("got %s", got)
		}
		gone, cancel := context.WithCancel(context.Background())
		cancel()
		reply, err = c.Ask(gone, modeltest.Question)
		if got := modeltest.AsFailure(t, reply, err); got.Class != model.Cancelled || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", got)
		}
		late, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
		defer cancel()
		reply, err = c.Ask(late, modeltest.Question)
		if got := modeltest.AsFailure(t, reply, err); got.Class != model.Deadline || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", got)
		}
		if n := server.Connections(); n != 0 {
			t.Errorf("%d connections were opened", n)
		}
	})
}

// governed-runs 11.13, case 166: a redirect is an answer, and its target gets neither the request nor
// the secret.
func TestRedirectIsNotFollowed(t *testing.T) {
	forEach(t, func(t *testing.T, s speech) {
		elsewhere := serve(t, s.picked())
		for _, status := range []int{301, 302, 303, 307, 308} {
			server := replay(t, fmt.Sprintf("HTTP %d\nLocation: %s\nSet-Cookie: a=b\n", status, elsewhere.BaseURL()))
			reply, err := ask(t, withSecret(s.binding(server.BaseURL())))
			if got := modeltest.AsFailure(t, reply, err); got.Class != model.Unsupported || got.Transient() {
				t.Errorf("%d: got %v", status, got)
			}
			if n := len(server.Requests()); n != 1 {
				t.Errorf("%d: the first server got %d requests", status, n)
			}
		}
		if n := elsewhere.Connections(); n != 0 {
			t.Errorf("the other server got %d connections", n)
		}
	})
}

func TestCookiesAreNotKept(t *testing.T) {
	forEach(t, func(t *testing.T, s speech) {
		header := http.Header{"Content-Type": {"text/event-stream"}, "Set-Cookie": {"a=b"}}
		answer := modeltest.Answer{Status: http.StatusOK, Header: header, Body: s.picked()}
		server := modeltest.Start(t, &modeltest.Recording{Answers: []modeltest.Answer{answer, answer}})
		c := client(t, s.binding(server.BaseURL()))
		for range 2 {
			if _, err := c.Ask(context.Background(), modeltest.Question); err != nil {
				t.Fatal(err)
			}
		}
		if got := server.Requests()[1].Header["Cookie"]; got != nil {
			t.Errorf("got %q", got)
		}
	})
}

// Case 166: a proxy in the environment is not used. The environment is read once in a process, so
// another process asks, and asks a host that the proxy rules do not except.
func TestProxyOfTheEnvironmentIsNotUsed(t *testing.T) {
	if os.Getenv("LOOM_TEST_ASK_FROM_HERE") != "" {
		forEach(t, func(t *testing.T, s speech) {
			var dialed []string
			reply, err := ask(t, s.binding("http://model.example/v1"), wire.Dial(func(_ context.Context, _, address string) (net.Conn, error) {
				dialed = append(dialed, address)
				return nil, io.EOF
			}))
			if got := modeltest.AsFailure(t, reply, err); got.Class != model.Unavailable || !cmp.Equal(dialed, []string{"model.example:80"}) {
				t.Errorf("got %v, dialed %q", got, dialed)
			}
		})
		return
	}
	proxy := serve(t)
	address := strings.TrimSuffix(proxy.BaseURL(), "/v1")
	again := exec.Command(os.Args[0], "-test.run=^TestProxyOfTheEnvironmentIsNotUsed$")
	again.Env = append(os.Environ(), "LOOM_TEST_ASK_FROM_HERE=1",
		"http_proxy="+address, "HTTP_PROXY="+address, "https_proxy="+address, "HTTPS_PROXY="+address,
		"all_proxy="+address, "ALL_PROXY="+address, "no_proxy=", "NO_PROXY=",
		"OPENAI_BASE_URL="+address, "OPENAI_API_KEY=sk-of-nobody", "ANTHROPIC_BASE_URL="+address, "ANTHROPIC_API_KEY=sk-of-nobody")
	if out, err := again.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if n := proxy.Connections(); n != 0 {
		t.Errorf("the proxy got %d connections: %+v", n, proxy.Requests())
	}
}

// What keeps an answer from coming at all. No text names the host, which is a value of the catalog.
func TestUnreachable(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := closed.Addr().String()
	closed.Close()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	forEach(t, func(t *testing.T, s speech) {
		plain := serve(t, s.picked())
		for _, tc := range []struct {
			name, baseURL string
			class         model.Class
			detail        string
		}{
			{"a closed port", "http://" + address, model.Unavailable, "no answer from the endpoint: connection refused"},
			{"an unknown certificate", secure.URL, model.Unsupported, "no answer from the endpoint: its certificate does not hold"},
			{"TLS to a plain server", strings.Replace(plain.BaseURL(), "http:", "https:", 1), model.Unsupported, "no answer from the endpoint: it does not speak TLS"},
		} {
			reply, err := ask(t, s.binding(tc.baseURL))
			if got := modeltest.AsFailure(t, reply, err); got.Class != tc.class || got.Detail != tc.detail {
				t.Errorf("%s: got %v", tc.name, got)
			}
		}
	})
}

// A trusted TLS server is spoken to, by HTTP/2 where it can.
func TestTLS(t *testing.T) {
	forEach(t, func(t *testing.T, s speech) {
		for _, http2 := range []bool{false, true} {
			var protocol string
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				protocol = r.Proto
				w.Header().Set("Content-Type", "text/event-stream")
				io.WriteString(w, s.picked())
			}))
			server.EnableHTTP2 = http2
			server.StartTLS()
			roots := x509.NewCertPool()
			roots.AddCert(server.Certificate())
			c := client(t, withSecret(s.binding(server.URL)), wire.Roots(roots))
			reply, err := c.Ask(context.Background(), modeltest.Question)
			if err != nil || len(reply.Calls) != 1 {
				t.Errorf("got %+v, %v", reply, err)
			}
			if want := map[bool]string{false: "HTTP/1.1", true: "HTTP/2.0"}[http2]; protocol != want {
				t.Errorf("got %s, want %s", protocol, want)
			}
			c.Close()
			server.Close()
		}
	})
}
