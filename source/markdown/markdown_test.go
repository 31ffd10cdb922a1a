package markdown

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/loomrun/loom/source"
	"github.com/loomrun/loom/store"
)

var update = flag.Bool("update", false, "write the golden files anew")

// changed is when all files of the tests were.
var changed = time.Date(2026, 11, 5, 6, 7, 8, 9, time.UTC)

// sink keeps what a reading gives.
type sink struct {
	records []*store.Record
	skipped []string
	full    bool
}

var errFull = errors.New("full")

func (s *sink) Keep() error      { return errors.New("nothing is kept") }
func (s *sink) Lose(int64) error { return errors.New("nothing is lost") }
func (s *sink) Put(at int64, r *store.Record) error {
	if at != 0 {
		return fmt.Errorf("a page at %d", at)
	}
	s.records = append(s.records, r)
	if s.full {
		return errFull
	}
	return nil
}

func (s *sink) Skip(at int64, reason string) error {
	s.skipped = append(s.skipped, fmt.Sprintf("%d: %s", at, reason))
	return nil
}

// read reads one page.
func read(t *testing.T, below, text string) (*store.Record, Page, []string) {
	t.Helper()
	s := &sink{}
	if err := take(below, []byte(text), changed, s); err != nil {
		t.Fatal(err)
	}
	if len(s.records) != 1 {
		return nil, Page{}, s.skipped
	}
	var p Page
	if err := json.Unmarshal(s.records[0].Details, &p, json.RejectUnknownMembers(true)); err != nil {
		t.Fatal(err)
	}
	if p.Source != strings.TrimPrefix(text, "\ufeff") {
		t.Errorf("the source is not the text: %q", p.Source)
	}
	return s.records[0], p, s.skipped
}

func TestAFolderOfPagesBecomesTheRecordsInTheGoldenFile(t *testing.T) {
	const vault = "testdata/vault"
	if format, ok := Detect(vault); !ok || format != Format {
		t.Errorf("detected as %q", format)
	}
	// What a checkout makes of times and of names that begin with a dot does not count.
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(vault)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".hidden.md", ".obsidian/a.md", "node_modules/x/a.md", "notes/a.txt"} {
		file := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var got bytes.Buffer
	r := Reader(folder, time.UTC)
	for c, err := range r.Containers(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(source.Path(folder, c), changed, changed); err != nil {
			t.Fatal(err)
		}
		s := &sink{}
		if _, err := r.Read(t.Context(), c, source.Before{}, s); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "== %s\n", c.Name)
		for _, r := range s.records {
			fmt.Fprintf(&got, "%s %q folder %q at %s\nkeys %s\nbody\n%s\n", r.Ref, r.Title, r.Folder, r.Time.Format(time.RFC3339), strings.Join(r.Keys, " | "), r.Body)
			if err := (*jsontext.Value)(&r.Details).Indent(); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&got, "details %s\n", r.Details)
		}
		for _, skipped := range s.skipped {
			fmt.Fprintf(&got, "skipped %s\n", skipped)
		}
	}
	const golden = "testdata/vault.golden"
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Error(diff)
	}
}

func TestTheBodyIsWhatAReaderSees(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a comment", "a <!-- b --> c", "a  c"},
		{"a comment of many lines", "a\n\n<!--\nb\n\nc -->\n\nd", "a\nd"},
		{"a comment without an end", "a\n\n<!-- b\n\nc", "a"},
		{"a comment that holds a tag", "<!-- <div hidden> -->\n\na", "a"},
		{"tags", "a <b>b</b> <kbd>c</kbd>", "a b c"},
		{"a hidden element", "a <span hidden>b <b>c</b></span> d", "a  d"},
		{"hidden within hidden", "a <p hidden>b <p>c</p> d</p> e", "a  e"},
		{"styles", "a <i style='x:y; display : none'>b</i> <i style=\"font-size: 0\">c</i> <i style=opacity:0>d</i> <i style='opacity:0.5'>e</i>", "a    e"},
		{"an escaped style", `a <i style="display&#58;none">b</i>`, "a"},
		{"a script", "a <script>b</script> c", "a  c"},
		{"a block of a script", "<script>\nb\n\nc\n</script>\na", "a"},
		{"an element around Markdown", "<div hidden>\n\n*b*\n\n</div>\n\na", "a"},
		{"an element that is never closed", "a\n\n<div hidden>\n\nb", "a"},
		{"what needs no end", "<img hidden> <svg/> a", "a"},
		{"what is not hidden", "<details><summary>\n\na\n\n</details>", "a"},
		{"quotation marks that do not pair", "<div hidden x='>\n\na\n\n</div>\n\nb", "b"},
		{"a line break", "a<br/>b", "a\nb"},
		{"entities", "&lt;a&gt; &#65; \\&amp;", "<a> A &"},
		{"code is kept as it stands", "`&lt;` and\n\n    <div hidden>\n\nb", "&lt; and\n<div hidden>\nb"},
		{"control characters", "a\x00\x1b[31m\x7fb", "a[31mb"},
		{"a link that is its text", "[https://a.b](https://a.b) <mailto:a@b.c>", "https://a.b mailto:a@b.c"},
		{"a link in hidden text", "<b hidden>[a](b.md)</b>c", "c"},
		{"a picture", "![alt *text*](x.png)", "alt text"},
		{"quotes and lists", "> a\n> - b\n>   c\n\n1) d", "a\nb\nc\nd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, _, skipped := read(t, "a.md", c.text)
			if r.Body != c.want || len(skipped) > 0 {
				t.Errorf("got %q, want %q; skipped %v", r.Body, c.want, skipped)
			}
		})
	}
}

