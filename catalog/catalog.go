// Package catalog offers the protocol definitions of a host under their registration names.
//
// A [Catalog] is immutable: the same value serves routing, the opening of cases and admission, so
// that what the model may choose from, what a case is opened under and what its actions are judged by
// can never differ (governed-runs 2.1).
package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/loomrun/loom/protocol"
)

// MaxDefinitionBytes bounds one definition, before it is parsed (2.3).
const MaxDefinitionBytes = 1 << 20

// Errors that callers branch on.
var (
	// ErrExists means that the catalog holds a definition of this name already.
	ErrExists = errors.New("is in the catalog already")
	// ErrTooLarge means a definition over MaxDefinitionBytes.
	ErrTooLarge = errors.New("is larger than 1 MiB")
)

// Kind says where a definition comes from.
type Kind string

// The kinds of sources.
const (
	Engineering Kind = "Engineering" // bundled: the protocols of engineering work
	Loom        Kind = "Loom"        // bundled: the program's own
	Memory      Kind = "Memory"      // added by an embedding program
	Local       Kind = "Local"       // installed from a file of this machine
	Git         Kind = "Git"         // installed from one file of a pinned Git commit
)

// Source is where a definition comes from. Parts that a kind does not have are empty.
type Source struct {
	Kind                     Kind
	Location, Revision, Path string
}

// String gives the parts that are there, separated by single spaces.
func (s Source) String() string {
	return strings.Join(slices.DeleteFunc([]string{string(s.Kind), s.Location, s.Revision, s.Path},
		func(part string) bool { return part == "" }), " ")
}

// Bundled tells whether the definition ships with the program.
func (s Source) Bundled() bool { return s.Kind == Engineering || s.Kind == Loom }

// Entry is one definition. Entries are immutable and may be used by several goroutines.
type Entry struct {
	Name   string
	YAML   string // the exact bytes
	Source Source

	compiled func() (*protocol.Protocol, error)
}

// Protocol gives the definition, compiled. Bundled definitions are compiled when first asked for,
// since most commands need one or none; that they compile is a test's business.
func (e *Entry) Protocol() *protocol.Protocol {
	p, err := e.compiled()
	if err != nil {
		panic(fmt.Sprintf("the bundled definition %s does not compile: %v", e.Name, err))
	}
	return p
}

// SHA256 gives the digest of the exact bytes in lower-case hexadecimal.
func (e *Entry) SHA256() string {
	sum := sha256.Sum256([]byte(e.YAML))
	return hex.EncodeToString(sum[:])
}

func newEntry(name, yaml string, source Source) *Entry {
	return &Entry{
		Name: name, YAML: yaml, Source: source,
		compiled: sync.OnceValues(func() (*protocol.Protocol, error) { return protocol.Compile([]byte(yaml)) }),
	}
}

// Catalog is a set of definitions. The zero Catalog holds none.
type Catalog struct {
	entries []*Entry // bundled first, then by name
}

// Get finds a definition by its registration name.
func (c Catalog) Get(name string) (*Entry, bool) {
	for _, e := range c.entries {
		if e.Name == name {
			return e, true
		}
	}
	return nil, false
}

// Entries gives all definitions, bundled ones first, each part by name (D20).
func (c Catalog) Entries() []*Entry { return slices.Clone(c.entries) }

// Names gives the registration names in the order of Entries.
func (c Catalog) Names() []string {
	names := make([]string, len(c.entries))
	for i, e := range c.entries {
		names[i] = e.Name
	}
	return names
}

// AddYAML gives a catalog with one more definition, held in memory; c itself stays as it is. The
// checks come in the order of 2.3: name taken (ErrExists), name form (*NameError), size (ErrTooLarge),
// reading, MAJOR against the document's revision, validation (protocol.Problems).
func (c Catalog) AddYAML(name string, yaml []byte) (Catalog, error) {
	if _, taken := c.Get(name); taken {
		return c, fmt.Errorf("%s %w", name, ErrExists)
	}
	e, err := Check(name, yaml, Source{Kind: Memory})
	if err != nil {
		return c, err
	}
	return c.with(e), nil
}

// Of gives a catalog of just these entries, whose names differ: what a run chose from earlier.
func Of(entries ...*Entry) Catalog { return Catalog{}.with(entries...) }

func (c Catalog) with(more ...*Entry) Catalog {
	entries := append(slices.Clone(c.entries), more...)
	slices.SortFunc(entries, func(a, b *Entry) int {
		if a.Source.Bundled() != b.Source.Bundled() {
			if a.Source.Bundled() {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	return Catalog{entries}
}

// Check makes an entry of a definition, or says why it is none, in the order of 2.3.
func Check(name string, yaml []byte, source Source) (*Entry, error) {
	parsed, err := ParseName(name)
	if err != nil {
		if len(yaml) > MaxDefinitionBytes {
			return nil, &NameError{Reason: err.Error()} // too large to be parsed for a hint
		}
		return nil, nameError(err, yaml)
	}
	e := newEntry(name, string(yaml), source)
	if err := e.check(parsed); err != nil {
		return nil, err
	}
	return e, nil
}

// check makes the checks of 2.3 that come after the name's form.
func (e *Entry) check(name Name) error {
	if len(e.YAML) > MaxDefinitionBytes {
		return fmt.Errorf("the definition of %s %w", e.Name, ErrTooLarge)
	}
	p, err := e.compiled()
	revision, readable := uint64(0), err == nil
	if readable {
		revision = p.Revision
	} else {
		_, revision, readable = protocol.Declared([]byte(e.YAML))
	}
	if readable && revision != name.Major {
		return fmt.Errorf("%s needs a document of revision %d; this one declares revision %d", e.Name, name.Major, revision)
	}
	if err != nil {
		return fmt.Errorf("the definition of %s: %w", e.Name, err)
	}
	return nil
}
