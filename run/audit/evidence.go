package audit

import (
	"strconv"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
)

// told is what may be told of a record that was received, applies and is about the case's present revisions.
type told struct{ kind, result string }

// observed takes an observation: of an effect it must be what that effect reported.
func (a *auditor) observed(at int64, e event.Observed) {
	if !a.of(at, e.Case) {
		return
	}
	a.kept.table.Observations = append(a.kept.table.Observations, governor.Observation{
		Source: governor.Source(e.Source), Subject: e.Subject, Payload: []byte(e.Payload),
	})
	s := &a.step
	switch governor.Source(e.Source) {
	case governor.ExecutorSource:
	case governor.EffectSource:
		s.observed = s.performance != nil && e.Step == s.number && e.Subject == s.action+"/"+strconv.Itoa(s.number) &&
			e.Payload == s.performance.Report.Observation
		if !s.observed {
			a.evidence.fail(at, "it is not what the effect of step %d observed", s.number)
		}
	default:
		a.evidence.fail(at, "an observation has no source %.100q", e.Source)
	}
}

// checkEvidence checks where a record comes from, and that it is one.
func (a *auditor) checkEvidence(at int64, e event.EvidenceReceived) {
	a.owedMove(at)
	s := &a.step
	if !s.observed || e.Step != s.number {
		a.evidence.fail(at, "no effect of step %d reported what the record could rest on", e.Step)
	}
	if e.Producer == "" {
		a.evidence.fail(at, "the record does not say which verifier made it")
	}
	record, err := strictjson.Parse([]byte(e.Data), strictjson.MaxFactDepth)
	if err != nil {
		a.evidence.fail(at, "the record cannot be read: %.300v", err)
		return
	}
	text := func(name string) string {
		v, _ := record.Get(name)
		if v.Kind != document.Text {
			return ""
		}
		return v.Text
	}
	if text("format") != governor.EvidenceFormat || text("kind") != e.Kind {
		a.evidence.fail(at, "the record is no %s document of kind %.100q", governor.EvidenceFormat, e.Kind)
		return
	}
	if e.Applies && a.kept.table.Artifacts[text("subject")] == text("subject_revision") {
		if s.told == nil {
			s.told = map[string]told{}
		}
		s.told[text("id")] = told{e.Kind, text("result")}
	}
}

// submitted checks that people are told of a record that was received and counts.
func (a *auditor) submitted(at int64, e event.EvidenceSubmitted) {
	s := &a.step
	t, received := s.told[e.Record]
	delete(s.told, e.Record)
	if !received || e.Step != s.number || t.kind != e.Kind || t.result != e.Result {
		a.evidence.fail(at, "no record %.100q of this kind and result was received in step %d and applies", e.Record, e.Step)
	}
}