func TestFrontMatter(t *testing.T) {
	for _, c := range []struct{ name, matter, want, skipped string }{
		{"nothing", "", "", ""},
		{"a comment", "# a: b\n", "", ""},
		{"unknown keys", "zeta: 1\nalpha: {b: [true, 1.5, .inf, 007, 2026-01-02]}\n", `{"zeta":1,"alpha":{"b":[true,1.5,".inf","007","2026-01-02"]}}`, ""},
		{"values that are left empty", "a:\nb: ~\n\"c d\": null # later\ne: 1\nf:\n  g:\nh:\n- \n", `{"e":1}`, ""},
		{"nothing but empty values", "a:\nb:\n", "", ""},
		{"an empty value that is written as text", "a: ''\n", `{"a":""}`, ""},
		{"a key twice", "secret: 1\nsecret: 2\n", "", "14: front matter: line 3: the key … is written twice"},
		{"an anchor", "a: &x 1\n", "", "4: front matter: line 2: anchors are not part of this format; remove this one"},
		{"a tag", "a: !!str 1\n", "", "4: front matter: line 2: tags are not part of this format; remove this one"},
		{"a template", "b: 1\na: {{date}}\n", "", "9: front matter: line 3: a key is a map where text belongs; put it in quotes"},
		{"too long", "a: " + strings.Repeat("x", MaxFrontMatterBytes) + "\n", "", "4: front matter: line 2: it is longer than 65536 bytes"},
		{"too deep", "a: " + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "\n", "", "4: front matter: line 2: it is nested more than 32 levels deep"},
		{"more empty values than are forgiven", strings.Repeat("a:\n", maxEmptyValues+1), "", "196: front matter: line 66: a value is missing after the key …; null is not read as absent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, p, skipped := read(t, "a.md", "---\n"+c.matter+"---\ntext\n")
			if got := string(p.FrontMatter); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if got := strings.Join(skipped, "\n"); got != c.skipped {
				t.Errorf("skipped %q, want %q", got, c.skipped)
			}
		})
	}
	// The text of front matter that cannot be read is searched; its lines are no headings.
	r, p, skipped := read(t, "a.md", "---\nb: 'one\n\x01two\n---\nthree\n")
	if r.Body != "b: 'one\ntwo\nthree" || r.Title != "a" || len(p.Headings) > 0 || len(skipped) != 1 ||
		skipped[0] != "12: front matter: line 3: the character U+0001 may not stand in YAML; write it escaped in double quotes" {
		t.Errorf("%q %q %v, skipped %v", r.Title, r.Body, p.Headings, skipped)
	}
	for _, text := range []string{"---", "---\n", "---\na: b\n", "--- a: b\n---\n", " ---\na: b\n---\n", "---\n- a\n---\n", "---\n[a]\n---\n"} {
		if _, p, skipped := read(t, "a.md", text); p.FrontMatter != nil || skipped != nil {
			t.Errorf("%q: %s, skipped %v", text, p.FrontMatter, skipped)
		}
	}
}

