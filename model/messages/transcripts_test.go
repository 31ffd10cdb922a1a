package messages

import (
	"flag"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/model/modeltest"
	"github.com/loomrun/loom/model/wire"
)

var update = flag.Bool("update", false, "write testdata/*.want anew")

// Every recorded answer gives what stands under its name in the .want file beside it.
func TestTranscripts(t *testing.T) {
	modeltest.CheckTranscripts(t, modeltest.ReadRecordings(t, "testdata"), *update, func(t *testing.T, baseURL string) model.Client {
		c, err := New(modeltest.BindingTo(baseURL, model.Messages))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	})
}

// terminal is the first line of the terminal event.
const terminal = "event: message_stop"

func read(stream io.Reader) (model.Reply, *model.Failure) { return wire.Read(stream, &answer{}) }

// streams gives every recorded answer that is a stream with a terminal event, by name.
func streams(t testing.TB) map[string]string {
	t.Helper()
	bodies := map[string]string{}
	for name, r := range modeltest.ReadRecordings(t, "testdata") {
		for _, a := range r.Answers {
			if a.Status == 200 && a.Fault == modeltest.None && strings.Contains(a.Body, terminal) {
				bodies[name+"/"+a.Name] = a.Body
			}
		}
	}
	if len(bodies) < 30 {
		t.Fatalf("only %d of the recorded answers end", len(bodies))
	}
	return bodies
}

// governed-runs 11.13, cases 161 and 164: wherever a stream ends before its terminal event does, there
// is no call, and behind the first event nothing that may be tried again.
func TestCutStreamGivesNothing(t *testing.T) {
	for name, body := range streams(t) {
		t.Run(name, func(t *testing.T) {
			modeltest.CheckCuts(t, body, terminal, read, strings.HasPrefix(name, "calls/an empty piece"))
		})
	}
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
		if (!strings.Contains(stream, "message_stop") || !strings.Contains(stream, "stop_reason")) && !strings.Contains(stream, `\u`) {
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
