package boundedfile_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/loomrun/loom/internal/boundedfile"
)

func TestSizesArePrintedAsMessagesNameThem(t *testing.T) {
	for size, want := range map[boundedfile.Size]string{
		0:                        "0 bytes",
		4096:                     "4096 bytes",
		boundedfile.MiB - 1:      "1048575 bytes",
		boundedfile.MiB:          "1 MiB",
		boundedfile.MiB + 1:      "1048577 bytes",
		16 * boundedfile.MiB:     "16 MiB",
		16*boundedfile.MiB + 512: "16777728 bytes",
	} {
		if got := size.String(); got != want {
			t.Errorf("%d: got %q, want %q", int64(size), got, want)
		}
	}
}

func TestReadTakesExactlyTheLimit(t *testing.T) {
	for _, tc := range []struct {
		name  string
		size  int
		limit boundedfile.Size
		want  string // what the error says behind the path; "" where the file is read
	}{
		{"an empty file", 0, 8, ""},
		{"an empty file, nothing allowed", 0, 0, ""},
		{"a byte, nothing allowed", 1, 0, " exceeds 0 bytes"},
		{"less than the limit", 7, 8, ""},
		{"exactly the limit", 8, 8, ""},
		{"one byte more", 9, 8, " exceeds 8 bytes"},
		{"exactly 2 MiB (case 3)", 2 << 20, 2 * boundedfile.MiB, ""},
		{"2 MiB and a byte (case 3)", 2<<20 + 1, 2 * boundedfile.MiB, " exceeds 2 MiB"},
		{"exactly 16 MiB (1.7, case 22)", 16 << 20, 16 * boundedfile.MiB, ""},
		{"16 MiB and a byte (1.7, case 22)", 16<<20 + 1, 16 * boundedfile.MiB, " exceeds 16 MiB"},
	} {
		path := filepath.Join(t.TempDir(), "file")
		content := bytes.Repeat([]byte("x"), tc.size)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		data, err := boundedfile.Read(path, tc.limit)
		if tc.want == "" {
			if err != nil || !bytes.Equal(data, content) {
				t.Errorf("%s: %d bytes, %v", tc.name, len(data), err)
			}
			continue
		}
		if !errors.Is(err, boundedfile.ErrTooLarge) || err.Error() != path+tc.want || data != nil {
			t.Errorf("%s: %d bytes, %v", tc.name, len(data), err)
		}
	}
}

func TestReadSaysWhatIsMissing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none")
	_, err := boundedfile.Read(path, boundedfile.MiB)
	if !errors.Is(err, fs.ErrNotExist) || err.Error() != "open "+path+": no such file or directory" {
		t.Errorf("got %v", err)
	}
}

func TestReadRefusesAFolder(t *testing.T) {
	folder := t.TempDir()
	_, err := boundedfile.Read(folder, boundedfile.MiB)
	if !errors.Is(err, boundedfile.ErrNotRegular) || err.Error() != folder+" is not a regular file" {
		t.Errorf("got %v", err)
	}
}

func TestReadFromNamesTheSource(t *testing.T) {
	broken := errors.New("wire cut")
	for _, tc := range []struct {
		name   string
		source io.Reader
		limit  boundedfile.Size
		want   string
		is     error
	}{
		{"all of it", strings.NewReader("four"), 4, "", nil},
		{"byte by byte", iotest.OneByteReader(strings.NewReader("four")), 4, "", nil},
		{"too much", strings.NewReader("four"), 3, "standard input exceeds 3 bytes", boundedfile.ErrTooLarge},
		{"without end (case 23)", endless{}, 2 * boundedfile.MiB, "standard input exceeds 2 MiB", boundedfile.ErrTooLarge},
		{"broken", iotest.ErrReader(broken), 4, "read standard input: wire cut", broken},
		{"a file that names itself", iotest.ErrReader(&fs.PathError{Op: "read", Path: "/dev/stdin", Err: broken}), 4, "read standard input: wire cut", broken},
	} {
		data, err := boundedfile.ReadFrom(tc.source, "standard input", tc.limit)
		if tc.is == nil {
			if err != nil || string(data) != "four" {
				t.Errorf("%s: %q, %v", tc.name, data, err)
			}
			continue
		}
		if !errors.Is(err, tc.is) || err.Error() != tc.want || data != nil {
			t.Errorf("%s: %q, %v", tc.name, data, err)
		}
	}
}

