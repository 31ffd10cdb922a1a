package workingcontext

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/model"
)

// The tools that read what a request does not show.
const (
	listHistory = "list_history"
	readHistory = "read_history"
	listResults = "list_results"
	readResult  = "read_result"
)

// LookupTools are the names that no other tool of a bounded request may have.
var LookupTools = []string{listHistory, readHistory, listResults, readResult}

const (
	// MaxLookups bounds the look-ups of one step (7.6). With it and the size of one answer, all
	// answers of a step are at most 64 KiB.
	MaxLookups = 8

	maxAnswerBytes = 8 << 10 // of one answer, as it stands in a request
	pageEntries    = 8
	// lookupReserve is kept free behind an answer for what later requests of the step add: failed
	// look-ups, the line about archived events and the tools to read them.
	lookupReserve = 4 << 10
)

// How a part of a result is selected and shown (6.3).
const (
	selectWhole   = "whole"
	selectBytes   = "bytes"
	selectLines   = "lines"
	selectPointer = "json_pointer"
	renderText    = "text"
	renderJSON    = "json"
)

// ErrLookups ends a run whose model goes on looking things up. With one model call for selection and
// arguments a look-up is always made while selecting, where the ninth fails the run (7.6, D10).
var ErrLookups = fmt.Errorf("the model asked for more than %d look-ups in one step", MaxLookups)

var (
	offsetSchema   = schema("offset", `{"type":"integer","minimum":0}`)
	sequenceSchema = schema("sequence", `{"type":"integer","minimum":1}`)
)

func schema(name, of string) string {
	return fmt.Sprintf(`{"type":"object","properties":{%q:%s},"required":[%q],"additionalProperties":false}`, name, of, name)
}

// referenceSchema is that of a reference as descriptors show it (6.3), as far as look-ups take one.
const referenceSchema = `{"type":"object","properties":{"result":{"type":"string"},"sha256":{"type":"string"},` +
	`"select":{"type":"object","properties":{"kind":{"type":"string","enum":["whole","bytes","lines","json_pointer"]},` +
	`"start":{"type":"integer"},"end":{"type":"integer"},"pointer":{"type":"string"}},"required":["kind"],"additionalProperties":false},` +
	`"rendering":{"type":"string","enum":["text","json"]}},"required":["result","sha256","select","rendering"],"additionalProperties":false}`

// lookups gives the tools there is something to read with.
func (c *Context) lookups() []model.Tool {
	var tools []model.Tool
	if c.retired > 0 {
		tools = append(tools,
			model.Tool{Name: listHistory, Description: "Look-up, no action: list events from an offset on, the first ever at 0.", Parameters: offsetSchema},
			model.Tool{Name: readHistory, Description: "Look-up, no action: read the event of a sequence number.", Parameters: sequenceSchema})
	}
	if len(c.results.order) > 0 {
		tools = append(tools,
			model.Tool{Name: listResults, Description: "Look-up, no action: list kept results from an offset on, the first ever at 0.", Parameters: offsetSchema},
			model.Tool{
				Name: readResult, Parameters: referenceSchema,
				Description: "Look-up, no action: read a part of a kept result: whole, bytes from start to before end, lines from start, counted from 1, to end, or what a JSON pointer names.",
			})
	}
	return tools
}

// Offers tells whether a tool is a look-up of the present request.
func (c *Context) Offers(tool string) bool {
	return slices.ContainsFunc(c.lookups(), func(t model.Tool) bool { return t.Name == tool })
}

// Look answers a look-up in the next request of the step. What cannot be answered, or only with more
// than fits, is answered lookup_failed and counts as well. The error is [ErrLookups].
func (c *Context) Look(tool, arguments string) error {
	if len(c.answers) == MaxLookups {
		return ErrLookups
	}
	c.retrievals++
	head := fmt.Sprintf("Look-up %d, %s:\n", len(c.answers)+1, tool)
	answer, err := c.find(tool, arguments)
	size := quoted(head + answer)
	room := max(MaxRequestBytes-lookupReserve-c.mandatory, 0)
	switch {
	case err != nil:
	case size > maxAnswerBytes:
		err = fmt.Errorf("the answer would take %d bytes, more than %d; ask for less", size, maxAnswerBytes)
	case size > room:
		err = fmt.Errorf("the answer would take %d bytes, and the request has room for %d", size, room)
	}
	if err != nil {
		answer = canonjson.Compact(document.MapOf(document.M("lookup_failed", document.TextOf(err.Error()))))
	}
	c.answers = append(c.answers, head+answer)
	return nil
}

// find gives the answer to a look-up, one line of JSON.
func (c *Context) find(tool, arguments string) (string, error) {
	given, err := strictjson.Parse([]byte(arguments), strictjson.MaxDepth)
	if err != nil {
		return "", errors.New("the arguments are not JSON")
	}
	switch tool {
	case listHistory:
		return page(given, "events", c.archive.events, func(e event) document.Value {
			return document.MapOf(
				document.M("sequence", document.IntOf(int64(e.sequence))),
				document.M("action", document.TextOf(cut(e.action, maxNameBytes))),
				document.M("utf8_bytes", document.IntOf(int64(len(e.line)))))
		})
	case readHistory:
		members, err := exactly(given, "sequence")
		if err != nil {
			return "", err
		}
		sequence, err := integer(members[0], 1, len(c.archive.events))
		if err != nil {
			return "", err
		}
		return c.archive.events[sequence-1].line, nil
	case listResults:
		return page(given, "results", c.results.order, func(id string) document.Value { return c.results.byID[id].descriptor(false) })
	default:
		return c.results.read(given)
	}
}

// page lists a few entries from an offset on, and says where the next page begins.
func page[T any](given document.Value, name string, all []T, show func(T) document.Value) (string, error) {
	members, err := exactly(given, "offset")
	if err != nil {
		return "", err
	}
	offset, err := integer(members[0], 0, len(all))
	if err != nil {
		return "", err
	}
	next := min(offset+pageEntries, len(all))
	entries := []document.Value{}
	for _, entry := range all[offset:next] {
		entries = append(entries, show(entry))
	}
	shown := []document.Member{document.M(name, document.ListOf(entries...))}
	if next < len(all) {
		shown = append(shown, document.M("next_offset", document.IntOf(int64(next))))
	}
	return canonjson.Compact(document.MapOf(shown...)), nil
}

// exactly gives the members of an object that has these and no others, in this order. Names are also
// its own in what the error says.
func exactly(v document.Value, names ...string) ([]document.Member, error) {
	members := make([]document.Member, 0, len(names))
	for _, name := range names {
		member, ok := v.Get(name)
		if !ok || len(v.Members) != len(names) {
			return nil, fmt.Errorf("what is asked for has exactly these members: %s", strings.Join(names, ", "))
		}
		members = append(members, document.M(name, member))
	}
	return members, nil
}

// integer gives a whole number between two others.
func integer(m document.Member, least, most int) (int, error) {
	n, err := strconv.Atoi(m.Value.Text)
	if err != nil || m.Value.Kind != document.Number || n < least || n > most {
		return 0, fmt.Errorf("%s is not a whole number from %d to %d", m.Name, least, most)
	}
	return n, nil
}
