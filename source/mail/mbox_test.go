package mail

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/loomrun/loom/source"
	"github.com/loomrun/loom/store"
)

const fromLineA = "From ann@x.org Thu Aug 22 12:46:39 2002\n"

// sink keeps what a reader gives.
type sink struct {
	kept    bool
	at      []int64
	records map[int64]*store.Record
	skips   map[int64]string
	fail    error
}

func newSink() *sink {
	return &sink{records: map[int64]*store.Record{}, skips: map[int64]string{}}
}

func (s *sink) Keep() error { s.kept = true; return s.fail }

func (s *sink) Put(position int64, r *store.Record) error {
	s.at, s.records[position] = append(s.at, position), r
	return s.fail
}

func (s *sink) Skip(position int64, reason string) error {
	s.at, s.skips[position] = append(s.at, position), reason
	return s.fail
}

func (s *sink) Lose(int64) error { return errors.New("nothing is lost by itself") }

// spansOf gives where messages begin and what they are.
func spansOf(t interface{ Fatal(...any) }, r io.Reader, block, longest int) (at []int64, messages []string, cuts int) {
	s := newSplitter(r, 0)
	s.size, s.longest = block, longest
	var buf []byte
	for {
		b, err := s.next(buf)
		if err == io.EOF {
			return at, messages, cuts
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(b.data) > 2*(block+longest)+block {
			t.Fatal("a block of", len(b.data), "bytes")
		}
		for _, p := range b.spans {
			at = append(at, b.base+int64(p.from))
			messages = append(messages, string(b.data[p.from:p.to]))
			if p.cut {
				cuts++
			}
		}
		buf = b.data
	}
}

func TestSeparators(t *testing.T) {
	const a = fromLineA + "A: 1\n\none\n"
	for _, tc := range []struct {
		name, text string
		want       []int64
	}{
		{"one", a, []int64{0}},
		{"two", a + "\n" + a, []int64{0, int64(len(a)) + 1}},
		{"no blank line between", a + a, []int64{0, int64(len(a))}},
		{"CRLF", strings.ReplaceAll(a+"\n"+a, "\n", "\r\n"), []int64{0, int64(len(strings.ReplaceAll(a+"\n", "\n", "\r\n")))}},
		{"blank lines first", "\n\r\n" + a, []int64{3}},
		{"a line that is no separator", a + "\nFrom here on it rains\nX: y\n", []int64{0}},
		{"a quoted one", a + "\n>" + a, []int64{0}},
		{"no header behind it", a + "\n" + fromLineA + "words follow\n", []int64{0}},
		{"nothing behind it", a + "\n" + fromLineA, []int64{0}},
		{"Takeout", a + "\nFrom 123@xxx Mon Jan 02 15:04:05 +0000 2006\nX-GM-THRID: 1\n\n", []int64{0, int64(len(a)) + 1}},
		{"Thunderbird", a + "\nFrom - Mon Jan  2 15:04:05 2006\nX-Status: 1\n\n", []int64{0, int64(len(a)) + 1}},
		{"an archive", a + "\nFrom ann at x.org  Mon Jan  2 15:04:05 2006\nFrom: x\n\n", []int64{0, int64(len(a)) + 1}},
		{"RFC 5322 date", a + "\nFrom a@b Mon, 2 Jan 2006 15:04:05 -0700\nFrom: x\n\n", []int64{0, int64(len(a)) + 1}},
		{"an old From_ line below", a + "\n" + fromLineA + ">From x y\nFrom: x\n\n", []int64{0, int64(len(a)) + 1}},
		{"empty", "", nil},
		{"only blank lines", "\n\n\n", nil},
	} {
		for _, block := range []int{16, 61, 4096} {
			got, messages, _ := spansOf(t, iotest.HalfReader(strings.NewReader(tc.text)), block, 1<<20)
			if !slices.Equal(got, tc.want) {
				t.Errorf("%s, blocks of %d: %d, want %d", tc.name, block, got, tc.want)
			}
			if all := strings.Join(messages, ""); all != strings.TrimLeft(tc.text, "\r\n") {
				t.Errorf("%s, blocks of %d: bytes are lost: %q", tc.name, block, all)
			}
		}
	}
}

func TestAMessageThatIsTooLongIsCutAndTheNextFound(t *testing.T) {
	long := fromLineA + "A: 1\n\n" + strings.Repeat("line of words\n", 1000)
	short := fromLineA + "A: 2\n\ntwo\n"
	for _, text := range []string{long + short, short + long, short + long + long + short, long} {
		var want []int64
		for at := 0; at >= 0; {
			want = append(want, int64(at))
			next := strings.Index(text[at+1:], fromLineA)
			if next < 0 {
				break
			}
			at += 1 + next
		}
		got, messages, cuts := spansOf(t, strings.NewReader(text), 100, 1000)
		if !slices.Equal(got, want) || cuts != strings.Count(text, long) {
			t.Errorf("%d, want %d; %d cut", got, want, cuts)
		}
		for _, m := range messages {
			if len(m) > 1000 {
				t.Errorf("%d bytes", len(m))
			}
		}
	}
}

func TestUnquote(t *testing.T) {
	for _, tc := range []struct{ quoted, want string }{
		{"A: 1\n\n>From x\n", "A: 1\n\nFrom x\n"},
		{"\n>>From x\n>From y\n", "\n>From x\nFrom y\n"},
		{"\na >From x\n", "\na >From x\n"},
		{"\n> >From x\n", "\n> >From x\n"},
		{"\n>Fromage\n", "\n>Fromage\n"},
		{"", ""},
	} {
		if got := string(unquote([]byte(tc.quoted))); got != tc.want {
			t.Errorf("%q: %q, want %q", tc.quoted, got, tc.want)
		}
	}
}

// A mailbox that was written is read with as many messages, at the offsets they were written at.
func TestMailboxesAreReadAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"words", "From here", ">From there", ">>From", "", "A: b", "From a@b Thu Aug 22 12:46:39 2002", "-- ", "\tx"})
		var file strings.Builder
		var offsets []int64
		var bodies []string
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
		for i := range rapid.IntRange(1, 8).Draw(t, "messages") {
			body := strings.Join(rapid.SliceOfN(line, 0, 6).Draw(t, "body"), "\n") + "\n"
			bodies = append(bodies, body)
			offsets = append(offsets, int64(file.Len()))
			var quoted strings.Builder
			for l := range strings.Lines(body) {
				if strings.HasPrefix(strings.TrimLeft(l, ">"), "From ") {
					quoted.WriteByte('>')
				}
				quoted.WriteString(l)
			}
			text := fmt.Sprintf("%sSubject: %d\n\n%s\n", fromLineA, i, quoted.String())
			file.WriteString(strings.ReplaceAll(text, "\n", end))
		}
		got, messages, _ := spansOf(t, strings.NewReader(file.String()), rapid.IntRange(1, 300).Draw(t, "block"), 1<<20)
		if !slices.Equal(got, offsets) {
			t.Fatalf("%d, want %d", got, offsets)
		}
		for i, m := range messages {
			if !strings.HasPrefix(file.String()[got[i]:], "From ") {
				t.Fatalf("no From_ line at %d", got[i])
			}
			r, err := record(unquote([]byte(m)), origin{})
			if err != nil || r.Title != strconv.Itoa(i) || r.Body != strings.TrimSpace(bodies[i]) {
				t.Fatalf("%v %+v, want %q", err, r, bodies[i])
			}
		}
	})
}

