package modeltest

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/lazyregexp"
)

// maxBody bounds the body of a request that is kept; a longer one is refused with status 413.
const maxBody = 16 << 20

// Request is a request as the server received it.
type Request struct {
	Method string
	Path   string // with the query, if there was one
	Host   string
	Header http.Header
	Body   string
}

// Server replays one recording. It listens on 127.0.0.1 only.
type Server struct {
	listener net.Listener
	server   *http.Server
	serving  sync.WaitGroup // the listener and each connection
	closed   chan struct{}
	seen     func(Request)

	mu          sync.Mutex
	answers     []Answer
	requests    []Request
	connections int
}

// Start serves a recording until the test ends.
func Start(t testing.TB, r *Recording) *Server {
	t.Helper()
	s, err := Serve(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Serve serves a recording until Close, on a port that the system chooses. If seen is not nil it is
// called with each request before the request is answered, possibly by several goroutines at once.
func Serve(r *Recording, seen func(Request)) (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{listener: listener, closed: make(chan struct{}), seen: seen, answers: r.Answers}
	s.server = &http.Server{
		Handler: http.HandlerFunc(s.answer),
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				s.serving.Add(1)
				s.mu.Lock()
				s.connections++
				s.mu.Unlock()
			case http.StateClosed:
				s.serving.Done()
			}
		},
		ErrorLog: log.New(io.Discard, "", 0), // a client that leaves is no news
	}
	s.serving.Go(func() {
		_ = s.server.Serve(listener) // ends with Close
	})
	return s, nil
}

// BaseURL gives what a catalog's base_url is: http://127.0.0.1:PORT/v1.
func (s *Server) BaseURL() string { return "http://" + s.listener.Addr().String() + "/v1" }

// Requests gives the requests received so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Connections counts the connections that were opened so far, used or not.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.connections
}

// Close breaks all connections and returns when no request is being answered any more.
func (s *Server) Close() error {
	close(s.closed)
	err := s.server.Close()
	s.serving.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// next keeps a request and takes the answer to it.
func (s *Server) next(r Request) Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	if n := len(s.requests); n <= len(s.answers) {
		return s.answers[n-1]
	}
	message := fmt.Sprintf("the recording is used up: this is request %d and it has %d answers", len(s.requests), len(s.answers))
	return Answer{
		Status: http.StatusInternalServerError,
		Header: http.Header{"Content-Type": {"application/json"}},
		Body: canonjson.Compact(document.MapOf(document.M("error", document.MapOf(
			document.M("message", document.TextOf(message)),
			document.M("type", document.TextOf("recording_used_up")))))) + "\n",
	}
}

var (
	tokenPlace = lazyregexp.New(`\{\{token (\d{1,3})\}\}`)
	token      = lazyregexp.New(`cfh:v:[2-9a-hjkmnp-tv-z]{5,}`)
)

// withTokens puts the tokens of a request where an answer has places for them. A place whose token the request does not have stays.
func withTokens(answer, request string) string {
	if !tokenPlace().MatchString(answer) {
		return answer
	}
	var shown []string
	for _, found := range token().FindAllString(request, -1) {
		if !slices.Contains(shown, found) {
			shown = append(shown, found)
		}
	}
	return tokenPlace().ReplaceAllStringFunc(answer, func(place string) string {
		n, err := strconv.Atoi(tokenPlace().FindStringSubmatch(place)[1])
		if err != nil || n < 1 || n > len(shown) {
			return place
		}
		return shown[n-1]
	})
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "the request has no readable body", http.StatusRequestEntityTooLarge)
		return
	}
	got := Request{Method: r.Method, Path: r.URL.RequestURI(), Host: r.Host, Header: r.Header.Clone(), Body: string(body)}
	if s.seen != nil {
		s.seen(got)
	}
	a := s.next(got)
	a.Body = withTokens(a.Body, got.Body)
	if a.Fault == Drop {
		panic(http.ErrAbortHandler)
	}
	for key, values := range a.Header {
		w.Header()[http.CanonicalHeaderKey(key)] = values
	}
	w.WriteHeader(a.Status)
	if a.Fault == None {
		_, _ = io.WriteString(w, a.Body) // a client that leaves is no fault
		return
	}
	_, _ = io.WriteString(w, a.Body[:a.After])
	_ = http.NewResponseController(w).Flush()
	switch a.Fault {
	case Cut:
		panic(http.ErrAbortHandler)
	case Stall:
		select {
		case <-r.Context().Done():
		case <-s.closed:
		}
	}
}
