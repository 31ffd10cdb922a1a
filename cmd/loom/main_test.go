package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/model/modeltest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"loom": main, "b10x-loom": main})
}

// Every promise of the command line is a script in testdata, run against the real main.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":       exits,
			"serve":       serve,
			"picks":       picks,
			"calls":       calls,
			"receives":    receives,
			"received":    received,
			"stalls":      stalls,
			"declines":    declines,
			"asked":       asked,
			"connections": connections,
			"arrives":     arrives,
			"mkfifo":      mkfifo,
			"mksocket":    mksocket,
			"fill":        fill,
			"nest":        nest,
			"replace":     replace,
			"append":      appendFile,
			"ran":         ran,
			"tamper":      tamper,
			"reseal":      reseal,
			"cut":         cut,
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "root":
				return os.Geteuid() == 0, nil
			case "confines":
				return confines(), nil
			}
			return false, fmt.Errorf("unknown condition %s", name)
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("TZ", "Europe/Berlin")
			// A program of the race detector else sleeps a second before each good end.
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			examples, err := filepath.Abs("../../examples")
			env.Setenv("EXAMPLES", examples)
			return err
		},
	})
}

// servers holds the server of each script.
var servers sync.Map

func serverOf(ts *testscript.TestScript) running {
	server, ok := servers.Load(ts)
	if !ok {
		ts.Fatalf("no server was started")
	}
	return server.(running)
}

// exits STATUS COMMAND...: the command ends with exactly this exit status.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	status := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		status = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(status) != args[0] {
		ts.Fatalf("exit status %d, want %s", status, args[0])
	}
}

// serve RECORDING: a loopback server replays a recording of package modeltest, or with WIRE/RECORDING
// one of a wire's tests. Its catalog is models.toml.
func serve(ts *testscript.TestScript, _ bool, args []string) {
	path := recordings + args[0] + ".txtar"
	if wire, name, of := strings.Cut(args[0], "/"); of {
		path = recordings + "../../" + wire + "/testdata/" + name + ".txtar"
	}
	data, err := os.ReadFile(path)
	ts.Check(err)
	recording, err := modeltest.ParseRecording(data)
	ts.Check(err)
	start(ts, recording)
}

var recordings = func() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	return dir + "/../../model/modeltest/recordings/"
}()

// picks ARGUMENTS...: a server whose every answer is one call of pick_protocol, with the next of
// these arguments.
func picks(ts *testscript.TestScript, _ bool, args []string) {
	var all []string
	for _, arguments := range args {
		all = append(all, "pick_protocol", arguments)
	}
	calls(ts, false, all)
}

// calls TOOL ARGUMENTS ...: a server whose every answer is one call, the next of these.
func calls(ts *testscript.TestScript, _ bool, args []string) {
	recording := &modeltest.Recording{}
	for call := range slices.Chunk(args, 2) {
		chunk := canonjson.Compact(document.MapOf(document.M("choices", document.ListOf(document.MapOf(
			document.M("index", document.IntOf(0)),
			document.M("finish_reason", document.TextOf("tool_calls")),
			document.M("delta", document.MapOf(document.M("tool_calls", document.ListOf(document.MapOf(
				document.M("index", document.IntOf(0)),
				document.M("id", document.TextOf("call-1")),
				document.M("type", document.TextOf("function")),
				document.M("function", document.MapOf(
					document.M("name", document.TextOf(call[0])),
					document.M("arguments", document.TextOf(call[1]))))))))))))))
		recording.Answers = append(recording.Answers, modeltest.Answer{
			Status: http.StatusOK,
			Header: http.Header{"Content-Type": {"text/event-stream"}},
			Body:   "data: " + chunk + "\n\ndata: [DONE]\n\n",
		})
	}
	start(ts, recording)
}

// stalls: a server whose answer does not come.
func stalls(ts *testscript.TestScript, _ bool, _ []string) {
	start(ts, &modeltest.Recording{Answers: []modeltest.Answer{{
		Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Fault: modeltest.Stall,
	}}})
}

