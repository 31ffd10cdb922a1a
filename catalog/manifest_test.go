package catalog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/catalog"
)

// aManifest is what a store with one definition holds. The digest is that of the yaml.
const aManifest = `{
  "definitions": [
    {
      "format": "loom.protocol-install/1",
      "name": "team-clock@1",
      "sha256": "f745e0ff4b3ad72edb65d38b65f922a77724e462ba9ffd426939de616cd88287",
      "source": {
        "kind": "local",
        "location": "/home/u/team-clock.yaml",
        "path": "",
        "revision": ""
      },
      "yaml": "format: protocol/1\nprotocol: {id: team.clock, revision: 1}\n"
    }
  ],
  "format": "loom.protocol-catalog/1"
}
`

const aPin = "0123456789abcdef0123456789abcdef01234567"

// planted gives a store whose manifest is text.
func planted(t *testing.T, text string) *catalog.Store {
	t.Helper()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "catalog.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return open(t, root)
}

// git gives the manifest with a source of kind git.
func git(location, revision, path string) string {
	return strings.NewReplacer(`"local"`, `"git"`, "/home/u/team-clock.yaml", location,
		`"revision": ""`, `"revision": "`+revision+`"`, `"path": ""`, `"path": "`+path+`"`).Replace(aManifest)
}

