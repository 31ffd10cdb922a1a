package messages

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/model/modeltest"
)

// The request's bytes are the same for the same request, and these.
func TestEncode(t *testing.T) {
	for _, tc := range []struct {
		name    string
		request model.Request
		want    string
	}{
		{
			"one tool is forced by its name", modeltest.Question,
			`{"model":"demo-model","max_tokens":4096,"system":"Pick a protocol.",` +
				`"messages":[{"role":"user","content":[{"type":"text","text":"What time is it?"}]}],` +
				`"tools":[{"name":"pick_protocol","description":"Picks.","input_schema":{"type":"object"}}],` +
				`"tool_choice":{"type":"tool","name":"pick_protocol","disable_parallel_tool_use":true},"stream":true}`,
		},
		{
			"of several tools any is taken, items keep their order, empty ones are left out",
			model.Request{
				Input: []string{"b", "", "a"},
				Tools: []model.Tool{{Name: "z", Parameters: `{"b":1e400, "a":{}}`}, {Name: "a", Description: "é", Parameters: "{}"}},
			},
			`{"model":"demo-model","max_tokens":4096,` +
				`"messages":[{"role":"user","content":[{"type":"text","text":"b"},{"type":"text","text":"a"}]}],` +
				`"tools":[{"name":"z","description":"","input_schema":{"b":1e400,"a":{}}},{"name":"a","description":"é","input_schema":{}}],` +
				`"tool_choice":{"type":"any","disable_parallel_tool_use":true},"stream":true}`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := encode(modeltest.BindingTo("http://127.0.0.1", model.Messages), tc.request)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What the protocol cannot say is refused before anything is sent.
func TestEncodeRefuses(t *testing.T) {
	b := modeltest.BindingTo("http://127.0.0.1", model.Messages)
	boundless := b
	boundless.Capabilities.MaxOutputTokens = 0
	empty := modeltest.Question
	empty.Input = []string{"", ""}
	for _, tc := range []struct {
		name    string
		binding model.Binding
		request model.Request
	}{
		{"no bound of the answer", boundless, modeltest.Question},
		{"nothing but empty input", b, empty},
	} {
		_, err := encode(tc.binding, tc.request)
		if failure, ok := errors.AsType[*model.Failure](err); !ok || failure.Class != model.InvalidRequest {
			t.Errorf("%s: got %v", tc.name, err)
		}
	}
}
