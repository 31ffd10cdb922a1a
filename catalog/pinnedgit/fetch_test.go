package pinnedgit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// reading is one path of an origin and what must come of it.
type reading struct {
	name, path string
	want       string // the content, or
	refused    string // the message
}

const (
	symbolicLink = "the path names a symbolic link in the pinned commit; name the file itself"
	submodule    = "the path names a submodule in the pinned commit; pin a commit of that repository"
	folder       = "the path names a folder in the pinned commit; name a file in it"
	noFile       = "the pinned commit has no file at the path"
)

var readings = []reading{
	{name: "a file, byte for byte", path: "clock.yaml", want: content},
	{name: "a symbolic link (case 57)", path: "link", refused: symbolicLink},
	{name: "no such path", path: "absent", refused: noFile},
	{name: "exactly 1 MiB (case 44)", path: "exact", want: strings.Repeat("a", MaxBlob)},
	{name: "1 MiB and a byte (case 44)", path: "over", refused: "the file is 1048577 bytes long, and at most 1048576 are taken"},
	{name: "a file that may be executed", path: "program.sh", want: "#!/bin/sh\n"},
	{name: "a file in a folder", path: "folder/inner.yaml", want: inner},
	{name: "an empty file", path: "empty", want: ""},
	{name: "a name outside ASCII with a space", path: "é ü.yaml", want: "umlaut\n"},
	{name: "a path opening with a dash is a path", path: "-dash.yaml", want: "dash\n"},
	{name: "a path in the form of an option is a path", path: "--upload-pack=touch me", want: "option\n"},
	{name: "a star is a star", path: "*.yaml", want: "star\n"},
	{name: "pathspec magic is a name", path: ":(glob)*", want: "magic\n"},
	{name: "a submodule (case 57)", path: "module", refused: submodule},
	{name: "a folder (case 57)", path: "folder", refused: folder},
	{name: "a file behind a link to a folder", path: "way/inner.yaml", refused: noFile},
	{name: "a file in a submodule", path: "module/a", refused: noFile},
	{name: "a path below a file", path: "clock.yaml/a", refused: noFile},
	{name: "the path of an option that is not there", path: "--name-only", refused: noFile},
	{name: "a pattern", path: "cl*.yaml", refused: noFile},
}

// check performs the reading.
func (r reading) check(t *testing.T, l Locator, s settings) {
	t.Helper()
	got, err := fetch(t.Context(), l, r.path, s)
	switch {
	case r.refused != "":
		if err == nil || err.Error() != r.refused {
			t.Errorf("the error is %v, want %q", err, r.refused)
		}
	case err != nil:
		t.Error(err)
	case string(got) != r.want:
		t.Errorf("read %d bytes that are not the %d of the file", len(got), len(r.want))
	}
}

// ordinary is the server over which every reading is performed; over the others it is the first few.
const (
	ordinary = "that knows filters"
	few      = 5
)

func TestFetchOverFile(t *testing.T) {
	for _, server := range []struct {
		name   string
		config string // of the origin, false instead of true
		s      settings
	}{
		{name: ordinary},
		{name: "that knows no filters", config: "uploadpack.allowFilter"},
		{name: "that knows filters and the old protocol", s: settings{config: []string{"protocol.version=0"}}},
		{name: "that knows the old protocol", config: "uploadpack.allowFilter", s: settings{config: []string{"protocol.version=0"}}},
	} {
		t.Run(server.name, func(t *testing.T) {
			w := newWorld(t)
			o := newOrigin(t, w)
			if server.config != "" {
				o.git(t, nil, "config", server.config, "false")
			}
			selected := readings
			if server.name != ordinary {
				selected = readings[:few]
			}
			for _, r := range selected {
				t.Run(r.name, func(t *testing.T) { r.check(t, o.locator(), server.s) })
			}
		})
	}
}

func TestFetchOverFileOnLocalhost(t *testing.T) {
	o := newOrigin(t, newWorld(t))
	reading{path: "clock.yaml", want: content}.check(t, Locator{"file://localhost" + o.folder, o.pin}, settings{})
}

func TestFetchOfCommitBehindTheBranch(t *testing.T) {
	o := newOrigin(t, newWorld(t))
	old := o.locator()
	write(t, filepath.Join(o.folder, "clock.yaml"), "changed")
	o.git(t, nil, "commit", "--quiet", "--all", "--no-verify", "--message=y")
	reading{path: "clock.yaml", want: content}.check(t, old, settings{})
}

