package result

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/loomrun/loom/handle"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/source/markdown"
	"github.com/loomrun/loom/store"
)

// Integrity atoms of the tests, as JSON.
const (
	observed  = `{"type":"https://commonfabric.org/cfc/atom/ConnectorObserved","connector":"google.gmail"}`
	verified  = `{"type":"t/Verified","by":"ada","on":"2026"}`
	certified = `{"type":"https://commonfabric.org/cfc/atom/PolicyCertified","policy":"p"}`
	another   = `{"type":"https://commonfabric.org/cfc/atom/PolicyCertified","policy":"q"}`
)

// labelled makes a label of clauses, texts between blanks with a bar between alternatives, and of integrity atoms.
func labelled(t testing.TB, clauses string, integrity ...string) label.Label {
	t.Helper()
	var all []string
	for _, c := range strings.Fields(clauses) {
		all = append(all, `{"anyOf":["`+strings.ReplaceAll(c, "|", `","`)+`"]}`)
	}
	l, err := label.ReadLabel([]byte(`{"confidentiality":[` + strings.Join(all, ",") + `],"integrity":[` + strings.Join(integrity, ",") + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// upTo makes a ceiling of clauses; "*" is none.
func upTo(t testing.TB, clauses string) label.Ceiling {
	t.Helper()
	if clauses == "*" {
		return label.Unbounded()
	}
	return label.UpTo(labelled(t, clauses).Confidentiality()...)
}

func parsed(t testing.TB, text string) document.Value {
	t.Helper()
	v, err := strictjson.Parse([]byte(text), strictjson.MaxDepth)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func schemaOf(t testing.TB, text string) *Schema {
	t.Helper()
	s, err := ReadSchema([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// run is a run of the tests with the rows that it holds.
type run struct {
	*handle.Table
	tokens []string
}

func newRun() *run { return &run{Table: handle.NewTable("run-1")} }

// shown holds a row that says a text.
func (r *run) shown(text string, l label.Label) string {
	return r.hold(handle.Referent{
		Kind: handle.Document, Source: "loom_search", Value: document.MapOf(document.M("title", document.TextOf(text))), Label: l, LabelSource: handle.FromRow,
	})
}

func (r *run) hold(row handle.Referent) string {
	token := r.Hold(row)
	r.tokens = append(r.tokens, token)
	return token
}

// filled puts the tokens of the run into a text, in the place of $0, $1 and so on.
func (r *run) filled(text string) string {
	for i, token := range r.tokens {
		text = strings.ReplaceAll(text, fmt.Sprintf("$%d", i), token)
	}
	return text
}

// accumulated is the label that a run has when it was shown what it holds (4.4).
func (r *run) accumulated() label.Label {
	var all []label.Label
	for _, row := range r.Referents() {
		all = append(all, row.Label)
	}
	return label.New(label.Join(all...).Confidentiality(), nil)
}

func (r *run) request(answer string, cited ...string) Request {
	return Request{
		Run: r.Salt(), Intent: "What does the roof cost?", Answer: answer, Handles: r.Table, Cited: cited, Context: r.accumulated(),
		Ceiling: label.Unbounded(), At: time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC),
	}
}

// structured is a request with a structured value.
func (r *run) structured(t testing.TB, schema, value string) Request {
	q := r.request("It is so.")
	q.Schema, q.Value = schemaOf(t, schema), parsed(t, r.filled(value))
	return q
}

// cabinet is one in memory, which fails where it is told to.
type cabinet struct {
	trust  []store.Trust // one for each time it is asked, the last for ever
	asked  int
	failAt int // which call fails, counted from 1 on; 0: none
	calls  int
	err    error
	pages  map[string]store.Written
}

func (c *cabinet) call() error {
	if c.calls++; c.calls == c.failAt {
		return c.err
	}
	return nil
}

func (c *cabinet) now() store.Trust {
	if len(c.trust) == 0 {
		return "t"
	}
	return c.trust[min(c.asked, len(c.trust)-1)]
}

func (c *cabinet) Trust(context.Context) (store.Trust, error) {
	trust := c.now()
	c.asked++
	return trust, c.call()
}

func (c *cabinet) Write(_ context.Context, trust store.Trust, documents []store.Written, _ time.Time) error {
	if err := c.call(); err != nil {
		return err
	}
	if trust != c.now() {
		return store.ErrTrust
	}
	if err := store.CheckWritten(documents); err != nil {
		return err
	}
	c.pages = map[string]store.Written{}
	for _, w := range documents {
		c.pages[w.Record.Ref] = w
	}
	return nil
}

func (c *cabinet) source(t testing.TB, path string) string {
	t.Helper()
	w, ok := c.pages[path]
	if !ok {
		t.Fatalf("there is no page %s", path)
	}
	v := parsed(t, string(w.Record.Details))
	text, _ := v.Get("source")
	return text.Text
}

// write writes a request, which Check must judge alike.
func write(t testing.TB, q Request) (*Written, *cabinet, *Error) {
	t.Helper()
	c := &cabinet{}
	w, err := Write(context.Background(), c, q)
	plan, judged := Check(q)
	if err != nil {
		e := failure(t, err)
		if j := failure(t, judged); j.Code != e.Code || !slices.Equal(j.Refusals, e.Refusals) {
			t.Errorf("Check says %v, Write %v", j, e)
		}
		if c.pages != nil {
			t.Errorf("a result that is refused left %d pages", len(c.pages))
		}
		return nil, c, e
	}
	if judged != nil {
		t.Fatalf("Check refuses what was written: %v", judged)
	}
	if a, b := canonjson.Compact(plan.Document()), canonjson.Compact(w.Document()); a != b {
		t.Errorf("Check says\n%s\nWrite\n%s", a, b)
	}
	if want := LabelOf(q.Context, q.Handles); !w.Label.Equal(want) {
		t.Errorf("the label is\n%s\nand of what was held\n%s", w.Label.Canonical(), want.Canonical())
	}
	if len(c.pages) != 1+len(w.Minted) || !c.pages[w.Link].Label.Equal(w.Label) {
		t.Errorf("there are %d pages", len(c.pages))
	}
	back, err := ReadWritten(parsed(t, canonjson.Compact(w.Document())))
	if err != nil || canonjson.Compact(back.Document()) != canonjson.Compact(w.Document()) {
		t.Errorf("read again it is %v, %v", back, err)
	}
	return w, c, nil
}

func failure(t testing.TB, err error) *Error {
	t.Helper()
	e, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatalf("the error is %v", err)
	}
	return e
}

// record reads a page as a sync would.
func record(t testing.TB, path, text string) *store.Record {
	t.Helper()
	r, err := markdown.Record(path, []byte(text), time.Unix(0, 0).UTC())
	if err != nil {
		t.Fatal(err)
	}
	return r
}
