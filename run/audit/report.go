package audit

import (
	"fmt"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/journal"
)

// Verdict is what a check comes to.
type Verdict string

// The verdicts.
const (
	Pass         Verdict = "pass"
	Inconclusive Verdict = "inconclusive" // something that the check needs is not there
	Fail         Verdict = "fail"         // the record contradicts itself
)

// The names of the checks, in the order of a report.
const (
	Chain      = "chain"      // no entry was changed, removed or moved
	Definition = "definition" // the case was opened under a definition that the record holds
	Decisions  = "decisions"  // the governor decides again what it decided
	Effects    = "effects"    // each effect was admitted, and happened at most once
	Evidence   = "evidence"   // each record of evidence came from the report of an effect
	Stop       = "stop"       // each stop is what the last decision comes to
	Cases      = "cases"      // the tables of cases hold what the record says
)

// The names of the checks of a run that reads under a ceiling, behind those of every run (retrieval 10.3).
const (
	Rows         = "RET-1 rows"         // what each read showed, with its tokens, is what its payload comes to under the ceiling
	Observations = "RET-2 observations" // each observation is the join of the admitted labels, and the label of the run that of all observations
	Withheld     = "RET-3 withheld"     // nothing that was shown has the text of a withheld row
	Bounds       = "RET-4 bounds"       // what was shown keeps within its sizes
	Ceiling      = "RET-5 ceiling"      // each read was held to the ceiling of the run and to its record's
	Errors       = "RET-6 errors"       // a failure says what its code says, and nothing of the host
	Answer       = "answer"             // the answer cites what the run held, and carries the label of all that was shown
)

// MaxFindings bounds the findings of one check that a report lists.
const MaxFindings = 20

// Finding says what is wrong or missing, or what a check that passed had to look at.
type Finding struct {
	Sequence int64  // of the entry; 0 for none
	What     string // texts of the record are in it cut and quoted
}

// Checked is one check.
type Checked struct {
	Name    string
	Verdict Verdict
	// Findings are what is wrong, then what is missing, each in the order of the record, and no more than
	// MaxFindings.
	Findings []Finding
	More     int // findings that are not listed
}

// Report is what a record comes to.
type Report struct {
	Run     string
	Verdict Verdict      // fail where a check fails, else inconclusive where one is, else pass
	Head    journal.Hash // as it is stored
	Entries int
	Checks  []Checked
}

// JSON gives the report on one line, with the members run, verdict, head, entries and checks; a check has name,
// verdict, findings and more, a finding has entry and what.
func (r Report) JSON() []byte {
	checks := document.ListOf()
	for _, c := range r.Checks {
		findings := document.ListOf()
		for _, f := range c.Findings {
			findings.Items = append(findings.Items, document.MapOf(
				document.M("entry", document.IntOf(f.Sequence)), document.M("what", document.TextOf(f.What))))
		}
		checks.Items = append(checks.Items, document.MapOf(
			document.M("name", document.TextOf(c.Name)), document.M("verdict", document.TextOf(string(c.Verdict))),
			document.M("findings", findings), document.M("more", document.IntOf(int64(c.More)))))
	}
	return canonjson.AppendCompact(nil, document.MapOf(
		document.M("run", document.TextOf(r.Run)), document.M("verdict", document.TextOf(string(r.Verdict))),
		document.M("head", document.TextOf(r.Head.String())), document.M("entries", document.IntOf(int64(r.Entries))),
		document.M("checks", checks)))
}

// check collects what one check finds.
type check struct{ failures, doubts, notes findings }

// findings are the first of their kind, and how many there are.
type findings struct {
	first []Finding
	count int
}

func (f *findings) add(at int64, format string, args []any) {
	if f.count++; f.count <= MaxFindings {
		f.first = append(f.first, Finding{at, fmt.Sprintf(format, args...)})
	}
}

// fail enters that the record contradicts itself.
func (c *check) fail(at int64, format string, args ...any) { c.failures.add(at, format, args) }

// doubt enters that something is missing.
func (c *check) doubt(at int64, format string, args ...any) { c.doubts.add(at, format, args) }

// note enters what a reader of a check that passes should know.
func (c *check) note(format string, args ...any) { c.notes.add(0, format, args) }

func (c *check) checked(name string) Checked {
	result := Checked{Name: name, Verdict: Pass}
	switch {
	case c.failures.count > 0:
		result.Verdict = Fail
	case c.doubts.count > 0:
		result.Verdict = Inconclusive
	}
	total := 0
	for _, f := range []findings{c.failures, c.doubts, c.notes} {
		result.Findings = append(result.Findings, f.first[:min(len(f.first), MaxFindings-len(result.Findings))]...)
		total += f.count
	}
	result.More = total - len(result.Findings)
	return result
}

type named struct {
	name  string
	check *check
}

func reportOf(record *journal.Record, checks []named) Report {
	r := Report{Run: record.Run, Verdict: Pass, Head: record.Head, Entries: len(record.Entries)}
	for _, c := range checks {
		checked := c.check.checked(c.name)
		r.Checks = append(r.Checks, checked)
		if checked.Verdict == Fail || checked.Verdict == Inconclusive && r.Verdict == Pass {
			r.Verdict = checked.Verdict
		}
	}
	return r
}
