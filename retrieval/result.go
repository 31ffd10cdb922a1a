package retrieval

import (
	"strconv"

	"github.com/loomrun/loom/handle"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/label"
)

// Result is what a call gives (5.9 to 5.12). It is made by [Measure] and is not changed afterwards.
type Result struct {
	OutputID string
	Kind     string  // of the tool's results, such as search
	Entries  []Entry // in the order of the rows
	// Admitted and Withheld count the entries, Omitted the rows behind the last entry, for which there was no room. All three
	// together are all rows.
	Admitted, Withheld, Omitted int
	// Unlabelled counts the admitted rows that carried no label and took that of the query (D38).
	Unlabelled int
	// Truncated says that something was cut from a row or left out: rows, or entries of the envelope.
	Truncated bool
	// Envelope is what the payload had beside its rows: null where there is nothing. No label covers it.
	Envelope document.Value
	// Observed is the join of the admitted rows' labels, without integrity. It is public where nothing was admitted or all of it is public:
	// then nothing was observed.
	Observed label.Label
}

// Entry is what became of a row.
type Entry struct {
	// Withheld is the reason code of a row that is not shown, and "" of an admitted one. The other fields are those of an admitted row.
	Withheld    string
	Label       label.Label // in full
	LabelSource handle.LabelSource
	Value       document.Value // the row without its label, with its texts cut
	Token       string         // "" where there is no table of handles
	Truncated   bool           // a text was cut

	text string // JSON of the entry up to what tail gives
}

// tail gives the end of the entry's JSON.
func (e Entry) tail() string {
	handle, truncated := "", ""
	if e.Token != "" {
		handle = `,"handle":"` + e.Token + `"`
	}
	if e.Truncated {
		truncated = `,"truncated":true`
	}
	return handle + truncated + `}`
}

// Shown gives the JSON that the model sees, on one line (5.11). Of labels it has the types of atoms only.
func (r *Result) Shown() []byte {
	dst := make([]byte, 0, r.roughly())
	return append(r.appendShown(dst), '}')
}

// Artifact gives the JSON for those who review the run, on one line: what the model saw and cfc, the label of it (5.11).
func (r *Result) Artifact() []byte {
	dst := r.appendShown(make([]byte, 0, r.roughly()))
	dst = append(dst, `,"cfc":{"version":1`...)
	if !r.Observed.Public() {
		dst = append(dst, `,"observedLabel":{"confidentiality":`...)
		dst = append(dst, confidentialityOf(r.Observed)...)
		dst = append(dst, '}')
	}
	return append(dst, `}}`...)
}

// appendShown writes the result without the brace that closes it.
func (r *Result) appendShown(dst []byte) []byte {
	entries := func(dst []byte) []byte {
		dst = append(dst, `"entries":[`...)
		for i := range r.Entries {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, r.Entries[i].text...)
			dst = append(dst, r.Entries[i].tail()...)
		}
		return append(dst, `],`...)
	}
	return r.append(dst, entries, strconv.Itoa(r.Admitted), strconv.Itoa(r.Withheld), strconv.Itoa(r.Omitted), strconv.FormatBool(r.Truncated))
}

// append writes the members of a result, without the brace that closes it. Nil entries are left out.
func (r *Result) append(dst []byte, entries func([]byte) []byte, admitted, withheld, omitted, truncated string) []byte {
	dst = canonjson.AppendString(append(dst, `{"outputId":`...), r.OutputID)
	dst = canonjson.AppendString(append(dst, `,"status":"ok","kind":`...), r.Kind)
	dst = canonjson.AppendString(append(dst, `,"notice":`...), Notice)
	dst = append(dst, ',')
	if entries != nil {
		dst = entries(dst)
	}
	dst = append(append(dst, `"admitted":`...), admitted...)
	dst = append(append(dst, `,"withheld":`...), withheld...)
	dst = append(append(dst, `,"omitted":`...), omitted...)
	dst = append(append(dst, `,"truncated":`...), truncated...)
	if r.Envelope.Kind == document.Map {
		dst = canonjson.AppendCompact(append(dst, `,"envelope":`...), r.Envelope)
	}
	return dst
}

// roughly is about how many bytes the result has.
func (r *Result) roughly() int {
	n := 2048
	for i := range r.Entries {
		n += len(r.Entries[i].text) + 64
	}
	return n
}
