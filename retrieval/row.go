package retrieval

import (
	"strings"

	"github.com/loomrun/loom/handle"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/codeunits"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/label"
)

// Why a row is withheld (5.9).
const (
	// CeilingExceeded means that the label does not fit the ceiling.
	CeilingExceeded = "cfc_ceiling_exceeded"
	// LabelReadFailed means that the row's label, or the row, could not be read.
	LabelReadFailed = "cfc_label_read_failed"
	// LabelMissing means that the row has no label, where rows must have one (D38).
	LabelMissing = "cfc_label_missing"
)

// MaxText bounds every text of a row that is shown, in UTF-16 code units. Names of members are not cut (5.10).
const MaxText = 4000

// labelMember is the member of a row that is its label. It is not shown.
const labelMember = "ifc"

// verdict is what is decided of a row from its label alone.
type verdict struct {
	reason string // why the row is withheld; "" where it is admitted
	label  label.Label
	source handle.LabelSource
	text   string // the beginning of the row's entry: of an admitted row up to its value
	length int    // of the text of the label's confidentiality
	joined bool   // into the label of the result
}

// withheld is the verdict on a row that is not shown.
func withheld(reason string) *verdict {
	return &verdict{reason: reason, text: `{"status":"withheld","reasonCode":"` + reason + `"`}
}

// admitted is the verdict on a row that is shown under a label.
func admitted(l label.Label, source handle.LabelSource) *verdict {
	text := append(make([]byte, 0, 256), `{"status":"admitted","label":`...)
	text = canonjson.AppendCompact(text, handle.Names(l))
	text = canonjson.AppendString(append(text, `,"labelSource":`...), string(source))
	text = append(text, `,"value":`...)
	return &verdict{label: l, source: source, text: string(text), length: codeunits.Count(confidentialityOf(l))}
}

// entryOf gives the entry of a row, without a handle.
func (v *verdict) entryOf(row document.Value) Entry {
	if v.reason != "" {
		return Entry{Withheld: v.reason, text: v.text}
	}
	e := Entry{Label: v.label, LabelSource: v.source}
	e.Value, e.Truncated = cutTexts(withoutLabel(row))
	e.text = string(canonjson.AppendCompact([]byte(v.text), e.Value))
	return e
}

// judge decides of the rows of one payload. They mostly have few different labels, and each is read once.
type judge struct {
	ceiling    label.Ceiling
	repeated   bool                // the payload has a member twice (D31)
	all        *verdict            // of every row, whatever it is; nil: each has its own
	unlabelled *verdict            // of every row without a label
	unreadable *verdict            // of every row whose label cannot be read
	known      map[string]*verdict // by the written label
	written    []byte              // the label of the row at hand
}

func newJudge(m Measuring) *judge {
	j := &judge{ceiling: m.Ceiling, repeated: m.Payload.Repeated, unreadable: withheld(LabelReadFailed), known: map[string]*verdict{}}
	if l, may := labelForUnlabelledRow(m); may {
		j.unlabelled = j.decide(l, handle.FromQuery)
	} else {
		j.unlabelled = withheld(LabelMissing)
	}
	return j
}

// labelForUnlabelledRow is the one place that says what a row without a label is labelled with (5.9, D38): with what the asker had seen
// when it asked, and nothing vouches for it. This is no property of the row but an assumption about the store; it reports false where
// the caller does not make it, and such a row is withheld.
func labelForUnlabelledRow(m Measuring) (label.Label, bool) {
	if m.RequireRowLabels {
		return label.Label{}, false
	}
	return label.New(m.Query.Confidentiality(), nil), true
}

// of decides of a row (5.8, 5.9).
func (j *judge) of(row document.Value) *verdict {
	switch {
	case j.all != nil:
		return j.all
	case j.repeated:
		return j.unreadable
	}
	if ifc, labelled := row.Get(labelMember); labelled {
		j.written = canonjson.AppendCompact(j.written[:0], ifc)
		if v, again := j.known[string(j.written)]; again && !hasTwoLabels(row) {
			return v
		}
	}
	l, labelled, err := label.OfRow(row)
	switch {
	case err != nil:
		return j.unreadable
	case !labelled:
		return j.unlabelled
	}
	v := j.decide(l, handle.FromRow)
	j.known[string(j.written)] = v
	return v
}

// exceeds tells whether one of the rows exceeds the ceiling.
func (j *judge) exceeds(rows []document.Value) bool {
	for i := range rows {
		if j.of(rows[i]).reason == CeilingExceeded {
			return true
		}
	}
	return false
}

// hasTwoLabels tells whether a row has its label twice (D31).
func hasTwoLabels(row document.Value) bool {
	n := 0
	for i := range row.Members {
		if row.Members[i].Name == labelMember {
			n++
		}
	}
	return n > 1
}

func (j *judge) decide(l label.Label, source handle.LabelSource) *verdict {
	if !label.Fits(l, j.ceiling) {
		return withheld(CeilingExceeded)
	}
	return admitted(l, source)
}

// confidentialityOf gives the JSON list of a label's clauses.
func confidentialityOf(l label.Label) string {
	return label.UpTo(l.Confidentiality()...).Canonical()
}

// withoutLabel gives a row without its label. What is called the same deeper in it is data.
func withoutLabel(row document.Value) document.Value {
	for i := range row.Members {
		if row.Members[i].Name == labelMember {
			rest := make([]document.Member, 0, len(row.Members)-1)
			rest = append(rest, row.Members[:i]...)
			row.Members = append(rest, row.Members[i+1:]...)
			return row
		}
	}
	return row
}

// cutTexts gives a value with every text in it cut to [MaxText], and whether any was longer. It copies only what it changes.
func cutTexts(v document.Value) (document.Value, bool) {
	switch v.Kind {
	case document.Text:
		if len(v.Text) <= MaxText { // no text has more code units than bytes
			return v, false
		}
		text := codeunits.Cut(v.Text, MaxText)
		if len(text) == len(v.Text) {
			return v, false
		}
		v.Text = strings.Clone(text) // the rest is not to be kept for as long as the beginning
		return v, true
	case document.List:
		copied := false
		for i := range v.Items {
			if item, cut := cutTexts(v.Items[i]); cut {
				if !copied {
					v.Items, copied = append([]document.Value(nil), v.Items...), true
				}
				v.Items[i] = item
			}
		}
		return v, copied
	case document.Map:
		copied := false
		for i := range v.Members {
			if value, cut := cutTexts(v.Members[i].Value); cut {
				if !copied {
					v.Members, copied = append([]document.Member(nil), v.Members...), true
				}
				v.Members[i].Value = value
			}
		}
		return v, copied
	default:
		return v, false
	}
}
