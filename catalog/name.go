package catalog

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/loomrun/loom/protocol"
)

// MaxNameBytes bounds a registration name, @MAJOR included (governed-runs 2.2, D20).
const MaxNameBytes = 100

// Name is a registration name taken apart: stem@MAJOR.
type Name struct {
	Stem  string
	Major uint64 // at least 1; equals the revision of the document
}

// String gives stem@MAJOR.
func (n Name) String() string { return n.Stem + "@" + strconv.FormatUint(n.Major, 10) }

// ParseName reads a registration name: a stem that begins with a to z and goes on with a to z, 0 to 9
// and -, then @, then a decimal without sign or leading zero (2.2).
func ParseName(text string) (Name, error) {
	stem, major, _ := strings.Cut(text, "@")
	n, err := strconv.ParseUint(major, 10, 64)
	switch {
	case len(text) > MaxNameBytes:
		return Name{}, fmt.Errorf("a registration name has at most %d bytes; this one has %d", MaxNameBytes, len(text))
	case !isStem(stem), err != nil, n == 0, strconv.FormatUint(n, 10) != major:
		return Name{}, fmt.Errorf("%q is no registration name; one looks like team-notes@1: a to z first, then a to z, 0 to 9 and -, then @ and the document's revision", text)
	}
	return Name{stem, n}, nil
}

func isStem(s string) bool {
	return s != "" && s[0] >= 'a' && s[0] <= 'z' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// NameFor gives the registration name that a declared protocol id takes: . and _ become -, and the
// revision, or the id's own /MAJOR, becomes @MAJOR. Ids that lead to no valid name give false (2.2).
func NameFor(id string, revision uint64) (Name, bool) {
	major := strconv.FormatUint(revision, 10)
	if stem, own, has := strings.Cut(id, "/"); has {
		id, major = stem, own
	}
	name, err := ParseName(strings.NewReplacer(".", "-", "_", "-").Replace(id) + "@" + major)
	return name, err == nil
}

// NameError says that a text is no registration name, and which one the document would take.
type NameError struct {
	Reason string
	Hint   string // empty where the document leads to no name
}

// Error gives the reason and the hint.
func (e *NameError) Error() string {
	if e.Hint == "" {
		return e.Reason
	}
	return e.Reason + "; this document registers as " + e.Hint
}

func nameError(reason error, yaml []byte) *NameError {
	e := &NameError{Reason: reason.Error()}
	if id, revision, ok := protocol.Declared(yaml); ok {
		if name, ok := NameFor(id, revision); ok {
			e.Hint = name.String()
		}
	}
	return e
}
