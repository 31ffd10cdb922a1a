package retrieve_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/effect/retrieve"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/handle"
	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/result"
	"github.com/loomrun/loom/retrieval"
	"github.com/loomrun/loom/store"
	"github.com/loomrun/loom/store/storetest"
)

const schema = `{"type":"object","required":["source"],"additionalProperties":false,"properties":{"source":{"asCell":true},"why":{"$ref":"#/$defs/words"}},"$defs":{"words":{"type":"string"}}}`

// cabinet is a store in memory that counts what is written into it.
type cabinet struct {
	*storetest.Memory
	fails   error
	written []store.Written
}

func (c *cabinet) Write(ctx context.Context, trust store.Trust, documents []store.Written, at time.Time) error {
	if c.fails != nil {
		return c.fails
	}
	err := c.Memory.Write(ctx, trust, documents, at)
	if err == nil {
		c.written = append(c.written, documents...)
	}
	return err
}

func newCabinet() *cabinet {
	return &cabinet{Memory: storetest.NewMemory(store.Owner{Subject: "ada", Zone: "UTC"})}
}

func (c *cabinet) open(context.Context) (result.Cabinet, func() error, error) {
	return c, func() error { return errors.New("it does not close, which is no matter") }, nil
}

// asks are the options of a run that is asked for a structured result.
func asks(open func(context.Context) (result.Cabinet, func() error, error), ceiling label.Ceiling) retrieve.Options {
	return retrieve.Options{Ceiling: label.Unbounded(), ResultSchema: []byte(schema), ResultCeiling: ceiling, Cabinet: open}
}

// A structured result is asked for by its schema, written when the answer is given, and told.
func TestAResultIsWritten(t *testing.T) {
	c := newCabinet()
	s := stage{
		options: asks(c.open, upTo(t, owner, work)),
		program: &program{payloads: map[string]string{"search": found(hit("one", owner), hit("two", work))}},
		turns:   []string{`loom_search {"query":"q"}`, `answer_give {"answer":"It is one.","cites":[],"result":{"source":"{{1}}","why":"so"}}`},
	}
	p := s.play(t)
	if p.err != nil || p.outcome.Detail != "nothing_found" {
		t.Fatalf("%+v, %v", p.outcome, p.err)
	}
	reports := all[event.EffectReported](p)
	if want := "\nlabel: "; !strings.Contains(reports[1].Report, want) || !strings.HasSuffix(reports[1].Report, "\nwritten: results/run-1.md") {
		t.Errorf("people are told %s", reports[1].Report)
	}
	var labels []string
	for _, w := range c.written {
		labels = append(labels, w.Record.Ref+" "+w.Label.Canonical())
	}
	token := tokensIn(reports[0].Report)[0]
	want := []string{
		`results/run-1.md {"confidentiality":["` + work + `","` + owner + `"],"integrity":[{"by":"agent","type":"loom/Derived"}]}`,
		"results/run-1/" + strings.TrimPrefix(token, handle.Prefix) + `.md {"confidentiality":["` + owner + `"],"integrity":[]}`,
	}
	if diff := cmp.Diff(want, labels); diff != "" {
		t.Errorf("E174, E170: %s", diff)
	}
	port := retrieve.New(s.options).Open(effect.Intent{Text: "when is it"}).(effect.Bounded)
	b, err := port.Bound(t.Context())
	if err != nil || port.Hold(b) != nil {
		t.Fatal(err)
	}
	if schema := port.Arguments(retrieve.AnswerGive); !strings.Contains(schema, `"$ref":"#/properties/result/$defs/words"`) || strings.Contains(schema, "asCell") {
		t.Errorf("a model is shown %s", schema)
	}
	if reach := port.Reach(retrieve.AnswerGive); !strings.Contains(reach, "writes the answer as a page") {
		t.Error(reach)
	}
	terms, err := retrieve.ReadTerms(b.Terms)
	if err != nil || terms.ResultSchema != schema || !terms.ResultCeiling.Equal(upTo(t, owner, work)) || terms.JSON() != b.Terms || len(terms.Tools) != 8 {
		t.Errorf("%+v, %v", terms, err)
	}
}

