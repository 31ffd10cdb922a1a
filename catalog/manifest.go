package catalog

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/loomrun/loom/catalog/pinnedgit"
	"github.com/loomrun/loom/internal/boundedfile"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
)

// The formats of a manifest and of its records (governed-runs 2.5).
const (
	manifestFormat = "loom.protocol-catalog/1"
	recordFormat   = "loom.protocol-install/1"
)

// MaxInstalled bounds the definitions of one store, so that what was written can be read: a manifest
// of this many has fewer parts than the JSON reader takes.
const MaxInstalled = 1 << 16

// manifestDepth is how deep a manifest nests: itself, its list, a record, a source.
const manifestDepth = 4

// kindsOnDisk are the sources of installed definitions as records name them.
var kindsOnDisk = map[string]Kind{"local": Local, "git": Git}

// encodeManifest writes definitions in the order of their names, at most limit bytes.
func encodeManifest(installed []*Entry, limit boundedfile.Size) ([]byte, error) {
	if len(installed) > MaxInstalled {
		return nil, fmt.Errorf("a protocol store holds at most %d definitions", MaxInstalled)
	}
	records := document.ListOf()
	for _, e := range slices.SortedFunc(slices.Values(installed), func(a, b *Entry) int { return strings.Compare(a.Name, b.Name) }) {
		records.Items = append(records.Items, document.MapOf(
			document.M("format", document.TextOf(recordFormat)),
			document.M("name", document.TextOf(e.Name)),
			document.M("yaml", document.TextOf(e.YAML)),
			document.M("sha256", document.TextOf(e.SHA256())),
			document.M("source", document.MapOf(
				document.M("kind", document.TextOf(strings.ToLower(string(e.Source.Kind)))),
				document.M("location", document.TextOf(e.Source.Location)),
				document.M("revision", document.TextOf(e.Source.Revision)),
				document.M("path", document.TextOf(e.Source.Path))))))
	}
	data, err := canonjson.AppendLimited(nil, document.MapOf(
		document.M("format", document.TextOf(manifestFormat)),
		document.M("definitions", records)), int(limit))
	if err != nil {
		return nil, fmt.Errorf("the protocol store would exceed %s; remove definitions that are not needed", limit)
	}
	return data, nil
}

// decodeManifest reads a manifest and checks every record (2.5). Its first fault is the error, with
// the record's number, from 1, and name.
func decodeManifest(data []byte, bundled Catalog) ([]*Entry, error) {
	tree, err := strictjson.Parse(data, manifestDepth)
	if err != nil {
		return nil, err
	}
	if err := hasExactly(tree, "format", "definitions"); err != nil {
		return nil, err
	}
	format, _ := tree.Get("format")
	if format.Kind != document.Text || format.Text != manifestFormat {
		return nil, fmt.Errorf("its format is not %s", manifestFormat)
	}
	records, _ := tree.Get("definitions")
	if records.Kind != document.List {
		return nil, errors.New("its definitions are no list")
	}
	if len(records.Items) > MaxInstalled {
		return nil, fmt.Errorf("it has more than %d definitions", MaxInstalled)
	}
	installed := make([]*Entry, 0, len(records.Items))
	seen := map[string]bool{}
	for i, record := range records.Items {
		e, err := decodeRecord(record)
		if err == nil {
			_, isBundled := bundled.Get(e.Name)
			switch {
			case isBundled:
				err = errors.New("a bundled definition has this name")
			case seen[e.Name]:
				err = errors.New("an earlier record has this name")
			}
		}
		if err != nil {
			return nil, fmt.Errorf("definition %d%s: %w; restore the file or take this record out of it", i+1, nameOf(record), err)
		}
		seen[e.Name] = true
		installed = append(installed, e)
	}
	return installed, nil
}

// nameOf gives the name a record bears, in brackets, if it bears one.
func nameOf(record document.Value) string {
	name, _ := record.Get("name")
	if name.Kind != document.Text || len(name.Text) > MaxNameBytes {
		return ""
	}
	return " (" + name.Text + ")"
}

// decodeRecord reads one definition. Its checks come in the order of 2.5, but for those that look at
// other definitions.
func decodeRecord(record document.Value) (*Entry, error) {
	if err := hasExactly(record, "format", "name", "yaml", "sha256", "source"); err != nil {
		return nil, err
	}
	source, _ := record.Get("source")
	if err := hasExactly(source, "kind", "location", "revision", "path"); err != nil {
		return nil, fmt.Errorf("its source: %w", err)
	}
	texts := map[string]string{}
	for _, m := range slices.Concat(record.Members, source.Members) {
		if m.Name != "source" && m.Value.Kind != document.Text {
			return nil, fmt.Errorf("its %s is %s, not text", m.Name, m.Value.Kind)
		}
		texts[m.Name] = m.Value.Text
	}
	if texts["format"] != recordFormat {
		return nil, fmt.Errorf("its format is not %s", recordFormat)
	}
	name, err := ParseName(texts["name"])
	if err != nil {
		return nil, err
	}
	kind, known := kindsOnDisk[texts["kind"]]
	e := newEntry(texts["name"], texts["yaml"], Source{kind, texts["location"], texts["revision"], texts["path"]})
	if e.SHA256() != texts["sha256"] {
		return nil, errors.New("its yaml does not have the digest that its sha256 gives")
	}
	if err := e.check(name); err != nil {
		return nil, err
	}
	if !known {
		return nil, errors.New("the kind of its source is neither local nor git")
	}
	return e, e.Source.check()
}

// check refuses a source that no install leaves behind.
func (s Source) check() error {
	if s.Kind == Local {
		if !filepath.IsAbs(s.Location) || s.Revision != "" || s.Path != "" {
			return errors.New("its local source is not an absolute location with an empty revision and path")
		}
		return nil
	}
	locator, err := pinnedgit.ParseLocator(s.Location)
	if err != nil {
		return fmt.Errorf("its source: %w", err)
	}
	if locator.Pin != s.Revision {
		return errors.New("the revision of its source is not the commit that its location pins")
	}
	if err := pinnedgit.CheckPath(s.Path); err != nil {
		return fmt.Errorf("its source: %w", err)
	}
	return nil
}

// hasExactly refuses what is no map of these members. A member written twice has been refused by the
// reader.
func hasExactly(v document.Value, names ...string) error {
	if v.Kind != document.Map {
		return fmt.Errorf("it is %s, not a map", v.Kind)
	}
	for _, name := range names {
		if _, has := v.Get(name); !has {
			return fmt.Errorf("it has no member %s", name)
		}
	}
	for _, m := range v.Members {
		if !slices.Contains(names, m.Name) {
			return fmt.Errorf("it has a member %.40q, which is not of the format", m.Name)
		}
	}
	return nil
}
