// Package handle keeps what a run observed under tokens: short names that a model can write down and that lead back to exactly one
// observed row with its label (retrieval 6).
//
// A token is [Prefix] and a suffix that follows from the run and from what the token stands for, so that the same row is the same
// token throughout a run, also when the run is resumed, and another one in any other run. A token is a name, not a right:
// who holds it learns nothing that the run has not been shown.
package handle

import (
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/label"
)

// Prefix begins the tokens of referents, AddressPrefix those of cell addresses, which this product never gives out (6.1).
const (
	Prefix        = "cfh:v:"
	AddressPrefix = "cfh:a:"
)

// Kind says what a referent is.
type Kind string

// The kinds of referents (6.2).
const (
	Document Kind = "document" // a row of a retrieval
	Research Kind = "research" // what somebody else found out
)

// LabelSource says where a referent's label came from (6.2).
type LabelSource string

// The sources of labels.
const (
	FromRow      LabelSource = "row"      // the row carried it
	FromQuery    LabelSource = "query"    // the row carried none, and took that of the query (D38)
	FromResearch LabelSource = "research" // it is of kind Research
)

// Referent is something that a run observed.
type Referent struct {
	Token       string
	Kind        Kind
	Source      string         // the id of the tool that showed it, such as loom_search
	Value       document.Value // as the model saw it
	Label       label.Label    // in full
	LabelSource LabelSource
}

// Table is what a run holds. The zero Table is not usable: see [NewTable]. A table is not safe for use by several goroutines at once.
type Table struct {
	salt      string
	referents []Referent     // in the order of their first Hold
	byToken   map[string]int // index of the referent
	byKey     map[string]int // the same, by identity
}
