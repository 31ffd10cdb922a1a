package process

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"
)

// firstOther is the first descriptor after the three standard ones.
const firstOther = 3

// keepDescriptors marks every other descriptor of this process to be closed in a child. What Go opens
// is marked already; this is about what our own parent left open, and about what foreign code opened.
func keepDescriptors() error {
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return fmt.Errorf("list open descriptors before starting a program: %w", err)
	}
	for _, entry := range open {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd >= firstOther {
			syscall.CloseOnExec(fd)
		}
	}
	return nil
}

// newFeed gives what standard input is read from: nil, which means the null device, for no input.
func newFeed(input []byte) io.Reader {
	if len(input) == 0 {
		return nil
	}
	return bytes.NewReader(input)
}

// head keeps the first limit bytes written to it.
type head struct {
	limit    int
	kept     []byte
	exceeded bool
}

func (h *head) Write(p []byte) (int, error) {
	fits := min(len(p), h.limit-len(h.kept))
	h.kept = append(h.kept, p[:fits]...)
	h.exceeded = h.exceeded || fits < len(p)
	return len(p), nil
}

// tail keeps the last limit bytes written to it.
type tail struct {
	limit int
	kept  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	n := len(p)
	if surplus := n - t.limit; surplus > 0 {
		p = p[surplus:]
	}
	if surplus := len(t.kept) + len(p) - t.limit; surplus > 0 {
		t.kept = append(t.kept[:0], t.kept[surplus:]...)
	}
	t.kept = append(t.kept, p...)
	return n, nil
}
