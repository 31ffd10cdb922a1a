package retrieval

import (
	"strings"

	"github.com/loomrun/loom/handle"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/codeunits"
	"github.com/loomrun/loom/internal/document"
)

// minLeak is the length of the shortest text that says something by being there, in UTF-16 code units: shorter ones stand in many rows.
const minLeak = 8

// Leaked counts the withheld rows of a payload of which a text stands in what was shown, where nothing that may be shown has it: no admitted row,
// not what stands beside the rows, and not what was asked (10.3, RET-3). It is a look at the shown text itself, not at how it was made.
func Leaked(o Observed, shown string, held *handle.Table) int {
	tool, _ := ToolNamed(o.Tool)
	payload, err := parsePayload([]byte(o.Payload))
	if err != nil {
		return 0
	}
	measured, failure := o.Measure(held.Clone())
	rows, _, ok := split(tool.Kind, payload.Value)
	if failure != nil || !ok {
		return 0
	}
	var open strings.Builder
	open.WriteString(Notice + canonjson.Compact(o.Input) + canonjson.Compact(measured.Envelope))
	for i := range measured.Entries {
		if e := &measured.Entries[i]; e.Withheld == "" {
			open.WriteString(canonjson.Compact(e.Value))
		}
	}
	leaked := 0
	for i := range measured.Entries {
		if measured.Entries[i].Withheld != "" && stands(withoutLabel(rows[i]), shown, open.String()) {
			leaked++
		}
	}
	return leaked
}

// stands tells whether a text of a value is in what was shown and not in what may be shown.
func stands(v document.Value, shown, open string) bool {
	if v.Kind == document.Text && codeunits.Count(v.Text) >= minLeak {
		quoted := canonjson.Compact(v)
		text := quoted[1 : len(quoted)-1]
		if strings.Contains(shown, text) && !strings.Contains(open, text) {
			return true
		}
	}
	for i := range v.Items {
		if stands(v.Items[i], shown, open) {
			return true
		}
	}
	for i := range v.Members {
		if stands(v.Members[i].Value, shown, open) {
			return true
		}
	}
	return false
}
