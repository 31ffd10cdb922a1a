package chat

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
			`{"model":"demo-model",` +
				`"messages":[{"role":"system","content":"Pick a protocol."},{"role":"user","content":"What time is it?"}],` +
				`"tools":[{"type":"function","function":{"name":"pick_protocol","description":"Picks.","parameters":{"type":"object"}}}],` +
				`"tool_choice":{"type":"function","function":{"name":"pick_protocol"}},` +
				`"parallel_tool_calls":false,"stream":true,"stream_options":{"include_usage":true},"max_completion_tokens":4096}`,
		},
		{
			"of several tools one is required, and items keep their order",
			model.Request{
				Input: []string{"b", "", "a\n\"\u2028</script>"},
				Tools: []model.Tool{
					{Name: "z", Parameters: `{"b":1e400, "a":{"$ref":"#/x"}}`},
					{Name: "a", Description: "é", Parameters: "{}"},
				},
			},
			0,
			`{"model":"demo-model",` +
				`"messages":[{"role":"user","content":"b"},{"role":"user","content":""},{"role":"user","content":"a\n\"` + "\u2028" + `</script>"}],` +
				`"tools":[{"type":"function","function":{"name":"z","description":"","parameters":{"b":1e400,"a":{"$ref":"#/x"}}}},` +
				`{"type":"function","function":{"name":"a","description":"é","parameters":{}}}],` +
				`"tool_choice":"required",` +
				`"parallel_tool_calls":false,"stream":true,"stream_options":{"include_usage":true}}`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := modeltest.BindingTo("http://127.0.0.1", model.ChatCompletions)
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
