package process

import (
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// pieceSize is how much output is read at once: as much as a pipe holds.
const pieceSize = 64 << 10

// pieces are the buffers between pipes and what is kept, so that no program costs a new one.
var pieces = sync.Pool{New: func() any { return new([pieceSize]byte) }}

// streams are the three standard streams of one program, each with our end and the program's.
type streams struct {
	theirs         []*os.File // input, output, errors; closed here once the program has them
	feed, out, err *os.File
	stdout         head
	stderr         tail
	carried        sync.WaitGroup
}

// openStreams makes the pipes. No input is the null device, so that no writer has to be there.
func openStreams(c Command) (*streams, error) {
	s := &streams{stdout: head{limit: c.MaxStdout}, stderr: tail{limit: c.MaxStderr}}
	var in, out, errs *os.File
	var err error
	if len(c.Stdin) > 0 {
		if in, s.feed, err = os.Pipe(); err != nil {
			return nil, err
		}
		s.theirs = append(s.theirs, in)
	} else {
		s.theirs = append(s.theirs, nil)
	}
	if s.out, out, err = os.Pipe(); err == nil {
		s.theirs = append(s.theirs, out)
		if s.err, errs, err = os.Pipe(); err == nil {
			s.theirs = append(s.theirs, errs)
		}
	}
	if err != nil {
		s.abandon()
		return nil, err
	}
	return s, nil
}

// give makes the program's ends its streams. Absent input must be no typed nil.
func (s *streams) give(cmd *exec.Cmd) {
	if s.theirs[0] != nil {
		cmd.Stdin = s.theirs[0]
	}
	cmd.Stdout, cmd.Stderr = s.theirs[1], s.theirs[2]
}

// abandon closes everything.
func (s *streams) abandon() {
	for _, f := range append(s.theirs, s.feed, s.out, s.err) {
		_ = f.Close() // nil says so and does nothing
	}
}

// carry begins to feed input and to read output. The program has been started.
func (s *streams) carry(input []byte) {
	for _, f := range s.theirs {
		_ = f.Close()
	}
	if s.feed != nil {
		// Go reports a closed pipe as an error of this write and not as a signal to us.
		go func() {
			_, _ = s.feed.Write(input)
			_ = s.feed.Close()
		}()
	}
	s.carried.Add(2)
	go s.drain(s.out, &s.stdout)
	go s.drain(s.err, &s.stderr)
}

// drain reads to the end, so that a program never waits for us, and never keeps more than a piece.
func (s *streams) drain(from *os.File, to io.Writer) {
	defer s.carried.Done()
	piece := pieces.Get().(*[pieceSize]byte)
	defer pieces.Put(piece)
	for {
		n, err := from.Read(piece[:])
		_, _ = to.Write(piece[:n])
		if err != nil {
			return
		}
	}
}

// await returns when the output has been read to its end, or at the limit: then somebody out of reach
// holds the pipe.
func (s *streams) await(limit time.Duration) {
	if s.feed != nil {
		_ = s.feed.Close() // ends a write that nobody reads
	}
	latest := time.Now().Add(limit)
	_ = s.out.SetReadDeadline(latest)
	_ = s.err.SetReadDeadline(latest)
	s.carried.Wait()
	_ = s.out.Close()
	_ = s.err.Close()
}

// result is what was read, without an end of the program.
func (s *streams) result() Result {
	return Result{
		Stdout: s.stdout.kept, StdoutBytes: s.stdout.seen, StdoutExceeded: s.stdout.seen > int64(s.stdout.limit),
		Stderr: s.stderr.kept, StderrBytes: s.stderr.seen,
	}
}

// head keeps the first limit bytes written to it and counts them all.
type head struct {
	limit int
	kept  []byte
	seen  int64
	full  func() // called when there is more; nil for nothing to do
}

func (h *head) Write(p []byte) (int, error) {
	h.kept = append(h.kept, p[:min(len(p), h.limit-len(h.kept))]...)
	h.seen += int64(len(p))
	if h.full != nil && h.seen > int64(h.limit) {
		h.full()
		h.full = nil // once is enough
	}
	return len(p), nil
}

// tail keeps the last limit bytes written to it and counts them all.
type tail struct {
	limit int
	kept  []byte
	seen  int64
}

func (t *tail) Write(p []byte) (int, error) {
	n := len(p)
	t.seen += int64(n)
	if surplus := n - t.limit; surplus > 0 {
		p = p[surplus:]
	}
	if surplus := len(t.kept) + len(p) - t.limit; surplus > 0 {
		t.kept = append(t.kept[:0], t.kept[surplus:]...)
	}
	t.kept = append(t.kept, p...)
	return n, nil
}
