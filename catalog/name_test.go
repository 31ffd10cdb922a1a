package catalog_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/protocol"
)

func TestRegistrationNames(t *testing.T) {
	longest := strings.Repeat("a", catalog.MaxNameBytes-len("@1")) + "@1"
	for _, name := range []string{"a@1", "team-clock@1", "a-@1", "a1@10", "x9-@18446744073709551615", longest} {
		if got, err := catalog.ParseName(name); err != nil || got.String() != name {
			t.Errorf("%q: %v, %v", name, got, err)
		}
	}
	for _, name := range []string{
		"", "a", "a@", "@1", "a@0", "a@01", "a@+1", "a@-1", "a@1.0", "a@1@2", "a@18446744073709551616", " a@1", "a@1 ", "a @1",
		"Team@1", "1a@1", "-a@1", "a_b@1", "a.b@1", "é@1", "a\n@1", "a@１", "a" + longest,
	} {
		if got, err := catalog.ParseName(name); err == nil {
			t.Errorf("%q is taken as %v", name, got)
		}
	}
}

func TestNameThatADeclaredIDTakes(t *testing.T) {
	for _, c := range []struct {
		id       string
		revision uint64
		want     string
	}{
		{"self.improvement", 1, "self-improvement@1"},
		{"self.improvement/1", 7, "self-improvement@1"},
		{"a_b.c", 3, "a-b-c@3"},
		{"team-clock", 2, "team-clock@2"},
		{"Self", 1, ""},
		{"1a", 1, ""},
		{"", 1, ""},
		{"a", 0, ""},
		{"a/0", 1, ""},
		{"a/1/2", 1, ""},
		{"a:b", 1, ""},
		{strings.Repeat("a", 99), 1, ""},
	} {
		name, ok := catalog.NameFor(c.id, c.revision)
		if ok != (c.want != "") || ok && name.String() != c.want {
			t.Errorf("%q revision %d: %v, %v, want %q", c.id, c.revision, name, ok, c.want)
		}
	}
}

const clock = `format: protocol/1
protocol: {id: self.improvement, revision: 1}
`

// 2.3: the checks of a definition come in this order; the first that fails is reported.
func TestDefinitionsAreCheckedInOrder(t *testing.T) {
	tooLarge := clock + strings.Repeat("#", catalog.MaxDefinitionBytes)
	for _, c := range []struct{ what, name, yaml, want string }{
		{"a name taken comes before its document", "system-query@1", "nonsense: [", "system-query@1 is in the catalog already"},
		{"case 52: a name that is an id, with the name it takes", "self.improvement/1", clock, "this document registers as self-improvement@1"},
		{"case 53: an id that leads to no name gives no hint", "Foo", strings.Replace(clock, "self.improvement", "Foo", 1), `"Foo" is no registration name`},
		{"a bad name with an unreadable document", "Foo", "nonsense: [", `"Foo" is no registration name`},
		{"a bad name comes before the size", "Foo", tooLarge, `"Foo" is no registration name`},
		{"case 44: the size comes before reading", "self-improvement@1", tooLarge, "the definition of self-improvement@1 is larger than 1 MiB"},
		{"reading comes before the revision", "self-improvement@2", clock + "steps: {}\n", `has no key "steps"`},
		{"case 54: the revision comes before validation", "self-improvement@2", clock + "outcomes: {o: {requires: {claim: c}}}\n", "self-improvement@2 needs a document of revision 2; this one declares revision 1"},
		{"validation comes last", "self-improvement@1", clock + "outcomes: {o: {requires: {claim: c}}}\n", "undeclared-claim"},
	} {
		if _, err := catalog.Bundled().AddYAML(c.name, []byte(c.yaml)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.what, err, c.want)
		}
	}
}

func TestErrorsThatCallersBranchOn(t *testing.T) {
	_, err := catalog.Bundled().AddYAML("system-query@1", nil)
	if !errors.Is(err, catalog.ErrExists) {
		t.Errorf("%v is not ErrExists", err)
	}
	_, err = catalog.Bundled().AddYAML("a@1", make([]byte, catalog.MaxDefinitionBytes+1))
	if !errors.Is(err, catalog.ErrTooLarge) {
		t.Errorf("%v is not ErrTooLarge", err)
	}
	var name *catalog.NameError
	if _, err = catalog.Bundled().AddYAML("Foo", []byte(clock)); !errors.As(err, &name) || name.Hint != "self-improvement@1" {
		t.Errorf("%v is no NameError with a hint", err)
	}
	var problems protocol.Problems
	if _, err = catalog.Bundled().AddYAML("a@1", []byte(clock+"steps: {}")); !errors.As(err, &problems) {
		t.Errorf("%v holds no Problems", err)
	}
}

func TestDefinitionOfExactly1MiBIsTaken(t *testing.T) {
	yaml := clock + "#" + strings.Repeat("x", catalog.MaxDefinitionBytes-len(clock)-1)
	if _, err := catalog.Bundled().AddYAML("self-improvement@1", []byte(yaml)); err != nil {
		t.Error(err)
	}
}

func TestCatalogsAreImmutable(t *testing.T) {
	before := catalog.Bundled()
	after, err := before.AddYAML("self-improvement@1", []byte(clock))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := before.Get("self-improvement@1"); ok {
		t.Error("adding changed the catalog it was added to")
	}
	entry, ok := after.Get("self-improvement@1")
	if !ok || entry.YAML != clock || entry.Source.String() != "Memory" || entry.Protocol().ID != "self.improvement" {
		t.Errorf("%+v, %v", entry, ok)
	}
	if sum := sha256.Sum256([]byte(clock)); entry.SHA256() != hex.EncodeToString(sum[:]) {
		t.Errorf("digest %s, want %x", entry.SHA256(), sum)
	}
	after.Entries()[0] = nil
	if after.Entries()[0] == nil {
		t.Error("a caller can change the entries of a catalog")
	}
}

// D20: bundled definitions first, each part by name.
func TestOrderOfEntries(t *testing.T) {
	c := catalog.Bundled()
	for _, name := range []string{"zoo@1", "aardvark@1"} {
		var err error
		if c, err = c.AddYAML(name, []byte(clock)); err != nil {
			t.Fatal(err)
		}
	}
	got := strings.Join(c.Names(), " ")
	if want := "data-query@1 incident-response@1 software-change@1 support-triage@1 system-query@1 aardvark@1 zoo@1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// 2.1: what is bundled, where, and that a program relies on it compiling.
func TestBundledCatalogs(t *testing.T) {
	for _, c := range []struct {
		what    string
		catalog catalog.Catalog
		want    string
	}{
		{"routing", catalog.Bundled(), "data-query@1 incident-response@1 software-change@1 support-triage@1 system-query@1"},
		{"engineering", catalog.Engineered(), "incident-response@1 software-change@1 support-triage@1"},
		{"plugins", catalog.Plugins(), "inbound-answer@1"},
	} {
		if got := strings.Join(c.catalog.Names(), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
		for _, e := range c.catalog.Entries() {
			name, ok := catalog.NameFor(e.Protocol().ID, e.Protocol().Revision)
			if !ok || name.String() != e.Name {
				t.Errorf("%s declares an id that registers as %v", e.Name, name)
			}
			for _, a := range e.Protocol().Actions {
				if len(a.Requires) > 1 {
					t.Errorf("%s: %s requires several capabilities, which no governor takes", e.Name, a.ID)
				}
			}
		}
	}
}
