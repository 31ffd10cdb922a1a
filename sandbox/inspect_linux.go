package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"github.com/loomrun/loom/internal/boundedfile"
)

// namespaceKinds are those of a sandbox, by the names of proc(5).
var namespaceKinds = []string{"cgroup", "ipc", "mnt", "net", "pid", "user", "uts"}

// procLimit is how much of one file of proc(5) is read.
const procLimit = 4 * boundedfile.MiB

// observed reads from the first process of a sandbox how it is confined, but for its limits.
func observed(child int) (Applied, error) {
	var a Applied
	for _, kind := range namespaceKinds {
		ours, err := os.Readlink("/proc/self/ns/" + kind)
		if err != nil {
			return a, fmt.Errorf("read our own namespaces: %w", err)
		}
		theirs, err := os.Readlink(proc(child, "ns/"+kind))
		if err != nil {
			return a, fmt.Errorf("read the sandbox's namespaces: %w", err)
		}
		if ours != theirs {
			a.Namespaces = append(a.Namespaces, kind)
		}
	}
	status, err := boundedfile.Read(proc(child, "status"), procLimit)
	if err != nil {
		return a, fmt.Errorf("read the sandbox's rights: %w", err)
	}
	a.Capabilities, a.NewPrivileges = rights(string(status))
	mounts, err := boundedfile.Read(proc(child, "mountinfo"), procLimit)
	if err != nil {
		return a, fmt.Errorf("read the sandbox's file systems: %w", err)
	}
	for line := range strings.Lines(string(mounts)) {
		m, err := parseMount(line)
		if err != nil {
			return a, err
		}
		a.see(m)
	}
	a.Read = outermost(a.Read)
	slices.Sort(a.Write)
	slices.SortFunc(a.Scratch, func(a, b Scratch) int { return strings.Compare(a.At, b.At) })
	return a, nil
}

func proc(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }

// rights reads the status of proc(5): whether a capability is left or can be had, and whether new
// privileges can. What is not there counts as had.
func rights(status string) (capabilities, newPrivileges bool) {
	values := map[string]string{}
	for line := range strings.Lines(status) {
		name, value, _ := strings.Cut(line, ":")
		values[name] = strings.TrimSpace(value)
	}
	for _, name := range []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"} {
		n, err := strconv.ParseUint(values[name], 16, 64)
		capabilities = capabilities || err != nil || n != 0
	}
	return capabilities, values["NoNewPrivs"] != "1"
}

// mount is one line of mountinfo (proc(5)).
type mount struct {
	at, kind string
	readOnly bool
	size     int64 // bytes, of a file system in memory; 0 means no limit or another kind
}

func parseMount(line string) (mount, error) {
	before, after, found := strings.Cut(line, " - ")
	place, super := strings.Fields(before), strings.Fields(after)
	if !found || len(place) < 6 || len(super) < 3 {
		return mount{}, fmt.Errorf("the sandbox's list of file systems has the line %q", line)
	}
	m := mount{at: unescape(place[4]), kind: super[0], readOnly: slices.Contains(strings.Split(place[5], ","), "ro")}
	for option := range strings.SplitSeq(super[2], ",") {
		if kib, ok := strings.CutPrefix(option, "size="); ok {
			n, _ := strconv.ParseInt(strings.TrimSuffix(kib, "k"), 10, 64)
			m.size = n << 10
		}
	}
	return m, nil
}

// unescape undoes the octal escapes of white space and backslashes.
func unescape(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				out.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

// see adds a mount. Bubblewrap's own, which say nothing about the person's files, are known by place,
// kind and mode; whatever else can be written shows as writable.
func (a *Applied) see(m mount) {
	frame := m.at == "/" && m.kind == "tmpfs" || within(m.at, "/proc") && m.kind == "proc" || m.at == "/dev" && m.kind == "tmpfs"
	switch {
	case m.readOnly && frame, slices.Contains(devices, m.at):
	case m.kind == "tmpfs" && slices.Contains(scratchFolders, m.at) && !m.readOnly:
		a.Scratch = append(a.Scratch, Scratch{m.at, m.size})
	case m.readOnly:
		a.Read = append(a.Read, m.at)
	default:
		a.Write = append(a.Write, m.at)
	}
}

// same refuses a sandbox in which something else stands at the place of a folder that was checked.
func same(child int, given []folder) error {
	for _, f := range given {
		want, err := identify(int(f.file.Fd()))
		if err != nil {
			return fmt.Errorf("look at %s: %w", f.path, err)
		}
		fd, err := openIn(child, f.at)
		if err != nil {
			return refuse(ScopeInvalid, "%s is not in the sandbox: %v", f.at, err)
		}
		got, err := identify(fd)
		_ = syscall.Close(fd)
		if err != nil || got != want {
			return refuse(ScopeInvalid, "%s is not the folder in the sandbox that was checked: somebody exchanged it meanwhile", f.path)
		}
	}
	return nil
}

// openIn names a file as the process finds it, symbolic links resolved in its root.
func openIn(child int, path string) (int, error) {
	const (
		openat2 = 437  // the system call, the same number on every architecture
		inRoot  = 0x10 // RESOLVE_IN_ROOT
	)
	root, err := openAt(-1, proc(child, "root"), pathOnly|syscall.O_DIRECTORY)
	if err != nil {
		return -1, err
	}
	defer syscall.Close(root)
	name, err := syscall.BytePtrFromString(filepath.Clean(path))
	if err != nil {
		return -1, err
	}
	how := struct{ flags, mode, resolve uint64 }{flags: pathOnly | syscall.O_CLOEXEC, resolve: inRoot}
	fd, _, errno := syscall.Syscall6(openat2, uintptr(root), uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how), 0, 0)
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}
