package audit

import (
	"strings"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/effect/retrieve"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/handle"
	"github.com/loomrun/loom/internal/codeunits"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/retrieval"
	"github.com/loomrun/loom/run"
)

// reads is what a run read under a ceiling, computed again from what its effects reported.
type reads struct {
	bound   *effect.Bound // what the run is held to, as it was recorded
	set     bool          // and as it was told
	ceiling label.Ceiling
	terms   retrieve.Terms

	held     *handle.Table
	context  label.Label        // of all that was shown
	observed int                // observations that were told
	due      *effect.Disclosure // whose observation must be told before the next step
	dueStep  int

	unlabelled int // rows that were shown under the label of the question (D38)

	rows, observations, withheld, bounds, ceilings, errors, answer check
}

// checks are those of a run that reads under a ceiling, and none of another.
func (r *reads) checks() []named {
	if r.bound == nil && !r.set {
		return nil
	}
	return []named{
		{Rows, &r.rows}, {Observations, &r.observations}, {Withheld, &r.withheld}, {Bounds, &r.bounds}, {Ceiling, &r.ceilings}, {Errors, &r.errors}, {Answer, &r.answer},
	}
}

// asked takes what a run was held to from the report of the step that asked for it.
func (r *reads) asked(report journal.Report) error {
	var b effect.Bound
	if err := journal.Decode(string(report.Result), &b); err != nil {
		return err
	}
	r.bound = &b
	return nil
}

// ceilingSet takes what a run is told to be held to, which is what was recorded.
func (r *reads) ceilingSet(at int64, e event.CeilingSet) {
	switch {
	case r.set:
		r.ceilings.fail(at, "the run is held to another ceiling behind the first")
	case r.bound == nil || r.bound.Ceiling != e.Ceiling || r.bound.Terms != e.Terms:
		r.ceilings.fail(at, "the ceiling that is told is not the one that the run was held to")
	}
	r.set = true
	var err error
	if r.ceiling, err = retrieve.ReadBound(e.Ceiling); err != nil {
		r.ceilings.fail(at, "the ceiling cannot be read: %.300v", err)
	}
	if r.terms, err = retrieve.ReadTerms(e.Terms); err != nil {
		r.ceilings.fail(at, "what else the run is held to cannot be read: %.300v", err)
	}
}

// known gives the label of all that was shown, as requests carry it.
func (r *reads) known() string {
	if r.context.Public() {
		return ""
	}
	return r.context.Canonical()
}

// begins takes that an effect is about to be performed: it must know what the run has been shown, and everything shown must have been told.
func (r *reads) begins(at int64, request effect.Request) {
	r.missed(at)
	if request.Label != r.known() {
		r.observations.fail(at, "step %d is labelled by something else than the run was shown before it", request.Step)
	}
}

// conclude says what a reader should know of a run whose reads are as they should be.
func (r *reads) conclude() {
	r.missed(0)
	if r.unlabelled > 0 {
		r.rows.note("rows without a label that were shown under that of the question: %d (--require-row-labels withholds such rows)", r.unlabelled)
	}
}

// missed finds a disclosure whose observation was not told.
func (r *reads) missed(at int64) {
	if r.due != nil {
		r.observations.fail(at, "what step %d showed was not taken into the label of the run", r.dueStep)
		r.due = nil
	}
}

// observes takes an observation that is told: that of the last disclosure.
func (r *reads) observes(at int64, e event.ContextObserved) {
	d := r.due
	r.due = nil
	shown, err := label.ReadLabel([]byte(e.Label))
	if d == nil || err != nil || e.Label != d.Label || e.OutputID != d.OutputID || e.Truncated != d.Truncated || e.Step != r.dueStep || len(e.Channels) != 1 || e.Channels[0] != "output" {
		r.observations.fail(at, "the observation is not that of what was shown last")
		return
	}
	r.observed++
	r.context = label.Join(r.context, label.New(shown.Confidentiality(), nil))
	if e.Sequence != r.observed || e.Context != r.known() {
		r.observations.fail(at, "the label of the run is not what all its observations come to")
	}
}

// reported takes the report of an effect that was performed.
func (r *reads) reported(at int64, step *step, p run.Performance, intent string, id string) {
	if !r.set {
		return
	}
	if r.held == nil {
		r.held = handle.NewTable(id)
	}
	report := p.Report
	if d := report.Disclosed; d != nil {
		r.sizes(at, d)
		if d.Label != "" {
			r.due, r.dueStep = d, step.number
		}
	}
	switch step.action {
	case retrieve.DescribeHandle:
		if text, err := retrieve.Described(r.held, step.arguments); err != nil || report.Text != text || report.Disclosed != nil {
			r.rows.fail(at, "what step %d says of a token is not what the run knows of it", step.number)
		}
	case retrieve.AnswerGive:
		r.answered(at, step, report, intent)
	default:
		if _, reads := retrieval.ToolNamed(step.action); reads {
			r.read(at, step, report)
		}
	}
}