// readMailbox reads a mailbox file with what is known of it.
func readMailbox(t *testing.T, file string, before source.Before) (*sink, string) {
	t.Helper()
	r, err := Reader(Mbox, file)
	if err != nil {
		t.Fatal(err)
	}
	s := newSink()
	note, err := r.Read(context.Background(), source.Container{Name: "."}, before, s)
	if err != nil {
		t.Fatal(err)
	}
	return s, note
}

func numbered(n int) string {
	return fmt.Sprintf("%sMessage-ID: <%d@x>\nSubject: %d\n\nbody of %d\n\n", fromLineA, n, n, n)
}

func TestAMailboxThatGrewIsReadFromItsOldEnd(t *testing.T) {
	one, two, three := numbered(1), numbered(2), numbered(3)
	for _, tc := range []struct {
		name, before, after string
		kept                bool
		want                []int64
	}{
		{"appended", one + two, one + two + three, true, []int64{int64(len(one + two))}},
		{"the last was not whole", one + two[:len(two)-8], one + two + three, true, []int64{int64(len(one)), int64(len(one + two))}},
		{"in its header", one + two[:len(fromLineA)+5], one + two + three, true, []int64{0, int64(len(one)), int64(len(one + two))}},
		{"its From_ line was not whole", one + two[:20], one + two, true, []int64{0, int64(len(one))}},
		{"from nothing", "", one, true, []int64{0}},
		{"rewritten", one + two, two + one + three, false, []int64{0, int64(len(two)), int64(len(one + two))}},
		{"truncated", one + two, one, false, []int64{0}},
		{"unchanged in size", one + two, one + two, false, []int64{0, int64(len(one))}},
	} {
		file := filepath.Join(t.TempDir(), "a.mbox")
		write := func(text string) {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write(tc.before)
		first, note := readMailbox(t, file, source.Before{})
		write(tc.after)
		got, again := readMailbox(t, file, source.Before{Note: note})
		if got.kept != tc.kept || !slices.Equal(got.at, tc.want) || len(got.skips) > 0 {
			t.Errorf("%s: kept %t, %d, want %d; skipped %v", tc.name, got.kept, got.at, tc.want, got.skips)
		}
		// What is there in the end is what reading everything gives.
		all, note := readMailbox(t, file, source.Before{})
		if tc.kept {
			for at, r := range first.records {
				if got.records[at] == nil {
					got.records[at] = r
				}
			}
		}
		if again != note || len(got.records) != len(all.records) {
			t.Errorf("%s: %d records, %q; want %d, %q", tc.name, len(got.records), again, len(all.records), note)
		}
		for at, r := range all.records {
			if got.records[at] == nil || got.records[at].Hash() != r.Hash() {
				t.Errorf("%s: another record at %d", tc.name, at)
			}
		}
	}
}

func TestRecordsComeInTheirOrder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "Many.mbox")
	var b bytes.Buffer
	const many = 20000
	for i := range many {
		b.WriteString(numbered(i))
	}
	b.WriteString(fromLineA + "A\x01: not a header\n")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	s, _ := readMailbox(t, file, source.Before{})
	if len(s.records) != many || !slices.IsSorted(s.at) {
		t.Errorf("%d records, in order: %t", len(s.records), slices.IsSorted(s.at))
	}
	if r := s.records[0]; r.Folder != "Many" || r.Title != "0" {
		t.Error(r)
	}

	r, _ := Reader(Mbox, file)
	failing := newSink()
	failing.fail = errors.New("full")
	if _, err := r.Read(context.Background(), source.Container{Name: "."}, source.Before{}, failing); !errors.Is(err, failing.fail) || len(failing.at) != 1 {
		t.Errorf("%v after %d", err, len(failing.at))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.Read(ctx, source.Container{Name: "."}, source.Before{}, newSink()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestAFileWithoutMailIsSkippedWithItsPlace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.mbox")
	if err := os.WriteFile(file, []byte("\n\nno mail at all\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, _ := readMailbox(t, file, source.Before{}); s.skips[2] != errNoHeader.Error() || len(s.records) != 0 {
		t.Errorf("%v", s.skips)
	}
}

func FuzzSplit(f *testing.F) {
	f.Add([]byte(numbered(1)+numbered(2)), 50)
	f.Add([]byte("\n\nFrom a b\nFrom \n>From x Thu Aug 22 12:46:39 2002\nA:\n"+fromLineA+">From"), 1)
	f.Fuzz(func(t *testing.T, text []byte, block int) {
		block = min(max(block, 1), 1000)
		at, messages, _ := spansOf(t, bytes.NewReader(text), block, 1<<20)
		whole, _, _ := spansOf(t, bytes.NewReader(text), 1<<20, 1<<20)
		if !slices.Equal(at, whole) {
			t.Fatalf("blocks of %d: %d, else %d", block, at, whole)
		}
		if all := strings.Join(messages, ""); all != strings.TrimLeft(string(text), "\r\n") {
			t.Fatalf("bytes are lost: %q", all)
		}
		for i, m := range messages {
			if i > 0 && !strings.HasPrefix(m, "From ") {
				t.Fatalf("no From_ line: %q", m)
			}
			if u := unquote([]byte(m)); len(u) > len(m) {
				t.Fatal("grown")
			}
		}
		spansOf(t, bytes.NewReader(text), block, 100) // must end
	})
}
