package codex

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/loomrun/loom/model"
)

// What a token endpoint may answer, and what becomes of it. The file never changes.
func TestRenewalFailures(t *testing.T) {
	grantOf := func(members string) http.HandlerFunc { return answers(http.StatusOK, "{"+members+"}") }
	notRenewed := func(said string) string {
		return "the token endpoint does not renew this login (" + said + "); run codex login"
	}
	const answer = "the answer of the token endpoint: "
	for _, tc := range []struct {
		name    string
		respond http.HandlerFunc
		class   model.Class
		detail  string
	}{
		{"an expired refresh token", answers(400, `{"error":"invalid_grant","error_description":"`+oldRefresh+`"}`), model.Unauthorized, notRenewed("400 Bad Request, invalid_grant")},
		{"a used refresh token", answers(401, `{"error":{"code":"refresh_token_reused","message":"`+oldRefresh+`"}}`), model.Unauthorized, notRenewed("401 Unauthorized, refresh_token_reused")},
		{"a blocked account", answers(403, `<html>`+oldRefresh+`</html>`), model.Unauthorized, notRenewed("403 Forbidden")},
		{"a code that is a sentence", answers(400, `{"error":"token `+oldRefresh+` is bad"}`), model.Unauthorized, notRenewed("400 Bad Request")},
		{"a code that is the token", answers(400, `{"error":"`+oldRefresh+`"}`), model.Unauthorized, notRenewed("400 Bad Request")},
		{"a code without end", answers(400, `{"error":"`+strings.Repeat("a", 65)+`"}`), model.Unauthorized, notRenewed("400 Bad Request")},
		{"a number for a code", answers(400, `{"error":{"code":400}}`), model.Unauthorized, notRenewed("400 Bad Request")},
		{"an error written twice", answers(400, `{"error":"a","error":"b"}`), model.Unauthorized, notRenewed("400 Bad Request")},
		{"words without end", answers(400, strings.Repeat(oldRefresh, 10_000)), model.Unauthorized, notRenewed("400 Bad Request")},
		{"a limit", answers(429, ``), model.Unavailable, "the token endpoint answered 429 Too Many Requests; try again later"},
		{"an overload", answers(503, `{"error":"server_is_overloaded"}`), model.Unavailable, "the token endpoint answered 503 Service Unavailable, server_is_overloaded; try again later"},
		{"a redirect, which is not followed", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, model.Unsupported, "the token endpoint answered 307 Temporary Redirect"},
		{"no such endpoint", answers(404, ``), model.Unsupported, "the token endpoint answered 404 Not Found"},
		{"another success", answers(201, `{}`), model.Unsupported, "the token endpoint answered 201 Created"},
		{"a connection that is closed", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, model.Unavailable, "no answer from the token endpoint: it closed the connection"},
		{"a cut answer", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, `{"access_token":"`+newAccess)
		}, model.Incomplete, "the answer of the token endpoint broke off"},
		{"an answer of 64 KiB and a byte", answers(200, strings.Repeat(" ", 64<<10+1)), model.TooLarge, "the answer of the token endpoint exceeds 65536 bytes"},
		{"nothing", answers(200, ``), model.Malformed, answer + "line 1, column 1: there is no JSON value"},
		{"a page", answers(200, `<html>`+newAccess), model.Malformed, answer + "line 1, column 1: this is not JSON"},
		{"a list", answers(200, `["`+newAccess+`"]`), model.Malformed, answer + "it is a list instead of a map"},
		{"no access token", grantOf(`"refresh_token":"` + newRefresh + `"`), model.Malformed, answer + "it has no access token"},
		{"an access token twice", grantOf(`"access_token":"a","access_token":"b"`), model.Malformed, answer + "line 1, column 21: a member is written twice"},
		{"a number for it", grantOf(`"access_token":1`), model.Malformed, answer + "access_token is a number instead of text"},
		{"no JWT", grantOf(`"access_token":"sk-secret"`), model.Malformed, answer + "the access token is not a JWT: it does not have three parts"},
		{"a refresh token of two lines", grantOf(`"access_token":"` + newAccess + `","refresh_token":"` + newRefresh + `\n"`), model.Malformed, answer + "refresh_token holds white space, a control character or a character beyond ASCII"},
		{"a token as long as no token is", grantOf(`"access_token":"` + strings.Repeat("A", maxToken+1) + `"`), model.Malformed, answer + "access_token exceeds 16384 bytes"},
	} {
		e := startTokenEndpoint(t, tc.respond)
		before := authJSON(oldAccess(time.Minute), oldRefresh, oldID)
		path := write(t, before)
		_, err := mustOpen(t, path, e.provider()).Token(t.Context())
		failure := failureOf(t, err)
		if failure.Class != tc.class || failure.Detail != tc.detail || failure.Transient() {
			t.Errorf("%s: got %v, want %s: %s", tc.name, failure, tc.class, tc.detail)
		}
		if read(t, path) != before || e.requests() != 1 {
			t.Errorf("%s: %d requests, or the file has changed", tc.name, e.requests())
		}
		assertNoToken(t, tc.name, fmt.Sprintf("%v %+v %#v", failure, failure, failure))
	}
}

