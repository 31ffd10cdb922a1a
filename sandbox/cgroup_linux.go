package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/loomrun/loom/internal/boundedfile"
)

// cgroup is a control group made for one program.
type cgroup struct {
	path   string
	folder *os.File // open, so that a program can be born in it; nil for v1
	v1     bool
}

// removeTries and removePause are for a group whose last process is about to be gone.
const (
	removeTries = 200
	removePause = 5 * time.Millisecond
)

// newCgroup makes the group that a program is limited by, or gives nil where resource limits do.
func newCgroup(s Spec) (*cgroup, error) {
	if s.CgroupRoot != "" {
		if why := unfit(s.CgroupRoot); why != "" {
			return nil, refuse(CgroupUndelegated, "%s does not serve: %s", s.CgroupRoot, why)
		}
		return makeCgroup(s.CgroupRoot, s.Limits)
	}
	own, err := boundedfile.Read("/proc/self/cgroup", procLimit)
	if err != nil {
		return nil, fmt.Errorf("read our own control groups: %w", err)
	}
	mounts, err := boundedfile.Read("/proc/self/mountinfo", procLimit)
	if err != nil {
		return nil, fmt.Errorf("read our own file systems: %w", err)
	}
	for _, path := range ownAndAbove(string(own), string(mounts), "", "cgroup2") {
		if unfit(path) == "" {
			return makeCgroup(path, s.Limits)
		}
	}
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, path := range ownAndAbove(string(own), string(mounts), "pids", "cgroup") {
		if g, err := makeCgroupV1(path, s.Limits.Processes); err == nil {
			return g, nil
		}
	}
	return nil, refuse(CgroupUndelegated, "the kernel does not limit the processes of user 0 otherwise; run as another user, or give a delegated control group")
}

// ownAndAbove gives our own control group and those above it, nearest first, as folders. The hierarchy
// is the one with the controller; v2 is the one without a name.
func ownAndAbove(own, mounts, controller, kind string) []string {
	group := ""
	for line := range strings.Lines(own) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(fields) == 3 && slices.Contains(strings.Split(fields[1], ","), controller) {
			group = fields[2]
		}
	}
	root, shown := "", ""
	for line := range strings.Lines(mounts) {
		before, after, _ := strings.Cut(line, " - ")
		place, super := strings.Fields(before), strings.Fields(after)
		if len(place) > 4 && len(super) > 2 && super[0] == kind && (controller == "" || slices.Contains(strings.Split(super[2], ","), controller)) {
			root, shown = unescape(place[4]), unescape(place[3])
		}
	}
	if root == "" || group == "" || !within(group, shown) {
		return nil
	}
	var all []string
	for path := filepath.Join(root, strings.TrimPrefix(group, shown)); within(path, root); path = filepath.Dir(path) {
		all = append(all, path)
	}
	return all
}

// unfit says why no group can be made in a control group (v2), or nothing.
func unfit(path string) string {
	const write = 2 // W_OK
	if err := syscall.Access(filepath.Join(path, "cgroup.procs"), write); err != nil {
		return "cgroup.procs is not ours to write (" + err.Error() + ")"
	}
	members, err := boundedfile.Read(filepath.Join(path, "cgroup.procs"), procLimit)
	if err != nil {
		return err.Error()
	}
	if len(members) > 0 {
		return "it has processes of its own"
	}
	controllers, err := boundedfile.Read(filepath.Join(path, "cgroup.controllers"), procLimit)
	if err != nil {
		return err.Error()
	}
	for _, c := range []string{"memory", "pids"} {
		if !slices.Contains(strings.Fields(string(controllers)), c) {
			return "it has no " + c + " controller"
		}
	}
	return ""
}

