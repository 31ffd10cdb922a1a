package retrieve

import (
	"errors"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/handle"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
)

// describeArguments are those of describe_handle (6.5).
const describeArguments = `{"type":"object","additionalProperties":false,"required":["token"],` +
	`"properties":{"token":{"type":"string","maxLength":64,"description":"a token, which begins with cfh:v:"}}}`

// maxTokenBytes bounds what may be asked about.
const maxTokenBytes = 64

// describedToken gives the token that is asked about, or why there is none.
func describedToken(arguments document.Value) (token, refused string) {
	v := member(arguments, "token")
	if len(arguments.Members) != 1 || v.Kind != document.Text || v.Text == "" || len(v.Text) > maxTokenBytes {
		return "", "describe_handle takes one token"
	}
	return v.Text, ""
}

// describe says what a token stands for, never what it holds. What the run does not hold is unknown, which is no error.
func (p *port) describe(r effect.Request) (effect.Report, error) {
	text, err := Described(p.held(r.Run), r.Arguments)
	return effect.Report{Text: text, Source: source, Subject: artifact, Observation: text}, err
}

// Described is what a token is said to stand for, where arguments of describe_handle ask for it. It is a pure function of what the run holds.
func Described(held *handle.Table, arguments string) (string, error) {
	v, err := strictjson.Parse([]byte(arguments), strictjson.MaxDepth)
	if err != nil {
		return "", err
	}
	token, refused := describedToken(v)
	if refused != "" {
		return "", errors.New(refused)
	}
	return canonjson.Compact(held.Describe(token)), nil
}
