package chat

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/model/modeltest"
)

var update = flag.Bool("update", false, "write testdata/*.want anew")

// request is what the tests ask for.
var request = model.Request{
	Instructions: "Pick a protocol.",
	Input:        []string{"What time is it?"},
	Tools:        []model.Tool{{Name: "pick_protocol", Description: "Picks.", Parameters: `{"type":"object"}`}},
}

func binding(baseURL string) model.Binding {
	return model.Binding{
		Alias: "demo-agent", BaseURL: baseURL, UpstreamName: modeltest.ModelName, Protocol: model.ChatCompletions,
		AuthKind: model.Anonymous, BillingKind: model.SelfHosted,
		Capabilities: model.Capabilities{Tools: true, ToolChoice: true, ContextWindow: 32768, MaxOutputTokens: 4096},
	}
}

func client(t testing.TB, b model.Binding) *Client {
	t.Helper()
	c, err := New(b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// asFailure checks what holds for every failure of a client.
func asFailure(t testing.TB, reply model.Reply, err error) *model.Failure {
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

// Every recorded answer gives what stands under its name in the .want file beside it.
func TestTranscripts(t *testing.T) {
	recordings := map[string]*modeltest.Recording{}
	for _, name := range modeltest.RecordedNames() {
		recordings[name] = modeltest.Recorded(t, name)
	}
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		recording, err := modeltest.ReadRecording(path)
		if err != nil {
			t.Fatal(err)
		}
		recordings[strings.TrimSuffix(filepath.Base(path), ".txtar")] = recording
	}
	for name, recording := range recordings {
		t.Run(name, func(t *testing.T) {
			server := modeltest.Start(t, recording)
			c := client(t, binding(server.BaseURL()))
			var got strings.Builder
			for _, answer := range recording.Answers {
				reply, err := c.Ask(context.Background(), request)
				fmt.Fprintf(&got, "-- %s --\n", answer.Name)
				if err != nil {
					writeFailure(&got, asFailure(t, reply, err))
				} else {
					writeReply(&got, reply)
				}
			}
			if n := len(server.Requests()); n != len(recording.Answers) {
				t.Errorf("the server got %d requests for %d questions", n, len(recording.Answers))
			}
			path := filepath.Join("testdata", name+".want")
			if *update {
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
