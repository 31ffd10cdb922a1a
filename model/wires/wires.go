// Package wires finds the wire that speaks a binding's protocol.
package wires

import (
	"fmt"

	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/model/chat"
	"github.com/loomrun/loom/model/messages"
	"github.com/loomrun/loom/model/responses"
	"github.com/loomrun/loom/model/wire"
)

// New makes the client for a binding, whatever its protocol. It opens no connection.
func New(b model.Binding, options ...wire.Option) (*wire.Client, error) {
	switch b.Protocol {
	case model.ChatCompletions:
		return chat.New(b, options...)
	case model.Messages:
		return messages.New(b, options...)
	case model.Responses:
		return responses.New(b, options...)
	}
	return nil, fmt.Errorf("no wire speaks the protocol %q", b.Protocol)
}
