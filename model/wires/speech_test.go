package wires

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/loomrun/loom/model"
)

// part is one thing an answer says: a call, text, or nothing but a refusal.
type part struct{ id, name, arguments, text, refusal string }

// speech writes answers of one protocol the way its providers do.
type speech struct {
	protocol model.Protocol
	path     string
	// stream writes a whole answer. Usage is one of the constants below.
	stream func(parts []part, usage string) string
	// failed writes an error event.
	failed func(message, code string) string
	// withKey and withToken are the header an account's secret is sent in.
	withKey string
}

// How much an answer says of its usage.
const (
	noUsage   = ""
	someUsage = "some" // the output's tokens alone
	allUsage  = "all"  // 412 of input, 31 of output
)

// first is the first event of an answer.
func (s speech) first() string {
	return s.stream([]part{{text: "a"}}, noUsage)[:strings.Index(s.stream(nil, noUsage), "\n\n")+2]
}

func q(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(data)
}

var speeches = []speech{
	{model.ChatCompletions, "/v1/chat/completions", chatStream, func(message, code string) string {
		return fmt.Sprintf("data: {\"error\":{\"message\":%s,\"code\":%s}}\n\n", q(message), q(code))
	}, "Authorization"},
	{model.Responses, "/v1/responses", responsesStream, func(message, code string) string {
		return fmt.Sprintf("event: error\ndata: {\"type\":\"error\",\"message\":%s,\"code\":%s,\"param\":null}\n\n", q(message), q(code))
	}, "Authorization"},
	{model.Messages, "/v1/messages", messagesStream, func(message, code string) string {
		return fmt.Sprintf("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":%s,\"message\":%s}}\n\n", q(code), q(message))
	}, "X-Api-Key"},
}

func chatStream(parts []part, usage string) string {
	var b strings.Builder
	chunk := func(delta, finish string) {
		fmt.Fprintf(&b, "data: {\"model\":\"some-other-name\",\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%s}]}\n\n", delta, finish)
	}
	chunk(`{"role":"assistant"}`, "null")
	finish := `"stop"`
	for i, p := range parts {
		switch {
		case p.text != "":
			chunk(`{"content":`+q(p.text)+"}", "null")
		case p.refusal != "":
			chunk(`{"refusal":`+q(p.refusal)+"}", "null")
		default:
			finish = `"tool_calls"`
			chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%s,"function":{"name":%s,"arguments":%s}}]}`, i, q(p.id), q(p.name), q(p.arguments)), "null")
		}
	}
	chunk("{}", finish)
	switch usage {
	case someUsage:
		b.WriteString("data: {\"choices\":[],\"usage\":{\"completion_tokens\":31}}\n\n")
	case allUsage:
		b.WriteString("data: {\"choices\":[],\"usage\":{\"prompt_tokens\":412,\"completion_tokens\":31}}\n\n")
	}
	return b.String() + "data: [DONE]\n\n"
}

func responsesStream(parts []part, usage string) string {
	var b strings.Builder
	event := func(kind, members string) {
		fmt.Fprintf(&b, "event: %s\ndata: {\"type\":%s%s}\n\n", kind, q(kind), members)
	}
	event("response.created", `,"response":{"status":"in_progress","model":"some-other-name","usage":null}`)
	for i, p := range parts {
		at := fmt.Sprintf(`,"output_index":%d`, i)
		switch {
		case p.text != "":
			event("response.output_text.delta", at+`,"delta":`+q(p.text))
		case p.refusal != "":
			event("response.refusal.delta", at+`,"delta":`+q(p.refusal))
		default:
			item := fmt.Sprintf(`,"item":{"type":"function_call","call_id":%s,"name":%s,"arguments":`, q(p.id), q(p.name))
			event("response.output_item.added", at+item+`""}`)
			event("response.function_call_arguments.delta", at+`,"delta":`+q(p.arguments))
			event("response.function_call_arguments.done", at+`,"arguments":`+q(p.arguments))
			event("response.output_item.done", at+item+q(p.arguments)+`}`)
		}
	}
	reported := "null"
	switch usage {
	case someUsage:
		reported = `{"output_tokens":31}`
	case allUsage:
		reported = `{"input_tokens":412,"output_tokens":31}`
	}
	event("response.completed", `,"response":{"status":"completed","usage":`+reported+"}")
	return b.String()
}

func messagesStream(parts []part, usage string) string {
	var b strings.Builder
	event := func(kind, members string) {
		fmt.Fprintf(&b, "event: %s\ndata: {\"type\":%s%s}\n\n", kind, q(kind), members)
	}
	input, output := "", ""
	switch usage {
	case someUsage:
		output = `,"usage":{"output_tokens":31}`
	case allUsage:
		input, output = `,"usage":{"input_tokens":412,"output_tokens":1}`, `,"usage":{"output_tokens":31}`
	}
	event("message_start", `,"message":{"role":"assistant","model":"some-other-name","content":[]`+input+"}")
	reason := "end_turn"
	for i, p := range parts {
		at := fmt.Sprintf(`,"index":%d`, i)
		switch {
		case p.text != "":
			event("content_block_start", at+`,"content_block":{"type":"text","text":""}`)
			event("content_block_delta", at+`,"delta":{"type":"text_delta","text":`+q(p.text)+"}")
		case p.refusal != "":
			reason = "refusal"
			continue
		default:
			reason = "tool_use"
			event("content_block_start", at+fmt.Sprintf(`,"content_block":{"type":"tool_use","id":%s,"name":%s,"input":{}}`, q(p.id), q(p.name)))
			event("content_block_delta", at+`,"delta":{"type":"input_json_delta","partial_json":`+q(p.arguments)+"}")
		}
		event("content_block_stop", at)
	}
	event("message_delta", `,"delta":{"stop_reason":`+q(reason)+"}"+output)
	event("message_stop", "")
	return b.String()
}
