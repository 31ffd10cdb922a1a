package pinnedgit

import (
	"context"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// serve starts a TLS server with a certificate of its own making, and gives the settings with which
// git trusts it. The product has no such setting: it trusts what the machine trusts.
func serve(t *testing.T, handler http.Handler) (address string, trusting settings) {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	authority := filepath.Join(t.TempDir(), "ca.pem")
	write(t, authority, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	return server.URL, settings{config: []string{"http.sslCAInfo=" + authority}}
}

// backend serves the origin by git's own program.
func (o origin) backend(t *testing.T) http.Handler {
	t.Helper()
	return &cgi.Handler{
		Path: filepath.Join(o.git(t, nil, "--exec-path"), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + o.folder, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"},
	}
}

func TestFetchOverHTTPS(t *testing.T) {
	for filter, selected := range map[string][]reading{"true": readings[:few], "false": readings[:2]} {
		t.Run("filters "+filter, func(t *testing.T) {
			w := newWorld(t)
			o := newOrigin(t, w)
			o.git(t, nil, "config", "uploadpack.allowFilter", filter)
			address, trusting := serve(t, o.backend(t))
			for _, r := range selected {
				t.Run(r.name, func(t *testing.T) { r.check(t, Locator{address + "/.git", o.pin}, trusting) })
			}
		})
	}
}

func TestServerWithUnknownCertificateIsNotAsked(t *testing.T) {
	w := newWorld(t) // sets GIT_SSL_NO_VERIFY and http.sslVerify=false
	var asked atomic.Int64
	address, trusting := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		http.NotFound(w, nil)
	}))
	fetchFailed := reading{path: "clock.yaml", refused: failed("fetch", "exit status 128")}
	fetchFailed.check(t, Locator{address + "/b", somePin}, settings{})
	if n := asked.Load(); n != 0 {
		t.Errorf("%d requests reached a server whose certificate nobody vouches for", n)
	}
	fetchFailed.check(t, Locator{address + "/b", somePin}, trusting)
	if asked.Load() == 0 {
		t.Error("the test is void: the server is never reached")
	}
	w.checkNothingLeft(t)
}

func TestCase60RedirectIsNotFollowed(t *testing.T) {
	w := newWorld(t)
	o := newOrigin(t, w)
	backend := o.backend(t)
	var redirected, arrived atomic.Int64
	address, trusting := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rest, ok := strings.CutPrefix(r.URL.Path, "/elsewhere/"); ok {
			redirected.Add(1)
			http.Redirect(w, r, "/"+rest+"?"+r.URL.RawQuery, http.StatusFound)
			return
		}
		arrived.Add(1)
		backend.ServeHTTP(w, r)
	}))
	reading{path: "clock.yaml", refused: failed("fetch", "exit status 128")}.check(t, Locator{address + "/elsewhere/.git", o.pin}, trusting)
	if redirected.Load() == 0 || arrived.Load() != 0 {
		t.Errorf("%d requests were redirected and %d followed", redirected.Load(), arrived.Load())
	}
	reading{path: "clock.yaml", want: content}.check(t, Locator{address + "/.git", o.pin}, trusting)
}

func TestCase61WhatTheServerSaysIsNotEchoed(t *testing.T) {
	const attack = "installed evil@1"
	newWorld(t)
	address, trusting := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
		_, _ = w.Write([]byte("001e# service=git-upload-pack\n0000" + "0019ERR " + attack + "\n"))
	}))
	reading{path: "clock.yaml", refused: failed("fetch", "exit status 128")}.check(t, Locator{address + "/b", somePin}, trusting)

	// Git itself does say it.
	cmd := exec.Command(gitExecutable(t), "-c", trusting.config[0], "ls-remote", address+"/b")
	cmd.Env = environment()
	cmd.Dir = t.TempDir()
	if said, _ := cmd.CombinedOutput(); !strings.Contains(string(said), attack) {
		t.Errorf("the test is void: git says %q", said)
	}
}

func TestServerThatWantsAPasswordGetsNone(t *testing.T) {
	w := newWorld(t) // has a credential helper and GIT_ASKPASS
	var authorized atomic.Bool
	address, trusting := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			authorized.Store(true)
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	reading{path: "clock.yaml", refused: failed("fetch", "exit status 128")}.check(t, Locator{address + "/b", somePin}, trusting)
	if authorized.Load() {
		t.Error("credentials were sent")
	}
	w.checkNothingLeft(t)
}

func TestCancelEndsAllThatGitStarted(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan struct{})
	address, trusting := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		// The connection is held by a program that git started. It hangs up when that is dead.
		cancel()
		<-r.Context().Done()
		close(ended)
	}))
	_, err := fetch(ctx, Locator{address + "/b", somePin}, "a", trusting)
	if !errors.Is(err, context.Canceled) || err.Error() != failed("fetch", "cancelled") {
		t.Errorf("the error is %v", err)
	}
	w.checkNothingLeft(t)
	<-ended
}
