package retrieval

import (
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/codeunits"
	"github.com/loomrun/loom/internal/document"
)

// MaxEnvelope bounds the JSON text of the envelope, in UTF-16 code units (D32).
const MaxEnvelope = 8000

// envelopeOf takes the members of a payload that stand beside the rows, in the order of the names (5.7). It is null where the payload has
// none of them. No label covers these: all that is bounded here is their size.
//
// Texts are cut to [MaxText]. Of what is too much all together, members that are neither a list nor a map are left out last; of a list or a
// map the first entries stay, each of them whole. It reports whether anything was left out; a text that was cut does not count.
func envelopeOf(payload document.Value, names []string) (envelope document.Value, leftOut bool) {
	found := make([]document.Member, 0, len(names))
	for _, name := range names {
		if value, has := payload.Get(name); has {
			value, _ = cutTexts(value)
			found = append(found, document.M(name, value))
		}
	}
	if len(found) == 0 {
		return document.Value{}, false
	}
	room := MaxEnvelope - len(`{}`)
	kept := make([]bool, len(found))
	for i, m := range found {
		if m.Value.Kind != document.List && m.Value.Kind != document.Map {
			kept[i] = takeFrom(&room, nameLength(m.Name)+lengthOf(m.Value))
		}
	}
	for i, m := range found {
		if m.Value.Kind == document.List || m.Value.Kind == document.Map {
			if kept[i] = takeFrom(&room, nameLength(m.Name)+len(`[]`)); kept[i] {
				var all bool
				found[i].Value, all = firstEntries(m.Value, &room)
				leftOut = leftOut || !all
			}
		}
	}
	envelope = document.MapOf()
	for i, m := range found {
		if kept[i] {
			envelope.Members = append(envelope.Members, m)
		} else {
			leftOut = true
		}
	}
	return envelope, leftOut
}

// firstEntries gives as many entries of a list or a map as there is room for, and whether these are all.
func firstEntries(v document.Value, room *int) (document.Value, bool) {
	for i := range v.Items {
		if !takeFrom(room, lengthOf(v.Items[i])+len(`,`)) {
			v.Items = v.Items[:i:i]
			return v, false
		}
	}
	for i := range v.Members {
		if !takeFrom(room, nameLength(v.Members[i].Name)+lengthOf(v.Members[i].Value)) {
			v.Members = v.Members[:i:i]
			return v, false
		}
	}
	return v, true
}

// takeFrom takes what is wanted if there is as much room.
func takeFrom(room *int, wanted int) bool {
	if wanted > *room {
		return false
	}
	*room -= wanted
	return true
}

// nameLength is the length of a member without its value: the name, the colon, and the comma behind, which the last member has not.
func nameLength(name string) int { return lengthOf(document.TextOf(name)) + len(`:,`) }

// lengthOf is the length of a value's JSON text in UTF-16 code units.
func lengthOf(v document.Value) int { return codeunits.Count(canonjson.Compact(v)) }
