package mail

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/loomrun/loom/internal/boundedfile"
	"github.com/loomrun/loom/source"
)

// maildirReader reads a Maildir with its folders. A message in it is never changed once it has its name: only the flags behind its
// name change, and make it another container with the same record.
type maildirReader struct{ location string }

func (r *maildirReader) Containers(ctx context.Context) iter.Seq2[source.Container, error] {
	return source.FixedFiles(ctx, r.location, inMaildir, func(folder string) bool {
		// What stands in tmp is not delivered yet; cur and new have no folders.
		parent := path.Base(path.Dir(folder))
		return path.Base(folder) != "tmp" && parent != "cur" && parent != "new"
	})
}

// inMaildir says whether a file is a message: it stands in cur or new. Its name begins with a dot where it is none.
func inMaildir(name string) bool {
	switch path.Base(path.Dir(name)) {
	case "cur", "new":
		return !strings.HasPrefix(path.Base(name), ".")
	}
	return false
}

func (r *maildirReader) Read(_ context.Context, c source.Container, _ source.Before, sink source.Sink) (string, error) {
	return "", readFile(source.Path(r.location, c), origin{folder: maildirFolder(c.Name)}, sink)
}

// maildirFolder names the folder of a message as a mail program does: "INBOX", and "Work/Projects" for .Work.Projects.
func maildirFolder(name string) string {
	folder := path.Dir(path.Dir(name))
	if folder == "." {
		return "INBOX"
	}
	parts := strings.Split(folder, "/")
	for i, p := range parts {
		if dotted, ok := strings.CutPrefix(p, "."); ok {
			p = strings.ReplaceAll(dotted, ".", "/")
		}
		parts[i] = decodeUTF7(p)
	}
	return strings.Join(parts, "/")
}

// decodeUTF7 reads the name of a folder in modified UTF-7 (RFC 3501 5.1.3). What is none stays as it is.
func decodeUTF7(name string) string {
	var b strings.Builder
	for rest := name; ; {
		plain, after, ok := strings.Cut(rest, "&")
		b.WriteString(plain)
		if !ok {
			return b.String()
		}
		coded, after, ok := strings.Cut(after, "-")
		if !ok {
			return name
		}
		rest = after
		if coded == "" {
			b.WriteByte('&')
			continue
		}
		data := decodeBase64(nil, []byte(strings.ReplaceAll(coded, ",", "/")))
		units := make([]uint16, len(data)/2)
		for i := range units {
			units[i] = uint16(data[2*i])<<8 | uint16(data[2*i+1])
		}
		for _, r := range utf16.Decode(units) {
			if r == utf8.RuneError || r < ' ' {
				return name
			}
			b.WriteRune(r)
		}
	}
}

// emlReader reads a file that is one message, or a folder of them; of files that begin as mailboxes do it reads all messages.
type emlReader struct{ location string }

func (r *emlReader) Containers(ctx context.Context) iter.Seq2[source.Container, error] {
	return func(yield func(source.Container, error) bool) {
		// Where no file is called .eml, the folder holds nothing but mail and any name may be a message's.
		want := isMessage
		named := false
		for _, err := range source.Files(ctx, r.location, isEML, nil) {
			named = err == nil
			break // an error comes again
		}
		if named {
			want = isEML
		}
		source.Files(ctx, r.location, want, nil)(yield)
	}
}

func isEML(name string) bool { return strings.EqualFold(path.Ext(name), ".eml") }

// isMessage says whether a file can be a message by its name: it has no extension, or one of digits as numbers and hashes have.
func isMessage(name string) bool {
	name = path.Base(name)
	if strings.HasPrefix(name, ".") {
		return false
	}
	for _, c := range strings.TrimPrefix(path.Ext(name), ".") {
		if !strings.ContainsRune("0123456789abcdef", c) {
			return false
		}
	}
	return true
}

func (r *emlReader) Read(ctx context.Context, c source.Container, before source.Before, sink source.Sink) (string, error) {
	folder := path.Dir(c.Name)
	if folder == "." {
		folder = filepath.Base(r.location)
		if c.Name == "." {
			folder = filepath.Base(filepath.Dir(r.location))
		}
	}
	folder = strings.ToValidUTF8(folder, "")
	file := source.Path(r.location, c)
	// A file that is not called a message may be a whole mailbox: mail programs keep folders of them without an extension.
	if !isEML(file) && sniff(file) == Mbox {
		if c.Name != "." && path.Ext(c.Name) == "" {
			folder += "/" + path.Base(c.Name)
		}
		return mailboxOf(ctx, file, folder, before, sink)
	}
	return "", readFile(file, origin{folder: folder}, sink)
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// readFile reads the one message of a file.
func readFile(file string, from origin, sink source.Sink) error {
	f, err := boundedfile.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	size := int(min(info.Size(), MaxMessageBytes))
	from.cut = info.Size() > MaxMessageBytes
	source := *buf
	if cap(source) < size {
		source = make([]byte, size+size/4)
	}
	if cap(source) <= blockBytes {
		*buf = source
	}
	n, err := io.ReadFull(f, source[:size])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) { // it may have been cut since
		return fmt.Errorf("read %s: %w", file, err)
	}
	r, err := safely(source[:n], from)
	if err != nil {
		return sink.Skip(0, err.Error())
	}
	return sink.Put(0, r)
}