func TestCase58SmudgeFilterAndHooksNeverRun(t *testing.T) {
	w := newWorld(t) // checks the mark, which every hook and filter of the origin makes
	o := newOrigin(t, w)
	write(t, filepath.Join(o.folder, ".gitattributes"), "* filter=evil text eol=crlf ident\n")
	o.git(t, nil, "add", ".gitattributes")
	o.commit(t)
	if _, err := os.Stat(w.mark); err == nil {
		t.Fatal("making the origin made the mark")
	}
	reading{path: "clock.yaml", want: content}.check(t, o.locator(), settings{})
}

// failed is the whole message of a git process that failed.
func failed(verb, status string) string {
	return "Git protocol source operation " + verb + " failed (" + status + ")"
}

func TestPinIsVerified(t *testing.T) {
	w := newWorld(t)
	o := newOrigin(t, w)
	good := o.pin
	write(t, filepath.Join(o.folder, "clock.yaml"), "evil")
	o.git(t, nil, "add", "clock.yaml")
	o.commit(t)
	evil := o.pin
	zeros := strings.Repeat("0", PinLength)
	for _, name := range []string{good, somePin} {
		o.git(t, nil, "update-ref", "refs/heads/"+name, evil)
		o.git(t, nil, "update-ref", "refs/tags/"+name, evil)
	}
	o.git(t, nil, "tag", "--annotate", "--message=x", "v1", good)
	const noCommit = "the pin is the id of something that is no commit; pin a commit"
	fetchFailed := failed("fetch", "exit status 128")
	for _, tc := range []struct {
		name, pin string
		want      reading
	}{
		{"a branch named like the pin does not stand in for it", good, reading{want: content}},
		{"a branch named like a pin that is not there", somePin, reading{refused: fetchFailed}},
		{"forty zeros", zeros, reading{refused: fetchFailed}},
		{"an id that is not there", strings.Repeat("1", PinLength), reading{refused: fetchFailed}},
		{"a tag object", o.git(t, nil, "rev-parse", "v1"), reading{refused: noCommit}},
		{"a tree", o.git(t, nil, "rev-parse", good+"^{tree}"), reading{refused: noCommit}},
		{"a blob", o.git(t, nil, "rev-parse", good+":clock.yaml"), reading{refused: noCommit}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.want.path = "clock.yaml"
			tc.want.check(t, Locator{"file://" + o.folder, tc.pin}, settings{})
		})
	}
}

