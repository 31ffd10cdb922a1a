// Package responses speaks the Responses protocol of OpenAI to one model (governed-runs 7.3).
//
// An answer is a stream of typed events. It counts only when response.completed or
// response.incomplete has come, and a call of it only when its own response.output_item.done has.
package responses

import (
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/model/wire"
)

// New makes a client for a binding of the protocol [model.Responses]. It opens no connection. Any
// secret is sent as a bearer token.
func New(b model.Binding, options ...wire.Option) (*wire.Client, error) {
	return wire.New(b, wire.Dialect{
		Protocol: model.Responses,
		Path:     "/responses",
		Encode:   encode,
		Answer:   func() wire.Answer { return &answer{} },
	}, options...)
}
