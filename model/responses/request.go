package responses

import (
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/model"
)

// encode writes a request as the protocol wants it.
func encode(b model.Binding, r model.Request) ([]byte, error) {
	items := make([]document.Value, len(r.Input))
	for i, item := range r.Input {
		items[i] = document.MapOf(
			document.M("type", document.TextOf("message")),
			document.M("role", document.TextOf("user")),
			document.M("content", document.ListOf(document.MapOf(
				document.M("type", document.TextOf("input_text")),
				document.M("text", document.TextOf(item))))),
		)
	}
	tools := make([]document.Value, len(r.Tools))
	for i, t := range r.Tools {
		parameters, _ := strictjson.Parse([]byte(t.Parameters), strictjson.MaxDepth) // Check has read it
		tools[i] = document.MapOf(
			document.M("type", document.TextOf("function")),
			document.M("name", document.TextOf(t.Name)),
			document.M("description", document.TextOf(t.Description)),
			document.M("parameters", parameters),
			// The protocol's default is true, which refuses most schemas.
			document.M("strict", document.BoolOf(false)),
		)
	}
	// The name forces one function, the word some function.
	choice := document.TextOf("required")
	if len(r.Tools) == 1 {
		choice = document.MapOf(
			document.M("type", document.TextOf("function")),
			document.M("name", document.TextOf(r.Tools[0].Name)))
	}
	members := []document.Member{document.M("model", document.TextOf(b.UpstreamName))}
	if r.Instructions != "" {
		members = append(members, document.M("instructions", document.TextOf(r.Instructions)))
	}
	members = append(members,
		document.M("input", document.ListOf(items...)),
		document.M("tools", document.ListOf(tools...)),
		document.M("tool_choice", choice),
		document.M("parallel_tool_calls", document.BoolOf(false)),
		document.M("stream", document.BoolOf(true)),
		document.M("store", document.BoolOf(false)), // nothing is kept to go on from
	)
	if most := b.Capabilities.MaxOutputTokens; most > 0 {
		members = append(members, document.M("max_output_tokens", document.IntOf(most)))
	}
	return canonjson.AppendCompact(nil, document.MapOf(members...)), nil
}