// endless is what a device such as /dev/zero is to a reader.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// A file with a secret must be its reader's alone, and be meant by its own name.
func TestReadPrivate(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(file("target", 0o600), link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what, path string
		want       error
	}{
		{"mode 0600", file("a", 0o600), nil},
		{"mode 0400", file("b", 0o400), nil},
		{"readable by the group", file("c", 0o640), boundedfile.ErrNotPrivate},
		{"readable by others", file("d", 0o604), boundedfile.ErrNotPrivate},
		{"executable", file("e", 0o700), boundedfile.ErrNotPrivate},
		{"a symbolic link", link, boundedfile.ErrSymbolicLink},
		{"a folder", dir, boundedfile.ErrNotRegular},
		{"a device", "/dev/zero", boundedfile.ErrNotRegular},
		{"nothing", filepath.Join(dir, "nothing"), os.ErrNotExist},
	} {
		got, err := boundedfile.ReadPrivate(c.path, boundedfile.MiB)
		if !errors.Is(err, c.want) || (c.want == nil) != (string(got) == "secret") {
			t.Errorf("%s: %q, %v, want %v", c.what, got, err, c.want)
		}
	}
	if os.Geteuid() == 0 {
		path := file("f", 0o600)
		if err := os.Chown(path, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		if _, err := boundedfile.ReadPrivate(path, boundedfile.MiB); !errors.Is(err, boundedfile.ErrNotPrivate) {
			t.Errorf("a file of another user: %v", err)
		}
	}
}

// Whatever a source holds, it is given whole or not at all.
func FuzzReadFrom(f *testing.F) {
	f.Add([]byte(""), int64(0))
	f.Add([]byte("text"), int64(3))
	f.Add([]byte("text"), int64(4))
	f.Fuzz(func(t *testing.T, content []byte, limit int64) {
		if limit < 0 || limit > 1<<20 {
			t.Skip("no limit of this program")
		}
		got, err := boundedfile.ReadFrom(iotest.OneByteReader(bytes.NewReader(content)), "source", boundedfile.Size(limit))
		switch fits := int64(len(content)) <= limit; {
		case fits && (err != nil || !bytes.Equal(got, content)):
			t.Errorf("%d bytes within %d: %v", len(content), limit, err)
		case !fits && (!errors.Is(err, boundedfile.ErrTooLarge) || got != nil):
			t.Errorf("%d bytes beyond %d: %d bytes, %v", len(content), limit, len(got), err)
		}
	})
}

func TestOpen(t *testing.T) {
	folder := t.TempDir()
	file, link := filepath.Join(folder, "mbox"), filepath.Join(folder, "link")
	if err := os.WriteFile(file, []byte("From "), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	f, err := boundedfile.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	piece := make([]byte, 2)
	if _, err := f.ReadAt(piece, 1); err != nil || string(piece) != "ro" {
		t.Errorf("ReadAt(1) = %q, %v", piece, err)
	}
	for limit, want := range map[boundedfile.Size]string{0: "", 3: "Fro", 5: "From ", 6: "From "} {
		if head, err := boundedfile.Head(file, limit); err != nil || string(head) != want {
			t.Errorf("Head(%d) = %q, %v, want %q", limit, head, err, want)
		}
	}
	if _, err := boundedfile.Head(link, 1); !errors.Is(err, boundedfile.ErrSymbolicLink) {
		t.Errorf("Head(%s) = %v", link, err)
	}
	for path, want := range map[string]error{link: boundedfile.ErrSymbolicLink, folder: boundedfile.ErrNotRegular, file + "s": os.ErrNotExist} {
		if _, err := boundedfile.Open(path); !errors.Is(err, want) {
			t.Errorf("Open(%s) = %v, want %v", path, err, want)
		}
	}
}
