package chat

import (
	"context"
	"crypto/tls"
	"encoding/base64"
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
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/model/modeltest"
)

const testSecret = "sk-4f9a0c77d1e25b38"

func withSecret(b model.Binding) model.Binding {
	b.AuthKind, b.Secret = model.Bearer, model.NewSecret(testSecret)
	return b
}

func TestNewRefuses(t *testing.T) {
	for _, tc := range []struct {
		name string
		edit func(*model.Binding)
		want string
	}{
		{"nothing", func(*model.Binding) {}, ""},
		{"another protocol", func(b *model.Binding) { b.Protocol = model.Messages }, "the binding is not of the protocol chat-completions"},
		{"no model", func(b *model.Binding) { b.UpstreamName = "" }, "the binding names no model"},
		{"a key without a secret", func(b *model.Binding) { b.AuthKind = model.APIKey }, "an account has a secret exactly when it is not anonymous"},
		{"a secret of nobody", func(b *model.Binding) { b.Secret = model.NewSecret("x") }, "an account has a secret exactly when it is not anonymous"},
		{"a bad base URL", func(b *model.Binding) { b.BaseURL = "unix:/x" }, "the base URL does not start with http:// or https://"},
	} {
		b := binding("http://127.0.0.1/v1")
		tc.edit(&b)
		_, err := New(b)
		if got := fmt.Sprint(err); got != tc.want && (err != nil || tc.want != "") {
			t.Errorf("%s: got %v, want %q", tc.name, err, tc.want)
		}
	}
}

// governed-runs 7.3 and 11.13, case 167: what an anonymous account sends.
func TestAnonymousRequest(t *testing.T) {
	server := modeltest.Start(t, modeltest.Recorded(t, "clock"))
	c := client(t, binding(server.BaseURL()))
	if _, err := c.Ask(context.Background(), request); err != nil {
		t.Fatal(err)
	}
	body, err := encode(binding(server.BaseURL()), request)
	if err != nil {
		t.Fatal(err)
	}
	want := []modeltest.Request{{
		Method: "POST",
		Path:   "/v1/chat/completions",
		Host:   strings.TrimSuffix(strings.TrimPrefix(server.BaseURL(), "http://"), "/v1"),
		Header: http.Header{
			"Accept":         {"text/event-stream"},
			"Content-Length": {fmt.Sprint(len(body))},
			"Content-Type":   {"application/json"},
			"User-Agent":     {"loom"},
		},
		Body: string(body),
	}}
	if diff := cmp.Diff(want, server.Requests()); diff != "" {
		t.Error(diff)
	}
}

func TestSecretIsSentAsBearer(t *testing.T) {
	for _, kind := range []model.AuthKind{model.Bearer, model.APIKey} {
		server := modeltest.Start(t, modeltest.Recorded(t, "clock"))
		b := withSecret(binding(server.BaseURL()))
		b.AuthKind = kind
		if _, err := client(t, b).Ask(context.Background(), request); err != nil {
			t.Fatal(err)
		}
		if got := server.Requests()[0].Header["Authorization"]; !cmp.Equal(got, []string{"Bearer " + testSecret}) {
			t.Errorf("%s: got %q", kind, got)
		}
	}
}

// governed-runs 11.1, case 30: the name a server claims is nobody's name.
func TestUpstreamNameIsTheBindings(t *testing.T) {
	recording := modeltest.Recorded(t, "clock")
	if !strings.Contains(recording.Answers[0].Body, `"model":"some-other-name"`) {
		t.Fatal("the recording claims no other name")
	}
	server := modeltest.Start(t, recording)
	c := client(t, binding(server.BaseURL()))
	reply, err := c.Ask(context.Background(), request)
	if err != nil {
		t.Fatal(err)
	}
	if c.UpstreamName() != modeltest.ModelName || strings.Contains(fmt.Sprintf("%+v", reply), "some-other-name") {
		t.Errorf("got %q, %+v", c.UpstreamName(), reply)
	}
}

