package catalog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
)

// A store of as many definitions as it may hold can be read: each takes so many parts of what the JSON
// reader takes.
func TestManifestOfAllItMayHoldIsReadable(t *testing.T) {
	parts := func(installed ...*Entry) int {
		data, err := encodeManifest(installed, MaxManifest)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := strictjson.Parse(data, manifestDepth)
		if err != nil {
			t.Fatal(err)
		}
		return partsOf(tree)
	}
	e := newEntry("a@1", "", Source{Kind: Local, Location: "/a"})
	if each := parts(e, e) - parts(e); parts()+each*MaxInstalled > strictjson.MaxParts {
		t.Errorf("%d definitions of %d parts are more than the reader takes", MaxInstalled, each)
	}
	if _, err := encodeManifest(make([]*Entry, MaxInstalled+1), MaxManifest); err == nil || !strings.Contains(err.Error(), "at most 65536 definitions") {
		t.Error(err)
	}
}

func partsOf(v document.Value) int {
	parts := 1
	for _, item := range v.Items {
		parts += partsOf(item)
	}
	for _, m := range v.Members {
		parts += 1 + partsOf(m.Value)
	}
	return parts
}

// What the reader of manifests takes, it takes again as the writer leaves it, and the same definitions
// come out.
func FuzzManifest(f *testing.F) {
	file := filepath.Join(f.TempDir(), "a.yaml")
	if err := os.WriteFile(file, []byte("format: protocol/1\nprotocol: {id: a, revision: 1}\n"), 0o600); err != nil {
		f.Fatal(err)
	}
	s, err := OpenStore(filepath.Join(f.TempDir(), "store"))
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range []string{"b@1", "a@1"} {
		if err := s.Install(f.Context(), Bundled(), name, FromFile(file), false); err != nil {
			f.Fatal(err)
		}
	}
	written, err := os.ReadFile(s.manifest)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(written)
	f.Add([]byte(`{"format": "loom.protocol-catalog/1", "definitions": []}`))
	f.Add([]byte(`{"format": "loom.protocol-catalog/1", "definitions": [{"source": {"kind": "git"}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		first, err := decodeManifest(data, Bundled())
		if err != nil {
			return
		}
		text, err := encodeManifest(first, MaxManifest)
		if err != nil {
			t.Fatal(err)
		}
		second, err := decodeManifest(text, Bundled())
		if err != nil {
			t.Fatalf("what was written is refused: %v\n%s", err, text)
		}
		if len(second) != len(first) {
			t.Fatalf("%d definitions became %d", len(first), len(second))
		}
		all := Catalog{}.with(first...)
		for _, e := range second {
			if was, ok := all.Get(e.Name); !ok || was.YAML != e.YAML || was.Source != e.Source {
				t.Errorf("%s became another", e.Name)
			}
		}
	})
}
