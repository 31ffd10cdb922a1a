package wires

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/model/modeltest"
)

// Whatever an endpoint does with the secret it was sent, no failure and no reply shows it.
func TestSecretDoesNotComeBack(t *testing.T) {
	header := "Bearer " + testSecret
	text := func(format string, args ...any) string { return fmt.Sprintf(format, args...) }
	const stream = "HTTP 200\nContent-Type: text/event-stream\n\n"
	const page = "HTTP 401\nContent-Type: text/html\n\n"
	forEach(t, func(t *testing.T, s speech) {
		saying := func(p part) string { return stream + s.stream([]part{p}, noUsage) }
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
			"an error event":           stream + s.failed(header, "no"),
			"a late error event":       stream + s.first() + s.failed(header, testSecret),
			"an event that is no JSON": stream + text("data: %s\n\n", header),
			"a member twice":           stream + text("data: {%q:1,%q:2}\n\n", testSecret, testSecret),
			"a refusal":                saying(part{refusal: header}),
			"text":                     saying(part{text: header}),
			"arguments":                saying(part{id: "c", name: "f", arguments: text(`{"k":%q}`, testSecret)}),
			"an id":                    saying(part{id: testSecret, name: "f", arguments: "{}"}),
			"a name":                   saying(part{id: "c", name: testSecret, arguments: "{}"}),
			"arguments that are wrong": saying(part{id: "c", name: "f", arguments: testSecret}),
		} {
			t.Run(name, func(t *testing.T) {
				server := replay(t, answer+"\n\n")
				c := client(t, withSecret(s.binding(server.BaseURL())))
				reply, err := c.Ask(t.Context(), modeltest.Question)
				failure := modeltest.AsFailure(t, reply, err)
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
	})
}

// A word for a key does not make every answer that has the word a failure.
func TestWordForASecretMayBeWritten(t *testing.T) {
	forEach(t, func(t *testing.T, s speech) {
		b := withSecret(s.binding(serve(t, s.picked()).BaseURL()))
		b.Secret = model.NewSecret("protocol")
		if _, err := ask(t, b); err != nil {
			t.Error(err)
		}
	})
}

// A server that does not speak HTTP is quoted by net/http itself.
func TestSecretDoesNotComeBackInAStatusLine(t *testing.T) {
	forEach(t, func(t *testing.T, s speech) {
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
		reply, err := ask(t, withSecret(s.binding("http://"+listener.Addr().String())))
		failure := modeltest.AsFailure(t, reply, err)
		if failure.Class != model.Unavailable || !strings.Contains(failure.Detail, "[secret]") || strings.Contains(fmt.Sprint(err, failure.Cause), testSecret) {
			t.Errorf("got %v, cause %v", failure, failure.Cause)
		}
	})
}