// Where a result cannot be written the answer is refused, and nothing of the host is told.
func TestAResultThatCannotBeWritten(t *testing.T) {
	failing := newCabinet()
	failing.fails = errors.New("/private/path is full")
	closed := func(context.Context) (result.Cabinet, func() error, error) {
		return nil, nil, errors.New("/private/path is not there")
	}
	c := newCabinet()
	for _, one := range []struct {
		name    string
		options retrieve.Options
		result  string
		want    string
	}{
		{"the cabinet fails", asks(failing.open, label.Unbounded()), `{"source":"{{1}}"}`, "commit_failed: the result could not be written"},
		{"the cabinet cannot be opened", asks(closed, label.Unbounded()), `{"source":"{{1}}"}`, "commit_failed: the result could not be written; the instance could not be opened"},
		{"there is no cabinet", asks(nil, label.Unbounded()), `{"source":"{{1}}"}`, "commit_failed: the result could not be written; there is no instance to write it into"},
		{"E175: it may not be", asks(c.open, upTo(t, work)), `{"source":"{{1}}"}`, "cfc_commit_refused: "},
		{"it does not fit", asks(c.open, label.Unbounded()), `{"source":"{{1}}","why":7}`, "invalid_result: "},
		{"E172: it names what is not held", asks(c.open, label.Unbounded()), `{"source":"cfh:v:22222"}`, "unheld_handle: "},
		{"it is missing", asks(c.open, label.Unbounded()), "", "answer.give takes a result too"},
	} {
		given := `{"answer":"so","cites":["{{1}}"],"result":` + one.result + `}`
		if one.result == "" {
			given = `{"answer":"so","cites":["{{1}}"]}`
		}
		s := stage{
			options: one.options, program: &program{payloads: map[string]string{"search": found(hit("one", owner))}},
			turns: []string{`loom_search {"query":"q"}`, `answer_give ` + given},
		}
		p := s.play(t)
		refused := all[event.StepRefused](p)
		if p.err != nil || len(refused) != 1 || !strings.HasPrefix(refused[0].Reason, one.want) || strings.Contains(refused[0].Reason, "private") {
			t.Errorf("%s: %v, %+v", one.name, p.err, refused)
		}
	}
	if len(c.written) > 0 {
		t.Errorf("%d documents were written", len(c.written))
	}
}

// What people are told of many rows, of long titles, and of rows that have none.
func TestWhatPeopleAreTold(t *testing.T) {
	var hits []string
	for i := range 12 {
		hits = append(hits, hit(fmt.Sprint("row ", i), owner))
	}
	hits[0] = hit(strings.Repeat("long ", 40), owner)
	hits[1] = `{"snippet":"no title","ifc":{"confidentiality":[]}}`
	hits[2] = `{"title":"` + strings.Repeat("y", 5000) + `","ifc":{"confidentiality":[]}}`
	s := stage{
		options: retrieve.Options{Ceiling: label.Unbounded()}, program: &program{payloads: map[string]string{"search": found(hits...)}},
		turns: []string{`loom_search {"query":"q"}`},
	}
	told := all[event.EffectReported](s.play(t))[0].Report
	lines := strings.Split(told, "\n")
	if lines[0] != "12 rows admitted, 0 withheld, 0 omitted; not all is shown" || lines[11] != "… and 2 more" || len(lines) != 12 {
		t.Errorf("people are told %q", lines)
	}
	if !strings.HasSuffix(lines[1], "…") || strings.Contains(lines[2], " ") {
		t.Errorf("people are told %q", lines[1:3])
	}
}

// What the actions reach, for a person who is asked.
func TestReach(t *testing.T) {
	port := retrieve.New(retrieve.Options{}).Open(effect.Intent{})
	for action, want := range map[string]string{
		"loom_search": "below the ceiling of the run", retrieve.DescribeHandle: "reads nothing", retrieve.AnswerGive: "gives you the answer",
	} {
		if got := port.Reach(action); !strings.Contains(got, want) {
			t.Errorf("%s: %s", action, got)
		}
	}
}

