package codex

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/model"
)

// TestMain lets this program be another process that renews a login.
func TestMain(m *testing.M) {
	if path := os.Getenv("LOOM_TEST_RENEW"); path != "" {
		os.Exit(renewAsAnotherProcess(path))
	}
	os.Exit(m.Run())
}

func renewAsAnotherProcess(path string) int {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(os.Getenv("LOOM_TEST_ROOTS")))
	l, err := open(path, provider{tokenURL: os.Getenv("LOOM_TEST_TOKEN_URL"), clientID: "client-of-the-test", roots: roots}, atNoon)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	// Both processes have read the old token; neither goes on before the other is here too.
	fmt.Println("ready")
	_, _ = os.Stdin.Read(make([]byte, 1))
	token, err := l.Token(context.Background())
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(token.Reveal() == newAccess)
	return 0
}

// 7.4: less than 15 minutes left means one renewal request; exactly 15 do not.
func TestTokenIsRenewedWithLessThanFifteenMinutesLeft(t *testing.T) {
	for _, tc := range []struct {
		left   time.Duration
		renews int
	}{
		{10 * time.Hour, 0},
		{15*time.Minute + time.Second, 0},
		{15 * time.Minute, 0},
		{15*time.Minute - time.Second, 1},
		{time.Second, 1},
		{0, 1},
		{-10 * time.Hour, 1},
	} {
		e := startTokenEndpoint(t, grants)
		before := authJSON(oldAccess(tc.left), oldRefresh, oldID)
		path := write(t, before)
		l := mustOpen(t, path, e.provider())
		want, wantFile := oldAccess(tc.left), before
		if tc.renews > 0 {
			want, wantFile = newAccess, authJSON(newAccess, newRefresh, newID)
		}
		for range 3 {
			token, err := l.Token(t.Context())
			if err != nil || token.Reveal() != want {
				t.Errorf("%v left: %v", tc.left, err)
			}
		}
		if got := e.requests(); got != tc.renews {
			t.Errorf("%v left: %d requests, want %d", tc.left, got, tc.renews)
		}
		if diff := cmp.Diff(wantFile, read(t, path)); diff != "" {
			t.Errorf("%v left: the file (-want +got):\n%s", tc.left, diff)
		}
	}
}

// The clock goes on while a login is in use.
func TestTokenIsRenewedInTheMiddleOfARun(t *testing.T) {
	e := startTokenEndpoint(t, grants)
	path := write(t, authJSON(oldAccess(time.Hour), oldRefresh, oldID))
	now := noon
	l, err := open(path, e.provider(), func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		after    time.Duration
		requests int
	}{{0, 0}, {45 * time.Minute, 0}, {45*time.Minute + time.Nanosecond, 1}, {5 * time.Hour, 1}} {
		now = noon.Add(step.after)
		if _, err := l.Token(t.Context()); err != nil || e.requests() != step.requests {
			t.Errorf("after %v: %d requests, %v", step.after, e.requests(), err)
		}
	}
}

