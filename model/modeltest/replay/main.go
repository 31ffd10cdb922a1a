// Replay serves a recorded model on the loopback interface, for demonstrations and for tests of the
// program as a whole:
//
//	go run ./model/modeltest/replay [--log FILE] [--catalog FILE] RECORDING
//
// It prints one line, the base URL, and serves until its standard input ends or it is told to stop
// by SIGINT or SIGTERM. With --log each request is added to a file, one JSON object a line; whether
// a request had an Authorization or X-Api-Key header is shown, its content is not. With --catalog it writes a
// catalog file for the server, with the aliases demo-agent and demo-classifier, before the line.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/printable"
	"github.com/loomrun/loom/model/modeltest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := replay(ctx, os.Args[1:], os.Stdin, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "replay: %s\n", printable.Line(err.Error()))
		os.Exit(1)
	}
}

func replay(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) (err error) {
	flags := flag.NewFlagSet("replay", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	logPath := flags.String("log", "", "")
	catalogPath := flags.String("catalog", "", "")
	if err := flags.Parse(args); err != nil || flags.NArg() != 1 {
		return errors.New("usage: replay [--log FILE] [--catalog FILE] RECORDING")
	}
	recording, err := modeltest.ReadRecording(flags.Arg(0))
	if err != nil {
		return err
	}
	var requests logFile
	if *logPath != "" {
		if requests.file, err = os.OpenFile(*logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, requests.failed, requests.file.Close()) }()
	}
	server, err := modeltest.Serve(recording, requests.add)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }() // before the log is closed
	if *catalogPath != "" {
		if err := os.WriteFile(*catalogPath, []byte(modeltest.CatalogTOML(server.BaseURL())), 0o600); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintln(stdout, server.BaseURL()); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, stdin) // an error ends it just as well
		close(ended)
	}()
	select {
	case <-ctx.Done():
	case <-ended:
	}
	return nil
}

// logFile writes requests down. The zero logFile writes nothing.
type logFile struct {
	mu     sync.Mutex
	file   *os.File
	failed error // the first one
}

func (l *logFile) add(r modeltest.Request) {
	if l.file == nil {
		return
	}
	var headers []document.Member
	for name, values := range r.Header {
		value := strings.Join(values, ", ")
		if name == "Authorization" || name == "X-Api-Key" {
			value = "[present]"
		}
		headers = append(headers, document.M(name, document.TextOf(value)))
	}
	slices.SortFunc(headers, func(a, b document.Member) int { return strings.Compare(a.Name, b.Name) })
	line := canonjson.AppendCompact(nil, document.MapOf(
		document.M("method", document.TextOf(r.Method)),
		document.M("path", document.TextOf(r.Path)),
		document.M("host", document.TextOf(r.Host)),
		document.M("headers", document.MapOf(headers...)),
		document.M("body", document.TextOf(r.Body)),
	))
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.file.Write(append(line, '\n')); l.failed == nil {
		l.failed = err
	}
}
