package handle

import (
	"fmt"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/label"
)

// Limits of a table that is read.
const (
	// MaxBytes bounds the text.
	MaxBytes = 64 << 20
	// MaxReferents bounds what it holds.
	MaxReferents = 1 << 17
	// MaxDepth bounds how deep the text nests: a value of a referent nests as deep as a payload may.
	MaxDepth = strictjson.MaxDepth + depthOfValue

	depthOfValue = 3 // {"referents":[{"value":…}]}
)

// The two members that say what the text is (6.2).
const (
	tableType    = "cf-harness.handle-table"
	tableVersion = "1"
)

// JSON writes the table on one line, in the shape of 6.2, for [Read]. The same table is always the same bytes.
func (t *Table) JSON() []byte {
	dst := canonjson.AppendString([]byte(`{"type":`), tableType)
	dst = append(dst, `,"version":`+tableVersion+`,"salt":`...)
	dst = canonjson.AppendString(dst, t.salt)
	dst = append(dst, `,"entries":[],"referents":[`...)
	for i, r := range t.referents {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = canonjson.AppendString(append(dst, `{"token":`...), r.Token)
		dst = canonjson.AppendString(append(dst, `,"kind":`...), string(r.Kind))
		dst = canonjson.AppendString(append(dst, `,"source":`...), r.Source)
		dst = canonjson.AppendCompact(append(dst, `,"value":`...), r.Value)
		dst = append(append(dst, `,"label":`...), r.Label.Canonical()...)
		dst = canonjson.AppendString(append(dst, `,"labelSource":`...), string(r.LabelSource))
		dst = append(dst, '}')
	}
	return append(dst, `]}`...)
}

// Read reads a table that [Table.JSON] wrote, and trusts nothing of it (6.3). Whatever a table of this product cannot be is an error that
// names it, with its place: a token too that is not the one which salt and referent give.
func Read(data []byte) (*Table, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("handle table: it has more than %d bytes", MaxBytes)
	}
	v, err := strictjson.Parse(data, MaxDepth)
	if err != nil {
		return nil, fmt.Errorf("handle table: %w", err)
	}
	t, err := tableOf(v)
	if err != nil {
		return nil, fmt.Errorf("handle table: %w", err)
	}
	return t, nil
}