// RFC 6749, section 6: what a renewal sends, and nothing else of the file.
func TestRenewalRequest(t *testing.T) {
	e := startTokenEndpoint(t, grants)
	path := write(t, authJSON(oldAccess(0), oldRefresh, oldID))
	if e.provider().transport().Proxy != nil {
		t.Error("a proxy would be asked (case 166)")
	}
	if _, err := mustOpen(t, path, e.provider()).Token(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, form := e.asked[0], e.forms[0]
	if r.Method != http.MethodPost || r.URL.RequestURI() != "/oauth/token" || r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" ||
		r.Header.Get("User-Agent") != "loom" || r.Header.Get("Authorization") != "" || r.Header.Get("Accept-Encoding") != "" {
		t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
	}
	if diff := cmp.Diff(url.Values{"grant_type": {"refresh_token"}, "client_id": {"client-of-the-test"}, "refresh_token": {oldRefresh}}, form); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("the file's mode is %v, %v", info.Mode(), err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); err != nil || len(left) != 1 {
		t.Errorf("the folder holds %v", left)
	}
}

// What cannot be renewed is refused before a connection: by Open when the token is about to end, else
// when it comes to that.
func TestRenewalRefusesFilesItMayNotReplace(t *testing.T) {
	for _, tc := range []struct {
		name string
		make func(path string) error
		says string
	}{
		{"several hard links", func(p string) error { return os.Link(p, p+".other") }, "has several hard links"},
		{"no refresh token", func(p string) error {
			return os.WriteFile(p, []byte(strings.Replace(authJSON(oldAccess(time.Minute), oldRefresh, oldID), `"refresh_token"`, `"other"`, 1)), 0o600)
		}, "it has no refresh token"},
		{"a symbolic link", func(p string) error {
			if err := os.Rename(p, p+".real"); err != nil {
				return err
			}
			return os.Symlink(p+".real", p)
		}, "is a symbolic link"},
		{"a folder", func(p string) error {
			if err := os.Remove(p); err != nil {
				return err
			}
			return os.Mkdir(p, 0o700)
		}, "is not a regular file"},
		{"another account", func(p string) error {
			return os.WriteFile(p, []byte(strings.Replace(authJSON(oldAccess(time.Minute), oldRefresh, oldID), "acct-1", "acct-2", 1)), 0o600)
		}, "is of another account now"},
	} {
		e := startTokenEndpoint(t, grants)
		path := write(t, authJSON(oldAccess(time.Minute), oldRefresh, oldID))
		l := mustOpen(t, path, e.provider())
		if err := tc.make(path); err != nil {
			t.Fatal(err)
		}
		before, _ := os.ReadFile(path)
		_, err := l.Token(t.Context())
		if failure := failureOf(t, err); failure.Class != model.Unauthorized || !strings.Contains(failure.Detail, tc.says) {
			t.Errorf("%s: %v", tc.name, err)
		}
		if tc.name != "another account" {
			if _, err := open(path, e.provider(), atNoon); err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: Open gives %v", tc.name, err)
			}
		}
		if after, _ := os.ReadFile(path); !bytes.Equal(before, after) || e.requests() != 0 {
			t.Errorf("%s: changed, or asked %d times", tc.name, e.requests())
		}
	}
}

// Nothing is sent when the answer could not be written.
func TestRenewalNeedsAFolderThatCanBeWritten(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write every folder")
	}
	e := startTokenEndpoint(t, grants)
	path := write(t, authJSON(oldAccess(0), oldRefresh, oldID))
	if err := os.Chmod(filepath.Dir(path), 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Dir(path), 0o700) })
	if _, err := open(path, e.provider(), atNoon); err == nil || !strings.Contains(err.Error(), "cannot be written: permission denied") || e.requests() != 0 {
		t.Errorf("got %v", err)
	}
}

// A link that is made while the provider answers is not cut either.
func TestRenewalLooksAtTheFileAgainBeforeItWrites(t *testing.T) {
	path := write(t, authJSON(oldAccess(0), oldRefresh, oldID))
	e := startTokenEndpoint(t, func(w http.ResponseWriter, r *http.Request) {
		if err := os.Link(path, path+".other"); err != nil {
			t.Error(err)
		}
		grants(w, r)
	})
	_, err := mustOpen(t, path, e.provider()).Token(t.Context())
	if failure := failureOf(t, err); !strings.Contains(failure.Detail, "was renewed but could not be kept") || !strings.Contains(failure.Detail, "several hard links") {
		t.Error(err)
	}
}

// One renewal, however many ask at once through one login or through several.
func TestRenewalsAtOnceAreOneRequest(t *testing.T) {
	e := startTokenEndpoint(t, grants)
	path := write(t, authJSON(oldAccess(time.Minute), oldRefresh, oldID))
	first, second := mustOpen(t, path, e.provider()), mustOpen(t, path, e.provider())
	var asking sync.WaitGroup
	for i := range 16 {
		asking.Go(func() {
			token, err := []*Login{first, second}[i%2].Token(t.Context())
			if err != nil || token.Reveal() != newAccess {
				t.Errorf("asker %d: %v", i, err)
			}
		})
	}
	asking.Wait()
	if got := e.requests(); got != 1 {
		t.Errorf("%d requests", got)
	}
	if diff := cmp.Diff(authJSON(newAccess, newRefresh, newID), read(t, path)); diff != "" {
		t.Errorf("the file (-want +got):\n%s", diff)
	}
}