// read measures a read again.
func (r *reads) read(at int64, step *step, report effect.Report) {
	o, err := retrieval.ReadObserved([]byte(report.Observation))
	if err != nil {
		r.rows.fail(at, "what step %d observed cannot be read: %.300v", step.number, err)
		return
	}
	d := report.Disclosed
	if d == nil {
		r.rows.fail(at, "step %d does not say what it showed", step.number)
		return
	}
	r.under(at, step, o)
	if o.Failure != nil {
		r.failed(at, step, o, report)
		return
	}
	before := r.held.Clone()
	measured, failure := o.Measure(r.held)
	if failure != nil {
		o.Failure = failure
		r.failed(at, step, o, report)
		return
	}
	if string(measured.Shown()) != d.Text || measured.Truncated != d.Truncated || measured.OutputID != d.OutputID {
		r.rows.fail(at, "what step %d showed is not what its payload comes to under the ceiling", step.number)
	}
	r.unlabelled += measured.Unlabelled
	if shown := labelText(measured.Observed); shown != d.Label {
		r.observations.fail(at, "the label of what step %d showed is not the join of its admitted rows' labels", step.number)
	}
	if leaked := retrieval.Leaked(o, d.Text, before); leaked > 0 {
		r.withheld.fail(at, "what step %d showed has text of %d rows that were withheld", step.number, leaked)
	}
}

// under checks the ceiling that a read was held to.
func (r *reads) under(at int64, step *step, o retrieval.Observed) {
	switch {
	case !o.RunCeiling.Equal(r.ceiling) || o.RequireRowLabels != r.terms.RequireRowLabels || o.FailOnExceed != r.terms.FailOnExceed:
		r.ceilings.fail(at, "step %d was held to another ceiling than the run", step.number)
	case !o.CeilingHolds():
		r.ceilings.fail(at, "the ceiling of step %d is not the meet of the run's and the record's", step.number)
	}
	if input, err := strictjson.Parse([]byte(step.arguments), strictjson.MaxDepth); err != nil || o.Tool != step.action || !o.AskedHolds(input) {
		r.rows.fail(at, "step %d observed another read than the one that was asked for", step.number)
	}
	if labelText(o.Query) != r.known() {
		r.observations.fail(at, "the rows of step %d without a label took another one than that of what the run had been shown", step.number)
	}
}

// failed checks that a failure says nothing of the host.
func (r *reads) failed(at int64, step *step, o retrieval.Observed, report effect.Report) {
	f := o.Failure
	if !o.FailureHolds() || report.Disclosed.Text != string(f.Shown(o.OutputID)) || report.Text != string(f.Code)+": "+f.Message || report.Disclosed.Label != "" {
		r.errors.fail(at, "the failure of step %d says something else than its code does", step.number)
	}
}

// sizes checks the sizes of what was shown (RET-4): also of what no payload explains.
func (r *reads) sizes(at int64, d *effect.Disclosure) {
	if codeunits.Count(d.Text) > retrieval.MaxResult {
		r.bounds.fail(at, "more than %d characters were shown at once", retrieval.MaxResult)
	}
	v, err := strictjson.Parse([]byte(d.Text), strictjson.MaxDepth+shownDepth)
	if err != nil {
		r.bounds.fail(at, "what was shown cannot be read: %.300v", err)
		return
	}
	if longest(v) > retrieval.MaxText {
		r.bounds.fail(at, "a text of more than %d characters was shown", retrieval.MaxText)
	}
}

// shownDepth is how much deeper than its payload a result nests.
const shownDepth = 8

// longest is the length of the longest text in a value. Names do not count.
func longest(v document.Value) int {
	most := 0
	if v.Kind == document.Text {
		most = codeunits.Count(v.Text)
	}
	for _, item := range v.Items {
		most = max(most, longest(item))
	}
	for _, m := range v.Members {
		most = max(most, longest(m.Value))
	}
	return most
}

// answered checks an answer: the tokens it was given with, those it cites, and its label.
func (r *reads) answered(at int64, step *step, report effect.Report, intent string) {
	a, err := retrieve.ReadAnswer(report.Observation)
	if err != nil {
		r.answer.fail(at, "%.300v", err)
		return
	}
	if string(a.Handles.JSON()) != string(r.held.JSON()) {
		r.answer.fail(at, "the answer was given with other tokens than the run held")
	}
	for _, token := range a.Cites {
		if _, held := r.held.Get(token); !held {
			r.answer.fail(at, "the answer cites %.100q, which the run did not hold", token)
		}
	}
	due, err := retrieve.AnswerOf(r.terms, intent, r.held, step.arguments, r.context)
	switch {
	case err != nil:
		r.answer.fail(at, "the answer could not have been given: %.300v", err)
	case due.Text != a.Text || strings.Join(due.Cites, " ") != strings.Join(a.Cites, " ") || !due.Label.Equal(a.Label):
		r.answer.fail(at, "the answer is not the one that was proposed, or its label is not the join of all that was shown")
	}
	r.written(at, a)
}

// written checks what was written of a structured result: each document has the label of its row, and the result that of the answer.
func (r *reads) written(at int64, a retrieve.Answer) {
	if a.Written == nil {
		return
	}
	if !a.Written.Label.Equal(a.Label) {
		r.answer.fail(at, "the result was written under another label than that of the answer")
	}
	for _, m := range a.Written.Minted {
		row, held := r.held.Get(m.Token)
		if !held || !row.Label.Equal(m.Label) {
			r.answer.fail(at, "a document was written for %.100q under another label than its row's", m.Token)
		}
	}
}

func labelText(l label.Label) string {
	if l.Public() {
		return ""
	}
	return label.New(l.Confidentiality(), nil).Canonical()
}
