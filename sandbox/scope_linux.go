package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	pathOnly = 0x200000 // O_PATH: names a file without opening it
	// maxEntries is how many files and folders a work folder may have; more would make the check slow.
	maxEntries = 1_000_000
	// maxDepth is how deep folders may be nested in it.
	maxDepth = 256
	// entriesAtOnce is how many names of a folder are read at once.
	entriesAtOnce = 1024
)

// folder is an open folder that a sandbox is made from: whatever is renamed afterwards, it is this one
// that is mounted.
type folder struct {
	file *os.File
	path string // where it was
	at   string // where the program finds it
}

// identity is the device and inode of a file.
type identity struct{ device, inode uint64 }

func identify(fd int) (identity, error) {
	var s syscall.Stat_t
	err := syscall.Fstat(fd, &s)
	return identity{uint64(s.Dev), s.Ino}, err
}

// opaque are the folders that a program never gets as its work folder, because they hold what belongs to
// others; what lies in one of them may be.
var opaque = []string{"/boot", "/dev", "/etc", "/home", "/mnt", "/media", "/opt", "/proc", "/root", "/run", "/srv", "/sys", "/tmp", "/usr", "/var", "/var/tmp"}

// unreal are folders that nothing in them is a file of.
var unreal = []string{"/dev", "/proc", "/sys"}

// within reports whether path is folder or lies in it. Both are clean and absolute.
func within(path, folder string) bool {
	return path == folder || folder == "/" || strings.HasPrefix(path, folder+"/")
}

// openWork opens the work folder and refuses one that is not a person's to give.
func openWork(s Spec) (folder, error) {
	if !filepath.IsAbs(s.Work) {
		return folder{}, refuse(ScopeInvalid, "the work folder %q is not absolute", s.Work)
	}
	// Links above it are followed: it is where the person is.
	path, err := filepath.EvalSymlinks(s.Work)
	if err != nil {
		return folder{}, refuse(ScopeInvalid, "the work folder cannot be reached: %v", err)
	}
	for _, o := range opaque {
		if within(o, path) {
			return folder{}, refuse(ScopeInvalid, "the work folder %s holds %s, which no program gets; run in a folder of its own", path, o)
		}
	}
	for _, u := range unreal {
		if within(path, u) {
			return folder{}, refuse(ScopeInvalid, "the work folder %s lies in %s", path, u)
		}
	}
	if s.Home != "" {
		home, err := filepath.EvalSymlinks(s.Home)
		if err == nil && within(home, path) {
			return folder{}, refuse(ScopeInvalid, "the work folder %s is or holds the home folder, which no program gets; run in a folder of its own", path)
		}
	}
	fd, err := openAt(-1, path, syscall.O_DIRECTORY|syscall.O_NOFOLLOW|pathOnly)
	if err != nil {
		return folder{}, refuse(ScopeInvalid, "the work folder %s cannot be opened: %v", path, err)
	}
	at := path
	if s.At != "" {
		at = s.At
	}
	return folder{os.NewFile(uintptr(fd), path), path, at}, nil
}

// openAt opens a file relative to a folder; a negative one stands for none.
func openAt(in int, name string, flags int) (int, error) {
	for {
		fd, err := syscall.Openat(in, name, flags|syscall.O_CLOEXEC, 0)
		if !errors.Is(err, syscall.EINTR) {
			return fd, err
		}
	}
}

// openWritable opens a folder below work, name by name, so that no symbolic link is ever followed, and
// makes what is missing.
func openWritable(work folder, relative string) (folder, error) {
	if !filepath.IsLocal(relative) || filepath.Clean(relative) != relative {
		return folder{}, refuse(ScopeInvalid, "%q is not the plain name of a folder in the work folder", relative)
	}
	const flags = syscall.O_DIRECTORY | syscall.O_NOFOLLOW | pathOnly
	fd, err := openAt(int(work.file.Fd()), ".", flags)
	if err != nil {
		return folder{}, refuse(ScopeInvalid, "the work folder cannot be opened: %v", err)
	}
	done := ""
	for name := range strings.SplitSeq(relative, "/") {
		done = filepath.Join(done, name)
		next, err := openAt(fd, name, flags)
		if errors.Is(err, fs.ErrNotExist) {
			if err = syscall.Mkdirat(fd, name, 0o700); err == nil || errors.Is(err, fs.ErrExist) {
				next, err = openAt(fd, name, flags)
			}
		}
		_ = syscall.Close(fd)
		if err != nil {
			if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENOTDIR) {
				return folder{}, refuse(ScopeInvalid, "%s in the work folder is a symbolic link or no folder", done)
			}
			return folder{}, refuse(ScopeInvalid, "%s in the work folder cannot be opened: %v", done, err)
		}
		fd = next
	}
	return folder{os.NewFile(uintptr(fd), relative), filepath.Join(work.path, relative), filepath.Join(work.at, relative)}, nil
}

// openRead opens a file or folder to be seen, and refuses what else has a path.
func openRead(r Root) (folder, error) {
	at := r.At
	if at == "" {
		at = r.Host
	}
	if !filepath.IsAbs(r.Host) || !filepath.IsAbs(at) || filepath.Clean(at) != at {
		return folder{}, refuse(ScopeInvalid, "what a program may read needs absolute plain paths, not %q at %q", r.Host, at)
	}
	fd, err := openAt(-1, r.Host, pathOnly)
	if err != nil {
		return folder{}, refuse(ScopeInvalid, "%s cannot be opened: %v", r.Host, err)
	}
	f := folder{os.NewFile(uintptr(fd), r.Host), r.Host, at}
	info, err := f.file.Stat()
	switch {
	case err == nil && info.IsDir():
		err = inspect(f, false)
	case err == nil && !info.Mode().IsRegular():
		err = refuse(ScopeInvalid, "%s is no file or folder", r.Host)
	}
	if err != nil {
		_ = f.file.Close()
		return folder{}, err
	}
	return f, nil
}
