package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// systemFolders are the programs and libraries of the system. Where one is a symbolic link it is one in
// the sandbox too.
var systemFolders = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"}

// configuration is what programs commonly read of /etc, and nothing that any of them keeps secret. A
// list of what may be seen, since a list of what may not is never whole; and a short one, since each
// takes time to mount.
var configuration = []string{
	"alternatives", "crypto-policies", "fonts", "group", "hosts", "java-*", "ld.so.cache", "localtime", "mime.types", "nsswitch.conf",
	"passwd", "pki/ca-trust", "pki/tls/cert.pem", "pki/tls/certs", "ssl/cert.pem", "ssl/certs", "ssl/openssl.cnf", "timezone",
}

// networkConfiguration is what a program reads of /etc to find others.
var networkConfiguration = []string{"gai.conf", "host.conf", "protocols", "resolv.conf", "services"}

// scratchFolders are empty, writable and in memory.
var scratchFolders = []string{"/dev/shm", "/tmp"}

// devices are the nodes that bubblewrap puts into /dev.
var devices = []string{"/dev/full", "/dev/null", "/dev/pts", "/dev/random", "/dev/tty", "/dev/urandom", "/dev/zero"}

// layout is the file system of one sandbox.
type layout struct {
	system []string // bound at their own places
	links  [][2]string
	reads  []folder
	work   folder
	writes []folder // below work, or work itself
}

// prepare opens everything that the program gets of the person's, and looks through it.
func prepare(s Spec) (_ *layout, err error) {
	l := &layout{}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	if s.At != "" && (!filepath.IsAbs(s.At) || filepath.Clean(s.At) != s.At || s.At == "/") {
		return l, refuse(ScopeInvalid, "%q is no place for a work folder", s.At)
	}
	if l.work, err = openWork(s); err != nil {
		return l, err
	}
	// Sorted, a folder stands before what lies in it.
	for _, name := range slices.Sorted(slices.Values(s.Write)) {
		if slices.ContainsFunc(l.writes, func(f folder) bool { return within(filepath.Join(l.work.at, name), f.at) }) {
			continue
		}
		w, err := openWritable(l.work, name)
		if err != nil {
			return l, err
		}
		l.writes = append(l.writes, w)
		if err := inspect(w, true); err != nil {
			return l, err
		}
	}
	if err := inspect(l.work, false); err != nil {
		return l, err
	}
	l.findSystem(s.Network)
	for _, r := range s.Read {
		f, err := openRead(r)
		if err != nil {
			return l, err
		}
		l.reads = append(l.reads, f)
	}
	l.reads = slices.DeleteFunc(l.reads, func(f folder) bool {
		seen := within(f.at, l.work.at) || slices.ContainsFunc(l.system, func(s string) bool { return within(f.at, s) })
		if seen { // as it is, where it is
			_ = f.file.Close()
		}
		return seen
	})
	return l, nil
}

// findSystem lists what this machine has of the system.
func (l *layout) findSystem(network bool) {
	for _, path := range systemFolders {
		if target, err := os.Readlink(path); err == nil {
			l.links = append(l.links, [2]string{target, path})
		} else if _, err := os.Stat(path); err == nil {
			l.system = append(l.system, path)
		}
	}
	names := configuration
	if network {
		names = slices.Concat(configuration, networkConfiguration)
	}
	for _, name := range names {
		found, _ := filepath.Glob("/etc/" + name)
		for _, path := range found {
			if _, err := os.Stat(path); err == nil { // no link to nowhere
				l.system = append(l.system, path)
			}
		}
	}
}

func (l *layout) close() {
	for _, f := range l.given() {
		_ = f.file.Close()
	}
}

// given are the folders that are handed over open, in the order of their descriptors.
func (l *layout) given() []folder {
	all := slices.Clone(l.reads)
	if l.work.file != nil {
		all = append(all, l.work)
	}
	return append(all, l.writes...)
}

// files are the open files of what is given.
func (l *layout) files() []*os.File {
	var files []*os.File
	for _, f := range l.given() {
		files = append(files, f.file)
	}
	return files
}

// arguments are the options of bubblewrap for this layout; first is the descriptor of the first file.
// Each mount covers what stood at its place.
func (l *layout) arguments(first int) []string {
	var args []string
	for _, path := range l.system {
		args = append(args, "--ro-bind", path, path)
	}
	for _, link := range l.links {
		args = append(args, "--symlink", link[0], link[1])
	}
	args = append(args, "--proc", "/proc", "--dev", "/dev")
	for _, path := range scratchFolders {
		args = append(args, "--size", strconv.Itoa(scratchSize), "--perms", "1777", "--tmpfs", path)
	}
	for i, f := range l.given() {
		how := "--ro-bind-fd"
		if i > len(l.reads) {
			how = "--bind-fd"
		}
		args = append(args, how, strconv.Itoa(first+i), f.at)
	}
	// The tree of proc(5) has switches of the kernel that belong to user 0, whoever holds no capability.
	return append(args, "--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/")
}

// asked is the part of Applied that this layout should come out as.
func (l *layout) asked() Applied {
	var a Applied
	for _, path := range scratchFolders {
		a.Scratch = append(a.Scratch, Scratch{path, scratchSize})
	}
	a.Read = slices.Clone(l.system)
	for _, f := range l.reads {
		a.Read = append(a.Read, f.at)
	}
	for _, f := range l.writes {
		a.Write = append(a.Write, f.at)
	}
	a.Read = outermost(append(a.Read, l.work.at))
	slices.Sort(a.Write)
	return a
}

// outermost sorts paths and leaves out those that lie in another.
func outermost(paths []string) []string {
	slices.SortFunc(paths, func(a, b string) int { return strings.Compare(a+"/", b+"/") })
	var out []string
	for _, p := range paths {
		if n := len(out); n == 0 || !within(p, out[n-1]) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}
