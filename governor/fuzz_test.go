package governor_test

import (
	"bytes"
	"testing"

	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
)

// FuzzAnswer: whatever the request, the answer is one line of JSON, a decision or a refusal, and the
// same each time.
func FuzzAnswer(f *testing.F) {
	lookup := registry(f)
	f.Add([]byte(canonjson.Compact(smallAnswer(f))))
	for _, name := range []string{"nothing-yet", "pantry-moved", "tasting-expired"} {
		_, in := worked(f, name)
		f.Add([]byte(canonjson.Compact(obj("protocol", "recipe-release@3", "snapshot", in.Snapshot, "evidence", in.Evidence))))
	}
	f.Add([]byte(`{"protocol":"small@1","snapshot":null,"evidence":[null],"at":null}`))
	f.Fuzz(func(t *testing.T, request []byte) {
		given := bytes.Clone(request)
		line, refused := governor.Answer(request, lookup)
		if refused != nil {
			if line != nil {
				t.Fatalf("both %s and %v", line, refused)
			}
			line = refused.Line()
		}
		answer, err := strictjson.Parse(line, strictjson.MaxDepth)
		if err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if _, decision := answer.Get("canon"); decision != (refused == nil) {
			t.Fatalf("a decision: %v, refused: %v", decision, refused)
		}
		if !bytes.Equal(append(canonjson.AppendCompact(nil, answer), '\n'), line) {
			t.Fatalf("not the one form of it: %s", line)
		}
		again, refused := governor.Answer(request, lookup)
		if refused != nil {
			again = refused.Line()
		}
		if !bytes.Equal(again, line) || !bytes.Equal(request, given) {
			t.Fatalf("first %s, then %s", line, again)
		}
	})
}

// FuzzEvaluateDocuments: whatever the documents, there is a decision in valid canonical JSON or a
// refusal about a part that there is.
func FuzzEvaluateDocuments(f *testing.F) {
	rules := prepare(f, []byte(smallProtocol))
	in := smallRequest(f)
	compact := func(v document.Value) []byte { return []byte(canonjson.Compact(v)) }
	f.Add(compact(in.Snapshot), compact(in.Evidence[0]), compact(in.Evidence[1]), compact(in.Authority), compact(in.Decisions), compact(in.At))
	f.Add([]byte(`null`), []byte(`{}`), []byte(``), []byte(`null`), []byte(`[1]`), []byte(`"2026-02-29T00:00:00Z"`))
	f.Fuzz(func(t *testing.T, snapshot, first, second, authority, decisions, at []byte) {
		read := func(data []byte) document.Value {
			v, err := readJSON(data)
			if err != nil {
				return document.Value{}
			}
			return v
		}
		in := governor.Documents{
			Snapshot: read(snapshot), Evidence: []document.Value{read(first), read(second)},
			Authority: read(authority), Decisions: read(decisions), At: read(at),
		}
		d, refused := rules.EvaluateDocuments(in)
		if refused != nil {
			if d != nil || refused.Message == "" || refused.Code == "" || (refused.Index > 0 && refused.Part != governor.EvidencePart) {
				t.Fatalf("%+v", refused)
			}
			return
		}
		decision, err := readJSON(d.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(canonjson.Append(nil, decision), d.Bytes()) {
			t.Fatalf("not canonical: %s", d.Bytes())
		}
		// What gets a decision is well-formed, so the model decides it too.
		want, code := model{rules.Protocol(), in}.decide()
		if code != "" || canonical(want) != sections(d) {
			t.Fatalf("%s\nmodel %s %s\ngovernor %s", shown(in), code, canonical(want), sections(d))
		}
	})
}
