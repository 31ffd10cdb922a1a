package chat

import (
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/model"
)

// encode writes a request as the protocol wants it.
func encode(b model.Binding, r model.Request) ([]byte, error) {
	var messages []document.Value
	if r.Instructions != "" {
		messages = append(messages, message("system", r.Instructions))
	}
	for _, item := range r.Input {
		messages = append(messages, message("user", item))
	}
	tools := make([]document.Value, len(r.Tools))
	for i, t := range r.Tools {
		parameters, _ := strictjson.Parse([]byte(t.Parameters), strictjson.MaxDepth) // Check has read it
		tools[i] = function(
			document.M("name", document.TextOf(t.Name)),
			document.M("description", document.TextOf(t.Description)),
			document.M("parameters", parameters),
		)
	}
	// The name forces one function, the word some function.
	choice := document.TextOf("required")
	if len(r.Tools) == 1 {
		choice = function(document.M("name", document.TextOf(r.Tools[0].Name)))
	}
	members := []document.Member{
		document.M("model", document.TextOf(b.UpstreamName)),
		document.M("messages", document.ListOf(messages...)),
		document.M("tools", document.ListOf(tools...)),
		document.M("tool_choice", choice),
		document.M("parallel_tool_calls", document.BoolOf(false)),
		document.M("stream", document.BoolOf(true)),
		document.M("stream_options", document.MapOf(document.M("include_usage", document.BoolOf(true)))),
	}
	if most := b.Capabilities.MaxOutputTokens; most > 0 {
		members = append(members, document.M("max_completion_tokens", document.IntOf(most)))
	}
	return canonjson.AppendCompact(nil, document.MapOf(members...)), nil
}

func message(role, content string) document.Value {
	return document.MapOf(document.M("role", document.TextOf(role)), document.M("content", document.TextOf(content)))
}

func function(members ...document.Member) document.Value {
	return document.MapOf(
		document.M("type", document.TextOf("function")),
		document.M("function", document.MapOf(members...)),
	)
}