// opened gives a repository for the steps of a fetch one by one.
func opened(t *testing.T) repository {
	t.Helper()
	git := git{executable: gitExecutable(t)}
	r := repository{git, t.TempDir()}
	if err := r.create(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestFetchedCommitMustBeThePin(t *testing.T) {
	o := newOrigin(t, newWorld(t))
	r := opened(t)
	if err := r.bring(t.Context(), "file://"+o.folder, o.pin, withBlobs); err != nil {
		t.Fatal(err)
	}
	if err := r.verify(t.Context(), o.pin); err != nil {
		t.Error(err)
	}
	if err := r.verify(t.Context(), somePin); err == nil || err.Error() != "the server gave another object than the pinned commit" {
		t.Errorf("the error is %v", err)
	}
}

func TestOptionAsAddressRunsNothing(t *testing.T) {
	// ParseLocator refuses these. Should one ever get past it, git still must not obey.
	w := newWorld(t)
	r := opened(t)
	for _, address := range []string{
		"--upload-pack=touch '" + w.mark + "'",
		"ext::sh -c touch% " + w.mark,
		"ssh://-oProxyCommand=touch " + w.mark + "/b",
		"fd::17",
		"git://127.0.0.1:1/b",
		"http://127.0.0.1:1/b",
	} {
		if err := r.bring(t.Context(), address, somePin, withBlobs); err == nil || err.Error() != failed("fetch", "exit status 128") {
			t.Errorf("%s: the error is %v", address, err)
		}
		if _, err := os.Stat(w.mark); err == nil {
			t.Fatalf("%s was run", address)
		}
	}
}

func TestFetchLeavesOtherFilesAtTheServer(t *testing.T) {
	o := newOrigin(t, newWorld(t))
	r := opened(t)
	if err := r.bring(t.Context(), "file://"+o.folder, o.pin, withoutBlobs); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{"clock.yaml": false, "folder": true} {
		got, err := r.inspect(t.Context(), o.git(t, nil, "rev-parse", o.pin+":"+path))
		if err != nil || got.present != want {
			t.Errorf("%s: %+v (%v)", path, got, err)
		}
	}
}

func TestTreeEntryThatLies(t *testing.T) {
	o := newOrigin(t, newWorld(t))
	o.git(t, nil, "config", "uploadpack.allowFilter", "false")
	tree := o.git(t, nil, "rev-parse", "HEAD:folder")
	raw := "100644 clock.yaml\x00" + rawID(t, tree)
	lie := o.git(t, []byte(raw), "hash-object", "-t", "tree", "-w", "--literally", "--stdin")
	commit := o.git(t, nil, "commit-tree", "-m", "x", lie)
	o.git(t, nil, "update-ref", "refs/heads/lie", commit)
	if got, err := Fetch(t.Context(), Locator{"file://" + o.folder, commit}, "clock.yaml"); err == nil {
		t.Errorf("read %q", got)
	}
}

func rawID(t *testing.T, id string) string {
	t.Helper()
	var raw strings.Builder
	for i := 0; i < len(id); i += 2 {
		b, err := strconv.ParseUint(id[i:i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		raw.WriteByte(byte(b))
	}
	return raw.String()
}

func TestWhatGitAnswersIsChecked(t *testing.T) {
	for _, tc := range []struct{ name, script, want string }{
		{"a verb that fails", `exit 3`, failed("init", "exit status 3")},
		{"a verb that is killed", `kill -9 $$`, failed("init", "signal: killed")},
		{"endless output", `head -c 1048578 /dev/zero`, failed("init", "too much output")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			newWorld(t)
			standInForGit(t, tc.script)
			_, err := Fetch(t.Context(), Locator{"file:///b", somePin}, "a")
			if err == nil || err.Error() != tc.want {
				t.Errorf("the error is %v, want %q", err, tc.want)
			}
		})
	}
}

func TestAnswersInAnotherFormAreRefused(t *testing.T) {
	entry := "100644 blob " + somePin + "\ta"
	for _, tc := range []struct{ name, listing string }{
		{"two entries", entry + `\0` + entry + `\0`},
		{"another name", "100644 blob " + somePin + `\tb\0`},
		{"no end", entry},
		{"no tab", "100644 blob " + somePin + ` a\0`},
		{"no id", `100644 blob --help\ta\0`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			newWorld(t)
			standInForGit(t, "printf '"+tc.listing+"'")
			r := repository{git{executable: gitExecutable(t)}, t.TempDir()}
			if id, err := r.find(t.Context(), somePin, "a"); err == nil || err.Error() != failed("ls-tree", "unexpected output") {
				t.Errorf("found %q (%v)", id, err)
			}
		})
	}
	for _, tc := range []struct{ name, answer string }{
		{"nothing", ""},
		{"another id", strings.Repeat("1", PinLength) + " blob 3"},
		{"no size", somePin + " blob x"},
		{"ambiguous", somePin + " ambiguous"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			newWorld(t)
			standInForGit(t, "echo '"+tc.answer+"'")
			r := repository{git{executable: gitExecutable(t)}, t.TempDir()}
			if o, err := r.inspect(t.Context(), somePin); err == nil || err.Error() != failed("cat-file", "unexpected output") {
				t.Errorf("found %+v (%v)", o, err)
			}
		})
	}
}

func TestEntryOfAnotherModeIsRefused(t *testing.T) {
	newWorld(t)
	standInForGit(t, `printf '100664 blob `+somePin+`\ta\0'`)
	r := repository{git{executable: gitExecutable(t)}, t.TempDir()}
	if id, err := r.find(t.Context(), somePin, "a"); err == nil || err.Error() != "the path names something other than a regular file in the pinned commit" {
		t.Errorf("found %q (%v)", id, err)
	}
}

func TestGitMustBeInstalled(t *testing.T) {
	newWorld(t)
	t.Setenv("PATH", "")
	if _, err := Fetch(t.Context(), Locator{"file:///b", somePin}, "a"); err == nil || !strings.HasPrefix(err.Error(), "a Git source needs git to be installed: ") {
		t.Errorf("the error is %v", err)
	}
}

func TestCallerThatGaveUpStartsNothing(t *testing.T) {
	w := newWorld(t)
	standInForGit(t, "touch '"+w.mark+"'")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Fetch(ctx, Locator{"file:///b", somePin}, "a")
	if !errors.Is(err, context.Canceled) || err.Error() != failed("init", "cancelled") {
		t.Errorf("the error is %v", err)
	}
}

func TestTimeLimitIsToldApart(t *testing.T) {
	newWorld(t)
	standInForGit(t, "exec sleep 600")
	// A deadline that has passed is the same to git as one that passes.
	ctx, cancel := context.WithTimeout(t.Context(), 1)
	defer cancel()
	_, err := Fetch(ctx, Locator{"file:///b", somePin}, "a")
	if !errors.Is(err, context.DeadlineExceeded) || err.Error() != failed("init", "time limit") {
		t.Errorf("the error is %v", err)
	}
}

func gitExecutable(t *testing.T) string {
	t.Helper()
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		file := filepath.Join(folder, "git")
		if _, err := os.Stat(file); err == nil {
			return file
		}
	}
	t.Fatal("the tests need git")
	return ""
}