func TestMembersOfFrontMatterHaveAMeaning(t *testing.T) {
	for _, c := range []struct{ below, matter, want string }{
		{"a.md", "Title: T\nKIND: Projects", "T|project||||2026-11-05T06:07:08Z"},
		{"a.md", "kind: entities\nalias: One, two\naliases: [b, 3, b, [c]]", "a|entity|b,3,One, two|||2026-11-05T06:07:08Z"},
		{"a.md", "kind: other\ntags: '#x y,z'\ntag: x", "a|page||x,y,z||2026-11-05T06:07:08Z"},
		{"Projects/a.md", "description: D", "a|project|||D|2026-11-05T06:07:08Z"},
		{"projects/b/a.md", "kind: page\nsummary: S\ndescription: D", "a|page|||S|2026-11-05T06:07:08Z"},
		{"Projects", "date: 2026-01-02", "Projects|page||||2026-01-02T00:00:00Z"},
		{"People/A B/about.md", "modified: 2026-01-02T03:04:05+01:00\ndate: 2025-01-01", "A B|entity||||2026-01-02T02:04:05Z"},
		{"People/A B/more.md", "updated: soon\ncreated: 2026-01-02 03:04", "more|page||||2026-01-02T03:04:00Z"},
		{".md", "date: 0001-01-01", ".md|page||||2026-11-05T06:07:08Z"},
	} {
		r, p, skipped := read(t, c.below, "---\n"+c.matter+"\n---\n")
		got := strings.Join([]string{r.Title, p.Kind, strings.Join(p.Aliases, ","), strings.Join(p.Tags, ","), p.Summary, r.Time.Format(time.RFC3339)}, "|")
		if got != c.want || len(skipped) > 0 {
			t.Errorf("%s: %s\ngot  %s\nwant %s, skipped %v", c.below, c.matter, got, c.want, skipped)
		}
	}
}

func TestPagesThatCannotBeTaken(t *testing.T) {
	for _, c := range []struct {
		name, below, text string
		kept              bool
		skipped           string
	}{
		{"no UTF-8", "a.md", "ab\xff", false, "2: the page is not UTF-8 from here on: save it as UTF-8"},
		{"a path that is too long", strings.Repeat("a", store.MaxRefBytes), "", false, "0: the path of the page is longer than 1019 bytes"},
		{"text that grows when it is escaped", "a.md", strings.Repeat("\x01", 1<<20), false, "0: the page cannot be kept: with its escapes its text is larger than 4194304 bytes"},
		{"quotes within quotes", "a.md", "---\na: b\n---\nx\n" + strings.Repeat(">", 101), true, "15: more than 100 quotes and lists begin on this line: the page is kept, but its text is not searched"},
		{"lists within lists", "a.md", strings.Repeat("1. - * + 2)\t", 21), true, "0: more than 100 quotes and lists begin on this line: the page is kept, but its text is not searched"},
		{"definitions", "a.md", strings.Repeat("[a]: b\n", MaxDefinitions+1), true, "70000: more than 10000 link definitions follow each other without an empty line: the page is kept, but its text is not searched"},
		{"definitions with empty lines", "a.md", strings.Repeat("[a]: b\n\n", MaxDefinitions+1), true, ""},
		{"rules", "a.md", strings.Repeat("- ", 1000) + "\n" + strings.Repeat("* ", 1000), true, ""},
		{"a nesting that may be", "a.md", strings.Repeat("> ", MaxNesting) + "a", true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, _, skipped := read(t, c.below, c.text)
			if got := strings.Join(skipped, "\n"); got != c.skipped || (r != nil) != c.kept {
				t.Errorf("skipped %q, want %q; kept %v", got, c.skipped, r != nil)
			}
			if r != nil && c.skipped != "" && r.Body != "" {
				t.Errorf("a body of %.20q", r.Body)
			}
		})
	}
}