// The bytes of a manifest, so that a change of the format is seen.
func TestManifestIsWrittenLikeThis(t *testing.T) {
	root := filepath.Join(t.TempDir(), "store")
	file := filepath.Join(t.TempDir(), "team-clock.yaml")
	if err := os.WriteFile(file, []byte("format: protocol/1\nprotocol: {id: team.clock, revision: 1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := open(t, root).Install(t.Context(), catalog.Bundled(), "team-clock@1", catalog.FromFile(file), false); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, "catalog.json"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Replace(aManifest, "/home/u/team-clock.yaml", file, 1), string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestManifestsThatAreTaken(t *testing.T) {
	for what, text := range map[string]string{
		"as it is written":      aManifest,
		"members in any order":  strings.Replace(strings.Replace(aManifest, `"format": "loom.protocol-install/1",`, "", 1), `"source":`, `"format": "loom.protocol-install/1", "source":`, 1),
		"https":                 git("git+https://example.org/p.git#"+aPin, aPin, "a/b.yaml"),
		"a pin in upper case":   git("git+https://example.org/p.git#"+strings.ToUpper(aPin), aPin, "a/b.yaml"),
		"ssh with a user":       git("git+ssh://git@example.org/p.git#"+aPin, aPin, "b.yaml"),
		"a location with a dot": strings.Replace(aManifest, "/home/u/", "/home/u/./", 1),
	} {
		if got := installed(t, planted(t, text)); got != "team-clock@1" {
			t.Errorf("%s: %q", what, got)
		}
	}
	expectInstalled(t, planted(t, `{"format": "loom.protocol-catalog/1", "definitions": []}`), "")
}

// 2.5: everything else stops every use of the store, with the record's number and name where there is
// one (cases 39, 40).
func TestManifestsThatAreRefused(t *testing.T) {
	record := aManifest[strings.Index(aManifest, "    {"):strings.Index(aManifest, "\n  ]")]
	named := "definition 1 (team-clock@1): "
	for _, c := range []struct{ what, old, new, want string }{
		{"nothing", aManifest, "", "there is no JSON value"},
		{"no JSON", aManifest, "{", "line 1, column 2: the JSON value ends too early"},
		{"something after it", "", "{}", "line 1, column 3: something follows"},
		{"a list", aManifest, "[]", "it is a list, not a map"},
		{"text that is not UTF-8", "team-clock.yaml", "\xff", "the input is not UTF-8"},
		{"a lone surrogate", "team-clock.yaml", `\ud800`, "this is not JSON"},
		{"a manifest without its format", ",\n  \"format\": \"loom.protocol-catalog/1\"", "", "it has no member format"},
		{"a manifest of another format", "catalog/1", "catalog/2", "its format is not loom.protocol-catalog/1"},
		{"a manifest with another member", `"definitions":`, `"more": 1, "definitions":`, `it has a member "more", which is not of the format`},
		{"case 40: a member of the manifest twice", `"definitions":`, `"format": "loom.protocol-catalog/1", "definitions":`, "a member is written twice"},
		{"definitions that are no list", aManifest, `{"format": "loom.protocol-catalog/1", "definitions": {}}`, "its definitions are no list"},
		{"more definitions than a store may hold", aManifest, `{"format": "loom.protocol-catalog/1", "definitions": [1` + strings.Repeat(",1", catalog.MaxInstalled) + "]}", "it has more than 65536 definitions"},
		{"a record that is no map", record, `"x"`, "definition 1: it is text, not a map"},
		{"case 40: a record without a member", `      "name": "team-clock@1",` + "\n", "", "definition 1: it has no member name"},
		{"case 40: a record with another member", `"name": "team`, `"more": "", "name": "team`, named + `it has a member "more", which is not of the format`},
		{"case 40: a member of a record twice", `"name": "team-clock@1",`, `"name": "team-clock@1", "name": "team-clock@1",`, "line 5, column 31: a member is written twice"},
		{"a member of the wrong kind", `"name": "team-clock@1"`, `"name": 1`, "definition 1: its name is a number, not text"},
		{"a name that is null", `"name": "team-clock@1"`, `"name": null`, "definition 1: its name is null, not text"},
		{"a record of another format", "install/1", "install/2", named + "its format is not loom.protocol-install/1"},
		{"a name that is none", "team-clock@1", "Team@1", `definition 1 (Team@1): "Team@1" is no registration name`},
		{"case 39: bytes of another digest", "team.clock,", "team.clack,", named + "its yaml does not have the digest that its sha256 gives"},
		{"case 39: a digest in upper case", "f745e0ff", "F745E0FF", named + "its yaml does not have the digest"},
		{"case 54: a name of another revision", "team-clock@1", "team-clock@2", "definition 1 (team-clock@2): team-clock@2 needs a document of revision 2"},
		{"case 40: a bundled name", "team-clock@1", "system-query@1", "definition 1 (system-query@1): a bundled definition has this name"},
		{"case 40: the same name twice", record, record + ",\n" + record, "definition 2 (team-clock@1): an earlier record has this name"},
		{"case 40: kind loom", `"local"`, `"loom"`, named + "the kind of its source is neither local nor git"},
		{"kind engineering", `"local"`, `"engineering"`, named + "the kind of its source is neither local nor git"},
		{"kind Local", `"local"`, `"Local"`, named + "the kind of its source is neither local nor git"},
		{"a source that is no map", `"source": {`, `"source": "x", "x": {`, named + `it has a member "x", which is not of the format`},
		{"a source without a member", `        "path": "",` + "\n", "", named + "its source: it has no member path"},
		{"a source with another member", `"kind":`, `"more": "", "kind":`, named + `its source: it has a member "more"`},
		{"a part of a source that is no text", `"path": ""`, `"path": null`, named + "its path is null, not text"},
		{"a local source that is relative", "/home/u/", "", named + "its local source is not an absolute location"},
		{"a local source with a revision", `"revision": ""`, `"revision": "1"`, named + "its local source is not an absolute location"},
		{"a local source with a path", `"path": ""`, `"path": "a"`, named + "its local source is not an absolute location"},
		{"a git source that is not pinned", aManifest, git("git+https://example.org/p.git#main", "main", "a"), named + "its source: git source locator"},
		{"a git source of another pin", aManifest, git("git+https://example.org/p.git#"+aPin, strings.Repeat("0", 40), "a"), named + "the revision of its source is not the commit"},
		{"a git source with the pin in upper case", aManifest, git("git+https://example.org/p.git#"+aPin, strings.ToUpper(aPin), "a"), named + "the revision of its source is not the commit"},
		{"a git source with a bad path", aManifest, git("git+https://example.org/p.git#"+aPin, aPin, "../a"), named + "its source: git source path"},
		{"too deep", `"path": ""`, `"path": [[[[]]]]`, "nested too deeply"},
	} {
		if !strings.Contains(aManifest, c.old) {
			t.Fatalf("%s: there is no %q to replace", c.what, c.old)
		}
		s := planted(t, strings.Replace(aManifest, c.old, c.new, 1))
		_, err := s.Load(catalog.Bundled())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.what, err, c.want)
		}
		if err := s.Remove(t.Context(), catalog.Bundled(), "team-clock@1"); err == nil {
			t.Errorf("%s: a store that cannot be read was changed", c.what)
		}
	}
}

// 2.5: a record is valid under 2.3, so its digest alone does not make it one.
func TestRecordOfAnInvalidDocumentIsRefused(t *testing.T) {
	bad := strings.NewReplacer(
		`protocol/1\nprotocol`, `protocol/2\nprotocol`,
		"f745e0ff4b3ad72edb65d38b65f922a77724e462ba9ffd426939de616cd88287", "23074e64bfff02d71a82641fc6fa5b0a847384c00368d9dd308e7da03935d881",
	).Replace(aManifest)
	_, err := planted(t, bad).Load(catalog.Bundled())
	if err == nil || !strings.Contains(err.Error(), "definition 1 (team-clock@1): the definition of team-clock@1: 1:9: unsupported-format") {
		t.Error(err)
	}
}