func tableOf(v document.Value) (*Table, error) {
	if v.Kind != document.Map {
		return nil, document.Errorf(v.Place, "it is %s, and not a map", v.Kind)
	}
	if err := onlyMembers(v, "the table", "type", "version", "salt", "entries", "referents"); err != nil {
		return nil, err
	}
	if kind, _ := v.Get("type"); kind.Kind != document.Text || kind.Text != tableType {
		return nil, document.Errorf(placeOf(kind, v), "type is not %q", tableType)
	}
	if version, _ := v.Get("version"); version.Kind != document.Number || version.Text != tableVersion {
		return nil, document.Errorf(placeOf(version, v), "version is not %s, the only one that is known", tableVersion)
	}
	salt, _ := v.Get("salt")
	if salt.Kind != document.Text || salt.Text == "" {
		return nil, document.Errorf(placeOf(salt, v), "salt is not a text with something in it")
	}
	entries, _ := v.Get("entries")
	switch {
	case entries.Kind != document.List:
		return nil, document.Errorf(placeOf(entries, v), "entries is not a list")
	case len(entries.Items) > 0:
		return nil, refuseEntry(entries.Items[0])
	}
	t := NewTable(salt.Text)
	referents, found := v.Get("referents")
	switch {
	case found && referents.Kind != document.List:
		return nil, document.Errorf(referents.Place, "referents is not a list")
	case len(referents.Items) > MaxReferents:
		return nil, document.Errorf(referents.Place, "there are more than %d referents", MaxReferents)
	}
	for _, item := range referents.Items {
		if err := t.take(item); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// refuseEntry says what is wrong with an entry. All that is right in one is of no use: no table of this product has an address.
func refuseEntry(v document.Value) error {
	token, _ := v.Get("token")
	kind, _ := v.Get("kind")
	ref, _ := v.Get("ref")
	key, _ := v.Get("addressKey")
	switch {
	case v.Kind != document.Map:
		return document.Errorf(v.Place, "an entry is %s, and not a map", v.Kind)
	case !IsToken(token.Text) || isReferentToken(token.Text):
		return document.Errorf(placeOf(token, v), "the token of an entry is malformed")
	case kind.Text != "address":
		return document.Errorf(placeOf(kind, v), "the kind of an entry is not \"address\"")
	case ref.Kind != document.Text || ref.Text == "":
		return document.Errorf(placeOf(ref, v), "the ref of an entry is not a text with something in it")
	case key.Kind != document.Text || key.Text == "":
		return document.Errorf(placeOf(key, v), "the addressKey of an entry is not a text with something in it")
	default:
		return document.Errorf(v.Place, "there is an entry for an address, which this program never gives out")
	}
}

// take reads a referent and holds it.
func (t *Table) take(v document.Value) error {
	if v.Kind != document.Map {
		return document.Errorf(v.Place, "a referent is %s, and not a map", v.Kind)
	}
	if err := onlyMembers(v, "a referent", "token", "kind", "source", "value", "label", "labelSource"); err != nil {
		return err
	}
	token, _ := v.Get("token")
	if token.Kind != document.Text || !isReferentToken(token.Text) {
		return document.Errorf(placeOf(token, v), "the token of a referent is malformed: it is %q and %d characters of the alphabet", Prefix, SuffixLength)
	}
	if _, taken := t.byToken[token.Text]; taken {
		return document.Errorf(token.Place, "the token of a referent is there twice")
	}
	kind, _ := v.Get("kind")
	sources, known := sourcesOf[Kind(kind.Text)]
	if kind.Kind != document.Text || !known {
		return document.Errorf(placeOf(kind, v), "the kind of a referent is neither %q nor %q", Document, Research)
	}
	source, _ := v.Get("source")
	if source.Kind != document.Text || source.Text == "" {
		return document.Errorf(placeOf(source, v), "the source of a referent is not a text with something in it")
	}
	value, found := v.Get("value")
	if !found {
		return document.Errorf(v.Place, "a referent has no value")
	}
	written, _ := v.Get("label")
	l, err := label.LabelOf(written)
	if err != nil {
		return document.Errorf(placeOf(written, v), "the label of a referent is malformed: %v", err)
	}
	labelSource, _ := v.Get("labelSource")
	if labelSource.Kind != document.Text || !sources[LabelSource(labelSource.Text)] {
		return document.Errorf(placeOf(labelSource, v), "the labelSource of a referent is none of its kind")
	}
	r := Referent{Kind: Kind(kind.Text), Source: source.Text, Value: value, Label: l, LabelSource: LabelSource(labelSource.Text)}
	if _, held := t.byKey[keyOf(r)]; held {
		return document.Errorf(v.Place, "a referent is there twice")
	}
	if due := t.Hold(r); due != token.Text {
		return document.Errorf(token.Place, "the token of a referent is not the one that follows from the salt and the referent")
	}
	return nil
}

// sourcesOf says which label sources a kind of referent may have.
var sourcesOf = map[Kind]map[LabelSource]bool{
	Document: {FromRow: true, FromQuery: true},
	Research: {FromResearch: true},
}

// onlyMembers refuses a map with a member that is none of these.
func onlyMembers(v document.Value, what string, names ...string) error {
	for _, m := range v.Members {
		known := false
		for _, name := range names {
			known = known || m.Name == name
		}
		if !known {
			return document.Errorf(m.Place, "%s has an unknown member %.64q", what, m.Name)
		}
	}
	return nil
}

// placeOf gives the place of a member, or that of the map that lacks it.
func placeOf(member, inMap document.Value) document.Place {
	if member.Place == (document.Place{}) {
		return inMap.Place
	}
	return member.Place
}
