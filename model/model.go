// Package model is the port to language models: one request, of whose tools exactly one must be
// called, and one reply or one typed failure.
//
// Which model answers is said by a catalog of routes, a TOML file that names no secret, only where
// each secret is kept. A caller reads the catalog once, resolves an alias, and gives the binding to
// the wire that speaks the binding's protocol:
//
//	routes, err := model.ReadRoutes(path)
//	binding, err := routes.Resolve("lab-agent")
//	client, err := wires.New(binding)
//	reply, err := client.Ask(ctx, request)
//
// A program that has a model of its own implements [Client] itself; nothing here asks for more than
// that interface.
package model

import (
	"context"
	"unicode/utf8"

	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
)

// Client asks one model. It is safe for use by several goroutines.
type Client interface {
	// Ask sends one request and waits for the whole answer. A wire asks once: repeating a request
	// that failed is the caller's decision, which [Retry] takes. The context bounds the wait, which
	// has no other limit once the answer has begun. Every error is a [*Failure], and with one the Reply is zero.
	Ask(ctx context.Context, r Request) (Reply, error)
	// UpstreamName is the model's name at its endpoint as the catalog gives it, for records.
	// What a server claims to be is not taken for a name.
	UpstreamName() string
}

// Request is one question to a model. The model must answer with exactly one call of one of Tools.
type Request struct {
	Instructions string   // what the model is told to do; may be empty
	Input        []string // the user's items, in order
	Tools        []Tool   // at least one
}

// Tool is one function that the model may call.
type Tool struct {
	Name        string // 1 to 64 of a-z, A-Z, 0-9, _ and -; unique in its request
	Description string // for the model
	Parameters  string // a JSON Schema of the arguments, as JSON text of an object
}

// Reply is a whole answer.
//
// All calls are kept in the order of the answer: none, one or several, also of a name that was not
// offered. The caller judges them. When the answer stopped before its end
// (StopMaxOutputTokens, StopIncomplete) its last call may be cut anywhere, so then Calls is empty: there is no half call.
type Reply struct {
	Calls []Call
	Text  string // what the model wrote beside its calls; never a result
	Stop  Stop
	Usage *Usage // nil when the endpoint reported none
}

// Call is one function call as the model wrote it.
type Call struct {
	ID        string // the endpoint's name for this call; empty where it gave none
	Name      string
	Arguments string // JSON text of one object, byte for byte as the model wrote it
}

// Stop says why an answer ended.
type Stop string

// The ways an answer ends.
const (
	// StopEndTurn means that the model was done. Endpoints may say so of an answer with calls too.
	StopEndTurn Stop = "EndTurn"
	// StopToolCalls means that the model waits for the results of its calls.
	StopToolCalls Stop = "ToolCalls"
	// StopMaxOutputTokens means that the answer reached its permitted length and is cut.
	StopMaxOutputTokens Stop = "MaxOutputTokens"
	// StopIncomplete means that the endpoint ended the answer for another reason of its own.
	StopIncomplete Stop = "Incomplete"
)

// Usage is what the endpoint says an answer cost, in tokens. A number that was not reported is nil,
// never zero.
type Usage struct {
	InputTokens              *uint64
	OutputTokens             *uint64
	CachedInputTokens        *uint64
	CacheCreationInputTokens *uint64
	ReasoningOutputTokens    *uint64
	// Final is false when the numbers come from the middle of an answer or are not all there, so
	// that the true ones may be higher.
	Final bool
}

const (
	// MaxTools bounds the tools of a request.
	MaxTools = 128
	// MaxToolName bounds a tool's name, in bytes. It is the common limit of the protocols.
	MaxToolName = 64
)

// Check reports what makes a request one that no wire can send: no tools or too many, a name that
// is malformed or used twice, parameters that are no JSON object, text that is not UTF-8. Wires call
// it before they open a connection. Its error is a [*Failure] of class InvalidRequest.
func (r Request) Check() error {
	if len(r.Tools) == 0 {
		return Fail(InvalidRequest, nil, "the request offers no tool")
	}
	if len(r.Tools) > MaxTools {
		return Fail(InvalidRequest, nil, "the request offers more than %d tools", MaxTools)
	}
	if !utf8.ValidString(r.Instructions) {
		return Fail(InvalidRequest, nil, "the instructions are not UTF-8")
	}
	for i, item := range r.Input {
		if !utf8.ValidString(item) {
			return Fail(InvalidRequest, nil, "input item %d is not UTF-8", i+1)
		}
	}
	seen := make(map[string]struct{}, len(r.Tools))
	for i, t := range r.Tools {
		if !toolName(t.Name) {
			return Fail(InvalidRequest, nil, "the name of tool %d is not 1 to %d of a-z, A-Z, 0-9, _ and -", i+1, MaxToolName)
		}
		if _, twice := seen[t.Name]; twice {
			return Fail(InvalidRequest, nil, "the name of tool %d is used by an earlier tool", i+1)
		}
		seen[t.Name] = struct{}{}
		if !utf8.ValidString(t.Description) {
			return Fail(InvalidRequest, nil, "the description of tool %d is not UTF-8", i+1)
		}
		schema, err := strictjson.Parse([]byte(t.Parameters), strictjson.MaxDepth)
		if err != nil {
			return Fail(InvalidRequest, err, "the parameters of tool %d: %v", i+1, err)
		}
		if schema.Kind != document.Map {
			return Fail(InvalidRequest, nil, "the parameters of tool %d are %s instead of a map", i+1, schema.Kind)
		}
	}
	return nil
}

func toolName(s string) bool {
	if s == "" || len(s) > MaxToolName {
		return false
	}
	for _, c := range []byte(s) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return true
}
