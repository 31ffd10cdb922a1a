package model

import (
	"context"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/strictjson"
)

// probe is the smallest request that needs all that a run needs: one tool that must be called, with an
// argument that must be one of those the schema lists.
var probe = Request{
	Instructions: "This is a check of the connection. Call the tool report_state once, with the state \"ready\". Write nothing else.",
	Input:        []string{"Report the state \"ready\"."},
	Tools: []Tool{{
		Name:        "report_state",
		Description: "Reports that the connection works.",
		Parameters:  `{"type":"object","properties":{"state":{"type":"string","enum":["ready"]}},"required":["state"],"additionalProperties":false}`,
	}},
}

// probeArguments are the only arguments that the tool's schema admits.
const probeArguments = `{"state":"ready"}`

// maxShown bounds, in bytes, what a failure of Probe quotes of an answer.
const maxShown = 200

// Probe asks a model for one small call, once, to see whether it can do what a run needs. It gives what
// the answer cost, nil where that is not known. Its error is a [*Failure]: the client's own, or one of
// class Unsupported that says what came in place of the call.
func Probe(ctx context.Context, c Client) (*Usage, error) {
	reply, err := c.Ask(ctx, probe)
	if err != nil {
		return nil, err
	}
	if failure := probed(reply); failure != nil {
		failure.Started, failure.Usage = true, reply.Usage
		return nil, failure
	}
	return reply.Usage, nil
}

// probed says what is wrong with an answer to probe, or nothing.
func probed(reply Reply) *Failure {
	switch {
	case reply.Stop == StopMaxOutputTokens:
		return Fail(Unsupported, nil, "the answer reached its permitted length before its tool call was whole; see max_output_tokens in the catalog")
	case reply.Stop == StopIncomplete:
		return Fail(Unsupported, nil, "the endpoint ended the answer before its tool call was whole")
	case len(reply.Calls) == 0 && reply.Text == "":
		return Fail(Unsupported, nil, "the model did not call the tool that it was forced to call, and wrote nothing")
	case len(reply.Calls) == 0:
		return Fail(Unsupported, nil, "the model did not call the tool that it was forced to call; it wrote: %s", shown(reply.Text))
	case len(reply.Calls) > 1:
		return Fail(Unsupported, nil, "the model made %d tool calls where one was asked for", len(reply.Calls))
	}
	call := reply.Calls[0]
	if call.Name != probe.Tools[0].Name {
		return Fail(Unsupported, nil, "the model called a tool that was not offered: %s", shown(call.Name))
	}
	tree, err := strictjson.Parse([]byte(call.Arguments), strictjson.MaxDepth)
	if err != nil || canonjson.Compact(tree) != probeArguments {
		return Fail(Unsupported, err, "the model called the tool with arguments that its schema does not admit: %s", shown(call.Arguments))
	}
	return nil
}

// shown cuts what an answer says to what a message can hold.
func shown(text string) string {
	if len(text) > maxShown {
		return text[:maxShown] + " […]" // Fail mends a character that this cuts
	}
	return text
}
