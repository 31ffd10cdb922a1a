// Package chat speaks the chat-completions protocol to one model (governed-runs 7.3).
//
// An answer counts only when its stream says why it ended and then, by [DONE], that it ended.
package chat

import (
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/model/wire"
)

// New makes a client for a binding of the protocol [model.ChatCompletions]. It opens no connection.
// Any secret is sent as a bearer token.
func New(b model.Binding, options ...wire.Option) (*wire.Client, error) {
	return wire.New(b, wire.Dialect{
		Protocol: model.ChatCompletions,
		Path:     "/chat/completions",
		Encode:   encode,
		Answer:   func() wire.Answer { return &answer{} },
	}, options...)
}