// What is made of a text is what a reading of a file with it makes.
func TestARecordIsMadeOfATextAsOfAFile(t *testing.T) {
	for name, text := range map[string]string{
		"plain": "# A\nb", "front matter": "---\ntitle: B\ndate: 2026-01-02\n---\nb", "front matter that cannot be read": "---\n[\n---\nb", "empty": "",
		"too deep": strings.Repeat(">", 101), "control characters": "a\x00\x1bb",
	} {
		want, _, _ := read(t, "results/a.md", text)
		got, err := Record("results/a.md", []byte(text), changed)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		var p Page
		if err := json.Unmarshal(got.Details, &p); err != nil || p.Source != text {
			t.Errorf("%s: the text is %q, %v", name, p.Source, err)
		}
	}
	for _, c := range []struct{ name, below, text, want string }{
		{"not UTF-8", "a.md", "ab\xff", "page a.md: it is not UTF-8 from byte 2 on"},
		{"a mark", "a.md", "\ufeffa", "page a.md: it begins with a byte order mark, which would not be kept"},
		{"too large", "a.md", strings.Repeat("a", 1<<20+1), "page a.md: it is larger than 1 MiB"},
		{"too large with its escapes", "a.md", strings.Repeat("\x01", 1<<20), "page a.md: the page cannot be kept: with its escapes its text is larger than 4194304 bytes"},
		{"no path", "", "", `"" is no path`},
		{"a path from the root", "/a.md", "", `"/a.md" is no path`},
		{"a path that leads out", "a/../../b.md", "", `"a/../../b.md" is no path`},
		{"two slashes", "a//b.md", "", `"a//b.md" is no path`},
		{"no UTF-8 in the path", "\xff.md", "", `"\xff.md" is no path`},
		{"NUL in the path", "a\x00.md", "", `"a\x00.md" is no path`},
		{"a folder that is not read", ".git/a.md", "", `".git/a.md" is no path`},
		{"a file that is not read", "a.txt", "", `"a.txt" is no path`},
	} {
		if r, err := Record(c.below, []byte(c.text), changed); r != nil || err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

func TestWhatIsTooMuchIsCut(t *testing.T) {
	var values []string
	for i := range MaxValues + 1 {
		values = append(values, fmt.Sprintf("v%d", i))
	}
	var links, headings strings.Builder
	for i := range MaxLinks + 1 {
		fmt.Fprintf(&links, "[[page %d]]\n", i)
	}
	for range MaxHeadings + 1 {
		headings.WriteString("# a\n")
	}
	var identifiers strings.Builder
	identifiers.WriteString("---\nkind: entity\n")
	for _, list := range []struct{ name, form string }{{"emails", "a%d@b.c"}, {"phones", "+155500%04d"}, {"handles", "h%d"}, {"aliases", "a%d"}} {
		fmt.Fprintf(&identifiers, "%s:\n", list.name)
		for i := range MaxValues {
			fmt.Fprintf(&identifiers, "- "+list.form+"\n", i)
		}
	}
	if r, p, skipped := read(t, "a.md", identifiers.String()+"---\n"); !p.Cut || len(r.Keys) != store.MaxKeys || skipped != nil {
		t.Errorf("%d keys, cut %v, skipped %v", len(r.Keys), p.Cut, skipped)
	}
	if r, _, _ := read(t, "a.md", "---\ntitle: "+strings.Repeat("é", maxTitleBytes)+"\n---\n"); r.Title != strings.Repeat("é", maxTitleBytes/2) {
		t.Errorf("a title of %d bytes", len(r.Title))
	}
	target := strings.Repeat("x", 1000)
	for name, text := range map[string]string{
		"values": "---\naliases: [" + strings.Join(values, ", ") + "]\n---\n", "links": links.String(), "headings": headings.String(),
		"text": "[a]: " + target + "\n\n" + strings.Repeat("[a] ", 5000),
	} {
		if r, p, skipped := read(t, "a.md", text); !p.Cut || len(skipped) > 0 || len(r.Body) > store.MaxBodyBytes {
			t.Errorf("%s: cut %v, skipped %v", name, p.Cut, skipped)
		}
	}
	// Links cost work only up to a limit; behind it they are text.
	if r, _, _ := read(t, "a.md", strings.Repeat("[a](", 4500)+"b)"); !strings.HasPrefix(r.Body, "[a]([a](") {
		t.Errorf("%.20q", r.Body)
	}
	if r, p, _ := read(t, "a.md", strings.Repeat("[a](b) ", 3500)); !strings.HasPrefix(r.Body, "a (b) a (b)") || !strings.HasSuffix(r.Body, "[a](b)") || len(p.Links) != 1 {
		t.Errorf("%.20q", r.Body)
	}
}

func TestAPageIsFoundByItsKeys(t *testing.T) {
	r, p, _ := read(t, "People/Zoe\u0308 E/about.md", "---\ntitle: Zoë Ｅ\nid: Z-1\nemail: Z@e.org, no address\nphone: +1 (415) 555-0100\nhandle: '@Zed'\nalias: ZED\n---\n")
	const below = "People/Zoë E/about.md"
	want := []string{
		"path:" + below, "path:People/Zoë E/about", "page:" + p.PageID, "name:about", below, "person:" + PersonID(below),
		"z@e.org", "+14155550100", "handle:zed", "alias:zoë e", "alias:z-1", "alias:zed",
	}
	if diff := cmp.Diff(want, r.Keys); diff != "" {
		t.Error(diff)
	}
	if i, err := store.ParseIdentifier(below); err != nil || !slices.Contains(r.Keys, i.Key()) {
		t.Errorf("%s is not found: %v", below, err)
	}
	for got, want := range map[string]string{
		AliasKey(" Straße\tA "): "alias:strasse a", NameKey("About"): "name:about", PathKey("Zoe\u0308.md"): "path:Zoë.md", IDKey("P-1"): "page:P-1",
		PageID("a.md"): "P-1094357653331", PersonID("a.md"): "73gmzf2tert23p4taf5t",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if r, _, _ := read(t, "a.md", "---\nemail: a@b.c\n---\n"); slices.Contains(r.Keys, "a@b.c") {
		t.Error("a page that is about nobody is found by an address on it")
	}
}

func TestPageIDsFollowFromPaths(t *testing.T) {
	seen := map[string]string{}
	rapid.Check(t, func(t *rapid.T) {
		below := rapid.StringN(1, 40, -1).Draw(t, "path")
		id := PageID(norm.NFC.String(below))
		if other, ok := seen[id]; ok && other != norm.NFC.String(below) {
			t.Fatalf("%q and %q are both %s", other, below, id)
		}
		seen[id] = norm.NFC.String(below)
	})
}

func TestFilesThatCannotBeRead(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "a.md")
	if err := os.WriteFile(file, make([]byte, MaxPageBytes+1), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &sink{}
	if _, err := Reader(file, time.UTC).Read(t.Context(), source.Container{Name: "."}, source.Before{}, s); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"0: the page is larger than 1 MiB"}, s.skipped); diff != "" {
		t.Error(diff)
	}
	if _, err := Reader(folder, time.UTC).Read(t.Context(), source.Container{Name: "gone.md"}, source.Before{}, s); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if err := take("a.md", []byte("a"), changed, &sink{full: true}); err != errFull {
		t.Error(err)
	}
	if _, ok := Detect(file); !ok {
		t.Error("a page is not detected")
	}
	for _, location := range []string{t.TempDir(), filepath.Join(folder, "none")} {
		if format, ok := Detect(location); ok {
			t.Errorf("%s is detected as %s", location, format)
		}
	}
	if err := os.WriteFile(file, []byte("# One page"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Reader(file, time.UTC).Read(t.Context(), source.Container{Name: "."}, source.Before{}, s); err != nil || s.records[0].Ref != "a.md" {
		t.Error(s.records, err)
	}
}

// FuzzFrontMatter looks for pages that panic, that the store would refuse, or that are read otherwise a second time.
func FuzzFrontMatter(f *testing.F) {
	files, _ := filepath.Glob("testdata/vault/*/*.m*")
	if len(files) == 0 {
		f.Fatal("no seeds")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add("notes/a.md", text)
	}
	for _, seed := range []string{"---\na:\n- \nb: [\n---\n", "---\n? a\n: b\n---\n", "---\n'a': |\n b:\n---\n[[a]](b <!-- </", "<p hidden>\n# [a](b)\n</p>"} {
		f.Add("/b.md", []byte(seed))
	}
	f.Fuzz(func(t *testing.T, below string, text []byte) {
		s := &sink{}
		below = "a" + strings.ToValidUTF8(below, "x")
		if err := take(below, text, changed, s); err != nil {
			t.Fatal(err)
		}
		if len(s.records) == 0 {
			if len(s.skipped) != 1 {
				t.Errorf("neither kept nor skipped: %v", s.skipped)
			}
			return
		}
		again := &sink{}
		if err := take(below, text, changed, again); err != nil || again.records[0].Hash() != s.records[0].Hash() {
			t.Errorf("another record at the second reading: %v", err)
		}
		r := s.records[0]
		if r.Ref == "" || len(r.Ref) > store.MaxRefBytes || len(r.Title) > store.MaxTitleBytes || len(r.Body) > store.MaxBodyBytes ||
			len(r.Keys) > store.MaxKeys || len(r.Details) > store.MaxDetailsBytes || !r.Details.IsValid() {
			t.Errorf("a record the store refuses: %+v", r)
		}
		var p Page
		if err := json.Unmarshal(r.Details, &p); err != nil || p.Source != strings.TrimPrefix(string(text), "\ufeff") {
			t.Errorf("the source is not the text: %v", err)
		}
		for _, link := range p.Links {
			if strings.HasPrefix(link, "../") || strings.HasPrefix(link, "/") {
				t.Errorf("a link out of the source: %q", link)
			}
		}
	})
}
