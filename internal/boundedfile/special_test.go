//go:build unix

package boundedfile_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/loomrun/loom/internal/boundedfile"
)

// Cases 1, 2 and 23: none of these hangs. Nobody ever writes to the FIFO.
func TestReadRefusesAtOnceWhatIsNoRegularFile(t *testing.T) {
	folder := t.TempDir()
	fifo := filepath.Join(folder, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	// The path of a socket has room for some hundred bytes only.
	short, err := os.MkdirTemp("", "loom")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(short)
	socket := filepath.Join(short, "socket")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	link := filepath.Join(folder, "link")
	if err := os.Symlink(fifo, link); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, path string }{
		{"a FIFO", fifo},
		{"a link to a FIFO", link},
		{"a folder", folder},
		{"a socket", socket},
		{"an endless device", "/dev/zero"},
		{"an empty device", "/dev/null"},
	} {
		data, err := boundedfile.Read(tc.path, boundedfile.MiB)
		if !errors.Is(err, boundedfile.ErrNotRegular) || err.Error() != tc.path+" is not a regular file" || data != nil {
			t.Errorf("%s: %q, %v", tc.name, data, err)
		}
	}
}

func TestReadFollowsASymbolicLink(t *testing.T) {
	folder := t.TempDir()
	file, link, dangling := filepath.Join(folder, "file"), filepath.Join(folder, "link"), filepath.Join(folder, "dangling")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, target := range map[string]string{link: file, dangling: filepath.Join(folder, "none")} {
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
	}
	if data, err := boundedfile.Read(link, 4); err != nil || string(data) != "text" {
		t.Errorf("a link to a file: %q, %v", data, err)
	}
	if _, err := boundedfile.Read(dangling, 4); !errors.Is(err, fs.ErrNotExist) || err.Error() != "open "+dangling+": no such file or directory" {
		t.Errorf("a link to nothing: %v", err)
	}
}

func TestReadSaysWhatMayNotBeRead(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read every file")
	}
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte("text"), 0o200); err != nil {
		t.Fatal(err)
	}
	if _, err := boundedfile.Read(path, 4); !errors.Is(err, fs.ErrPermission) || err.Error() != "open "+path+": permission denied" {
		t.Errorf("got %v", err)
	}
}

func TestReadFromAFolderSaysSo(t *testing.T) {
	folder, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if _, err := boundedfile.ReadFrom(folder, "standard input", 4); !errors.Is(err, syscall.EISDIR) || err.Error() != "read standard input: is a directory" {
		t.Errorf("got %v", err)
	}
}

// ReadDirect takes a path through a link, and none that ends in one.
func TestReadDirectDoesNotFollowASymbolicLink(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := errors.Join(
		os.WriteFile(file, []byte("content"), 0o644),
		os.Symlink("file", filepath.Join(dir, "link")),
		os.Symlink("nowhere", filepath.Join(dir, "dangling")),
		os.Symlink(".", filepath.Join(dir, "here")),
	); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{
		"file":      nil,
		"here/file": nil,
		"link":      boundedfile.ErrSymbolicLink,
		"dangling":  boundedfile.ErrSymbolicLink,
		".":         boundedfile.ErrNotRegular,
		"nowhere":   os.ErrNotExist,
	} {
		got, err := boundedfile.ReadDirect(filepath.Join(dir, name), boundedfile.MiB)
		if !errors.Is(err, want) || (want == nil) != (string(got) == "content") {
			t.Errorf("%s: %q, %v, want %v", name, got, err, want)
		}
	}
	if _, err := boundedfile.ReadDirect(file, 6); !errors.Is(err, boundedfile.ErrTooLarge) {
		t.Error(err)
	}
}
