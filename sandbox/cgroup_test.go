//go:build linux

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/loomrun/loom/internal/process"
)

func TestOwnControlGroupAndThoseAbove(t *testing.T) {
	const (
		hybrid = "9:name=systemd:/\n8:pids:/a\n4:memory:/m\n0::/\n"
		mounts = "39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
		pure   = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
		bound  = "30 23 0:26 /docker/x /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"
	)
	for _, tc := range []struct {
		name, own, mounts, controller, kind string
		want                                []string
	}{
		{"version 2 alone", "0::/user.slice/u\n", pure, "", "cgroup2", []string{"/sys/fs/cgroup/user.slice/u", "/sys/fs/cgroup/user.slice", "/sys/fs/cgroup"}},
		{"version 2 beside 1", hybrid, mounts, "", "cgroup2", []string{"/sys/fs/cgroup/unified"}},
		{"version 1", hybrid, mounts, "pids", "cgroup", []string{"/sys/fs/cgroup/pids/a", "/sys/fs/cgroup/pids"}},
		{"a part of the tree", "0::/docker/x/y\n", bound, "", "cgroup2", []string{"/sys/fs/cgroup/y", "/sys/fs/cgroup"}},
		{"a group that is not shown", "0::/other\n", bound, "", "cgroup2", nil},
		{"none", "", "", "", "cgroup2", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := ownAndAbove(tc.own, tc.mounts, tc.controller, tc.kind); !slices.Equal(got, tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// TestControlGroupThatDoesNotServeIsRefused is case 174 of the specification, as far as it is about the
// group.
func TestControlGroupThatDoesNotServeIsRefused(t *testing.T) {
	for _, tc := range []struct {
		name  string
		files map[string]string
	}{
		{"no control group", nil},
		{"one with processes", map[string]string{"cgroup.procs": "1\n", "cgroup.controllers": "memory pids\n"}},
		{"one without controllers", map[string]string{"cgroup.procs": "", "cgroup.controllers": "hugetlb\n"}},
		{"one that takes none", map[string]string{"cgroup.procs": "", "cgroup.controllers": "cpu memory pids\n"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := spec(t, "exit", "0")
			s.CgroupRoot = t.TempDir()
			for name, text := range tc.files {
				if err := os.WriteFile(filepath.Join(s.CgroupRoot, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := newLimiter(s); err == nil {
				t.Fatal("it served")
			} else if r, ok := errors.AsType[*Refusal](err); !ok || r.Code != CgroupUndelegated {
				t.Errorf("%v is another refusal", err)
			}
		})
	}
}

// TestControlGroupEndsWhatIsLeft needs a control group (v2) that we may make groups in, whatever it
// limits.
func TestControlGroupEndsWhatIsLeft(t *testing.T) {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	g := &cgroup{}
	for _, parent := range ownAndAbove(string(own), string(mounts), "", "cgroup2") {
		if g.path, err = newFolder(parent); err == nil {
			break
		}
	}
	if g.path == "" {
		t.Skip("no control group here that we may make another in")
	}
	if g.folder, err = os.Open(g.path); err != nil {
		t.Fatal(err)
	}
	mark := filepath.Join(t.TempDir(), "hidden")
	c := process.Command{Path: probe, Args: []string{"hide", mark, mark}, Cgroup: g.folder, MaxStderr: 100}
	c.Started = func(pid int) error {
		if err := g.take(pid); err != nil {
			t.Error(err)
		}
		if err := g.take(os.Getpid()); err == nil {
			t.Error("we are in the group too")
		}
		for {
			if _, err := os.Stat(mark); err == nil {
				return errors.New("it hides")
			}
		}
	}
	if _, err := process.Run(t.Context(), c); err == nil || err.Error() != "it hides" {
		t.Error(err)
	}
	if alive(t, mark) == 0 {
		t.Error("the test is void: nothing hides")
	}
	if err := g.remove(); err != nil {
		t.Error(err)
	}
	if n := alive(t, mark); n > 0 {
		t.Errorf("%d processes are alive still", n)
	}
}

func TestGroupsOfDeadProcessesAreRemoved(t *testing.T) {
	parent := t.TempDir()
	dead := exec.Command("/bin/true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	stale := fmt.Sprintf("loom-%d-1", dead.Process.Pid)
	kept := []string{fmt.Sprintf("loom-%d-1", os.Getppid()), "loom-x-1", "other"}
	for _, name := range append(kept, stale) {
		if err := os.Mkdir(filepath.Join(parent, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	made, err := newFolder(parent)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := append(kept, filepath.Base(made))
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("%q are left, want %q", names, want)
	}
}
