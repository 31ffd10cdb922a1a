package model_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/loomrun/loom/model"
)

func TestRequestCheck(t *testing.T) {
	tool := model.Tool{Name: "pick_protocol", Description: "Picks.", Parameters: `{"type":"object"}`}
	with := func(edit func(*model.Tool)) []model.Tool {
		changed := tool
		edit(&changed)
		return []model.Tool{changed}
	}
	named := func(name string) []model.Tool { return with(func(t *model.Tool) { t.Name = name }) }
	taking := func(schema string) []model.Tool { return with(func(t *model.Tool) { t.Parameters = schema }) }
	badName := "the name of tool 1 is not 1 to 64 of a-z, A-Z, 0-9, _ and -"
	many := make([]model.Tool, 129)
	for i := range many {
		many[i] = model.Tool{Name: strings.Repeat("t", 1+i%64) + strings.Repeat("u", i/64), Parameters: "{}"}
	}
	for _, tc := range []struct {
		name    string
		request model.Request
		detail  string
	}{
		{"a whole request", model.Request{Instructions: "Pick.", Input: []string{"What time is it?"}, Tools: []model.Tool{tool}}, ""},
		{"nothing but a tool", model.Request{Tools: []model.Tool{tool}}, ""},
		{"the longest name", model.Request{Tools: named(strings.Repeat("n", 64))}, ""},
		{"no tool", model.Request{Instructions: "Pick."}, "the request offers no tool"},
		{"129 tools", model.Request{Tools: many}, "the request offers more than 128 tools"},
		{"no name", model.Request{Tools: named("")}, badName},
		{"a long name", model.Request{Tools: named(strings.Repeat("n", 65))}, badName},
		{"an action id for a name", model.Request{Tools: named("system.time.read")}, badName},
		{"a name beyond ASCII", model.Request{Tools: named("wähle")}, badName},
		{"a name twice", model.Request{Tools: []model.Tool{tool, tool}}, "the name of tool 2 is used by an earlier tool"},
		{"no parameters", model.Request{Tools: taking("")}, "the parameters of tool 1: line 1, column 1: there is no JSON value"},
		{"parameters twice", model.Request{Tools: taking(`{"a":1,"a":2}`)}, "the parameters of tool 1: line 1, column 8: a member is written twice"},
		{"a list for parameters", model.Request{Tools: taking(`[]`)}, "the parameters of tool 1 are a list instead of a map"},
		{"instructions that are not UTF-8", model.Request{Instructions: "\xff", Tools: []model.Tool{tool}}, "the instructions are not UTF-8"},
		{"input that is not UTF-8", model.Request{Input: []string{"a", "\xff"}, Tools: []model.Tool{tool}}, "input item 2 is not UTF-8"},
		{"a description that is not UTF-8", model.Request{Tools: with(func(t *model.Tool) { t.Description = "\xff" })}, "the description of tool 1 is not UTF-8"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := tc.request.Check()
			failure, ok := errors.AsType[*model.Failure](err)
			switch {
			case tc.detail == "" && err != nil:
				t.Errorf("got %v", err)
			case tc.detail != "" && (!ok || failure.Class != model.InvalidRequest || failure.Detail != tc.detail):
				t.Errorf("got %v, want InvalidRequest: %s", err, tc.detail)
			}
		})
	}
}

func TestFailure(t *testing.T) {
	f := model.Fail(model.Unavailable, io.ErrUnexpectedEOF, "the endpoint answered %d", 503)
	if got := f.Error(); got != "Unavailable: the endpoint answered 503" {
		t.Errorf("got %q", got)
	}
	if !errors.Is(f, io.ErrUnexpectedEOF) {
		t.Error("the cause is lost")
	}
	if got := (&model.Failure{Class: model.Malformed}).Error(); got != "Malformed" {
		t.Errorf("got %q", got)
	}
}

// governed-runs 7.5: which failures a caller may answer with another try.
func TestFailureTransient(t *testing.T) {
	for _, class := range []model.Class{
		model.Unavailable, model.Refused, model.Unauthorized, model.InvalidRequest, model.Unsupported,
		model.TooLarge, model.Cancelled, model.Deadline, model.Incomplete, model.Malformed,
	} {
		f := model.Fail(class, nil, "x")
		if f.Transient() != (class == model.Unavailable) {
			t.Errorf("%s: transient is %v", class, f.Transient())
		}
		f.Started = true
		if f.Transient() {
			t.Errorf("%s is transient after an answer began", class)
		}
	}
}

func TestFailureDetailIsBounded(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("a", model.MaxDetail), strings.Repeat("a", model.MaxDetail+1), strings.Repeat("é", model.MaxDetail),
		strings.Repeat("€", model.MaxDetail), strings.Repeat("\xff", model.MaxDetail), "a\xffb",
	} {
		for _, f := range []*model.Failure{model.Fail(model.Refused, nil, "%s", text), {Class: model.Refused, Detail: text}} {
			shown := strings.TrimPrefix(f.Error(), "Refused: ")
			if len(shown) > model.MaxDetail || !utf8.ValidString(shown) {
				t.Errorf("%.20q: %d bytes, UTF-8 %v", text, len(shown), utf8.ValidString(shown))
			}
			if len(text) <= model.MaxDetail && utf8.ValidString(text) && shown != text {
				t.Errorf("%.20q was changed", text)
			}
		}
	}
	if got := model.Fail(model.Refused, nil, "%s", strings.Repeat("a", 2000)).Detail; !strings.HasSuffix(got, "a […]") {
		t.Errorf("nothing says that something is missing: %q", got)
	}
}

func TestFailureHide(t *testing.T) {
	secret := model.NewSecret("k3y")
	f := model.Fail(model.Unauthorized, errors.New("the header k3y was refused"), "%s", strings.Repeat("k3y ", 250))
	f.Hide(secret)
	if strings.Contains(f.Error(), "k3y") || len(f.Detail) > model.MaxDetail {
		t.Errorf("got %q", f.Detail)
	}
	if f.Cause != nil {
		t.Error("the cause repeats the secret and is kept")
	}
	f = model.Fail(model.Unauthorized, io.EOF, "no")
	f.Hide(secret)
	if f.Cause != io.EOF || f.Detail != "no" {
		t.Errorf("got %#v", f)
	}
}
