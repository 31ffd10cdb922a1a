package messages

import (
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/model"
)

// encode writes a request as the protocol wants it. The protocol takes no text that is empty, so
// empty items are left out, and a request of nothing but empty items is refused.
func encode(b model.Binding, r model.Request) ([]byte, error) {
	most := b.Capabilities.MaxOutputTokens
	if most < 1 {
		return nil, model.Fail(model.InvalidRequest, nil, "the protocol messages wants max_output_tokens of at least 1")
	}
	var content []document.Value
	for _, item := range r.Input {
		if item != "" {
			content = append(content, document.MapOf(
				document.M("type", document.TextOf("text")),
				document.M("text", document.TextOf(item))))
		}
	}
	if len(content) == 0 {
		return nil, model.Fail(model.InvalidRequest, nil, "the protocol messages wants an input that is not empty")
	}
	tools := make([]document.Value, len(r.Tools))
	for i, t := range r.Tools {
		parameters, _ := strictjson.Parse([]byte(t.Parameters), strictjson.MaxDepth) // Check has read it
		tools[i] = document.MapOf(
			document.M("name", document.TextOf(t.Name)),
			document.M("description", document.TextOf(t.Description)),
			document.M("input_schema", parameters))
	}
	// One tool is forced by its name; of several, the model takes any.
	choice := []document.Member{document.M("type", document.TextOf("any"))}
	if len(r.Tools) == 1 {
		choice = []document.Member{
			document.M("type", document.TextOf("tool")),
			document.M("name", document.TextOf(r.Tools[0].Name)),
		}
	}
	choice = append(choice, document.M("disable_parallel_tool_use", document.BoolOf(true)))
	members := []document.Member{
		document.M("model", document.TextOf(b.UpstreamName)),
		document.M("max_tokens", document.IntOf(most)),
	}
	if r.Instructions != "" {
		members = append(members, document.M("system", document.TextOf(r.Instructions)))
	}
	members = append(members,
		document.M("messages", document.ListOf(document.MapOf(
			document.M("role", document.TextOf("user")),
			document.M("content", document.ListOf(content...))))),
		document.M("tools", document.ListOf(tools...)),
		document.M("tool_choice", document.MapOf(choice...)),
		document.M("stream", document.BoolOf(true)),
	)
	return canonjson.AppendCompact(nil, document.MapOf(members...)), nil
}
