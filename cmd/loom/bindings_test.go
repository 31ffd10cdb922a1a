package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/loomrun/loom/internal/process"
	"github.com/loomrun/loom/sandbox"
)

// confines tells whether this machine can confine a program. Bubblewrap may not be missing where LOOM_TEST_REQUIRE
// names it: what needs it then runs, and says so.
var confines = sync.OnceValue(func() bool {
	folder, err := os.MkdirTemp("", "loom")
	if err != nil {
		return false
	}
	defer os.RemoveAll(folder)
	_, err = sandbox.Check(context.Background(), sandbox.Spec{Command: process.Command{Path: "/bin/sh"}, Work: folder, Limits: sandbox.DefaultLimits})
	refusal, refused := errors.AsType[*sandbox.Refusal](err)
	missing := refused && refusal.Code == sandbox.BackendMissing
	return !refused || missing && strings.Contains(os.Getenv("LOOM_TEST_REQUIRE"), "bubblewrap")
})

// posts holds what the receiver of each script was sent.
var posts sync.Map

// receives STATUS: a server on the loopback interface, at $PORT, answers every request with this status.
func receives(ts *testscript.TestScript, _ bool, args []string) {
	status, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := make(chan string, 16)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		document, err := io.ReadAll(r.Body)
		if err != nil {
			document = []byte(err.Error())
		}
		got <- r.Method + " " + r.URL.Path + " " + r.Header.Get("Content-Type") + "\n" + string(document) + "\n"
		w.WriteHeader(status)
	}))
	ts.Defer(func() {
		posts.Delete(ts)
		server.Close()
	})
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	ts.Check(err)
	ts.Setenv("PORT", port)
	posts.Store(ts, got)
}

// received N [FILE]: the receiver was sent N requests; the last is left in FILE.
func received(ts *testscript.TestScript, _ bool, args []string) {
	got, ok := posts.Load(ts)
	if !ok {
		ts.Fatalf("nothing receives")
	}
	count, last := 0, ""
	for len(got.(chan string)) > 0 {
		last = <-got.(chan string)
		count++
	}
	if strconv.Itoa(count) != args[0] {
		ts.Fatalf("%d requests were received, want %s", count, args[0])
	}
	if len(args) > 1 {
		ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(last), 0o600))
	}
}
