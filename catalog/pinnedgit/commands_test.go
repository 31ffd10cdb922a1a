package pinnedgit

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// logged performs a fetch and gives the git commands it is made of, without the configuration, and the
// environment of the last.
func logged(t *testing.T, l Locator, path string) (commands, env []string) {
	t.Helper()
	git := gitExecutable(t)
	log, variables := filepath.Join(t.TempDir(), "log"), filepath.Join(t.TempDir(), "env")
	// Only what git itself starts is left out: it finds its own programs elsewhere.
	standInForGit(t, `/usr/bin/env >'`+variables+`'
( while [ "$1" = -c ]; do shift 2; done; echo "$@" >>'`+log+`' )
exec '`+git+`' "$@"`)
	_, err := Fetch(t.Context(), l, path)
	t.Logf("the fetch gives: %v", err)
	for _, file := range []string{log, variables} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		if file == log {
			commands = lines
		} else {
			env = lines
		}
	}
	return commands, env
}

func TestFetchIsTheseCommands(t *testing.T) {
	o := newOrigin(t, newWorld(t))
	address := "file://" + o.folder
	id := func(path string) string { return o.git(t, nil, "rev-parse", "HEAD:"+path) }
	begin := []string{
		"init --quiet --bare --template= --object-format=sha1",
		"fetch --quiet --depth=1 --no-tags --no-recurse-submodules --filter=blob:none -- " + address + " " + o.pin,
		"rev-parse --verify FETCH_HEAD",
		"cat-file --batch-check",
	}
	for _, tc := range []struct {
		name, path string
		then       []string
	}{
		{"a file", "clock.yaml", []string{
			"ls-tree -z --full-tree " + o.pin + " -- clock.yaml",
			"cat-file --batch-check",
			"fetch --quiet --depth=1 --no-tags --no-recurse-submodules --filter=blob:none -- " + address + " " + id("clock.yaml"),
			"cat-file --batch-check",
			"cat-file blob " + id("clock.yaml"),
		}},
		{"a file that is too large is not read", "over", []string{
			"ls-tree -z --full-tree " + o.pin + " -- over",
			"cat-file --batch-check",
			"fetch --quiet --depth=1 --no-tags --no-recurse-submodules --filter=blob:none -- " + address + " " + id("over"),
			"cat-file --batch-check",
		}},
		{"a link is not fetched (case 57)", "link", []string{
			"ls-tree -z --full-tree " + o.pin + " -- link",
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, _ := logged(t, o.locator(), tc.path)
			if want := slices.Concat(begin, tc.then); !slices.Equal(got, want) {
				t.Errorf("git ran\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

func TestEnvironmentIsClearedButForThree(t *testing.T) {
	o := newOrigin(t, newWorld(t)) // sets many variables
	t.Setenv("SSH_AUTH_SOCK", "/agent")
	t.Setenv("SSH_ASKPASS", "/nowhere")
	_, env := logged(t, o.locator(), "clock.yaml")
	want := []string{
		"GIT_ALLOW_PROTOCOL=https:ssh:file",
		"GIT_ASKPASS=",
		"GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_DIR=.",
		"GIT_LITERAL_PATHSPECS=1",
		"GIT_NO_LAZY_FETCH=1",
		"GIT_SSH_COMMAND=ssh -oBatchMode=yes",
		"GIT_TERMINAL_PROMPT=0",
		"HOME=" + os.Getenv("HOME"),
		"LC_ALL=C",
		"PATH=" + os.Getenv("PATH"),
		"SSH_AUTH_SOCK=/agent",
	}
	// A shell sets these for itself.
	env = slices.DeleteFunc(env, func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return name == "PWD" || name == "OLDPWD" || name == "SHLVL" || name == "_"
	})
	slices.Sort(env)
	if !slices.Equal(env, want) {
		t.Errorf("git is given\n%s\nwant\n%s", strings.Join(env, "\n"), strings.Join(want, "\n"))
	}
}