// A token that has ended when it arrives is kept, since it came with the only refresh token that is
// good now, but not used.
func TestRenewalThatGivesATokenThatHasEnded(t *testing.T) {
	late := jwt("late", noon)
	e := startTokenEndpoint(t, answers(200, `{"access_token":"`+late+`","refresh_token":"`+newRefresh+`"}`))
	path := write(t, authJSON(oldAccess(0), oldRefresh, oldID))
	_, err := mustOpen(t, path, e.provider()).Token(t.Context())
	if failure := failureOf(t, err); failure.Class != model.Unauthorized || failure.Detail != "the renewed Codex login ended at 2026-11-30T12:00:00Z already; look at this machine's clock" {
		t.Error(failure)
	}
	if read(t, path) != authJSON(late, newRefresh, oldID) {
		t.Error("the refresh token is lost")
	}
}

// An endpoint that is not there, or is not who it should be.
func TestRenewalWithoutAnAnswer(t *testing.T) {
	path := write(t, authJSON(oldAccess(time.Minute), oldRefresh, oldID))
	plain := httptest.NewServer(http.HandlerFunc(grants))
	defer plain.Close()
	secure := startTokenEndpoint(t, grants)
	secure.Config.ErrorLog = nil
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, url string
		class     model.Class
		detail    string
	}{
		{"nobody there", "https://" + nobody, model.Unavailable, "no answer from the token endpoint: connection refused"},
		{"a server without TLS", "https" + strings.TrimPrefix(plain.URL, "http"), model.Unsupported, "no answer from the token endpoint: it does not speak TLS"},
		{"a certificate of nobody's", secure.URL, model.Unsupported, "no answer from the token endpoint: its certificate does not hold"},
		{"an address that is none", "https://[", model.InvalidRequest, "the token endpoint has no valid address"},
	} {
		_, err := mustOpen(t, path, provider{tokenURL: tc.url}).Token(t.Context())
		if failure := failureOf(t, err); failure.Class != tc.class || failure.Detail != tc.detail {
			t.Errorf("%s: got %v", tc.name, failure)
		}
	}
	// An endpoint that says nothing until the time is over.
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	_, failure := secure.provider().renew(ctx, model.NewSecret(oldRefresh))
	if failure.Class != model.Unavailable || failure.Detail != "no answer from the token endpoint: it took longer than 15s" {
		t.Error(failure)
	}
}

// assertNoToken looks for any part of any token of these tests.
func assertNoToken(t *testing.T, where, text string) {
	t.Helper()
	for _, token := range []string{oldAccess(time.Hour), oldAccess(time.Minute), oldAccess(0), newAccess, oldRefresh, newRefresh, oldID, newID} {
		for _, part := range strings.Split(token, ".") {
			if len(part) > 8 && !strings.HasPrefix(part, "eyJhbGciOiJSUzI1NiJ9") && strings.Contains(text, part) {
				t.Errorf("%s: a token stands in %.200s", where, text)
			}
		}
	}
}

// An answer of a token endpoint is three tokens that can be used, or a failure.
func FuzzGrant(f *testing.F) {
	f.Add([]byte(`{"access_token":"` + newAccess + `","refresh_token":"` + newRefresh + `","expires_in":1}`))
	f.Add([]byte(`{"error":{"code":"refresh_token_expired"}}`))
	f.Add([]byte(`{"error":"invalid_grant"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if code := errorCode(body); len(code) > maxErrorCode || strings.Trim(code, "abcdefghijklmnopqrstuvwxyz_") != "" {
			t.Errorf("the code is %q", code)
		}
		g, failure := parseGrant(body)
		if failure != nil {
			if len(failure.Error()) > model.MaxDetail+64 || !g.access.IsZero() {
				t.Errorf("%v with %d bytes", failure.Class, len(failure.Error()))
			}
			return
		}
		if _, err := expiry(g.access.Reveal()); err != nil {
			t.Error(err)
		}
	})
}