// A request that no wire can send, or that nobody waits for, opens no connection.
func TestNothingIsSentInVain(t *testing.T) {
	server := modeltest.Start(t, modeltest.Recorded(t, "clock"))
	c := client(t, binding(server.BaseURL()))
	reply, err := c.Ask(context.Background(), model.Request{})
	if got := asFailure(t, reply, err).Class; got != model.InvalidRequest {
		t.Errorf("got %s", got)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	reply, err = c.Ask(gone, request)
	if got := asFailure(t, reply, err); got.Class != model.Cancelled || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", got)
	}
	late, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancel()
	reply, err = c.Ask(late, request)
	if got := asFailure(t, reply, err); got.Class != model.Deadline || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", got)
	}
	if n := server.Connections(); n != 0 {
		t.Errorf("%d connections were opened", n)
	}
}

// governed-runs 11.13, case 166: a redirect is an answer, and its target gets neither the request nor
// the secret.
func TestRedirectIsNotFollowed(t *testing.T) {
	elsewhere := modeltest.Start(t, modeltest.Recorded(t, "clock"))
	for _, status := range []int{301, 302, 303, 307, 308} {
		recording, err := modeltest.ParseRecording([]byte(fmt.Sprintf("-- away --\nHTTP %d\nLocation: %s/chat/completions\nSet-Cookie: a=b\n", status, elsewhere.BaseURL())))
		if err != nil {
			t.Fatal(err)
		}
		server := modeltest.Start(t, recording)
		reply, err := client(t, withSecret(binding(server.BaseURL()))).Ask(context.Background(), request)
		if got := asFailure(t, reply, err); got.Class != model.Unsupported || got.Transient() {
			t.Errorf("%d: got %v", status, got)
		}
		if n := len(server.Requests()); n != 1 {
			t.Errorf("%d: the first server got %d requests", status, n)
		}
	}
	if n := elsewhere.Connections(); n != 0 {
		t.Errorf("the other server got %d connections", n)
	}
}

func TestCookiesAreNotKept(t *testing.T) {
	recording := modeltest.Recorded(t, "clock")
	recording.Answers = append(recording.Answers, recording.Answers[0])
	recording.Answers[0].Header = http.Header{"Content-Type": {"text/event-stream"}, "Set-Cookie": {"a=b"}}
	server := modeltest.Start(t, recording)
	c := client(t, binding(server.BaseURL()))
	for range 2 {
		if _, err := c.Ask(context.Background(), request); err != nil {
			t.Fatal(err)
		}
	}
	if got := server.Requests()[1].Header["Cookie"]; got != nil {
		t.Errorf("got %q", got)
	}
}

// Trap 12 and case 166: a proxy in the environment is not used. The environment is read once in a
// process, so another process asks, and asks a host that the proxy rules do not except.
func TestProxyOfTheEnvironmentIsNotUsed(t *testing.T) {
	if os.Getenv("LOOM_TEST_ASK_FROM_HERE") != "" {
		c := client(t, binding("http://model.example/v1"))
		var dialed []string
		c.transport.DialContext = func(_ context.Context, _, address string) (net.Conn, error) {
			dialed = append(dialed, address)
			return nil, io.EOF
		}
		reply, err := c.Ask(context.Background(), request)
		if got := asFailure(t, reply, err); got.Class != model.Unavailable || !cmp.Equal(dialed, []string{"model.example:80"}) {
			t.Errorf("got %v, dialed %q", got, dialed)
		}
		return
	}
	proxy := modeltest.Start(t, modeltest.Recorded(t, "clock"))
	address := strings.TrimSuffix(proxy.BaseURL(), "/v1")
	again := exec.Command(os.Args[0], "-test.run=^TestProxyOfTheEnvironmentIsNotUsed$")
	again.Env = append(os.Environ(), "LOOM_TEST_ASK_FROM_HERE=1",
		"http_proxy="+address, "HTTP_PROXY="+address, "https_proxy="+address, "HTTPS_PROXY="+address,
		"all_proxy="+address, "ALL_PROXY="+address, "no_proxy=", "NO_PROXY=")
	if out, err := again.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if n := proxy.Connections(); n != 0 {
		t.Errorf("the proxy got %d connections: %+v", n, proxy.Requests())
	}
}

