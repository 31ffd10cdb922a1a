package sandbox

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// search looks through a folder for what would lead a program out of it.
type search struct {
	device  uint64
	entries int
	// links counts the names found for each file that has several; nil where files are not looked at.
	links map[identity]*linked
}

type linked struct {
	name         string
	found, exist uint64
}

// inspect refuses a folder that has sockets, FIFOs or devices in it, at any depth. Where it may be
// written, it also refuses another file system mounted in it and a file that has a name outside.
func inspect(f folder, writable bool) error {
	id, err := identify(int(f.file.Fd()))
	if err != nil {
		return refuse(ScopeInvalid, "%s cannot be looked at: %v", f.path, err)
	}
	s := search{device: id.device}
	if writable {
		s.links = map[identity]*linked{}
	}
	if err := s.folder(int(f.file.Fd()), ".", f.path, 0); err != nil {
		return err
	}
	for _, l := range s.links {
		if l.found < l.exist {
			return refuse(ScopeInvalid, "%s is a hard link to a file that also has a name outside the folder", l.name)
		}
	}
	return nil
}

// folder looks through one folder, which is the entry name of the folder in. One that may neither be
// read nor entered is passed over: the program has the same rights.
func (s *search) folder(in int, name, path string, depth int) error {
	if depth > maxDepth {
		return refuse(ScopeInvalid, "%s lies more than %d folders deep", path, maxDepth)
	}
	fd, err := openAt(in, name, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK)
	if err != nil {
		const search = 1 // X_OK
		if errors.Is(err, fs.ErrNotExist) || s.links == nil && errors.Is(err, fs.ErrPermission) && syscall.Faccessat(in, name, search, 0) != nil {
			return nil
		}
		return refuse(ScopeInvalid, "%s cannot be looked through: %v", path, err)
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	if id, err := identify(fd); err != nil || s.links != nil && id.device != s.device {
		return refuse(ScopeInvalid, "%s is on another file system than the writable folder it lies in", path)
	}
	for {
		entries, err := f.ReadDir(entriesAtOnce)
		for _, e := range entries {
			if err := s.entry(fd, e, filepath.Join(path, e.Name()), depth); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return refuse(ScopeInvalid, "%s cannot be looked through: %v", path, err)
		}
	}
}

// entry judges one entry by its type, which comes with its name.
func (s *search) entry(in int, e fs.DirEntry, path string, depth int) error {
	if s.entries++; s.entries > maxEntries {
		return refuse(ScopeInvalid, "the folder has more than %d entries, too many to look through; run in a smaller one", maxEntries)
	}
	switch {
	case e.IsDir():
		return s.folder(in, e.Name(), path, depth+1)
	case e.Type()&(fs.ModeSocket|fs.ModeNamedPipe|fs.ModeDevice) != 0:
		return refuse(ScopeInvalid, "%s is a socket, FIFO or device, by which a program would reach out of its sandbox", path)
	case e.Type().IsRegular() && s.links != nil:
		return s.file(in, e.Name(), path)
	}
	return nil
}

// file counts the names of a file that has several.
func (s *search) file(in int, name, path string) error {
	fd, err := openAt(in, name, syscall.O_NOFOLLOW|pathOnly)
	if err != nil {
		return nil // it is gone
	}
	defer syscall.Close(fd)
	var stat syscall.Stat_t
	if err := syscall.Fstat(fd, &stat); err != nil {
		return refuse(ScopeInvalid, "%s cannot be looked at: %v", path, err)
	}
	if stat.Nlink > 1 {
		id := identity{uint64(stat.Dev), stat.Ino}
		if s.links[id] == nil {
			s.links[id] = &linked{name: path}
		}
		s.links[id].found++
		s.links[id].exist = uint64(stat.Nlink)
	}
	return nil
}
