package responses

import (
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
		most    int64
		want    string
	}{
		{
			"one tool is forced by its name", modeltest.Question, 4096,
			`{"model":"demo-model","instructions":"Pick a protocol.",` +
				`"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"What time is it?"}]}],` +
				`"tools":[{"type":"function","name":"pick_protocol","description":"Picks.","parameters":{"type":"object"},"strict":false}],` +
				`"tool_choice":{"type":"function","name":"pick_protocol"},` +
				`"parallel_tool_calls":false,"stream":true,"store":false,"max_output_tokens":4096}`,
		},
		{
			"of several tools one is required, and items keep their order",
			model.Request{
				Input: []string{"b", ""},
				Tools: []model.Tool{{Name: "z", Parameters: `{"b":1e400, "a":{}}`}, {Name: "a", Description: "é", Parameters: "{}"}},
			},
			0,
			`{"model":"demo-model",` +
				`"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"b"}]},{"type":"message","role":"user","content":[{"type":"input_text","text":""}]}],` +
				`"tools":[{"type":"function","name":"z","description":"","parameters":{"b":1e400,"a":{}},"strict":false},` +
				`{"type":"function","name":"a","description":"é","parameters":{},"strict":false}],` +
				`"tool_choice":"required","parallel_tool_calls":false,"stream":true,"store":false}`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := modeltest.BindingTo("http://127.0.0.1", model.Responses)
			b.Capabilities.MaxOutputTokens = tc.most
			got, err := encode(b, tc.request)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
