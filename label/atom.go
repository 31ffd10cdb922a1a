package label

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
	"unique"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
)

// Atom is a JSON value that a clause or an integrity names (section 3.1). Two atoms are equal (==) when
// their values are deeply equal; the order of members and the spelling of a number do not count. The
// zero Atom is null.
//
// A record is opaque data but for what [Fits] says of expiries and of users. A record with one of the
// reserved members anyOf, var, digestOf, thisPolicy or thisPolicyField is none that a clause can be met
// with: it entails nothing, not even itself. A commitment {"digestOf": …} inside of a record is data like
// any other: it equals the same commitment, but not the value it commits to, since the specification
// does not say how the digest is made. Less fits so, never more.
type Atom struct {
	value  unique.Handle[facts] // its zero is null
	family family               // follows from value, and is here because every comparison asks for it
}

// family says by which rule an atom is compared.
type family uint8

const (
	plain         family = iota // by equality
	hereditary                  // by equality; as integrity it passes on to what is made from the data
	expires                     // an earlier one entails a later one
	user                        // entails the personal space of the same principal
	personalSpace               //
	readFailed                  // the marker: entails nothing, and nothing entails it
	reserved                    // a record with a reserved member: the same
	clauseShaped                // {"anyOf": […]} where an atom is expected: the same
)

// facts is what follows from an atom's canonical text. It is comparable, so that it can be interned.
type facts struct {
	text      string            // canonical JSON
	hash      [sha256.Size]byte // of text
	name      string            // what the model is shown: the text itself, or the member type
	named     bool
	principal string  // of a user or a personal space: the canonical text that names the principal
	timestamp float64 // of an expiry
}

var factsOfNull = facts{text: "null", hash: sha256.Sum256([]byte("null"))}

func (a Atom) facts() facts {
	if a.value == (unique.Handle[facts]{}) {
		return factsOfNull
	}
	return a.value.Value()
}

// ReadFailed is the marker that stands in a label for one that could not be read. A clause that bears
// it fits no ceiling, and it does not fit where there is no ceiling either (D37).
func ReadFailed() Atom { return atomOf(document.TextOf(readFailedText)) }

const readFailedText = "cfc:label-read-failed"

// Types of the registry that have a rule of their own (section 3.1). All others are data.
const (
	registry            = "https://commonfabric.org/cfc/atom/"
	typeUser            = registry + "User"
	typePersonalSpace   = registry + "PersonalSpace"
	typeExpires         = registry + "Expires"
	typePolicyCertified = registry + "PolicyCertified"
)

// reservedNames are the members that mean something in exact shape only (section 3.1).
var reservedNames = []string{"anyOf", "digestOf", "thisPolicy", "thisPolicyField", "var"}

// AtomOf makes an atom from a tree. Its error is an [*UnreadableError].
func AtomOf(v document.Value) (Atom, error) {
	normal, err := canonical(v, 0)
	if err != nil {
		return Atom{}, unreadable(err)
	}
	return atomOf(normal), nil
}

// Canonical gives the JSON text of the atom: members sorted by the bytes of their names, numbers in one
// spelling, no white space.
func (a Atom) Canonical() string { return a.facts().text }

func (a Atom) append(dst []byte) []byte { return append(dst, a.facts().text...) }

// Type gives what the atom may be called where its other members must not be shown (section 5.9): a
// text itself, or the member type of a record. It reports false for all others.
func (a Atom) Type() (string, bool) {
	f := a.facts()
	return f.name, f.named
}

// compareAtoms orders atoms by their hash (section 3.2).
func compareAtoms(a, b Atom) int {
	ha, hb := a.facts().hash, b.facts().hash
	return bytes.Compare(ha[:], hb[:])
}

// size is the length of the canonical text.
func (a Atom) size() int { return len(a.facts().text) }

// entails tells whether who satisfies a satisfies b (section 3.5).
func (a Atom) entails(b Atom) bool {
	if a == b {
		return a.family < readFailed
	}
	switch {
	case a.family == expires && b.family == expires:
		// Two that differ only beyond the precision of a float are neither before the other.
		return a.facts().timestamp < b.facts().timestamp
	case a.family == user && b.family == personalSpace:
		return a.facts().principal == b.facts().principal
	default:
		return false
	}
}

// atomOf interns a tree that is in canonical form.
func atomOf(v document.Value) Atom {
	if v.Kind == document.Null {
		return Atom{}
	}
	f := facts{text: canonjson.Compact(v)}
	f.hash = sha256.Sum256([]byte(f.text))
	var kind family
	switch v.Kind {
	case document.Text:
		f.name, f.named = v.Text, true
		if v.Text == readFailedText {
			kind = readFailed
		}
	case document.Map:
		kind = f.learn(v)
	}
	return Atom{value: unique.Make(f), family: kind}
}

