package pinnedgit

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// world is the surroundings of one test: folders of its own for temporary files and for the person, a
// hostile environment and configuration, and a file that must never come to be.
type world struct {
	temporary string
	home      string
	mark      string // everything hostile makes this file
}

// newWorld sets the surroundings up. What the caller's environment and the person's configuration say
// would break every fetch or make the mark, if it were listened to.
func newWorld(t *testing.T) world {
	t.Helper()
	w := world{t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "mark")}
	touch := "touch '" + w.mark + "'"
	write(t, filepath.Join(w.home, ".gitconfig"), `
[url "file:///nowhere/"]
	insteadOf = https://
	insteadOf = file://
	insteadOf = ssh://
[http]
	sslVerify = false
[credential]
	helper = "!`+touch+`"
[core]
	sshCommand = "`+touch+`; false"
	hooksPath = `+w.home+`
[uploadpack]
	packObjectsHook = "`+touch+`; false"
`)
	for name, value := range map[string]string{
		"TMPDIR":             w.temporary,
		"HOME":               w.home,
		"XDG_CONFIG_HOME":    w.home,
		"GIT_DIR":            "/nowhere",
		"GIT_INDEX_FILE":     "/nowhere",
		"GIT_CONFIG_COUNT":   "1",
		"GIT_CONFIG_KEY_0":   "protocol.ext.allow",
		"GIT_CONFIG_VALUE_0": "always",
		"GIT_SSL_NO_VERIFY":  "1",
		"GIT_SSH_COMMAND":    touch + "; false",
		"GIT_ASKPASS":        "/nowhere",
		"GIT_EXEC_PATH":      "/nowhere",
		"GIT_ALLOW_PROTOCOL": "ext",
		"GIT_EXTERNAL_DIFF":  touch,
		"GIT_PROXY_COMMAND":  touch,
		"GIT_TRACE":          w.mark,
		"https_proxy":        "https://127.0.0.1:1",
		"ALL_PROXY":          "https://127.0.0.1:1",
	} {
		t.Setenv(name, value)
	}
	t.Cleanup(func() {
		w.checkNothingLeft(t)
		if _, err := os.Stat(w.mark); err == nil {
			t.Error("something was run, or a variable of the caller was listened to: the mark is there")
		}
	})
	return w
}

// checkNothingLeft: no temporary folder is there.
func (w world) checkNothingLeft(t *testing.T) {
	t.Helper()
	left, err := os.ReadDir(w.temporary)
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v (%v)", left, err)
	}
}

// standInForGit puts a shell script in the place of git.
func standInForGit(t *testing.T, script string) {
	t.Helper()
	folder := t.TempDir()
	write(t, filepath.Join(folder, "git"), "#!/bin/sh\n"+script+"\n")
	if err := os.Chmod(filepath.Join(folder, "git"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
}

// origin is a repository that is fetched from.
type origin struct {
	folder string
	pin    string
}

const (
	content = "format: protocol/1\r\n# é \x00 and no line feed at the end"
	inner   = "another file\n"
)

// newOrigin makes a repository with one commit that has everything a fetch may meet, and which would
// make the world's mark if a hook, a filter or a configuration of it had a part in the fetch.
func newOrigin(t *testing.T, w world) origin {
	t.Helper()
	o := origin{folder: t.TempDir()}
	o.git(t, nil, "init", "--quiet", "--object-format=sha1", "--initial-branch=main", "--template=")
	for name, text := range map[string]string{
		"clock.yaml":             content,
		"program.sh":             "#!/bin/sh\n",
		"folder/inner.yaml":      inner,
		"-dash.yaml":             "dash\n",
		"--upload-pack=touch me": "option\n",
		"*.yaml":                 "star\n",
		":(glob)*":               "magic\n",
		"é ü.yaml":               "umlaut\n",
		"empty":                  "",
		"exact":                  strings.Repeat("a", MaxBlob),
		"over":                   strings.Repeat("a", MaxBlob+1),
		".gitmodules":            "[submodule \"module\"]\n\tpath = module\n\turl = file:///nowhere\n",
	} {
		file := filepath.Join(o.folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, file, text)
	}
	if err := os.Chmod(filepath.Join(o.folder, "program.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"link": "clock.yaml", "way": "folder"} {
		if err := os.Symlink(target, filepath.Join(o.folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	o.git(t, nil, "add", "--all")
	o.git(t, nil, "update-index", "--add", "--cacheinfo", "160000,"+somePin+",module")
	o.commit(t)

	touch := "touch '" + w.mark + "'"
	hooks := filepath.Join(o.folder, ".git", "hooks")
	if err := os.MkdirAll(hooks, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, hook := range []string{"post-checkout", "pre-receive", "update", "post-receive", "reference-transaction", "fsmonitor-watchman", "pre-auto-gc"} {
		write(t, filepath.Join(hooks, hook), "#!/bin/sh\n"+touch+"\n")
		if err := os.Chmod(filepath.Join(hooks, hook), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	o.git(t, nil, "config", "uploadpack.packObjectsHook", touch+"; false")
	o.git(t, nil, "config", "core.fsmonitor", touch)
	o.git(t, nil, "config", "filter.evil.smudge", touch)
	o.git(t, nil, "config", "filter.evil.clean", touch)
	o.git(t, nil, "config", "filter.evil.process", touch)
	o.git(t, nil, "config", "uploadpack.allowFilter", "true")
	return o
}

// commit makes a commit of the index and pins it.
func (o *origin) commit(t *testing.T) {
	t.Helper()
	o.git(t, nil, "commit", "--quiet", "--no-verify", "--message=x")
	o.pin = o.git(t, nil, "rev-parse", "HEAD")
}

// git runs git in the origin, with surroundings of its own, and gives what it prints without the line feed.
func (o origin) git(t *testing.T, stdin []byte, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = o.folder
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		// Making the origin must not run what fetching from it must not.
		"GIT_CONFIG_COUNT=4", "GIT_CONFIG_KEY_0=core.hooksPath", "GIT_CONFIG_VALUE_0=/dev/null",
		"GIT_CONFIG_KEY_1=core.fsmonitor", "GIT_CONFIG_VALUE_1=false",
		"GIT_CONFIG_KEY_2=filter.evil.process", "GIT_CONFIG_VALUE_2=",
		"GIT_CONFIG_KEY_3=filter.evil.clean", "GIT_CONFIG_VALUE_3=cat",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z",
	}
	cmd.Stdin = bytes.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, stderr.String())
	}
	return strings.TrimSuffix(string(out), "\n")
}

// locator names the origin's pin by a file URL.
func (o origin) locator() Locator { return Locator{"file://" + o.folder, o.pin} }

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
