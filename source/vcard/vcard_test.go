package vcard

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/source"
	"github.com/loomrun/loom/store"
)

var update = flag.Bool("update", false, "write the golden files anew")

// sink keeps what a reading gives.
type sink struct {
	records   []*store.Record
	positions []int64
	skipped   []string
	full      int // records after which it fails, 0 is never
}

var errFull = errors.New("full")

func (s *sink) Keep() error      { return errors.New("nothing is kept") }
func (s *sink) Lose(int64) error { return errors.New("nothing is lost") }
func (s *sink) Put(at int64, r *store.Record) error {
	if s.records = append(s.records, r); len(s.records) == s.full {
		return errFull
	}
	s.positions = append(s.positions, at)
	return nil
}

func (s *sink) Skip(at int64, reason string) error {
	s.skipped = append(s.skipped, fmt.Sprintf("%d: %s", at, reason))
	return nil
}

func read(t *testing.T, text string) *sink {
	t.Helper()
	s := &sink{}
	if err := readCards(t.Context(), strings.NewReader(text), s); err != nil {
		t.Fatal(err)
	}
	return s
}

// shown is a record as the golden files show it.
type shown struct {
	At      int64          `json:"at"`
	Ref     string         `json:"ref"`
	Kind    store.Kind     `json:"kind"`
	Title   string         `json:"title"`
	Time    time.Time      `json:"time,omitzero"`
	Keys    []string       `json:"keys"`
	Body    string         `json:"body"`
	Details jsontext.Value `json:"details"`
}

