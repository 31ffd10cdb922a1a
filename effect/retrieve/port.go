package retrieve

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/handle"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/internal/uuid8"
	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/result"
	"github.com/loomrun/loom/retrieval"
)

func (o Options) offers(tool string) bool { return o.Tools == nil || slices.Contains(o.Tools, tool) }

// port reads for one run.
type port struct {
	binding *Binding
	intent  effect.Intent

	ceiling label.Ceiling
	terms   Terms
	schema  *result.Schema // nil: no structured result is asked for
	handles *handle.Table  // what the run holds; nil before its first read
}

// Start gives the revision of the intent, which never changes.
func (p *port) Start(context.Context) (map[string]string, error) {
	return map[string]string{artifact: p.intent.Revision}, nil
}

func (p *port) Performs(action string) bool {
	return action == DescribeHandle || action == AnswerGive || slices.Contains(p.terms.Tools, action)
}

func (p *port) Arguments(action string) string {
	switch action {
	case DescribeHandle:
		return describeArguments
	case AnswerGive:
		return p.answerArguments()
	}
	tool, _ := retrieval.ToolNamed(action)
	return tool.Schema
}

func (p *port) CheckArguments(action, arguments string) string {
	v, err := strictjson.Parse([]byte(arguments), strictjson.MaxDepth)
	if err != nil {
		return "the arguments are malformed"
	}
	switch action {
	case DescribeHandle:
		_, refused := describedToken(v)
		return refused
	case AnswerGive:
		return p.checkAnswer(v)
	}
	if f := retrieval.CheckInput(action, v); f != nil {
		return string(f.Code) + ": " + f.Message
	}
	return ""
}

// Reach says that what it does stays here.
func (p *port) Reach(action string) string {
	switch {
	case action == DescribeHandle:
		return "reads nothing, and changes nothing"
	case action == AnswerGive && p.schema != nil:
		return "writes the answer as a page of the instance, with the label of all that the run was shown"
	case action == AnswerGive:
		return "gives you the answer, and changes nothing"
	}
	return "reads your data below the ceiling of the run for the model of the run, and changes nothing"
}

// Perform reads, describes or answers.
func (p *port) Perform(ctx context.Context, r effect.Request) (effect.Report, error) {
	if refused := p.CheckArguments(r.Action, r.Arguments); refused != "" {
		return effect.Report{Refused: refused}, nil
	}
	v, err := strictjson.Parse([]byte(r.Arguments), strictjson.MaxDepth)
	if err != nil {
		return effect.Report{}, err
	}
	switch r.Action {
	case DescribeHandle:
		return p.describe(r)
	case AnswerGive:
		return p.answer(ctx, r, v)
	}
	return p.read(ctx, r, v)
}

// held gives what the run holds.
func (p *port) held(run string) *handle.Table {
	if p.handles == nil {
		p.handles = handle.NewTable(run)
	}
	return p.handles
}

// outputID names the output of a step.
func outputID(step int) string { return fmt.Sprintf("output-%d", step) }

// context reads the label of what the run had been shown when it proposed.
func contextOf(r effect.Request) (label.Label, error) {
	if r.Label == "" {
		return label.Label{}, nil
	}
	return label.ReadLabel([]byte(r.Label))
}

// Verify makes evidence of a report, and takes what it shows into what the run holds.
func (p *port) Verify(r effect.Request, report effect.Report) (effect.Verdict, error) {
	if report.Source != source || report.Subject != artifact {
		return effect.Verdict{}, fmt.Errorf("the report is not that of a read")
	}
	switch r.Action {
	case DescribeHandle:
		return effect.Verdict{Why: "a description is no evidence"}, nil
	case AnswerGive:
		return p.verifyAnswer(r, report)
	}
	return p.verifyRead(r, report)
}

// evidence makes one record about the intent.
func evidence(r effect.Request, report effect.Report, kind string) effect.Verdict {
	return effect.Verdict{Evidence: []effect.Evidence{{Producer: producer, Record: governor.Record{
		ID:      strings.ReplaceAll(kind, "_", "-") + "-" + uuid8.Of(r.Run, fmt.Sprint(r.Step), report.Observation),
		Kind:    kind,
		Subject: artifact, SubjectRevision: r.Artifacts[artifact],
	}}}}
}

// member gives a member of an object, or nothing.
func member(v document.Value, name string) document.Value {
	m, _ := v.Get(name)
	return m
}
