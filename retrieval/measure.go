package retrieval

import (
	"strconv"

	"github.com/loomrun/loom/handle"
	"github.com/loomrun/loom/internal/codeunits"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/label"
)

// Bounds of a result, in UTF-16 code units of its JSON text (5.10, D30).
const (
	// MaxResult bounds [Result.Shown] and [Result.Artifact].
	MaxResult = 48_000

	// allowance is the part of it for what the rows' own sizes leave out: what stands between and around the rows, and the label of the
	// result.
	allowance = 2_000

	// standIn has the length of every token.
	standIn = handle.Prefix + "xxxxx"
)

// Measure decides row by row what the model may see of a payload (5.7 to 5.12). It is a pure function: the same measuring, with a table that
// holds the same, gives the same result. What it shows it holds in m.Handles, and nothing else.
//
// Rows are taken in order until one does not fit the size; it and all behind it are omitted, so that [Result.Shown] and [Result.Artifact]
// keep within [MaxResult] for every payload, provided that the output id is short. A payload without rows of its kind is
// [MalformedPayload].
func Measure(m Measuring) (*Result, *Failure) {
	rows, beside, ok := split(m.Tool.Kind, m.Payload.Value)
	if !ok {
		return nil, &Failure{Code: MalformedPayload, Message: malformed}
	}
	r := &Result{OutputID: m.OutputID, Kind: m.Tool.Kind}
	leftOut := false
	if !m.Payload.Repeated { // which of two members was meant is not known, in the envelope as little as in the rows
		r.Envelope, leftOut = envelopeOf(m.Payload.Value, beside)
	}
	r.admit(m, rows)
	r.Omitted = len(rows) - len(r.Entries)
	r.Truncated = r.Truncated || leftOut || r.Omitted > 0
	return r, nil
}

// malformed is the message of [MalformedPayload].
const malformed = "the host's program gave JSON of another shape than this tool's results have"

// split finds the rows of a payload and names what stands beside them (5.7). It reports false where the payload is not of the kind.
func split(kind string, payload document.Value) (rows []document.Value, beside []string, ok bool) {
	switch kind {
	case "search":
		hits, _ := payload.Get("hits")
		return hits.Items, []string{"query", "source_status", "warnings", "truncated"}, hits.Kind == document.List
	case "page.discover":
		pages, _ := payload.Get("pages")
		return pages.Items, []string{"totalPages", "omittedViews"}, pages.Kind == document.List
	case "calendar.list":
		return payload.Items, nil, payload.Kind == document.List
	default:
		return []document.Value{payload}, nil, payload.Kind == document.Map
	}
}

// admit makes the entries of rows, up to the first that does not fit the size, and holds what they show.
func (r *Result) admit(m Measuring, rows []document.Value) {
	judge := newJudge(m)
	if m.FailOnExceed && judge.exceeds(rows) {
		judge.all = withheld(CeilingExceeded)
	}
	size := allowance + r.lengthBesideEntries(len(rows))
	var seen observed
	for i, row := range rows {
		v := judge.of(row)
		e := v.entryOf(row)
		hold := m.Handles != nil && e.Withheld == ""
		if hold {
			e.Token = standIn
		}
		after := v.joinInto(seen)
		size += codeunits.Count(e.text) + len(e.tail())
		if size > MaxResult || lengthAround+i*len(`,`)+after.length > allowance {
			break
		}
		seen, v.joined = after, true
		if hold {
			e.Token = m.Handles.Hold(handle.Referent{
				Kind: handle.Document, Source: m.Tool.ID, Value: e.Value, Label: e.Label, LabelSource: e.LabelSource,
			})
		}
		r.add(e)
	}
	r.Observed = seen.label
}

// observed is the label of the rows admitted so far, and the length of its text.
type observed struct {
	label  label.Label
	length int
}

// joinInto gives what has been observed when the row is shown too. A row's label that alone is longer than the allowance is not joined: the
// join could be beyond the limits of a label, and what stands for it then is short.
func (v *verdict) joinInto(before observed) observed {
	switch {
	case v.joined || v.reason != "":
		return before
	case v.length > allowance:
		return observed{before.label, v.length}
	}
	joined := label.Join(before.label, v.label) // without integrity: the label of nothing has none to pass on
	return observed{joined, codeunits.Count(confidentialityOf(joined))}
}

func (r *Result) add(e Entry) {
	r.Entries = append(r.Entries, e)
	switch {
	case e.Withheld != "":
		r.Withheld++
		return
	case e.LabelSource == handle.FromQuery:
		r.Unlabelled++
	}
	r.Admitted++
	r.Truncated = r.Truncated || e.Truncated
}

// lengthBesideEntries is the length of a result without entries, cfc and what they stand in, with each count as long as it can be.
func (r *Result) lengthBesideEntries(rows int) int {
	most := strconv.Itoa(rows)
	return codeunits.Count(string(r.append(nil, nil, most, most, most, "true"))) + len(`}`)
}

// lengthAround is the most that a result has beside what [Result.lengthBesideEntries] and the entries have: what entries and the label
// stand in, and a false that is longer than true.
const lengthAround = len(`"entries":[],`) + len(`,"cfc":{"version":1,"observedLabel":{"confidentiality":}}`) + 1