func TestCardsOfAddressBooksBecomeTheRecordsInTheGoldenFiles(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.vcf")
	if len(files) != 4 {
		t.Fatalf("%d files", len(files))
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".vcf")
		t.Run(name, func(t *testing.T) {
			r := Reader(file)
			s := &sink{}
			for c, err := range r.Containers(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				if _, err := r.Read(t.Context(), c, source.Before{}, s); err != nil {
					t.Fatal(err)
				}
			}
			got := struct {
				Records []shown  `json:"records"`
				Skipped []string `json:"skipped"`
			}{Skipped: s.skipped}
			for i, r := range s.records {
				got.Records = append(got.Records, shown{s.positions[i], r.Ref, r.Kind, r.Title, r.Time, r.Keys, r.Body, r.Details})
			}
			text, err := json.Marshal(got, jsontext.Multiline(true))
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", name+".golden.json")
			if *update {
				if err := os.WriteFile(golden, append(text, '\n'), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(text)+"\n"); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDetailsOfACard(t *testing.T) {
	for _, c := range []struct{ name, lines, want string }{
		{"a preferred name wins", "FN:A\nFN;TYPE=pref:B\nFN;PREF=1:C", `{"name":"B"}`},
		{"the name of N, with what stands before and behind", "N:van Dam;Eve;Q.;Prof.;PhD", `{"name":"Prof. Eve Q. van Dam PhD","given":"Eve","family":"van Dam"}`},
		{"an escaped semicolon divides nothing", `N:A\;B;C`, `{"name":"C A;B","given":"C","family":"A;B"}`},
		{"an organisation in place of a name", "FN:\nORG:Acme;Lab", `{"name":"Acme, Lab","org":"Acme, Lab"}`},
		{"an address in place of a name", "EMAIL:X@Y.Z", `{"name":"x@y.z","emails":["x@y.z"]}`},
		{"what is no address is kept as it stands", "FN:A\nEMAIL:A <a@b.c>\nTEL:ask Bob", `{"name":"A","emails":["A <a@b.c>"],"phones":["ask Bob"]}`},
		{"an address twice", "FN:A\nEMAIL:a@b.c\nEMAIL:A@B.C", `{"name":"A","emails":["a@b.c"]}`},
		{"a line that is no property", "FN:A\nno property\n:\n;:\nTITLE:T", `{"name":"A","title":"T"}`},
		{"a folded line", "FN:A\nTITLE:Vice\n  President\n\tof T", `{"name":"A","title":"Vice Presidentof T"}`},
		{"quotation marks that do not pair", "FN:A\nTEL;TYPE=\"home:+15550100", `{"name":"A","phones":["+15550100"]}`},
		{"a colon in a quoted parameter", "FN:A\nTITLE;X=\"a:b;c\":T", `{"name":"A","title":"T"}`},
		{"notes are joined", "FN:A\nNOTE:one\nNOTE:two\nNOTE:one", `{"name":"A","note":"one\n\ntwo"}`},
		{"base64 text", "FN:A\nNOTE;ENCODING=B:Z3LDvMOf", `{"name":"A","note":"grüß"}`},
		{"base64 that is none", "FN:A\nNOTE;ENCODING=B:***", `{"name":"A","note":"***"}`},
		{"a backslash of 2.1", "VERSION:2.1\nFN:A\nNOTE:C:\\new\\, x\\; y", `{"name":"A","note":"C:\\new\\, x; y"}`},
		{"a backslash of 3.0", "VERSION:3.0\nFN:A\nNOTE:C\\\\new\\, x\\; y\\Nz\\q\\", `{"name":"A","note":"C\\new, x; y\nz\\q\\"}`},
		{"an equals sign that escapes nothing", "VERSION:2.1\nFN;QUOTED-PRINTABLE:a=b=4=zz=C3=A9", `{"name":"a=b=4=zzé"}`},
		{"a soft break in the last line", "VERSION:2.1\nFN;QUOTED-PRINTABLE:ab=", `{"name":"ab"}`},
		{"a character set nobody knows", "FN;CHARSET=X-NONE:caf\xe9", `{"name":"café"}`},
		{"a character set of many bytes", "FN;CHARSET=SHIFT_JIS:\x93\xfa\x96\x7b", `{"name":"日本"}`},
		{"control characters go", "FN:A\x00\x1b[31mB\u0085", `{"name":"A[31mB"}`},
		{"birthdays", "FN:A\nBDAY:--0412", `{"name":"A","birthday":"--04-12"}`},
		{"a birthday with a time", "FN:A\nBDAY:1985-04-12T00:00:00Z", `{"name":"A","birthday":"1985-04-12"}`},
		{"a birthday in words", "FN:A\nBDAY;VALUE=text:circa 1800", `{"name":"A","birthday":"circa 1800"}`},
		{"handles", "FN:A\nIMPP:xmpp:a@b.c?message\nX-SKYPE:live:a_b\nX-TELEGRAM:@tg\nURL:https://x.y/\nIMPP:", `{"name":"A","handles":["a@b.c","a_b","tg"],"urls":["https://x.y/"]}`},
		{"a place of work has a kind", "KIND:location\nFN:Hall", `{"name":"Hall","kind":"location"}`},
		{"a photo is only noted", "FN:A\nPHOTO:data:image/png;base64,AAAA", `{"name":"A","photo":true}`},
		{"a head that is too long", "FN:A\nTITLE;X=" + strings.Repeat("x", maxHeadBytes) + ":T", `{"name":"A"}`},
		{"a name that is too long", "FN:" + strings.Repeat("é", MaxValueBytes), `{"name":"` + strings.Repeat("é", MaxValueBytes/2) + `","cut":true}`},
		{"a group of nobody", "KIND:GROUP\nFN:G", `{"name":"G"}`},
		{"more numbers than are kept", "FN:A\n" + strings.Repeat("NICKNAME:a\n", 3) + many(MaxValues+1), `{"name":"A","nicknames":["a"],"categories":[` + list(MaxValues) + `],"cut":true}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := read(t, "BEGIN:VCARD\n"+c.lines+"\nEND:VCARD\n")
			if len(s.records) != 1 || len(s.skipped) > 0 {
				t.Fatalf("%d records, skipped %v", len(s.records), s.skipped)
			}
			if got := string(s.records[0].Details); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "CATEGORIES:c%d\n", i)
	}
	return b.String()
}

func list(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`"c%d"`, i))
	}
	return strings.Join(all, ",")
}

func TestCardsThatCannotBeTaken(t *testing.T) {
	const good = "BEGIN:VCARD\nFN:Good\nEND:VCARD\n" // 31 bytes
	const at = len(good)
	for _, c := range []struct {
		name, text string
		records    int
		skipped    []string
	}{
		{"an empty file", "", 0, nil},
		{"a file of white space", " \n\n", 0, nil},
		{"no card", "hello\nworld", 0, []string{"0: no vCard begins in this file: export the contacts as vCard, in UTF-8"}},
		{"UTF-16", "\xff\xfeB\x00E\x00G\x00I\x00N\x00", 0, []string{"0: no vCard begins in this file: export the contacts as vCard, in UTF-8"}},
		{"white space about the words", "begin : vcard \r\nFN:A\r\nEnd:VCard\r\n", 1, nil},
		{"text between cards", good + "text\n" + good, 2, nil},
		{"nothing in it", good + "BEGIN:VCARD\nEND:VCARD\n" + good, 2, []string{fmt.Sprintf("%d: the card has no name, organisation, address or number", at)}},
		{"a group without a name", good + "BEGIN:VCARD\nKIND:group\nEND:VCARD\n", 1, []string{fmt.Sprintf("%d: the group has no name", at)}},
		{"no end", good + "BEGIN:VCARD\nFN:X\n" + good, 2, []string{fmt.Sprintf("%d: the card has no end before the next begins", at)}},
		{"no end of the file", good + "BEGIN:VCARD\nFN:X", 1, []string{fmt.Sprintf("%d: the card has no end: the file may have been cut short", at)}},
		{"only a beginning", good + "BEGIN:VCARD", 1, []string{fmt.Sprintf("%d: the card has no end: the file may have been cut short", at)}},
		{"too large a line", good + "BEGIN:VCARD\nPHOTO:" + strings.Repeat("x", MaxCardBytes) + "\nFN:A\nEND:VCARD\n" + good, 2, []string{fmt.Sprintf("%d: the card is larger than 16 MiB", at)}},
		{"too many lines", good + "BEGIN:VCARD\n" + strings.Repeat("\n", MaxCardBytes/32+1) + "END:VCARD\n" + good, 2, []string{fmt.Sprintf("%d: the card is larger than 16 MiB", at)}},
		{"agents within agents", "BEGIN:VCARD\nFN:A\nAGENT:\nBEGIN:VCARD\nAGENT:\nBEGIN:VCARD\nEND:VCARD\nEND:VCARD\nEND:VCARD\n" + good, 2, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := read(t, c.text)
			if len(s.records) != c.records {
				t.Errorf("%d records, want %d", len(s.records), c.records)
			}
			if diff := cmp.Diff(c.skipped, s.skipped); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestACardOfManyPartsCostsLittle(t *testing.T) {
	for _, sign := range []string{";", ",", `\;`, "=3B", "a "} {
		for _, name := range []string{"N", "CATEGORIES", "ADR", "NOTE", "N;QUOTED-PRINTABLE", "X;A=" + strings.Repeat(sign, 1<<15)} {
			s := read(t, "BEGIN:VCARD\nFN:A\n"+name+":"+strings.Repeat(sign, 1<<17/len(sign))+"\nEND:VCARD\n")
			if len(s.records) != 1 || len(s.records[0].Body) > store.MaxBodyBytes || len(s.records[0].Details) > store.MaxDetailsBytes {
				t.Errorf("%s of %q: %d records, skipped %v", name[:1], sign, len(s.records), s.skipped)
			}
		}
	}
}

func TestReferences(t *testing.T) {
	ref := func(lines string) string {
		s := read(t, "BEGIN:VCARD\n"+lines+"\nEND:VCARD")
		if len(s.records) == 0 { // without its last line end the card has one still
			t.Fatalf("%q: %v", lines, s.skipped)
		}
		return s.records[0].Ref
	}
	same := func(a, b string) {
		t.Helper()
		if ref(a) != ref(b) {
			t.Errorf("%q is not %q", a, b)
		}
	}
	other := func(a, b string) {
		t.Helper()
		if ref(a) == ref(b) {
			t.Errorf("%q is %q", a, b)
		}
	}
	same("FN:A\nUID:x", "FN:B\nUID:x")
	same("FN:A\nUID:urn:uuid:8B0F5C1E-6D2A-4C0B-9A53-0C9F2E1D7A11", "FN:A\nUID:8b0f5c1e-6d2a-4c0b-9a53-0c9f2e1d7a11")
	other("FN:A\nUID:x", "FN:A\nUID:X")
	same("FN:A  b\nEMAIL:x@y.z\nTEL:+1 555 0100", "FN:a B\nTEL:+15550100\nEMAIL:X@y.z\nNOTE:more")
	other("FN:A\nEMAIL:x@y.z", "FN:B\nEMAIL:x@y.z")
	other("FN:A\nEMAIL:x@y.z", "FN:A\nEMAIL:x@y.x")
	other("FN:A\nADR:;;Here", "FN:A\nADR:;;There")
	other("FN:A", "FN:A\nKIND:group")
	if got := ref("FN:A\nUID:" + strings.Repeat("u", 600)); len(got) > store.MaxRefBytes || !strings.HasPrefix(got, "sha256:") {
		t.Error(got)
	}
	if got := PersonID("last"); got != "gvd4wejkyrejv4rrbqdc" || PersonID("lasT") == got {
		t.Error(got)
	}
}

func TestAReadingEndsWithTheSinkAndWithItsContext(t *testing.T) {
	text := strings.Repeat("BEGIN:VCARD\nFN:A\nEND:VCARD\n", 3)
	s := &sink{full: 2}
	if err := readCards(t.Context(), strings.NewReader(text), s); !errors.Is(err, errFull) || len(s.records) != 2 {
		t.Errorf("%v after %d records", err, len(s.records))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := readCards(ctx, strings.NewReader(text), &sink{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestPlacesAreDetected(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	expect := func(location string, want bool) {
		t.Helper()
		if format, ok := Detect(location); ok != want || ok && format != Format {
			t.Errorf("%s: %q, %v", location, format, ok)
		}
	}
	expect(folder, false)
	expect(write("a.txt", "BEGIN:VCARD\n"), true)
	expect(write("b.vcf", "hello"), false)
	expect(folder, false)
	expect(filepath.Join(folder, "none"), false)
	write("below/c.VCF", "\ufeff\n begin:vcard\r\n")
	expect(folder, true)

	var names []string
	for c, err := range Reader(folder).Containers(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, c.Name)
	}
	if diff := cmp.Diff([]string{"b.vcf", "below/c.VCF"}, names); diff != "" {
		t.Error(diff)
	}
	if _, err := Reader(folder).Read(t.Context(), source.Container{Name: "gone.vcf"}, source.Before{}, &sink{}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// FuzzCards looks for cards that panic, that the store would refuse, or that are read otherwise a second time.
func FuzzCards(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.vcf")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("BEGIN:VCARD\nAGENT:\nBEGIN:VCARD\nEND:VCARD\nN;CHARSET=UTF-7;QUOTED-PRINTABLE:=\n=\\\nEND:VCARD"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := &sink{}
		if err := readCards(t.Context(), strings.NewReader(string(text)), s); err != nil {
			t.Fatal(err)
		}
		again := &sink{}
		if err := readCards(t.Context(), strings.NewReader(string(text)), again); err != nil {
			t.Fatal(err)
		}
		for i, r := range s.records {
			if r.Hash() != again.records[i].Hash() {
				t.Errorf("record %d is another one at the second reading", i)
			}
			if r.Title == "" || r.Ref == "" || len(r.Ref) > store.MaxRefBytes || len(r.Title) > store.MaxTitleBytes ||
				len(r.Body) > store.MaxBodyBytes || len(r.Keys) > store.MaxKeys || len(r.Details) > store.MaxDetailsBytes {
				t.Errorf("a record the store refuses: %q", r.Ref)
			}
			for _, k := range r.Keys {
				if i, err := store.ParseIdentifier(k); err != nil || i.Key() != k {
					t.Errorf("the key %q is no identifier: %v", k, err)
				}
			}
			if s.positions[i] >= int64(len(text)) || i > 0 && s.positions[i] <= s.positions[i-1] {
				t.Errorf("positions %v of %d bytes", s.positions, len(text))
			}
		}
	})
}
