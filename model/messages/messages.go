// Package messages speaks the Messages protocol of Anthropic to one model (governed-runs 7.3).
//
// An answer is a stream of typed events about numbered blocks. It counts only when message_stop has
// come, and a call of it only when its block has stopped.
package messages

import (
	"net/http"

	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/model/wire"
)

// version is the version of the protocol that is spoken.
const version = "2023-06-01"

// New makes a client for a binding of the protocol [model.Messages], whose capabilities must say how
// long an answer may be. It opens no connection. The secret of an api-key account is sent in the
// header X-Api-Key, any other as a bearer token.
func New(b model.Binding, options ...wire.Option) (*wire.Client, error) {
	return wire.New(b, wire.Dialect{
		Protocol:  model.Messages,
		Path:      "/messages",
		Encode:    encode,
		Answer:    func() wire.Answer { return &answer{} },
		Header:    http.Header{"Anthropic-Version": {version}},
		KeyHeader: "X-Api-Key",
	}, options...)
}
