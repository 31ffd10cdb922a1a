package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/model/modeltest"
	"github.com/loomrun/loom/model/wire"
)

// streams gives every recorded answer that is a stream with an end, by name.
func streams(t testing.TB) map[string]string {
	t.Helper()
	bodies := map[string]string{}
	add := func(from string, r *modeltest.Recording) {
		for _, a := range r.Answers {
			if a.Status == 200 && a.Fault == modeltest.None && strings.Contains(a.Body, "[DONE]") {
				bodies[from+"/"+a.Name] = a.Body
			}
		}
	}
	for _, name := range modeltest.RecordedNames() {
		add(name, modeltest.Recorded(t, name))
	}
	for _, name := range []string{"ends", "calls", "events", "usage"} {
		r, err := modeltest.ReadRecording("testdata/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		add(name, r)
	}
	return bodies
}

// governed-runs 11.13, case 164: wherever a stream ends before its terminal event does, by a break or
// as if it were whole, there is no call, and no text either.
func TestCutStreamGivesNothing(t *testing.T) {
	for name, body := range streams(t) {
		t.Run(name, func(t *testing.T) {
			modeltest.CheckCuts(t, body, "data: [DONE]", read, strings.HasPrefix(name, "clock/"))
		})
	}
}

func read(stream io.Reader) (model.Reply, *model.Failure) { return wire.Read(stream, &answer{}) }

// chunk writes an event with a delta and a finish_reason, which may be empty.
func chunk(delta, finish string) string {
	if finish == "" {
		finish = "null"
	}
	return `data: {"choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + "}]}\n\n"
}

// piece writes a part of a call as a delta.
func piece(index int, id, name, arguments string) string {
	text := func(s string) string {
		data, err := json.Marshal(s)
		if err != nil {
			panic(err)
		}
		return string(data)
	}
	return fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%s,"function":{"name":%s,"arguments":%s}}]}`, index, text(id), text(name), text(arguments))
}

const done = "data: [DONE]\n\n"

func answerOf(events ...string) (model.Reply, *model.Failure) {
	return read(strings.NewReader(strings.Join(events, "")))
}

// governed-runs 11.13, case 165, and D6: arguments nest at most 128 levels, and so do events.
func TestDepthOfAnswers(t *testing.T) {
	nested := func(levels int) string {
		return `{"a":` + strings.Repeat("[", levels-1) + strings.Repeat("]", levels-1) + "}"
	}
	reply, failure := answerOf(chunk(piece(0, "c", "f", nested(128)), `"tool_calls"`), done)
	if failure != nil || len(reply.Calls) != 1 || reply.Calls[0].Arguments != nested(128) {
		t.Errorf("128 levels: got %v", failure)
	}
	for _, levels := range []int{129, 100_000} {
		_, failure = answerOf(chunk(piece(0, "c", "f", nested(levels)), `"tool_calls"`), done)
		if failure == nil || failure.Class != model.Malformed || !errors.Is(failure, strictjson.ErrTooDeep) {
			t.Errorf("%d levels: got %v", levels, failure)
		}
		_, failure = answerOf("data: "+nested(levels)+"\n\n", done)
		if failure == nil || failure.Class != model.Malformed || !errors.Is(failure, strictjson.ErrTooDeep) {
			t.Errorf("an event of %d levels: got %v", levels, failure)
		}
	}
}