// Whatever an endpoint does with the secret it was sent, no failure and no reply shows it.
func TestSecretDoesNotComeBack(t *testing.T) {
	header := "Bearer " + testSecret
	text := func(format string, args ...any) string { return fmt.Sprintf(format, args...) }
	stream := "HTTP 200\nContent-Type: text/event-stream\n\n"
	page := "HTTP 401\nContent-Type: text/html\n\n"
	for name, answer := range map[string]string{
		"an error message":         text("HTTP 401\nContent-Type: application/json\n\n{\"error\":{\"message\":\"You sent Authorization: %s.\"}}", header),
		"an error code":            text("HTTP 400\nContent-Type: application/json\n\n{\"error\":{\"message\":\"no\",\"code\":%q}}", testSecret),
		"an escaped error message": text("HTTP 403\nContent-Type: application/json\n\n{\"error\":{\"message\":\"\\u0073%s\"}}", testSecret[1:]),
		"a page":                   page + text("<p>%s</p>", header),
		"a cut page":               page + strings.Repeat("x", model.MaxDetail-12) + testSecret,
		"a long page":              page + strings.Repeat(testSecret, 10_000),
		"a page of one secret":     page + testSecret,
		"a page of parts":          page + testSecret[:9] + "&#45;" + testSecret[8:],
		"a redirect":               text("HTTP 302\nLocation: http://127.0.0.1:1/?k=%s\n\n%s", testSecret, header),
		"no stream":                text("HTTP 200\nContent-Type: text/plain\n\n%s", header),
		"an error event":           stream + text("data: {\"error\":{\"message\":%q}}\n\n", header),
		"a refusal":                stream + text("data: {\"choices\":[{\"delta\":{\"refusal\":%q},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", header),
		"an event that is no JSON": stream + text("data: %s\n\n", header),
		"a member twice":           stream + text("data: {%q:1,%q:2}\n\n", testSecret, testSecret),
		"text":                     stream + text("data: {\"choices\":[{\"delta\":{\"content\":%q},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", header),
		"arguments":                stream + chunk(piece(0, "c", "f", text(`{"k":%q}`, testSecret)), `"tool_calls"`) + done,
		"an id":                    stream + chunk(piece(0, testSecret, "f", "{}"), `"tool_calls"`) + done,
		"a name":                   stream + chunk(piece(0, "c", testSecret, "{}"), `"tool_calls"`) + done,
		"arguments that are wrong": stream + chunk(piece(0, "c", "f", testSecret), `"tool_calls"`) + done,
	} {
		t.Run(name, func(t *testing.T) {
			recording, err := modeltest.ParseRecording([]byte("-- x --\n" + answer + "\n\n"))
			if err != nil {
				t.Fatal(err)
			}
			server := modeltest.Start(t, recording)
			c := client(t, withSecret(binding(server.BaseURL())))
			reply, err := c.Ask(context.Background(), request)
			failure := asFailure(t, reply, err)
			shown := fmt.Sprintf("%v %+v %#v %q %v %+v", err, *failure, failure, failure.Detail, errors.Unwrap(err), c)
			if strings.Contains(shown, testSecret[:8]) || strings.Contains(shown, testSecret[8:16]) {
				t.Error(shown)
			}
			if len(failure.Detail) > model.MaxDetail {
				t.Errorf("the detail has %d bytes", len(failure.Detail))
			}
			if server.Requests()[0].Header.Get("Authorization") != header {
				t.Error("the secret was not sent")
			}
		})
	}
}

