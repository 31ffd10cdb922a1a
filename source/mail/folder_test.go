package mail

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/loomrun/loom/source"
	"github.com/loomrun/loom/store"
)

// folder makes files with messages by their paths.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "root")
	for name, text := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// readAll gives the record or the reason of each container.
func readAll(t *testing.T, format, location string) (names []string, records map[string]*store.Record, skips map[string]string) {
	t.Helper()
	r, err := Reader(format, location)
	if err != nil {
		t.Fatal(err)
	}
	records, skips = map[string]*store.Record{}, map[string]string{}
	for c, err := range r.Containers(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		s := newSink()
		if _, err := r.Read(context.Background(), c, source.Before{}, s); err != nil {
			t.Fatal(err)
		}
		names = append(names, c.Name)
		for _, r := range s.records {
			records[c.Name] = r
		}
		for _, why := range s.skips {
			skips[c.Name] = why
		}
	}
	return names, records, skips
}

const small = "Message-ID: <m@x>\nFrom: ann@x.org\nSubject: s\n\nbody\n"

func TestMaildir(t *testing.T) {
	root := folder(t, map[string]string{
		"cur/1.a:2,S": small, "new/2.a": "Subject: two\n\n", "tmp/3.a": small, "cur/.hidden": small, "dovecot.index": "x", "new/4.a": "",
		".Work.Projects/cur/5.a:2,RS": small, ".Entw&APw-rfe/new/6.a": small, ".A &- B/cur/7.a": small, "Plain/cur/8.a": small,
	})
	names, records, skips := readAll(t, Maildir, root)
	want := []string{
		".A &- B/cur/7.a", ".Entw&APw-rfe/new/6.a", ".Work.Projects/cur/5.a:2,RS", "Plain/cur/8.a", "cur/1.a:2,S", "new/2.a", "new/4.a",
	}
	if !slices.Equal(names, want) || skips["new/4.a"] != errEmpty.Error() {
		t.Errorf("%q %v", names, skips)
	}
	for name, folder := range map[string]string{
		".A &- B/cur/7.a": "A & B", ".Entw&APw-rfe/new/6.a": "Entwürfe", ".Work.Projects/cur/5.a:2,RS": "Work/Projects", "Plain/cur/8.a": "Plain",
		"cur/1.a:2,S": "INBOX", "new/2.a": "INBOX",
	} {
		if r := records[name]; r == nil || r.Folder != folder {
			t.Errorf("%s: %+v", name, r)
		}
	}
	before := records["cur/1.a:2,S"]
	if err := os.Rename(filepath.Join(root, "cur/1.a:2,S"), filepath.Join(root, "cur/1.a:2,FRS")); err != nil {
		t.Fatal(err)
	}
	if _, records, _ := readAll(t, Maildir, root); records["cur/1.a:2,FRS"].Hash() != before.Hash() {
		t.Error("other flags make another record")
	}
}

func TestFoldersOfMessages(t *testing.T) {
	for _, tc := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"by their extension", map[string]string{"a.eml": small, "b/c.EML": small, "README": "x", "1.0af": small}, []string{"a.eml", "b/c.EML"}},
		{"nothing but mail", map[string]string{"00001.0af3": fromLineA + small, "2": small, "x/3.": small, "a.json": "{}"}, []string{"00001.0af3", "2", "x/3."}},
	} {
		names, records, skips := readAll(t, EML, folder(t, tc.files))
		if !slices.Equal(names, tc.want) || len(records) != len(names) || len(skips) > 0 {
			t.Errorf("%s: %q, %d records, %v", tc.name, names, len(records), skips)
		}
		for name, r := range records {
			if dir := filepath.Dir(name); r.Folder != dir && (dir != "." || r.Folder != "root") {
				t.Errorf("%s: in %s", name, r.Folder)
			}
		}
	}
	one := filepath.Join(folder(t, map[string]string{"a.eml": small}), "a.eml")
	if names, records, _ := readAll(t, EML, one); !slices.Equal(names, []string{"."}) || records["."].Folder != "root" {
		t.Errorf("%q", names)
	}
}

func TestDetect(t *testing.T) {
	for _, tc := range []struct {
		files      map[string]string
		name, want string
	}{
		{map[string]string{"cur/1": small, "new/2": small}, "", Maildir},
		{map[string]string{".Sent/cur/1": small, ".Sent/new/2": small}, "", Maildir},
		{map[string]string{"a.eml": small}, "", EML},
		{map[string]string{"a.eml": fromLineA + small}, "a.eml", EML},
		{map[string]string{"a": small}, "a", EML},
		{map[string]string{"d/00001.0af": fromLineA + small}, "", EML},
		{map[string]string{"Mail/All mail.mbox": numbered(1)}, "", Mbox},
		{map[string]string{"Inbox": numbered(1)}, "Inbox", Mbox},
		{map[string]string{"notes.txt": "words"}, "", ""},
		{map[string]string{"notes.txt": "words"}, "notes.txt", ""},
		{map[string]string{"notes": "From here to there\nX: y\n"}, "notes", ""},
		{nil, "", ""},
	} {
		location := filepath.Join(folder(t, tc.files), tc.name)
		if got, ok := Detect(location); got != tc.want || ok != (tc.want != "") {
			t.Errorf("%v %s: %q %t", tc.files, tc.name, got, ok)
		}
	}
	if _, err := Reader("pst", "/x"); err == nil {
		t.Error("there is a format pst")
	}
}

// Thunderbird and others keep a folder of mailboxes whose files are called Inbox and Sent.
func TestAFolderOfMailboxesWithoutExtension(t *testing.T) {
	two := "From ann@x.org Tue Mar  3 10:00:00 2026\nFrom: ann@x.org\nSubject: one\n\nfirst\n\n" +
		"From ann@x.org Tue Mar  3 11:00:00 2026\nFrom: ann@x.org\nSubject: two\n\nsecond\n"
	root := folder(t, map[string]string{"Local Folders/Inbox": two, "Local Folders/Inbox.msf": "index"})
	format, ok := Detect(root)
	if !ok || format != EML {
		t.Fatalf("Detect: %q, %v", format, ok)
	}
	r, err := Reader(format, root)
	if err != nil {
		t.Fatal(err)
	}
	var titles []string
	for c, err := range r.Containers(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		s := newSink()
		note, err := r.Read(t.Context(), c, source.Before{}, s)
		if err != nil || note == "" {
			t.Errorf("%s: note %q, %v", c.Name, note, err)
		}
		for _, r := range s.records {
			titles = append(titles, r.Folder+": "+r.Title)
		}
	}
	slices.Sort(titles)
	if want := []string{"Local Folders/Inbox: one", "Local Folders/Inbox: two"}; !slices.Equal(titles, want) {
		t.Errorf("%q, want %q", titles, want)
	}
}