// learn takes what the rules ask of a record.
func (f *facts) learn(record document.Value) family {
	kind, _ := record.Get("type")
	if kind.Kind == document.Text {
		f.name, f.named = kind.Text, true
	}
	if _, isClause := alternativesOf(record); isClause {
		return clauseShaped
	}
	for _, m := range record.Members {
		if slices.Contains(reservedNames, m.Name) {
			return reserved
		}
	}
	switch {
	case f.name == typePolicyCertified:
		return hereditary
	case len(record.Members) != 2: // type and one more: with others it may mean something else
		return plain
	case f.name == typeExpires:
		if at, _ := record.Get("timestamp"); at.Kind == document.Number {
			f.timestamp, _ = strconv.ParseFloat(at.Text, 64) // in range: see spellNumber
			return expires
		}
	case f.name == typeUser:
		if f.isPrincipal(record, "subject") {
			return user
		}
	case f.name == typePersonalSpace:
		if f.isPrincipal(record, "owner") {
			return personalSpace
		}
	}
	return plain
}

// isPrincipal tells whether a member names a principal completely: by a DID or by a commitment.
func (f *facts) isPrincipal(record document.Value, member string) bool {
	v, _ := record.Get(member)
	digest, _ := v.Get("digestOf")
	if !strings.HasPrefix(v.Text, "did:") && (len(v.Members) != 1 || digest.Kind != document.Text) {
		return false
	}
	f.principal = canonjson.Compact(v)
	return true
}

// alternativesOf gives the items of a record whose only member is anyOf with a list.
func alternativesOf(v document.Value) ([]document.Value, bool) {
	if len(v.Members) != 1 || v.Members[0].Name != "anyOf" || v.Members[0].Value.Kind != document.List {
		return nil, false
	}
	return v.Members[0].Value.Items, true
}

var (
	errDeep   = errors.New("an atom is nested too deeply")
	errUTF8   = errors.New("a text is not UTF-8")
	errNumber = errors.New("a number is not one that a 64-bit float can hold the size of")
)

// canonical sorts the members and spells the numbers of a tree that is level lists and maps deep in an
// atom.
func canonical(v document.Value, level int) (document.Value, error) {
	if (v.Kind == document.List || v.Kind == document.Map) && level == MaxAtomDepth {
		return v, at(v.Place, errDeep)
	}
	switch v.Kind {
	case document.Text:
		if !utf8.ValidString(v.Text) {
			return v, at(v.Place, errUTF8)
		}
	case document.Number:
		spelled, ok := spellNumber(v.Text)
		if !ok {
			return v, at(v.Place, errNumber)
		}
		v.Text = spelled
	case document.List:
		items := make([]document.Value, len(v.Items))
		for i := range v.Items {
			item, err := canonical(v.Items[i], level+1)
			if err != nil {
				return v, err
			}
			items[i] = item
		}
		v.Items = items
	case document.Map:
		if twin, found := v.RepeatedMember(); found {
			return v, at(twin.Place, errTwice)
		}
		members := slices.Clone(v.Members)
		for i := range members {
			if !utf8.ValidString(members[i].Name) {
				return v, at(members[i].Place, errUTF8)
			}
			value, err := canonical(members[i].Value, level+1)
			if err != nil {
				return v, err
			}
			members[i].Value = value
		}
		slices.SortFunc(members, func(a, b document.Member) int { return strings.Compare(a.Name, b.Name) })
		v.Members = members
	}
	return v, nil
}

// spellNumber gives the one spelling of a JSON number: that of RFC 8785 section 3.2.2.3 where a 64-bit
// float holds the number, and the same form with all its digits where none does, so that numbers which
// differ stay apart. It reports false for what is no decimal number, and for a number whose size is
// beyond a float: other readers take such a number for infinity or zero.
func spellNumber(written string) (string, bool) {
	rest, negative := strings.CutPrefix(written, "-")
	mantissa, exponent := rest, "0"
	if i := strings.IndexAny(rest, "eE"); i >= 0 {
		mantissa, exponent = rest[:i], rest[i+1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return "", false
	}
	significant := strings.TrimLeft(digits, "0")
	power, err := strconv.Atoi(exponent)
	// The power of ten of the first significant digit.
	power += len(whole) - 1 - (len(digits) - len(significant))
	significant = strings.TrimRight(significant, "0")
	if significant == "" {
		return "0", true
	}
	const beyondFloats = 400 // no float is as large as this power of ten, or as small
	if err != nil || power < -beyondFloats || power > beyondFloats {
		return "", false
	}
	spelled := place(significant, power)
	if size, err := strconv.ParseFloat(spelled, 64); err != nil || size == 0 {
		return "", false
	}
	if negative {
		spelled = "-" + spelled
	}
	return spelled, true
}

// place writes digits, of which the first stands for the given power of ten.
func place(digits string, power int) string {
	switch n := len(digits); {
	case power >= 21 || power < -6:
		sign := ""
		if power > 0 {
			sign = "+"
		}
		point := ""
		if n > 1 {
			point = "."
		}
		return digits[:1] + point + digits[1:] + "e" + sign + strconv.Itoa(power)
	case power < 0:
		return "0." + strings.Repeat("0", -power-1) + digits
	case n <= power+1:
		return digits + strings.Repeat("0", power+1-n)
	default:
		return digits[:power+1] + "." + digits[power+1:]
	}
}
