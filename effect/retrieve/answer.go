package retrieve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/handle"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/codeunits"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/result"
)

// Limits of an answer.
const (
	// MaxAnswer is the length of an answer in UTF-16 code units (D30).
	MaxAnswer = 16_000
	// MaxCites is how many tokens an answer cites.
	MaxCites = 200
)

// The members of the arguments of answer.give, and of its observation.
const (
	memberAnswer  = "answer"
	memberCites   = "cites"
	memberResult  = "result"
	memberLabel   = "label"
	memberHandles = "handles"
	memberWritten = "written"
)

// given is an answer that a model gives.
type given struct {
	text   string
	cites  []string
	result *document.Value // nil: none
}

// answerArguments is the schema of the arguments of answer.give: of a structured result too where one is asked for.
func (p *port) answerArguments() string {
	properties := []document.Member{
		document.M(memberAnswer, document.MapOf(
			document.M("type", document.TextOf("string")), document.M("minLength", document.IntOf(1)), document.M("maxLength", document.IntOf(MaxAnswer)),
			document.M("description", document.TextOf("the answer, in the words of the question's language")))),
		document.M(memberCites, document.MapOf(
			document.M("type", document.TextOf("array")), document.M("maxItems", document.IntOf(MaxCites)),
			document.M("items", document.MapOf(document.M("type", document.TextOf("string")))),
			document.M("description", document.TextOf("the tokens, each of which begins with cfh:v:, of the rows that the answer rests on; empty where nothing was found")))),
	}
	if p.schema != nil {
		properties = append(properties, document.M(memberResult, p.schema.ShownBelow("/properties/"+memberResult)))
	}
	return canonjson.Compact(document.MapOf(
		document.M("type", document.TextOf("object")), document.M("additionalProperties", document.BoolOf(false)),
		document.M("required", document.TextsOf([]string{memberAnswer, memberCites})), document.M("properties", document.MapOf(properties...))))
}

// readAnswer reads the arguments of answer.give, or says why it takes them not.
func (p *port) readAnswer(v document.Value) (g given, refused string) {
	text, cites := member(v, memberAnswer), member(v, memberCites)
	switch {
	case text.Kind != document.Text || strings.TrimSpace(text.Text) == "":
		return g, "answer.give takes an answer, a text"
	case codeunits.Count(text.Text) > MaxAnswer:
		return g, fmt.Sprintf("the answer has more than %d characters", MaxAnswer)
	case cites.Kind != document.List || len(cites.Items) > MaxCites:
		return g, fmt.Sprintf("answer.give takes cites, a list of at most %d tokens; an empty one says that nothing was found", MaxCites)
	}
	g.text = text.Text
	for _, item := range cites.Items {
		if item.Kind != document.Text || !handle.IsToken(item.Text) {
			return g, "cites takes tokens, each of which begins with " + handle.Prefix
		}
		if !slices.Contains(g.cites, item.Text) {
			g.cites = append(g.cites, item.Text)
		}
	}
	for _, m := range v.Members {
		switch {
		case m.Name == memberAnswer || m.Name == memberCites:
		case m.Name == memberResult && p.schema != nil:
			g.result = &m.Value
		default:
			return g, "answer.give takes no such argument: " + codeunits.Cut(m.Name, shownTitle)
		}
	}
	if p.schema != nil && g.result == nil && len(g.cites) > 0 {
		return g, "answer.give takes a result too, in the form that the run asks for"
	}
	return g, ""
}

// checkAnswer refuses an answer that could not be given: above all one that names a token the run does not hold.
func (p *port) checkAnswer(v document.Value) string {
	g, refused := p.readAnswer(v)
	if refused != "" {
		return refused
	}
	held := p.handles
	if held == nil {
		held = handle.NewTable("") // nothing is held yet
	}
	if _, err := result.Check(p.result(held, g, label.Label{})); err != nil {
		return refusal(err)
	}
	return ""
}

// refusal says why there is no result, without a word of what it would be labelled by.
func refusal(err error) string {
	if refused, ok := errors.AsType[*result.Error](err); ok {
		return string(refused.Code) + ": " + strings.Join(append([]string{refused.Error()}, refused.Refusals...), "; ")
	}
	return err.Error()
}

// result gives what is to be written of an answer.
func (p *port) result(held *handle.Table, g given, context label.Label) result.Request {
	r := result.Request{
		Run: held.Salt(), Intent: p.intent.Text, Answer: g.text, Cited: g.cites, Handles: held, Context: context, Ceiling: p.terms.ResultCeiling,
	}
	if g.result != nil {
		r.Schema, r.Value = p.schema, *g.result
	}
	return r
}

