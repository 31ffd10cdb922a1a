//go:build linux

package sandbox

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFoldersThatLeadOutAreRefused has case 175 of the specification among them.
func TestFoldersThatLeadOutAreRefused(t *testing.T) {
	needBackend(t)
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	do := func(t *testing.T, errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		name string
		make func(t *testing.T, s *Spec)
		want string // in the refusal; empty: it runs
	}{
		{"a plain folder", func(t *testing.T, s *Spec) {}, ""},
		{"a symbolic link", func(t *testing.T, s *Spec) { do(t, os.Symlink(outside, filepath.Join(s.Work, "notes"))) }, "notes in the work folder is a symbolic link"},
		{"a folder above it is one", func(t *testing.T, s *Spec) {
			do(t, os.Symlink(outside, filepath.Join(s.Work, "a")))
			s.Write = []string{"a/b"}
		}, "a in the work folder is a symbolic link"},
		{"a link that stays inside", func(t *testing.T, s *Spec) {
			do(t, os.Mkdir(filepath.Join(s.Work, "b"), 0o700), os.Symlink("b", filepath.Join(s.Work, "notes")))
		}, "symbolic link"},
		{"a file", func(t *testing.T, s *Spec) { do(t, os.WriteFile(filepath.Join(s.Work, "notes"), nil, 0o600)) }, "no folder"},
		{"a link inside it leads nowhere that can be written", func(t *testing.T, s *Spec) {
			do(t, os.Mkdir(filepath.Join(s.Work, "notes"), 0o700), os.Symlink(outside, filepath.Join(s.Work, "notes", "a")))
		}, ""},
		{"above the work folder", func(t *testing.T, s *Spec) { s.Write = []string{"../a"} }, "plain name"},
		{"an absolute path", func(t *testing.T, s *Spec) { s.Write = []string{outside} }, "plain name"},
		{"an unclean path", func(t *testing.T, s *Spec) { s.Write = []string{"a/../b"} }, "plain name"},
		{"a hard link to a file outside", func(t *testing.T, s *Spec) {
			do(t, os.Mkdir(filepath.Join(s.Work, "notes"), 0o700), os.Link(filepath.Join(outside, "file"), filepath.Join(s.Work, "notes", "a")))
		}, "hard link"},
		{"a hard link among its own", func(t *testing.T, s *Spec) {
			notes := filepath.Join(s.Work, "notes")
			do(t, os.Mkdir(notes, 0o700), os.WriteFile(filepath.Join(notes, "a"), nil, 0o600), os.Link(filepath.Join(notes, "a"), filepath.Join(notes, "b")))
		}, ""},
		{"a FIFO inside", func(t *testing.T, s *Spec) {
			do(t, os.Mkdir(filepath.Join(s.Work, "notes"), 0o700), syscall.Mkfifo(filepath.Join(s.Work, "notes", "a"), 0o600))
		}, "socket, FIFO or device"},
		{"a FIFO beside it", func(t *testing.T, s *Spec) { do(t, syscall.Mkfifo(filepath.Join(s.Work, "a"), 0o600)) }, "socket, FIFO or device"},
		{"a socket beside it", func(t *testing.T, s *Spec) {
			l, err := net.Listen("unix", filepath.Join(s.Work, "s"))
			do(t, err)
			t.Cleanup(func() { _ = l.Close() })
		}, "socket, FIFO or device"},
		{"something more to see that is a device", func(t *testing.T, s *Spec) { s.Read = append(s.Read, Root{Host: "/dev/null", At: "/a"}) }, "no file or folder"},
		{"something more to see that is not there", func(t *testing.T, s *Spec) { s.Read = append(s.Read, Root{Host: outside + "/none"}) }, "cannot be opened"},
		{"the root", func(t *testing.T, s *Spec) { s.Work = "/" }, "which no program gets"},
		{"a folder of everybody", func(t *testing.T, s *Spec) { s.Work = "/tmp" }, "which no program gets"},
		{"the home folder", func(t *testing.T, s *Spec) { s.Home = s.Work }, "which no program gets"},
		{"above the home folder", func(t *testing.T, s *Spec) { s.Home = filepath.Join(s.Work, "me"); do(t, os.Mkdir(s.Home, 0o700)) }, "which no program gets"},
		{"in the home folder", func(t *testing.T, s *Spec) { s.Home = filepath.Dir(s.Work) }, ""},
		{"a work folder that is relative", func(t *testing.T, s *Spec) { s.Work = "." }, "not absolute"},
		{"a work folder that is not there", func(t *testing.T, s *Spec) { s.Work += "/none" }, "cannot be reached"},
		{"a work folder behind a link", func(t *testing.T, s *Spec) {
			link := filepath.Join(t.TempDir(), "link")
			do(t, os.Symlink(s.Work, link))
			s.Work = link
		}, ""},
		{"a program that is not to be seen", func(t *testing.T, s *Spec) { s.Command.Path = "/root/program" }, "is not in its sandbox"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := spec(t, "exit", "0")
			tc.make(t, &s)
			_, applied, err := Run(t.Context(), s)
			if tc.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			r, ok := errors.AsType[*Refusal](err)
			if !ok || r.Code != ScopeInvalid || !strings.Contains(r.Detail, tc.want) || applied.Namespaces != nil {
				t.Errorf("%v, want %s", err, tc.want)
			}
		})
	}
}