// Two processes that both found the old token lose none: the second takes what the first was given.
func TestRenewalsOfTwoProcessesAreOneRequest(t *testing.T) {
	e := startTokenEndpoint(t, grants)
	path := write(t, authJSON(oldAccess(time.Minute), oldRefresh, oldID))
	roots := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: e.Certificate().Raw})
	type process struct {
		*exec.Cmd
		out *os.File
		in  *os.File
	}
	var processes [2]process
	for i := range processes {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "LOOM_TEST_RENEW="+path, "LOOM_TEST_TOKEN_URL="+e.provider().tokenURL, "LOOM_TEST_ROOTS="+string(roots))
		in, input, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		out, output, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		c.Stdin, c.Stdout = in, output
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		_, _ = in.Close(), output.Close()
		processes[i] = process{c, out, input}
	}
	for _, p := range processes {
		var word string
		if _, err := fmt.Fscanln(p.out, &word); err != nil || word != "ready" {
			t.Fatalf("a process said %q, %v", word, err)
		}
	}
	for _, p := range processes {
		_ = p.in.Close()
	}
	for _, p := range processes {
		var word string
		_, err := fmt.Fscanln(p.out, &word)
		if ended := p.Wait(); err != nil || ended != nil || word != "true" {
			t.Errorf("a process said %q: %v, %v", word, err, ended)
		}
		_ = p.out.Close()
	}
	if got := e.requests(); got != 1 {
		t.Errorf("%d requests", got)
	}
	if diff := cmp.Diff(authJSON(newAccess, newRefresh, newID), read(t, path)); diff != "" {
		t.Errorf("the file (-want +got):\n%s", diff)
	}
}

