// Package boundedfile reads the files the program takes as configuration or input (DECISIONS D5).
//
// Every such file is opened without blocking, found to be a regular file by its open descriptor,
// and read up to a stated limit, so that a FIFO, a device or an endless file is refused at once.
package boundedfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Reasons that callers branch on.
var (
	// ErrNotRegular means a directory, FIFO, device or socket.
	ErrNotRegular = errors.New("is not a regular file")
	// ErrTooLarge means more bytes than the limit.
	ErrTooLarge = errors.New("exceeds")
	// ErrSymbolicLink means a symbolic link at the end of a path that may not end in one.
	ErrSymbolicLink = errors.New("is a symbolic link")
	// ErrNotPrivate means a private file that somebody else owns, reads or writes.
	ErrNotPrivate = errors.New("is not private; it must belong to you and have mode 0600")
)

// Size prints a limit the way messages name it: whole mebibytes, else bytes.
type Size int64

// MiB is 1,048,576 bytes.
const MiB Size = 1 << 20

// String gives "16 MiB" or "4096 bytes".
func (s Size) String() string {
	if s >= MiB && s%MiB == 0 {
		return fmt.Sprintf("%d MiB", s/MiB)
	}
	return fmt.Sprintf("%d bytes", int64(s))
}

// Read gives the content of the regular file at path, at most limit bytes. A symbolic link is
// followed. Errors name the path and wrap ErrNotRegular, ErrTooLarge, or what the system said.
func Read(path string, limit Size) ([]byte, error) {
	return read(path, limit, 0, func(fs.FileInfo) bool { return true })
}

// ReadDirect is Read for a file whose path may not end in a symbolic link; ErrSymbolicLink says that it
// does.
func ReadDirect(path string, limit Size) ([]byte, error) {
	return read(path, limit, syscall.O_NOFOLLOW, func(fs.FileInfo) bool { return true })
}

// ReadPrivate is Read for a file that holds a secret: it must belong to the user of this process, and
// nobody else may read or write it. A symbolic link at the end of the path is not followed, and it is
// the open file that is judged, not the path. Errors may wrap ErrSymbolicLink and ErrNotPrivate too.
func ReadPrivate(path string, limit Size) ([]byte, error) {
	return read(path, limit, syscall.O_NOFOLLOW, func(info fs.FileInfo) bool {
		const forbidden = (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky) &^ 0o600
		owner, ok := info.Sys().(*syscall.Stat_t)
		return ok && int(owner.Uid) == os.Geteuid() && info.Mode()&forbidden == 0
	})
}

// Open opens the regular file at path for a reader that takes it piece by piece and bounds each: a mailbox of many
// gigabytes. A symbolic link at the end of the path is not followed. Errors are those of [ReadDirect].
func Open(path string) (*os.File, error) {
	return open(path, syscall.O_NOFOLLOW, func(fs.FileInfo) bool { return true })
}

// Head gives the first bytes of the regular file at path, at most limit of them: enough to see what it is. Errors are those of
// [ReadDirect], without ErrTooLarge.
func Head(path string, limit Size) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadFrom(io.LimitReader(f, int64(limit)), path, limit)
}

func read(path string, limit Size, flags int, fit func(fs.FileInfo) bool) ([]byte, error) {
	f, err := open(path, flags, fit)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadFrom(f, path, limit)
}

func open(path string, flags int, fit func(fs.FileInfo) bool) (*os.File, error) {
	// A FIFO opened without O_NONBLOCK would wait for a writer that may never come, and a terminal
	// opened without O_NOCTTY could become the one that controls this process.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY|syscall.O_CLOEXEC|flags, 0)
	switch {
	case errors.Is(err, syscall.ENXIO): // what opening a socket answers
		return nil, fmt.Errorf("%s %w", path, ErrNotRegular)
	case errors.Is(err, syscall.ELOOP) && flags&syscall.O_NOFOLLOW != 0:
		return nil, fmt.Errorf("%s %w", path, ErrSymbolicLink)
	case err != nil:
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s %w", path, ErrNotRegular)
	}
	if err == nil && !fit(info) {
		err = fmt.Errorf("%s %w", path, ErrNotPrivate)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// ReadFrom gives all that r holds, at most limit bytes. Name is what errors call the source.
func ReadFrom(r io.Reader, name string, limit Size) ([]byte, error) {
	// One byte beyond the limit tells a source that ends there from one that goes on.
	data, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err != nil {
		var failed *fs.PathError
		if errors.As(err, &failed) { // it names the source too
			err = failed.Err
		}
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if int64(len(data)) > int64(limit) {
		return nil, fmt.Errorf("%s %w %s", name, ErrTooLarge, limit)
	}
	return data, nil
}