// A word for a key does not make every answer that has the word a failure.
func TestWordForASecretMayBeWritten(t *testing.T) {
	server := modeltest.Start(t, modeltest.Recorded(t, "clock"))
	b := withSecret(binding(server.BaseURL()))
	b.Secret = model.NewSecret("protocol")
	if _, err := client(t, b).Ask(context.Background(), request); err != nil {
		t.Error(err)
	}
}

// A server that does not speak HTTP is quoted by net/http itself.
func TestSecretDoesNotComeBackInAStatusLine(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		buffer := make([]byte, 1<<16)
		_, _ = conn.Read(buffer)
		fmt.Fprintf(conn, "HTTP/1.1 %s\r\n\r\n", testSecret)
	}()
	c := client(t, withSecret(binding("http://"+listener.Addr().String())))
	reply, err := c.Ask(context.Background(), request)
	failure := asFailure(t, reply, err)
	if failure.Class != model.Unavailable || !strings.Contains(failure.Detail, "[secret]") || strings.Contains(fmt.Sprint(err, failure.Cause), testSecret) {
		t.Errorf("got %v, cause %v", failure, failure.Cause)
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
	plain := modeltest.Start(t, modeltest.Recorded(t, "clock"))
	for _, tc := range []struct {
		name, baseURL string
		class         model.Class
		detail        string
	}{
		{"a closed port", "http://" + address, model.Unavailable, "no answer from the endpoint: connection refused"},
		{"an unknown certificate", secure.URL, model.Unsupported, "no answer from the endpoint: its certificate does not hold"},
		{"TLS to a plain server", strings.Replace(plain.BaseURL(), "http:", "https:", 1), model.Unsupported, "no answer from the endpoint: it does not speak TLS"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			reply, err := client(t, binding(tc.baseURL)).Ask(context.Background(), request)
			got := asFailure(t, reply, err)
			if got.Class != tc.class || got.Detail != tc.detail {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestUnreachableWords(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want string
	}{
		{&net.OpError{Op: "dial", Err: &net.DNSError{Name: "secret-host", IsNotFound: true}}, "its host name is not known"},
		{&net.OpError{Op: "dial", Err: &net.DNSError{Name: "secret-host", IsTimeout: true}}, "its host name could not be looked up"},
		{&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, "it took too long"},
		{io.EOF, "it closed the connection"},
		{io.ErrUnexpectedEOF, "unexpected EOF"},
	} {
		if got := unreachable(tc.err); got.Detail != "no answer from the endpoint: "+tc.want || got.Class != model.Unavailable || !errors.Is(got, tc.err) {
			t.Errorf("%v: got %v", tc.err, got)
		}
	}
}

// A trusted TLS server is spoken to, by HTTP/2 where it can.
func TestTLS(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		var protocol string
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			protocol = r.Proto
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, modeltest.Recorded(t, "clock").Answers[0].Body)
		}))
		server.EnableHTTP2 = http2
		server.StartTLS()
		c := client(t, withSecret(binding(server.URL)))
		c.transport.TLSClientConfig.RootCAs = server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
		reply, err := c.Ask(context.Background(), request)
		if err != nil || len(reply.Calls) != 1 {
			t.Errorf("got %+v, %v", reply, err)
		}
		if want := map[bool]string{false: "HTTP/1.1", true: "HTTP/2.0"}[http2]; protocol != want {
			t.Errorf("got %s, want %s", protocol, want)
		}
		c.Close()
		server.Close()
	}
}

func TestVerificationIsOn(t *testing.T) {
	config := client(t, binding("https://127.0.0.1")).transport.TLSClientConfig
	if config.InsecureSkipVerify || config.MinVersion < tls.VersionTLS12 {
		t.Errorf("got %+v", config)
	}
}

