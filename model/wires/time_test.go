package wires

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/model/modeltest"
	"github.com/loomrun/loom/model/wire"
)

// inBubble asks a server on a network in memory, in a bubble whose time is its own.
func inBubble(t *testing.T, s speech, handler http.HandlerFunc, ask func(t *testing.T, c *wire.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server := httptest.NewTestServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice that a client leaves
			handler(w, r)
		}))
		defer server.Close()
		c, err := New(withSecret(s.binding("http://model.example/v1")), wire.Dial(server.Client().Transport.(*http.Transport).DialContext))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
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
	forEach(t, func(t *testing.T, s speech) {
		still := func(w http.ResponseWriter, r *http.Request) {
			startStream(w, s.first())
			<-r.Context().Done()
		}
		trickle := func(w http.ResponseWriter, r *http.Request) {
			startStream(w, s.first())
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
				inBubble(t, s, tc.handler, func(t *testing.T, c *wire.Client) {
					ctx, cancel := context.WithTimeout(context.Background(), wait)
					defer cancel()
					began := time.Now()
					reply, err := c.Ask(ctx, modeltest.Question)
					got := modeltest.AsFailure(t, reply, err)
					if got.Class != model.Deadline || got.Started != tc.started || !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != wait {
						t.Errorf("got %v after %s", got, time.Since(began))
					}
				})
			})
			t.Run(tc.name+" until it is cancelled", func(t *testing.T) {
				inBubble(t, s, tc.handler, func(t *testing.T, c *wire.Client) {
					reason := errors.New("the person left")
					ctx, cancel := context.WithCancelCause(context.Background())
					time.AfterFunc(wait, func() { cancel(reason) })
					began := time.Now()
					reply, err := c.Ask(ctx, modeltest.Question)
					got := modeltest.AsFailure(t, reply, err)
					if got.Class != model.Cancelled || got.Started != tc.started || !errors.Is(err, reason) || !errors.Is(err, context.Canceled) || time.Since(began) != wait {
						t.Errorf("got %v after %s", got, time.Since(began))
					}
				})
			})
		}
	})
}

// A stream is read as it comes: minutes between two events are no failure.
func TestSlowAnswerArrives(t *testing.T) {
	forEach(t, func(t *testing.T, s speech) {
		slow := func(w http.ResponseWriter, _ *http.Request) {
			for i, event := range strings.Split(strings.TrimSuffix(s.picked(), "\n\n"), "\n\n") {
				if i > 0 {
					time.Sleep(10 * time.Minute)
				}
				startStream(w, event+"\n\n")
			}
		}
		inBubble(t, s, slow, func(t *testing.T, c *wire.Client) {
			if reply, err := c.Ask(context.Background(), modeltest.Question); err != nil || len(reply.Calls) != 1 {
				t.Errorf("got %+v, %v", reply, err)
			}
		})
	})
}

// The terminal event ends an answer, whatever the connection does then.
func TestConnectionHeldOpenBehindTheEnd(t *testing.T) {
	forEach(t, func(t *testing.T, s speech) {
		held := func(w http.ResponseWriter, r *http.Request) {
			startStream(w, s.picked())
			<-r.Context().Done()
		}
		inBubble(t, s, held, func(t *testing.T, c *wire.Client) {
			began := time.Now()
			if reply, err := c.Ask(context.Background(), modeltest.Question); err != nil || len(reply.Calls) != 1 || time.Since(began) > time.Second {
				t.Errorf("got %+v, %v after %s", reply, err, time.Since(began))
			}
		})
	})
}

// Without a context of the caller's, the way to an answer is bounded all the same.
func TestTimesOfTheClient(t *testing.T) {
	forEach(t, func(t *testing.T, s speech) {
		silent := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
		inBubble(t, s, silent, func(t *testing.T, c *wire.Client) {
			began := time.Now()
			reply, err := c.Ask(context.Background(), modeltest.Question)
			if got := modeltest.AsFailure(t, reply, err); !got.Transient() || got.Detail != "no answer from the endpoint: it took too long" || time.Since(began) != 5*time.Minute {
				t.Errorf("got %v after %s", got, time.Since(began))
			}
		})
		endless := func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusServiceUnavailable)
			io.WriteString(w, "busy")
			http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}
		inBubble(t, s, endless, func(t *testing.T, c *wire.Client) {
			began := time.Now()
			reply, err := c.Ask(context.Background(), modeltest.Question)
			got := modeltest.AsFailure(t, reply, err)
			if got.Class != model.Unavailable || got.Detail != "the endpoint answered 503 Service Unavailable: busy" || got.RetryAfter != 7*time.Second || time.Since(began) != 5*time.Second {
				t.Errorf("got %v after %s", got, time.Since(began))
			}
		})
	})
}