// fake writes a program that stands in for bubblewrap: shell text with the real one as its last word.
func fake(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bwrap")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFolderThatIsExchangedMeanwhileIsNotMounted: the exchange is made when all checks are done and
// bubblewrap has not begun.
func TestFolderThatIsExchangedMeanwhileIsNotMounted(t *testing.T) {
	needBackend(t)
	for _, tc := range []struct{ name, exchange string }{
		{"for a symbolic link", "mv notes old; ln -s OUTSIDE notes"},
		{"for a symbolic link to what is in the sandbox too", "mv notes old; ln -s /tmp notes"},
		{"for a symbolic link to a device of the sandbox", "mv notes old; ln -s /dev/shm notes"},
		{"for another folder", "mv notes old; mkdir notes; touch notes/other"},
		{"for one with a link in it", "mv notes old; mkdir notes; ln -s OUTSIDE notes/a"},
		{"the work folder itself", "cd ..; mv WORK WORK.old; ln -s OUTSIDE WORK"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			outside := t.TempDir()
			s := spec(t, "write", "notes/a", "a")
			text := strings.NewReplacer("WORK", s.Work, "OUTSIDE", outside).Replace("(cd WORK; " + tc.exchange + ") || exit 1\nexec " + Backend + ` "$@"`)
			s.Bwrap = fake(t, text)
			got, _, err := Run(t.Context(), s)
			// What the name led to when it was checked may have been written, nothing else.
			if err == nil && !strings.HasPrefix(string(got.Stdout), "notes/a: ok\na: open a: read-only") {
				t.Errorf("%q %q", got.Stdout, got.Stderr)
			}
			entries, listErr := os.ReadDir(outside)
			if listErr != nil || len(entries) > 0 {
				t.Errorf("%v was written outside (%v; %v)", entries, listErr, err)
			}
		})
	}
}

// TestDifferenceIsNoRun: a bubblewrap that does not do as it is told starts nothing.
func TestDifferenceIsNoRun(t *testing.T) {
	needBackend(t)
	for _, tc := range []struct{ name, drop, want string }{
		{"the network stays", "--unshare-net", `"net", was asked`},
		{"the host's queues stay", "--unshare-ipc", `"ipc", was asked`},
		{"the writable folder is not mounted", "--bind-fd", `"write": []`},
		{"the program's own file is another", "--ro-bind-fd", "is not the folder"},
		{"the writable folder is another", "exchange", "is not the folder"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := spec(t, "write", "notes/a")
			// Takes an option away, or mounts /usr/share in place of a folder that was handed over.
			text := `n=$#; drop=` + tc.drop + `; done=
while [ $n -gt 0 ]; do a=$1; shift; n=$((n-1))
  case $drop$done:$a in
    exchange:--bind-fd) set -- "$@" --bind /usr/share "$2"; skip=2;;
    --ro-bind-fd:--ro-bind-fd) done=yes; set -- "$@" --ro-bind /etc/passwd; skip=1;;
    --bind-fd:--bind-fd) skip=2;;
    "$drop:$drop") skip=0;;
    *) set -- "$@" "$a"; continue;;
  esac
  while [ $skip -gt 0 ]; do skip=$((skip-1)); shift; n=$((n-1)); done
done
exec ` + Backend + ` "$@"`
			s.Bwrap = fake(t, text)
			_, applied, err := Run(t.Context(), s)
			if err == nil || !strings.Contains(err.Error(), tc.want) || applied.Namespaces != nil {
				t.Errorf("%+v (%v), want %s", applied, err, tc.want)
			}
			if _, statErr := os.Stat(filepath.Join(s.Work, "notes", "a")); statErr == nil {
				t.Error("the program was started")
			}
		})
	}
}

// TestRefusalsNameWhatIsMissing has case 173 of the specification.
func TestRefusalsNameWhatIsMissing(t *testing.T) {
	for _, tc := range []struct {
		name, text string // of a bubblewrap; empty: none
		want       Code
	}{
		{"none", "", BackendMissing},
		{"too old", "echo 'bwrap: Unknown option --ro-bind-fd' >&2; exit 1", BackendMissing},
		{"no namespaces", "echo 'bwrap: No permissions to create a new namespace, likely because the kernel does not allow it.' >&2; exit 1", NamespacesUnavailable},
		{"no map of users", "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1", NamespacesUnavailable},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := spec(t, "exit", "0")
			s.Bwrap = filepath.Join(t.TempDir(), "none")
			if tc.text != "" {
				s.Bwrap = fake(t, tc.text)
			}
			_, err := Check(t.Context(), s)
			if r, ok := errors.AsType[*Refusal](err); !ok || r.Code != tc.want {
				t.Errorf("%v, want %s", err, tc.want)
			}
		})
	}
}

// TestKernelWithoutNamespacesIsRefused asks the kernel where it gives none: in a sandbox.
func TestKernelWithoutNamespacesIsRefused(t *testing.T) {
	needBackend(t)
	s := spec(t, "--unshare-user", "--ro-bind", "/usr", "/usr", "/usr/bin/true")
	s.Command.Path = Backend
	got, _, err := Run(t.Context(), s)
	if err != nil || got.ExitCode == 0 {
		t.Fatalf("the test is void: %+v (%v)", got, err)
	}
	if r, ok := errors.AsType[*Refusal](setupError(string(got.Stderr))); !ok || r.Code != NamespacesUnavailable {
		t.Errorf("%s is no refusal", got.Stderr)
	}
}