// answer gives the answer, and writes it where a structured result is asked for. Where it cannot be written, nothing is.
func (p *port) answer(ctx context.Context, r effect.Request, v document.Value) (effect.Report, error) {
	g, refused := p.readAnswer(v)
	if refused != "" {
		return effect.Report{Refused: refused}, nil
	}
	known, err := contextOf(r)
	if err != nil {
		return effect.Report{}, err
	}
	held := p.held(r.Run)
	request := p.result(held, g, known)
	plan, err := result.Check(request)
	if err != nil {
		return effect.Report{Refused: refusal(err)}, nil
	}
	observed := []document.Member{
		document.M(memberAnswer, document.TextOf(g.text)), document.M(memberCites, document.TextsOf(g.cites)),
		document.M(memberLabel, document.TextOf(plan.Label.Canonical())), document.M(memberHandles, document.TextOf(string(held.JSON()))),
	}
	text := g.text + "\n" + p.rests(held, g) + "\nlabel: " + label.Words(plan.Label.Confidentiality())
	if p.schema != nil && g.result != nil {
		written, err := p.write(ctx, request)
		if refused, ok := errors.AsType[*result.Error](err); ok {
			return effect.Report{Refused: refusal(refused)}, nil
		}
		if err != nil {
			return effect.Report{}, err
		}
		observed = append(observed, document.M(memberWritten, written.Document()))
		text += "\nwritten: " + written.Link
	}
	return effect.Report{
		Text: text, Source: source, Subject: artifact, Observation: canonjson.Compact(document.MapOf(observed...)),
	}, nil
}

// rests says what an answer rests on.
func (p *port) rests(held *handle.Table, g given) string {
	if len(g.cites) == 0 {
		return "rests on no row"
	}
	lines := make([]string, len(g.cites))
	for i, token := range g.cites {
		row, _ := held.Get(token)
		lines[i] = "cited: " + strings.TrimSpace(token+" "+titleOf(row.Value)) + " (" + row.Source + ")"
	}
	return strings.Join(lines, "\n")
}

// write writes a result into the cabinet of the host. Where it refuses, or is not there, nothing was written and the error is a *result.Error; any
// other error leaves open whether something was.
func (p *port) write(ctx context.Context, request result.Request) (*result.Written, error) {
	open := p.binding.options.Cabinet
	if open == nil {
		return nil, &result.Error{Code: result.CommitFailed, Refusals: []string{"there is no instance to write it into"}}
	}
	cabinet, closing, err := open(ctx)
	if err != nil {
		return nil, &result.Error{Code: result.CommitFailed, Refusals: []string{"the instance could not be opened"}}
	}
	// What was written is on the disk, whatever becomes of closing.
	defer func() { _ = closing() }()
	request.At = p.binding.options.Now().UTC().Truncate(time.Second)
	return result.Write(ctx, cabinet, request)
}

// verifyAnswer makes evidence of an answer whose every token the run holds.
func (p *port) verifyAnswer(r effect.Request, report effect.Report) (effect.Verdict, error) {
	a, err := ReadAnswer(report.Observation)
	if err != nil {
		return effect.Verdict{}, err
	}
	held := p.held(r.Run)
	for _, token := range a.Cites {
		if _, ok := held.Get(token); !ok {
			return effect.Verdict{}, fmt.Errorf("the answer cites %s, which the run does not hold", token)
		}
	}
	if string(a.Handles.JSON()) != string(held.JSON()) {
		return effect.Verdict{}, errors.New("the answer was given with other tokens than the run holds")
	}
	if len(a.Cites) == 0 {
		return evidence(r, report, answerEmpty), nil
	}
	return evidence(r, report, answerGrounded), nil
}

// Answer is what was observed of an answer that was given.
type Answer struct {
	Text    string
	Cites   []string
	Label   label.Label
	Handles *handle.Table   // what the run held when it answered
	Written *result.Written // of a structured result; nil for none
}

var errAnswer = errors.New("the observation of the answer is malformed")

// ReadAnswer reads the observation of an answer.
func ReadAnswer(observation string) (a Answer, err error) {
	v, err := strictjson.Parse([]byte(observation), strictjson.MaxDepth)
	if err != nil {
		return a, errAnswer
	}
	text, cites := member(v, memberAnswer), member(v, memberCites)
	if text.Kind != document.Text || cites.Kind != document.List {
		return a, errAnswer
	}
	a.Text = text.Text
	for _, item := range cites.Items {
		a.Cites = append(a.Cites, item.Text)
	}
	if a.Label, err = label.ReadLabel([]byte(member(v, memberLabel).Text)); err != nil {
		return a, fmt.Errorf("%w: its label: %w", errAnswer, err)
	}
	if a.Handles, err = handle.Read([]byte(member(v, memberHandles).Text)); err != nil {
		return a, fmt.Errorf("%w: its tokens: %w", errAnswer, err)
	}
	if written, ok := v.Get(memberWritten); ok {
		if a.Written, err = result.ReadWritten(written); err != nil {
			return a, fmt.Errorf("%w: what was written: %w", errAnswer, err)
		}
	}
	return a, nil
}

// AnswerOf gives the answer that arguments of answer.give come to, with the label that it has, or why it cannot be given. It is a pure function of
// what the run is held to, what it holds, and the label of what it was shown.
func AnswerOf(t Terms, intent string, held *handle.Table, arguments string, context label.Label) (Answer, error) {
	p := port{terms: t, intent: effect.Intent{Text: intent}}
	var err error
	if t.ResultSchema != "" {
		if p.schema, err = result.ReadSchema([]byte(t.ResultSchema)); err != nil {
			return Answer{}, err
		}
	}
	v, err := strictjson.Parse([]byte(arguments), strictjson.MaxDepth)
	if err != nil {
		return Answer{}, err
	}
	g, refused := p.readAnswer(v)
	if refused != "" {
		return Answer{}, errors.New(refused)
	}
	plan, err := result.Check(p.result(held, g, context))
	if err != nil {
		return Answer{}, err
	}
	return Answer{Text: g.text, Cites: g.cites, Label: plan.Label, Handles: held}, nil
}