// The two ways a connection ends early, over the wire. Each byte has its turn in
// TestCutStreamGivesNothing.
func TestCutConnectionGivesNothing(t *testing.T) {
	answer := modeltest.Recorded(t, "clock").Answers[0]
	terminal := strings.Index(answer.Body, "data: [DONE]\n\n") + len("data: [DONE]\n\n")
	const step = 13
	for _, fault := range []modeltest.Fault{modeltest.Cut, modeltest.End} {
		recording := &modeltest.Recording{}
		for cut := terminal % step; cut <= terminal; cut += step {
			faulty := answer
			faulty.Fault, faulty.After = fault, cut
			recording.Answers = append(recording.Answers, faulty)
		}
		server := modeltest.Start(t, recording)
		c := client(t, binding(server.BaseURL()))
		for _, a := range recording.Answers {
			reply, err := c.Ask(context.Background(), request)
			if a.After == terminal {
				if err != nil {
					t.Errorf("%s at %d: %v", fault, a.After, err)
				}
				continue
			}
			if f := asFailure(t, reply, err); f.Class != model.Incomplete && f.Class != model.Unavailable || f.Started && f.Transient() {
				t.Errorf("%s at %d: %v", fault, a.After, f)
			}
		}
		if n := len(server.Requests()); n != len(recording.Answers) {
			t.Errorf("%d requests for %d questions", n, len(recording.Answers))
		}
	}
}

func TestManyAtOnce(t *testing.T) {
	const n = 20
	recording := modeltest.Recorded(t, "clock")
	for range n - 1 {
		recording.Answers = append(recording.Answers, recording.Answers[0])
	}
	server := modeltest.Start(t, recording)
	c := client(t, binding(server.BaseURL()))
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			if _, err := c.Ask(context.Background(), request); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// inBubble asks a server on a network in memory, in a bubble whose time is its own.
func inBubble(t *testing.T, handler http.HandlerFunc, ask func(t *testing.T, c *Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server := httptest.NewTestServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice that a client leaves
			handler(w, r)
		}))
		defer server.Close()
		c, err := New(withSecret(binding("http://model.example/v1")))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.transport.DialContext = server.Client().Transport.(*http.Transport).DialContext
		ask(t, c)
	})
}

func startStream(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, body)
	http.NewResponseController(w).Flush()
}

// A stream that stands still, or trickles without an end, is bounded by the caller's context.
func TestContextBoundsAStream(t *testing.T) {
	still := func(w http.ResponseWriter, r *http.Request) {
		startStream(w, chunk(piece(0, "c", "f", "{}"), `"tool_calls"`))
		<-r.Context().Done()
	}
	trickle := func(w http.ResponseWriter, r *http.Request) {
		startStream(w, chunk(piece(0, "c", "f", "{}"), `"tool_calls"`))
		for r.Context().Err() == nil {
			io.WriteString(w, ": keep-alive\n\n")
			http.NewResponseController(w).Flush()
			time.Sleep(time.Second) // of the bubble's time
		}
	}
	silent := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	errorBody := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	for _, tc := range []struct {
		name    string
		handler http.HandlerFunc
		started bool
	}{
		{"still", still, true},
		{"trickle", trickle, true},
		{"silent", silent, false},
		{"error body", errorBody, false},
	} {
		const wait = 4 * time.Second // less than any limit of the client's own
		t.Run(tc.name+" until a deadline", func(t *testing.T) {
			inBubble(t, tc.handler, func(t *testing.T, c *Client) {
				ctx, cancel := context.WithTimeout(context.Background(), wait)
				defer cancel()
				began := time.Now()
				reply, err := c.Ask(ctx, request)
				got := asFailure(t, reply, err)
				if got.Class != model.Deadline || got.Started != tc.started || !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != wait {
					t.Errorf("got %v after %s", got, time.Since(began))
				}
			})
		})
		t.Run(tc.name+" until it is cancelled", func(t *testing.T) {
			inBubble(t, tc.handler, func(t *testing.T, c *Client) {
				reason := errors.New("the person left")
				ctx, cancel := context.WithCancelCause(context.Background())
				time.AfterFunc(wait, func() { cancel(reason) })
				began := time.Now()
				reply, err := c.Ask(ctx, request)
				got := asFailure(t, reply, err)
				if got.Class != model.Cancelled || got.Started != tc.started || !errors.Is(err, reason) || !errors.Is(err, context.Canceled) || time.Since(began) != wait {
					t.Errorf("got %v after %s", got, time.Since(began))
				}
			})
		})
	}
}

