package run

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/printable"
	"github.com/loomrun/loom/run/workingcontext"
)

// step takes one proposal as far as it goes. It reports whether the run has stopped.
func (r *runner) step(ctx context.Context, shown governor.Frontier, p Proposal) (stopped bool, err error) {
	if err := r.observeProposal(p); err != nil {
		return false, err
	}
	if p.Refused != "" {
		if err := r.emit(event.NotProposed{Step: r.steps, Action: p.Action}); err != nil {
			return false, err
		}
		return false, r.refuse(p, p.Refused)
	}
	if err := r.emit(event.Proposed{Step: r.steps, Action: p.Action, Arguments: p.Arguments}); err != nil {
		return false, err
	}
	// The frontier is computed again: what the proposal rests on may have moved or expired since.
	again, err := r.frontier(ctx)
	if err != nil {
		return false, err
	}
	if again.Revision != shown.Revision {
		return false, r.refuse(p, fmt.Sprintf("stale: the case moved on from revision %d to %d", shown.Revision, again.Revision))
	}
	request, err := r.request(again, r.steps, p)
	if err != nil {
		return false, err
	}
	admission := again.Admit(p.Action)
	switch admission.Verdict {
	case governor.Perform:
	case governor.NeedsAuthority:
		permission, err := r.permission(ctx, admission.Capability, request)
		switch {
		case err != nil:
			return false, err
		case permission == NeedsApproval:
			r.pending = &p
			return true, r.await(r.waitingFor(admission.Capability, request))
		case permission != Allow:
			r.shelve(again, p.Action)
			return false, r.refuse(p, "denied: capability "+admission.Capability+" was denied")
		}
	default:
		return false, r.refuse(p, admission.Refusal)
	}
	if !r.port.Performs(p.Action) {
		r.shelve(again, p.Action)
		return false, r.refuse(p, "not-performable: nothing here performs "+p.Action)
	}
	admitted := event.Admitted{
		Case: request.Case, Step: r.steps, Action: p.Action, Arguments: p.Arguments,
		Revision: request.Revision, SHA256: again.SHA256, Capability: admission.Capability,
	}
	if err := r.emit(admitted); err != nil {
		return false, err
	}
	return r.perform(ctx, p, request)
}

// perform does an admitted action, once, and has what it did verified. It reports whether the run has stopped.
func (r *runner) perform(ctx context.Context, p Proposal, request effect.Request) (stopped bool, err error) {
	done, err := outside(ctx, r, Step{Name: "effect:" + request.Action, About: request, Acts: true}, func(ctx context.Context) (Performance, error) {
		report, err := r.port.Perform(ctx, request)
		report.Text, report.Refused, report.Unconfined = validText(report.Text), validText(report.Refused), validText(report.Unconfined)
		if report.Disclosed != nil {
			report.Disclosed.Text = validText(report.Disclosed.Text)
		}
		return Performance{Report: report}, err
	})
	report := done.Report
	switch {
	case err != nil:
		return false, fmt.Errorf("%s: %w", request.Action, err)
	case done.Outcome == event.Performed:
		return false, r.performedUnseen(p)
	case done.Outcome == event.NotPerformed:
		return false, r.refuse(p, "unknown outcome: a person says that it was not performed")
	case report.Unconfined != "":
		return true, r.stop(event.ConfinementUnavailable, report.Unconfined)
	case report.Refused != "":
		return false, r.refuse(p, report.Refused)
	}
	return false, r.verify(p, request, report)
}

// verify tells what an effect reported, and has evidence made of it.
func (r *runner) verify(p Proposal, request effect.Request, report effect.Report) error {
	// From here on the effect has happened. It is told before anything else can fail.
	r.outcome.Report = report.Text
	if err := r.emit(event.EffectReported{Step: r.steps, Report: report.Text}); err != nil {
		return err
	}
	if err := r.observe(governor.EffectSource, request.Action, report.Observation); err != nil {
		return err
	}
	if err := r.move(request, report); err != nil {
		return err
	}
	verdict, err := r.port.Verify(request, report)
	if err != nil {
		return fmt.Errorf("verify %s: %w", request.Action, err)
	}
	var came []string
	var shown []string
	told := make([]event.Event, 0, max(len(verdict.Evidence), 1))
	if len(verdict.Evidence) == 0 {
		told = append(told, event.NoEvidence{Step: r.steps, Why: verdict.Why})
	}
	for _, e := range verdict.Evidence {
		made, err := r.submit(request.Case, e)
		if err != nil {
			return err
		}
		told = append(told, made)
	}
	for _, e := range told {
		shown = append(shown, evidence(e))
		came = append(came, "  evidence: "+evidence(e))
	}
	if err := r.emit(told...); err != nil {
		return err
	}
	if err := r.observeContext(p.Action, report.Disclosed); err != nil {
		return err
	}
	done := workingcontext.Step{
		Performed: true, Effect: report.Text, Subject: report.Subject, Moved: report.Revisions, Evidence: strings.Join(shown, "\n"),
	}
	if d := report.Disclosed; d != nil {
		done.Effect = d.Text
		if r.working == nil {
			r.history.addDisclosed(p, d.Text, came...)
			return nil
		}
	}
	return r.remember(p, done, append([]string{"  effect: " + behindBars(report.Text)}, came...)...)
}