// Codex knows no lock. What it writes meanwhile is kept and used, whatever the provider answers here.
func TestRenewalGivesWayToAnother(t *testing.T) {
	others := authJSON(jwt("others", noon.Add(time.Hour)), "rt-of-another", oldID)
	for name, respond := range map[string]http.HandlerFunc{
		"granted": grants,
		"refused": answers(http.StatusUnauthorized, `{"error":{"code":"refresh_token_reused"}}`),
	} {
		path := write(t, authJSON(oldAccess(0), oldRefresh, oldID))
		e := startTokenEndpoint(t, func(w http.ResponseWriter, r *http.Request) {
			if err := os.WriteFile(path, []byte(others), 0o600); err != nil {
				t.Error(err)
			}
			respond(w, r)
		})
		token, err := mustOpen(t, path, e.provider()).Token(t.Context())
		if err != nil || token.Reveal() != jwt("others", noon.Add(time.Hour)) || read(t, path) != others {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What Codex writes beside the tokens meanwhile is kept as well.
func TestRenewalKeepsWhatWasWrittenMeanwhile(t *testing.T) {
	before := authJSON(oldAccess(0), oldRefresh, oldID)
	path := write(t, before)
	change := strings.NewReplacer("2026-11-20", "2026-11-30")
	e := startTokenEndpoint(t, func(w http.ResponseWriter, r *http.Request) {
		if err := os.WriteFile(path, []byte(change.Replace(before)), 0o600); err != nil {
			t.Error(err)
		}
		grants(w, r)
	})
	if _, err := mustOpen(t, path, e.provider()).Token(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(change.Replace(authJSON(newAccess, newRefresh, newID)), read(t, path)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The provider takes the old refresh token back with its answer, so a renewal that was sent is kept
// although its caller gave up.
func TestRenewalIsCarriedThrough(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	e := startTokenEndpoint(t, func(w http.ResponseWriter, r *http.Request) {
		cancel()
		grants(w, r)
	})
	path := write(t, authJSON(oldAccess(0), oldRefresh, oldID))
	l := mustOpen(t, path, e.provider())
	if _, err := l.Token(ctx); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(authJSON(newAccess, newRefresh, newID), read(t, path)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A caller that gave up before waits for nobody, and nothing is sent for it.
func TestTokenOfACallerThatGaveUp(t *testing.T) {
	e := startTokenEndpoint(t, grants)
	path := write(t, authJSON(oldAccess(0), oldRefresh, oldID))
	l := mustOpen(t, path, e.provider())
	unlock, err := lockFolder(t.Context(), filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := l.Token(ctx)
		ended <- err
	}()
	cancel()
	if failure := failureOf(t, <-ended); failure.Class != model.Cancelled {
		t.Error(failure)
	}
	unlock()
	if e.requests() != 0 {
		t.Error("a request was sent")
	}
	// Nothing of it is left: the next caller renews.
	if token, err := l.Token(t.Context()); err != nil || token.Reveal() != newAccess {
		t.Error(err)
	}
}

// A caller waits for another's turn no longer than it wants to.
func TestTokenWaitsForItsTurnWhileItsCallerDoes(t *testing.T) {
	l := mustOpen(t, write(t, authJSON(oldAccess(time.Hour), oldRefresh, oldID)), openAI)
	l.turn <- struct{}{}
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	_, err := l.Token(ctx)
	if failure := failureOf(t, err); failure.Class != model.Deadline {
		t.Error(failure)
	}
}

// A lock that its waiter gave up is not kept once it comes.
func TestLockFolderIsGivenUpWithItsCaller(t *testing.T) {
	folder := t.TempDir()
	unlock, err := lockFolder(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 3 {
		if _, err := lockFolder(ctx, folder); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
	unlock()
	if unlock, err = lockFolder(t.Context(), folder); err != nil {
		t.Fatal(err)
	}
	unlock()
}

// What happens to the file while the provider answers, where nothing can be made of it.
func TestRenewalSaysWhatHappenedMeanwhile(t *testing.T) {
	for _, tc := range []struct {
		name string
		text string // empty: the file is gone
		says string
	}{
		{"another token that is about to end", authJSON(oldAccess(2*time.Minute), "rt-of-another", oldID), "was changed while it was renewed; try again"},
		{"no token any more", `{"tokens":null}`, "no Codex access token in "},
		{"no file any more", "", "no Codex access token: there is no "},
		{"another account", strings.Replace(authJSON(oldAccess(time.Hour), "rt-of-another", oldID), "acct-1", "acct-2", 1), "is of another account now"},
	} {
		path := write(t, authJSON(oldAccess(0), oldRefresh, oldID))
		e := startTokenEndpoint(t, func(w http.ResponseWriter, r *http.Request) {
			if err := os.Remove(path); err != nil {
				t.Error(err)
			}
			if tc.text != "" {
				if err := os.WriteFile(path, []byte(tc.text), 0o600); err != nil {
					t.Error(err)
				}
			}
			grants(w, r)
		})
		_, err := mustOpen(t, path, e.provider()).Token(t.Context())
		if failure := failureOf(t, err); failure.Class != model.Unauthorized || !strings.Contains(failure.Detail, tc.says) {
			t.Errorf("%s: %v", tc.name, err)
		}
		if after, _ := os.ReadFile(path); string(after) != tc.text {
			t.Errorf("%s: the file was written", tc.name)
		}
	}
}

// The folder may be reached by a link, as settings kept elsewhere are, and may be gone.
func TestRenewalInALinkedFolder(t *testing.T) {
	e := startTokenEndpoint(t, grants)
	folder := filepath.Dir(write(t, authJSON(oldAccess(0), oldRefresh, oldID)))
	link := filepath.Join(t.TempDir(), "codex")
	if err := os.Symlink(folder, link); err != nil {
		t.Fatal(err)
	}
	l, gone := mustOpen(t, filepath.Join(link, "auth.json"), e.provider()), mustOpen(t, filepath.Join(link, "auth.json"), e.provider())
	if _, err := l.Token(t.Context()); err != nil || read(t, filepath.Join(folder, "auth.json")) != authJSON(newAccess, newRefresh, newID) {
		t.Error(err)
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	_, err := gone.Token(t.Context())
	if failure := failureOf(t, err); failure.Class != model.Unauthorized || !strings.Contains(failure.Detail, "lock the folder") {
		t.Error(failure)
	}
}

// A failed renewal is not repeated, until somebody has logged in anew.
func TestFailedRenewalIsNotRepeated(t *testing.T) {
	e := startTokenEndpoint(t, answers(http.StatusServiceUnavailable, ""))
	path := write(t, authJSON(oldAccess(time.Minute), oldRefresh, oldID))
	l := mustOpen(t, path, e.provider())
	for range 3 {
		_, err := l.Token(t.Context())
		if failure := failureOf(t, err); failure.Class != model.Unavailable || failure.Detail != "the token endpoint answered 503 Service Unavailable; try again later" {
			t.Error(err)
		}
	}
	if got := e.requests(); got != 1 {
		t.Errorf("%d requests", got)
	}
	if err := os.WriteFile(path, []byte(authJSON(jwt("fresh", noon.Add(time.Hour)), "rt-fresh", oldID)), 0o600); err != nil {
		t.Fatal(err)
	}
	if token, err := l.Token(t.Context()); err != nil || token.Reveal() != jwt("fresh", noon.Add(time.Hour)) {
		t.Errorf("after a new login: %v", err)
	}
}
