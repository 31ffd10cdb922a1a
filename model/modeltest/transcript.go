package modeltest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/model"
)

// Question is what the tests of the wires ask for.
var Question = model.Request{
	Instructions: "Pick a protocol.",
	Input:        []string{"What time is it?"},
	Tools:        []model.Tool{{Name: "pick_protocol", Description: "Picks.", Parameters: `{"type":"object"}`}},
}

// BindingTo gives a binding of an anonymous account for a server at a base URL.
func BindingTo(baseURL string, protocol model.Protocol) model.Binding {
	return model.Binding{
		Alias: AgentAlias, BaseURL: baseURL, UpstreamName: ModelName, Protocol: protocol,
		AuthKind: model.Anonymous, BillingKind: model.SelfHosted,
		Capabilities: model.Capabilities{Tools: true, ToolChoice: true, ContextWindow: 32768, MaxOutputTokens: 4096},
	}
}

// AsFailure checks what holds for every failure of a client: its type, and that no reply is beside it.
func AsFailure(t testing.TB, reply model.Reply, err error) *model.Failure {
	t.Helper()
	failure, ok := errors.AsType[*model.Failure](err)
	if !ok {
		t.Fatalf("got reply %+v and error %v, want a *model.Failure", reply, err)
	}
	if diff := cmp.Diff(model.Reply{}, reply); diff != "" {
		t.Fatalf("a reply beside a failure: %s", diff)
	}
	return failure
}

// ReadRecordings gives the recordings of a folder by their names without ".txtar".
func ReadRecordings(t testing.TB, dir string) map[string]*Recording {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	recordings := map[string]*Recording{}
	for _, path := range paths {
		recording, err := ReadRecording(path)
		if err != nil {
			t.Fatal(err)
		}
		recordings[strings.TrimSuffix(filepath.Base(path), ".txtar")] = recording
	}
	return recordings
}

// CheckTranscripts asks a client once for each answer of each recording. What it gives must be what
// stands under the answer's name in testdata/NAME.want, which is written anew if update is set.
func CheckTranscripts(t *testing.T, recordings map[string]*Recording, update bool, client func(t *testing.T, baseURL string) model.Client) {
	for name, recording := range recordings {
		t.Run(name, func(t *testing.T) {
			server := Start(t, recording)
			c := client(t, server.BaseURL())
			var got strings.Builder
			for _, answer := range recording.Answers {
				reply, err := c.Ask(context.Background(), Question)
				fmt.Fprintf(&got, "-- %s --\n", answer.Name)
				if err != nil {
					writeFailure(&got, AsFailure(t, reply, err))
				} else {
					writeReply(&got, reply)
				}
			}
			if n := len(server.Requests()); n != len(recording.Answers) {
				t.Errorf("the server got %d requests for %d questions", n, len(recording.Answers))
			}
			path := filepath.Join("testdata", name+".want")
			if update {
				if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func writeReply(b *strings.Builder, r model.Reply) {
	fmt.Fprintf(b, "%s\n", r.Stop)
	if r.Text != "" {
		fmt.Fprintf(b, "text %q\n", r.Text)
	}
	for _, call := range r.Calls {
		fmt.Fprintf(b, "call %q %q %s\n", call.ID, call.Name, call.Arguments)
	}
	writeUsage(b, r.Usage)
}

func writeFailure(b *strings.Builder, f *model.Failure) {
	fmt.Fprintf(b, "failure %s %q\n", f.Class, f.Detail)
	if f.Transient() {
		b.WriteString("may be tried again\n")
	}
	if f.RetryAfter != 0 {
		fmt.Fprintf(b, "after %s\n", f.RetryAfter)
	}
	writeUsage(b, f.Usage)
}

func writeUsage(b *strings.Builder, u *model.Usage) {
	if u == nil {
		return
	}
	b.WriteString("usage")
	for _, part := range []struct {
		name  string
		count *uint64
	}{
		{"in", u.InputTokens},
		{"out", u.OutputTokens},
		{"cached", u.CachedInputTokens},
		{"cache creation", u.CacheCreationInputTokens},
		{"reasoning", u.ReasoningOutputTokens},
	} {
		if part.count == nil {
			fmt.Fprintf(b, " %s ?", part.name)
		} else {
			fmt.Fprintf(b, " %s %d", part.name, *part.count)
		}
	}
	fmt.Fprintf(b, " final %v\n", u.Final)
}

// CheckCuts cuts the stream of an answer at each byte (governed-runs 11.13, cases 161 and 164), as if it
// ended there. If thorough is set it also breaks there, and lines end in each way that they can. Before the end of the terminal event, which
// starts with the line given and is found from the back, there must be a failure and no reply; behind
// the first event's end it must not be one that may be tried again, unless the whole stream's is. From the end of the terminal event
// on the outcome must be the whole stream's.
func CheckCuts(t testing.TB, body, terminal string, read func(io.Reader) (model.Reply, *model.Failure), thorough bool) {
	t.Helper()
	ends, faults := []string{"\n"}, []error{io.EOF}
	if thorough {
		ends, faults = []string{"\n", "\r\n", "\r"}, []error{io.EOF, errors.New("broken")}
	}
	at := strings.LastIndex(body, "\n"+terminal)
	if at < 0 && !strings.HasPrefix(body, terminal) {
		t.Fatalf("the stream has no line that starts with %q", terminal)
	}
	for _, end := range ends {
		stream := strings.ReplaceAll(body, "\n", end)
		data := max(strings.Index(stream, "data:"), 0) // comments may stand before it
		first := data + strings.Index(stream[data:], end+end) + 2*len(end)
		tail := body[at+1:]
		tail = tail[:strings.Index(tail, "\n\n")+2]
		whole := len(strings.ReplaceAll(body[:at+1]+tail, "\n", end))
		if end == "\r\n" {
			whole-- // the last empty line ends with its carriage return
			first--
		}
		want, wantFailure := read(strings.NewReader(stream))
		if wantFailure == nil {
			wantFailure = &model.Failure{}
		}
		for cut := range len(stream) + 1 {
			for _, fault := range faults {
				got, failure := read(io.MultiReader(strings.NewReader(stream[:cut]), iotest.ErrReader(fault)))
				switch {
				case cut >= whole:
					if failure == nil {
						failure = &model.Failure{}
					}
					if diff := cmp.Diff(want, got); diff != "" || failure.Error() != wantFailure.Error() {
						t.Fatalf("cut at %d of %q: %v %s", cut, stream, failure, diff)
					}
				case failure == nil || !cmp.Equal(got, model.Reply{}):
					t.Fatalf("got %+v of %q", got, stream[:cut])
				case cut >= first && failure.Transient() && !wantFailure.Transient():
					t.Fatalf("%v may be tried again behind %q", failure, stream[:cut])
				}
			}
		}
	}
}