// declines STATUS...: a server that answers with these statuses, one after the other, and each time says
// "not now" and asks for a wait that is longer than any test.
func declines(ts *testscript.TestScript, _ bool, args []string) {
	recording := &modeltest.Recording{}
	for _, arg := range args {
		status, err := strconv.Atoi(arg)
		ts.Check(err)
		recording.Answers = append(recording.Answers, modeltest.Answer{
			Status: status, Header: http.Header{"Content-Type": {"application/json"}, "Retry-After": {"60"}}, Body: `{"error":{"message":"not now"}}`,
		})
	}
	start(ts, recording)
}

func start(ts *testscript.TestScript, recording *modeltest.Recording) {
	arrived := make(chan struct{}, 16)
	server, err := modeltest.Serve(recording, func(modeltest.Request) { arrived <- struct{}{} })
	ts.Check(err)
	ts.Defer(func() {
		servers.Delete(ts)
		_ = server.Close()
	})
	ts.Setenv("BASE_URL", server.BaseURL())
	ts.Check(os.WriteFile(ts.MkAbs("models.toml"), []byte(modeltest.CatalogTOML(server.BaseURL())), 0o600))
	servers.Store(ts, running{server, arrived})
}

// running is a server and a word from it for each request.
type running struct {
	*modeltest.Server
	arrived <-chan struct{}
}

// arrives: wait until the server has got a request more.
func arrives(ts *testscript.TestScript, _ bool, _ []string) { <-serverOf(ts).arrived }

// asked N [FILE]: the server got N requests; the body of the last is left in FILE.
func asked(ts *testscript.TestScript, _ bool, args []string) {
	requests := serverOf(ts).Requests()
	if got := strconv.Itoa(len(requests)); got != args[0] {
		ts.Fatalf("the model was asked %s times, want %s", got, args[0])
	}
	if len(args) > 1 {
		ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(requests[len(requests)-1].Body), 0o600))
	}
}

// connections N: the server saw N connections.
func connections(ts *testscript.TestScript, _ bool, args []string) {
	if got := strconv.Itoa(serverOf(ts).Connections()); got != args[0] {
		ts.Fatalf("%s connections, want %s", got, args[0])
	}
}

func mkfifo(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(syscall.Mkfifo(ts.MkAbs(args[0]), 0o600))
}

// mksocket PATH: a socket in the file system. Its name is bound relative to the folder, since a
// socket's address may hold about a hundred bytes only.
func mksocket(ts *testscript.TestScript, _ bool, args []string) {
	dir, err := os.MkdirTemp("", "loom")
	ts.Check(err)
	ts.Defer(func() { _ = os.RemoveAll(dir) })
	listener, err := net.Listen("unix", dir+"/s")
	ts.Check(err)
	ts.Defer(func() { _ = listener.Close() })
	ts.Check(os.Symlink(dir+"/s", ts.MkAbs(args[0])))
}

// fill FILE SIZE: make the file SIZE bytes long by adding spaces at its end.
func fill(ts *testscript.TestScript, _ bool, args []string) {
	size, err := strconv.Atoi(args[1])
	ts.Check(err)
	data, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(data) > size {
		ts.Fatalf("%s has %d bytes already", args[0], len(data))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), append(data, strings.Repeat(" ", size-len(data))...), 0o600))
}

// nest FILE LEVELS BEFORE OPEN MIDDLE CLOSE AFTER: write nested text; @ in BEFORE is a line feed.
func nest(ts *testscript.TestScript, _ bool, args []string) {
	levels, err := strconv.Atoi(args[1])
	ts.Check(err)
	text := fmt.Sprint(strings.ReplaceAll(args[2], "@", "\n"), strings.Repeat(args[3], levels), args[4], strings.Repeat(args[5], levels), args[6])
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// replace FILE OLD NEW: replace the first OLD of a file, which must be there; \n in NEW is a line feed.
func replace(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s does not hold %q", args[0], args[1])
	}
	text = strings.Replace(text, args[1], strings.ReplaceAll(args[2], `\n`, "\n"), 1)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// append FILE OTHER: put the text of another file behind a file.
func appendFile(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0]) + ts.ReadFile(args[1])
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}
