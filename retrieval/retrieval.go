// Package retrieval is the eight read tools of a run (retrieval 5): what a model asks is turned into a call of the host's program, and what
// that prints is measured row by row against the run's ceiling before the model sees any of it.
//
// [Session.Call] makes the call, and gives an [Observed], which holds all that the measuring needs; [Observed.Measure] measures it. The second is a
// pure function, so that what a run was shown can be computed again from its record.
package retrieval

import (
	"github.com/loomrun/loom/handle"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/label"
)

// Tool is one of the eight.
type Tool struct {
	ID          string // loom_search
	Title       string // Loom Search
	Kind        string // of its results: search
	Description string // for the model
	Schema      string // JSON Schema of its arguments, on one line
}

// Payload is what the host's program printed.
type Payload struct {
	Value document.Value
	// Repeated says that a member stands twice somewhere in it: no row of it can be read then (D31).
	Repeated bool
}

// Measuring is a payload that is to be measured, and by what.
type Measuring struct {
	OutputID string
	Tool     Tool
	Payload  Payload
	Ceiling  label.Ceiling
	Query    label.Label // the label of the query: of all that the model had seen when it asked. Only its confidentiality counts
	// RequireRowLabels withholds rows without a label instead of giving them that of the query (D38).
	RequireRowLabels bool
	// FailOnExceed withholds every row where one of them exceeds the ceiling, instead of that one (4.6, onExceed "fail").
	FailOnExceed bool
	// Handles gets the rows that are shown. Nil: entries have no handles.
	Handles *handle.Table
}