// makeCgroup makes a group with limits in a control group (v2) that serves.
func makeCgroup(parent string, l Limits) (*cgroup, error) {
	if err := set(parent, "cgroup.subtree_control", "+memory +pids"); err != nil {
		return nil, refuse(CgroupUndelegated, "%s does not serve: %v", parent, err)
	}
	path, err := newFolder(parent)
	if err != nil {
		return nil, refuse(CgroupUndelegated, "%s does not serve: %v", parent, err)
	}
	g := &cgroup{path: path}
	for _, file := range [][2]string{
		{"memory.max", strconv.FormatInt(l.Memory, 10)},
		{"memory.swap.max", "0"},
		{"memory.oom.group", "1"},
		{"pids.max", strconv.Itoa(l.Processes)},
	} {
		err := set(path, file[0], file[1])
		if errors.Is(err, fs.ErrNotExist) && file[0] == "memory.swap.max" {
			continue // a kernel without swap
		}
		if err != nil {
			return nil, errors.Join(refuse(CgroupUndelegated, "%s cannot be set up: %v", path, err), g.remove())
		}
	}
	fd, err := openAt(-1, path, syscall.O_RDONLY|syscall.O_DIRECTORY)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the control group: %w", err), g.remove())
	}
	g.folder = os.NewFile(uintptr(fd), path)
	return g, nil
}

// makeCgroupV1 makes a group that limits processes and nothing else.
func makeCgroupV1(parent string, processes int) (*cgroup, error) {
	path, err := newFolder(parent)
	if err != nil {
		return nil, err
	}
	g := &cgroup{path: path, v1: true}
	if err := set(path, "pids.max", strconv.Itoa(processes)); err != nil {
		return nil, errors.Join(err, g.remove())
	}
	return g, nil
}

// folderPrefix begins the names of our groups; the id of the process that made one follows.
const folderPrefix = "loom-"

// newFolder makes a group, and removes those of processes that were killed before they could. Only an
// empty group can be removed.
func newFolder(parent string) (string, error) {
	old, _ := filepath.Glob(filepath.Join(parent, folderPrefix+"*"))
	for _, path := range old {
		maker, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(path), folderPrefix), "-")
		pid, err := strconv.Atoi(maker)
		if err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			_ = syscall.Rmdir(path)
		}
	}
	return os.MkdirTemp(parent, folderPrefix+strconv.Itoa(os.Getpid())+"-")
}

// set writes one file of a control group in one piece.
func set(group, name, value string) error {
	fd, err := syscall.Open(filepath.Join(group, name), syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("set %s: %w", name, err)
	}
	defer syscall.Close(fd)
	if _, err := syscall.Write(fd, []byte(value)); err != nil {
		return fmt.Errorf("set %s: %w", name, err)
	}
	return nil
}

// take moves a process into the group, where it was not born there, and makes sure of it.
func (g *cgroup) take(child int) error {
	if g.v1 {
		if err := set(g.path, "cgroup.procs", strconv.Itoa(child)); err != nil {
			return err
		}
	}
	members, err := boundedfile.Read(filepath.Join(g.path, "cgroup.procs"), procLimit)
	if err != nil {
		return fmt.Errorf("read who is in the control group: %w", err)
	}
	if !slices.Contains(strings.Fields(string(members)), strconv.Itoa(child)) {
		return errors.New("the sandbox is not in its control group")
	}
	return nil
}

// limit reads back what was set.
func (g *cgroup) limit(name string) (int64, error) {
	file := map[string]string{"memory": "memory.max", "processes": "pids.max"}[name]
	text, err := boundedfile.Read(filepath.Join(g.path, file), procLimit)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}

// remove kills what is in the group and removes it.
func (g *cgroup) remove() error {
	if g.folder != nil {
		_ = g.folder.Close()
	}
	if !g.v1 {
		_ = set(g.path, "cgroup.kill", "1")
	}
	var err error
	for range removeTries {
		if err = syscall.Rmdir(g.path); !errors.Is(err, syscall.EBUSY) {
			break
		}
		time.Sleep(removePause)
	}
	if err != nil {
		return fmt.Errorf("remove the control group %s: %w", g.path, err)
	}
	return nil
}