// An answer that its report does not bear out fails the run, and what is computed of an answer is what was given.
func TestAnswersThatLieAreRefused(t *testing.T) {
	open := func() (effect.Bounded, effect.Request, effect.Report) {
		port := retrieve.New(retrieve.Options{
			ConfigPath: config(t, ""), Ceiling: label.Unbounded(), ResultCeiling: label.Unbounded(),
			Program: func(*retrieval.Config) retrieval.Program {
				return &program{payloads: map[string]string{"search": found(hit("one", owner))}}
			},
		}).Open(effect.Intent{Text: "when"}).(effect.Bounded)
		b, err := port.Bound(t.Context())
		if err != nil || port.Hold(b) != nil {
			t.Fatal(err)
		}
		read := effect.Request{Run: "r", Step: 1, Action: "loom_search", Arguments: `{"query":"q"}`, Artifacts: map[string]string{"intent": "i"}}
		report, err := port.Perform(t.Context(), read)
		if err == nil {
			_, err = port.Verify(read, report)
		}
		if err != nil {
			t.Fatal(err)
		}
		token := tokensIn(report.Text)[0]
		r := effect.Request{
			Run: "r", Step: 2, Action: retrieve.AnswerGive, Arguments: `{"answer":"so","cites":["` + token + `"]}`, Artifacts: read.Artifacts, Label: report.Disclosed.Label,
		}
		report, err = port.Perform(t.Context(), r)
		if err != nil || report.Refused != "" {
			t.Fatal(report, err)
		}
		return port, r, report
	}
	port, r, report := open()
	if v, err := port.Verify(r, report); err != nil || len(v.Evidence) != 1 {
		t.Fatalf("%+v, %v", v, err)
	}
	given, err := retrieve.ReadAnswer(report.Observation)
	if err != nil || given.Written != nil {
		t.Fatal(err)
	}
	context, err := label.ReadLabel([]byte(r.Label))
	if err != nil {
		t.Fatal(err)
	}
	due, err := retrieve.AnswerOf(retrieve.Terms{ResultCeiling: label.Unbounded()}, "when", given.Handles, r.Arguments, context)
	if err != nil || due.Text != given.Text || !due.Label.Equal(given.Label) {
		t.Errorf("%+v, %v", due, err)
	}
	for _, c := range []struct {
		terms     retrieve.Terms
		arguments string
	}{
		{retrieve.Terms{ResultCeiling: label.Unbounded(), ResultSchema: "x"}, r.Arguments},
		{retrieve.Terms{ResultCeiling: label.Unbounded()}, "{"},
		{retrieve.Terms{ResultCeiling: label.Unbounded()}, "{}"},
		{retrieve.Terms{ResultCeiling: label.UpTo()}, r.Arguments},
	} {
		if _, err := retrieve.AnswerOf(c.terms, "when", given.Handles, c.arguments, context); err == nil {
			t.Errorf("%s under %+v is an answer", c.arguments, c.terms)
		}
	}
	for what, change := range map[string][2]string{
		"another token": {`"cites":["cfh:v:`, `"cites":["cfh:v:222`}, "other tokens": {`\"salt\":\"r\"`, `\"salt\":\"s\"`}, "no label": {`"label":"{`, `"label":"`},
		"no answer": {`"answer":"so"`, `"answer":7`}, "no JSON": {`{"answer"`, `"answer"`}, "written, and not": {`{"answer"`, `{"written":7,"answer"`},
	} {
		port, r, report := open()
		changed := strings.Replace(report.Observation, change[0], change[1], 1)
		if changed == report.Observation {
			t.Fatalf("%s: %s is not in %s", what, change[0], report.Observation)
		}
		report.Observation = changed
		if _, err := port.Verify(r, report); err == nil {
			t.Errorf("%s: it is evidence", what)
		}
	}
	if _, err := retrieve.Described(given.Handles, "{"); err == nil {
		t.Error("no JSON is described")
	}
	if _, err := retrieve.Described(given.Handles, `{"token":7}`); err == nil {
		t.Error("a number is described")
	}
	for _, r := range []effect.Request{{Action: "loom_search", Arguments: "{"}, {Action: "loom_search", Arguments: `{"query":"q"}`, Label: "x"}, {Action: retrieve.AnswerGive, Arguments: `{"answer":"x","cites":[]}`, Label: "x"}} {
		if report, err := port.Perform(t.Context(), r); err == nil && report.Refused == "" {
			t.Errorf("%+v is performed", r)
		}
	}
}