// Performance is what is kept of an effect: its report, or what a person says of it where there is none.
type Performance struct {
	Report  effect.Report
	Outcome event.Outcome
}

// performedUnseen ends a step whose effect was performed, by a person's word, and has no report. A word is
// no evidence.
func (r *runner) performedUnseen(p Proposal) error {
	const report, why = "unknown outcome: a person says that it was performed", "there is no report"
	r.outcome.Report = report
	if err := r.emit(event.EffectReported{Step: r.steps, Report: report}, event.NoEvidence{Step: r.steps, Why: why}); err != nil {
		return err
	}
	return r.remember(p, workingcontext.Step{Performed: true, Effect: report, Evidence: "none (" + why + ")"},
		"  effect: "+report, "  evidence: none ("+why+")")
}

// move gives the case the revisions that an effect reports.
func (r *runner) move(request effect.Request, report effect.Report) error {
	revision, err := r.governor.UpdateRevisions(request.Case, report.Revisions)
	if err != nil {
		return fmt.Errorf("the revisions that %s reports: %w", request.Action, err)
	}
	if revision == request.Revision {
		return nil
	}
	artifacts, err := r.governor.ArtifactRevisions(request.Case)
	if err != nil {
		return err
	}
	return r.emit(event.RevisionsMoved{Case: request.Case, Step: r.steps, Revision: revision, Artifacts: artifacts})
}

// submit gives a record to the governor and gives what to tell of it: never that there is evidence
// where it does not apply.
func (r *runner) submit(id string, e effect.Evidence) (event.Event, error) {
	record := e.Record
	data := record.JSON()
	applies, err := r.governor.Evidence(id, governor.Received{Kind: record.Kind, Producer: e.Producer, Data: data})
	if err != nil {
		return nil, err
	}
	received := event.EvidenceReceived{Case: id, Step: r.steps, Kind: record.Kind, Producer: e.Producer, Data: string(data), Applies: applies}
	if err := r.emit(received); err != nil {
		return nil, err
	}
	artifacts, err := r.governor.ArtifactRevisions(id)
	if err != nil {
		return nil, err
	}
	result := ""
	if record.Result != nil {
		result = *record.Result
	}
	what := strings.TrimSpace(record.Kind + " " + result)
	switch present := artifacts[record.Subject]; {
	case !applies:
		return event.NoEvidence{Step: r.steps, Why: fmt.Sprintf(
			"the record %s (%s about %s) was set aside: a name in it is not declared, its id was used before, or it is malformed",
			record.ID, what, record.Subject)}, nil
	case present != record.SubjectRevision:
		return event.NoEvidence{Step: r.steps, Why: fmt.Sprintf(
			"%s is about %s at %s, and the case is at %s", what, record.Subject, record.SubjectRevision, present)}, nil
	}
	return event.EvidenceSubmitted{Step: r.steps, Kind: record.Kind, Result: result, Record: record.ID}, nil
}

// evidence is what the model is shown of evidence.
func evidence(e event.Event) string {
	text := "none"
	switch e := e.(type) {
	case event.EvidenceSubmitted:
		text = strings.TrimSpace(e.Kind + " " + e.Result)
	case event.NoEvidence:
		if e.Why != "" {
			text += " (" + behindBars(e.Why) + ")"
		}
	}
	return text
}

// refuse ends a step that had no effect.
func (r *runner) refuse(p Proposal, reason string) error {
	if err := r.emit(event.StepRefused{Step: r.steps, Reason: reason}); err != nil {
		return err
	}
	return r.remember(p, workingcontext.Step{Refused: reason}, "  refused: "+behindBars(reason))
}

// observeProposal keeps what the executor reported, also where that is no proposal.
func (r *runner) observeProposal(p Proposal) error {
	members := []document.Member{document.M("action", document.TextOf(p.Action)), document.M("arguments", document.TextOf(p.Arguments))}
	if p.Refused != "" {
		members = append(members, document.M("refused", document.TextOf(p.Refused)))
	}
	return r.observe(governor.ExecutorSource, p.Action, canonjson.Compact(document.MapOf(members...)))
}

func (r *runner) observe(source governor.Source, action, payload string) error {
	// The action may be whatever a model made up; a subject is a word that every journal can hold.
	subject := printable.Line(action) + "/" + strconv.Itoa(r.steps)
	if err := r.governor.Observe(r.outcome.Case, governor.Observation{Source: source, Subject: subject, Payload: []byte(payload)}); err != nil {
		return err
	}
	return r.emit(event.Observed{Case: r.outcome.Case, Step: r.steps, Source: string(source), Subject: subject, Payload: payload})
}

// validText replaces what is not UTF-8 in a text for people and models.
func validText(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