// A stream is read as it comes: minutes between two events are no failure.
func TestSlowAnswerArrives(t *testing.T) {
	slow := func(w http.ResponseWriter, _ *http.Request) {
		for i, event := range []string{chunk(piece(0, "c", "f", "{}"), ""), chunk("{}", `"tool_calls"`), done} {
			if i > 0 {
				time.Sleep(2 * headerTime)
			}
			startStream(w, event)
		}
	}
	inBubble(t, slow, func(t *testing.T, c *Client) {
		if reply, err := c.Ask(context.Background(), request); err != nil || len(reply.Calls) != 1 {
			t.Errorf("got %+v, %v", reply, err)
		}
	})
}

// The terminal event ends an answer, whatever the connection does then.
func TestConnectionHeldOpenBehindTheEnd(t *testing.T) {
	held := func(w http.ResponseWriter, r *http.Request) {
		startStream(w, chunk(piece(0, "c", "f", "{}"), `"tool_calls"`)+done)
		<-r.Context().Done()
	}
	inBubble(t, held, func(t *testing.T, c *Client) {
		began := time.Now()
		if reply, err := c.Ask(context.Background(), request); err != nil || len(reply.Calls) != 1 || time.Since(began) > time.Second {
			t.Errorf("got %+v, %v after %s", reply, err, time.Since(began))
		}
	})
}

// Without a context of the caller's, the way to an answer is bounded all the same.
func TestTimesOfTheClient(t *testing.T) {
	t.Run("no header", func(t *testing.T) {
		silent := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
		inBubble(t, silent, func(t *testing.T, c *Client) {
			began := time.Now()
			reply, err := c.Ask(context.Background(), request)
			if got := asFailure(t, reply, err); !got.Transient() || got.Detail != "no answer from the endpoint: it took too long" || time.Since(began) != headerTime {
				t.Errorf("got %v after %s", got, time.Since(began))
			}
		})
	})
	t.Run("error words that do not end", func(t *testing.T) {
		endless := func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusServiceUnavailable)
			io.WriteString(w, "busy")
			http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}
		inBubble(t, endless, func(t *testing.T, c *Client) {
			began := time.Now()
			reply, err := c.Ask(context.Background(), request)
			got := asFailure(t, reply, err)
			if got.Class != model.Unavailable || got.Detail != "the endpoint answered 503 Service Unavailable: busy" || got.RetryAfter != 7*time.Second || time.Since(began) != errorBodyTime {
				t.Errorf("got %v after %s", got, time.Since(began))
			}
		})
	})
}

func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a bubble's time starts with the year 2000
		for value, want := range map[string]time.Duration{
			"":                              0,
			"0":                             0,
			"30":                            30 * time.Second,
			"-1":                            0,
			"1.5":                           0,
			"soon":                          0,
			"99999999999999999999":          0,
			"Sat, 01 Jan 2000 00:01:00 GMT": time.Minute,
			"Fri, 31 Dec 1999 23:59:59 GMT": 0,
		} {
			if got := retryAfter(value); got != want {
				t.Errorf("%q: got %s, want %s", value, got, want)
			}
		}
	})
}

// User information in a base URL would be sent as an Authorization header; it is refused before.
func TestNoOtherWayToAuthorization(t *testing.T) {
	credentials := base64.StdEncoding.EncodeToString([]byte("me:pw"))
	if _, err := New(binding("http://me:pw@127.0.0.1/v1")); err == nil || strings.Contains(err.Error(), credentials) {
		t.Errorf("got %v", err)
	}
}
