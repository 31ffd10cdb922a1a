package retrieve

import (
	"context"
	"errors"
	"fmt"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/result"
	"github.com/loomrun/loom/retrieval"
)

// Terms are what a run is held to beside its ceiling, from its begin to its end.
type Terms struct {
	Tools            []string // the ids that are offered, in the order of the eight
	RequireRowLabels bool
	FailOnExceed     bool   // a read with a row above the ceiling shows none of its rows
	ResultSchema     string // JSON; empty where no structured result is asked for
	ResultCeiling    label.Ceiling
}

// The members of terms as they are written.
const (
	memberTools         = "tools"
	memberRequireLabels = "requireRowLabels"
	memberFailOnExceed  = "failOnExceed"
	memberSchema        = "resultSchema"
	memberResultCeiling = "resultCeiling"
)

// JSON gives the terms on one line.
func (t Terms) JSON() string {
	members := []document.Member{
		document.M(memberTools, document.TextsOf(t.Tools)), document.M(memberRequireLabels, document.BoolOf(t.RequireRowLabels)),
	}
	if t.FailOnExceed {
		members = append(members, document.M(memberFailOnExceed, document.BoolOf(true)))
	}
	if t.ResultSchema != "" {
		members = append(members, document.M(memberSchema, document.TextOf(t.ResultSchema)))
	}
	if t.ResultCeiling.Bounded() {
		members = append(members, document.M(memberResultCeiling, document.TextOf(t.ResultCeiling.Canonical())))
	}
	return canonjson.Compact(document.MapOf(members...))
}

var errTerms = errors.New("the terms of the run cannot be read")

// ReadTerms reads what JSON gives.
func ReadTerms(text string) (Terms, error) {
	v, err := strictjson.Parse([]byte(text), strictjson.MaxDepth)
	if err != nil {
		return Terms{}, fmt.Errorf("%w: %w", errTerms, err)
	}
	t := Terms{ResultCeiling: label.Unbounded()}
	if v.Kind != document.Map {
		return Terms{}, errTerms
	}
	for _, m := range v.Members {
		switch {
		case m.Name == memberTools && m.Value.Kind == document.List:
			for _, item := range m.Value.Items {
				if _, known := retrieval.ToolNamed(item.Text); item.Kind != document.Text || !known {
					return Terms{}, errTerms
				}
				t.Tools = append(t.Tools, item.Text)
			}
		case m.Name == memberRequireLabels && m.Value.Kind == document.Bool:
			t.RequireRowLabels = m.Value.Text == "true"
		case m.Name == memberFailOnExceed && m.Value.Kind == document.Bool:
			t.FailOnExceed = m.Value.Text == "true"
		case m.Name == memberSchema && m.Value.Kind == document.Text:
			t.ResultSchema = m.Value.Text
		case m.Name == memberResultCeiling && m.Value.Kind == document.Text:
			if t.ResultCeiling, err = label.ReadCeiling([]byte(m.Value.Text)); err != nil {
				return Terms{}, fmt.Errorf("%w: %w", errTerms, err)
			}
		default:
			return Terms{}, errTerms
		}
	}
	return t, nil
}

// ReadBound reads the ceiling of a bound.
func ReadBound(ceiling string) (label.Ceiling, error) {
	if ceiling == label.Unbounded().Canonical() {
		return label.Unbounded(), nil
	}
	return label.ReadCeiling([]byte(ceiling))
}

// Bound gives what the host holds the run to.
func (p *port) Bound(context.Context) (effect.Bound, error) {
	o := p.binding.options
	if o.Resumed {
		return effect.Bound{}, errors.New("the run was ended before it was held to one; start it anew")
	}
	t := Terms{RequireRowLabels: o.RequireRowLabels, FailOnExceed: o.FailOnExceed, ResultSchema: string(o.ResultSchema), ResultCeiling: o.ResultCeiling}
	for _, tool := range retrieval.Tools() {
		if o.offers(tool.ID) {
			t.Tools = append(t.Tools, tool.ID)
		}
	}
	return effect.Bound{Ceiling: o.Ceiling.Canonical(), From: o.From, Terms: t.JSON()}, nil
}

// Hold takes what the run is held to.
func (p *port) Hold(b effect.Bound) (err error) {
	if p.ceiling, err = ReadBound(b.Ceiling); err != nil {
		return err
	}
	if p.terms, err = ReadTerms(b.Terms); err != nil {
		return err
	}
	if p.terms.ResultSchema != "" {
		p.schema, err = result.ReadSchema([]byte(p.terms.ResultSchema))
	}
	return err
}
