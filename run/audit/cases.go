package audit

import (
	"bytes"
	"maps"
	"slices"

	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/journal"
)

// compare compares the tables of cases with what the entries tell.
func (a *auditor) compare(cases []*journal.Case) {
	opened := a.kept.opened != nil
	if cases == nil {
		if opened {
			a.cases.doubt(0, "the tables of the case were not given")
		}
		return
	}
	found := false
	for _, c := range cases {
		switch {
		case !opened || c.Run != a.record.Run || c.ID != a.kept.table.ID || found:
			a.cases.fail(0, "the tables hold a case %.100q that the run did not open", c.ID)
		default:
			found = true
			a.compareCase(c)
		}
	}
	if opened && !found {
		a.cases.fail(0, "the tables do not hold the case %.100q", a.kept.table.ID)
	}
}

func (a *auditor) compareCase(c *journal.Case) {
	want := &a.kept.table
	differs := func(same bool, what string) {
		if !same {
			a.cases.fail(0, "%s of the case %.100q in the tables are not those of the entries", what, c.ID)
		}
	}
	differs(c.Protocol == want.Protocol && c.SHA256 == want.SHA256, "protocol and digest")
	differs(c.Revision == want.Revision && maps.Equal(c.Artifacts, want.Artifacts), "the revisions")
	differs(maps.Equal(c.Inputs, want.Inputs), "the inputs")
	differs(slices.EqualFunc(c.Received, want.Received, func(a, b governor.Received) bool {
		return a.Kind == b.Kind && a.Producer == b.Producer && a.Applies == b.Applies && bytes.Equal(a.Data, b.Data)
	}), "the records")
	differs(slices.EqualFunc(c.Observations, want.Observations, func(a, b governor.Observation) bool {
		return a.Source == b.Source && a.Subject == b.Subject && bytes.Equal(a.Payload, b.Payload)
	}), "the observations")
}