func TestLimitsOfAnswers(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) }
	text := func(n int) string { return `{"content":"` + long(n) + `"}` }
	refusal := func(n int) string { return `{"refusal":"` + long(n) + `"}` }
	arguments := func(n int) string { return `{"a":"` + long(n-len(`{"a":""}`)) + `"}` }
	calls := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(chunk(piece(i, "c", "f", "{}"), ""))
		}
		return b.String()
	}
	end := chunk("{}", `"stop"`) + done
	for _, tc := range []struct {
		name   string
		events string
		class  model.Class // empty for a reply
	}{
		{"text at its limit", chunk(text(wire.MaxText/2), "") + chunk(text(wire.MaxText/2), ""), ""},
		{"text over its limit", chunk(text(wire.MaxText/2), "") + chunk(text(wire.MaxText/2+1), ""), model.TooLarge},
		{"a refusal at its limit", chunk(refusal(wire.MaxText), ""), model.Refused},
		{"a refusal over its limit", chunk(refusal(wire.MaxText), "") + chunk(refusal(1), ""), model.TooLarge},
		{"arguments at their limit", chunk(piece(0, "c", "f", arguments(wire.MaxArguments)), ""), ""},
		{"arguments over their limit", chunk(piece(0, "c", "f", arguments(wire.MaxArguments+1)), ""), model.TooLarge},
		{"arguments of two calls over their limit", chunk(piece(0, "c", "f", arguments(wire.MaxArguments)), "") + chunk(piece(1, "d", "g", "{}"), ""), model.TooLarge},
		{"calls at their limit", calls(wire.MaxCalls), ""},
		{"calls over their limit", calls(wire.MaxCalls + 1), model.TooLarge},
		{"the highest index", chunk(piece(1<<31-1, "c", "f", "{}"), ""), ""},
		{"an index over it", chunk(piece(1<<31, "c", "f", "{}"), ""), model.Malformed},
		{"an id at its limit", chunk(piece(0, long(wire.MaxCallID), "f", "{}"), ""), ""},
		{"an id over its limit", chunk(piece(0, long(wire.MaxCallID+1), "f", "{}"), ""), model.TooLarge},
		{"a name at its limit", chunk(piece(0, "c", long(wire.MaxCallName), "{}"), ""), ""},
		{"a name over its limit", chunk(piece(0, "c", long(wire.MaxCallName+1), "{}"), ""), model.TooLarge},
		{"a line without end", "data: " + long(5<<20), model.TooLarge},
		{"bytes that are not UTF-8", chunk("{\"content\":\"\xff\"}", ""), model.Malformed},
		{"a lone surrogate", chunk(`{"content":"\ud800"}`, ""), model.Malformed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, failure := answerOf(tc.events, end)
			var class model.Class
			if failure != nil {
				class = failure.Class
			}
			if class != tc.class {
				t.Errorf("got %v, want %q", failure, tc.class)
			}
		})
	}
}

// However the calls of an answer are cut into events, they come out as they were.
func TestCallsInAnyPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []model.Call
		var rest []string
		for i := range rapid.IntRange(1, 4).Draw(t, "calls") {
			arguments := "{" + rapid.StringMatching(`[ \n]{0,3}`).Draw(t, "space") + `"é` + rapid.StringMatching(`[a-z🜁]{0,9}`).Draw(t, "member") + `":[1.50,null]}`
			want = append(want, model.Call{ID: fmt.Sprintf("c%d", i), Name: fmt.Sprintf("f%d", i), Arguments: arguments})
			rest = append(rest, arguments)
		}
		var stream strings.Builder
		for _, i := range rapid.Permutation(indexes(len(want))).Draw(t, "order") {
			stream.WriteString(chunk(piece(i, want[i].ID, want[i].Name, ""), ""))
		}
		for strings.Join(rest, "") != "" {
			i := rapid.IntRange(0, len(rest)-1).Draw(t, "which")
			runes := []rune(rest[i])
			n := rapid.IntRange(0, len(runes)).Draw(t, "piece")
			stream.WriteString(chunk(piece(i, "", "", string(runes[:n])), ""))
			rest[i] = string(runes[n:])
		}
		stream.WriteString(chunk("{}", `"tool_calls"`) + done)
		reply, failure := answerOf(stream.String())
		if failure != nil {
			t.Fatal(failure)
		}
		if diff := cmp.Diff(want, reply.Calls); diff != "" {
			t.Fatal(diff)
		}
	})
}

func indexes(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// FuzzAnswer looks for a reply that breaks a promise of the port.
func FuzzAnswer(f *testing.F) {
	for _, body := range streams(f) {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, stream string) {
		reply, failure := read(strings.NewReader(stream))
		if failure != nil {
			if failure.Class == "" || failure.Detail == "" || !cmp.Equal(reply, model.Reply{}) {
				t.Fatalf("not a good failure: %+v beside %+v", failure, reply)
			}
			return
		}
		if !strings.Contains(stream, "[DONE]") || !strings.Contains(stream, "finish_reason") {
			t.Fatalf("a reply without an end: %+v", reply)
		}
		if reply.Stop != model.StopEndTurn && reply.Stop != model.StopToolCalls && len(reply.Calls) > 0 {
			t.Fatalf("calls of an answer that is cut: %+v", reply)
		}
		if reply.Stop == model.StopToolCalls && len(reply.Calls) == 0 {
			t.Fatalf("no call: %+v", reply)
		}
		for _, call := range reply.Calls {
			tree, err := strictjson.Parse([]byte(call.Arguments), strictjson.MaxDepth)
			if err != nil || tree.Kind != document.Map || call.Name == "" {
				t.Fatalf("not a whole call: %+v", call)
			}
		}
		if u := reply.Usage; u != nil && u.Final && (u.InputTokens == nil || u.OutputTokens == nil) {
			t.Fatalf("final without its numbers: %+v", u)
		}
	})
}
