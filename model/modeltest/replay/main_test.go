package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loomrun/loom/model"
)

// start runs replay until the returned function is called, which gives its error.
func start(t *testing.T, ctx context.Context, stdin io.Reader, args ...string) (baseURL string, wait func() error) {
	t.Helper()
	out, stdout := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := replay(ctx, args, stdin, stdout)
		stdout.CloseWithError(io.EOF)
		ended <- err
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("no line: %v, %v", err, <-ended)
	}
	return strings.TrimSuffix(line, "\n"), func() error { return <-ended }
}

func TestReplay(t *testing.T) {
	dir := t.TempDir()
	logPath, catalogPath := filepath.Join(dir, "log"), filepath.Join(dir, "routes.toml")
	stdin, person := io.Pipe()
	base, wait := start(t, context.Background(), stdin, "--log", logPath, "--catalog", catalogPath, "../recordings/clock.txtar")
	if !strings.HasPrefix(base, "http://127.0.0.1:") || !strings.HasSuffix(base, "/v1") {
		t.Errorf("got %q", base)
	}
	routes, err := model.ReadRoutes(catalogPath)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := routes.Resolve("demo-agent"); err != nil || b.BaseURL != base {
		t.Errorf("got %+v, %v", b, err)
	}
	request, err := http.NewRequest("POST", base+"/chat/completions", strings.NewReader("{\n}"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{"Authorization": {"Bearer sk-1"}, "Accept": {"a", "b"}, "User-Agent": {"test"}, "X-Api-Key": {"sk-2"}}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil || !strings.HasSuffix(string(body), "data: [DONE]\n\n") {
		t.Errorf("got %q, %v", body, err)
	}
	response.Body.Close()
	person.Close()
	if err := wait(); err != nil {
		t.Error(err)
	}
	got, err := os.ReadFile(logPath)
	if err != nil {
		t.Fatal(err)
	}
	host := strings.TrimSuffix(strings.TrimPrefix(base, "http://"), "/v1")
	want := `{"method":"POST","path":"/v1/chat/completions","host":"` + host + `","headers":{"Accept":"a, b","Accept-Encoding":"gzip","Authorization":"[present]","Content-Length":"3","User-Agent":"test","X-Api-Key":"[present]"},"body":"{\n}"}` + "\n"
	if string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestReplayStopsWhenTold(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	stdin, person := io.Pipe()
	defer person.Close()
	_, wait := start(t, ctx, stdin, "../recordings/clock.txtar")
	cancel()
	if err := wait(); err != nil {
		t.Error(err)
	}
}

func TestReplayRefuses(t *testing.T) {
	usage := "usage: replay [--log FILE] [--catalog FILE] RECORDING"
	nowhere := filepath.Join(t.TempDir(), "none", "file")
	for _, tc := range []struct {
		args []string
		want string
	}{
		{nil, usage},
		{[]string{"a", "b"}, usage},
		{[]string{"--port", "1", "a"}, usage},
		{[]string{nowhere}, nowhere},
		{[]string{"--log", nowhere, "../recordings/clock.txtar"}, nowhere},
		{[]string{"--catalog", nowhere, "../recordings/clock.txtar"}, nowhere},
	} {
		err := replay(context.Background(), tc.args, strings.NewReader(""), io.Discard)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q: got %v, want %s", tc.args, err, tc.want)
		}
	}
}
