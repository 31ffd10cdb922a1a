// Package workingcontext keeps what a model is shown of a run inside a fixed size, whatever the run
// comes to (governed-runs 7.6, policy bounded).
//
// A [Context] holds every event of a run in an archive. A request shows the intent, the state that the
// program derived from what effects reported, and the last events, one line of JSON each. When a
// request grows too large the oldest events are retired from it. Nothing is summarised: a model reads
// retired events, and texts too long for a line, with look-up tools.
//
// Everything here follows from what a Context is given: no clock, no chance, no file.
package workingcontext

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/reference"
)

const (
	// MaxRequestBytes bounds a request in the form of [Append] (7.6).
	MaxRequestBytes = 64 << 10

	compactAbove  = 48 << 10 // a request larger than this is made smaller,
	compactTo     = 32 << 10 // until it is no larger than this,
	maxRecent     = 64       // and so is one with more recent events than this,
	retiredAtOnce = 8        // by this many of the oldest at once
)

// Context is what a model is shown of one run. It is used by one goroutine.
type Context struct {
	intent     string
	references []reference.Reference
	archive    archive
	results    results
	state      state

	retired     int // how many of the oldest events are shown no more
	recentBytes int // what the others take in a request
	checkpoints int

	// Of the present step.
	mandatory  int      // the size of its last request without recent events
	answers    []string // to its look-ups
	retrievals int      // in the whole run
}

// New makes the context of a run that has done nothing yet.
func New(intent string, references []reference.Reference) *Context {
	return &Context{intent: intent, references: references, results: results{byID: map[string]result{}}}
}

// Checkpoints tells how often requests were made smaller.
func (c *Context) Checkpoints() int { return c.checkpoints }

// Retrievals tells how many look-ups were answered, failed ones included.
func (c *Context) Retrievals() int { return c.retrievals }

// NextStep begins a step: the answers to the look-ups of the step before are shown no more.
func (c *Context) NextStep() { c.answers = nil }

// Request makes the request of a step: its tools are those given and the look-ups there is something
// for. Tools must not have the name of a look-up tool. Recent events are retired where the request
// would be too large. An error means that what must be in the request does not fit; nothing is cut.
func (c *Context) Request(instructions string, tools []model.Tool) (model.Request, error) {
	fits := func() error {
		c.mandatory = Size(c.assemble(instructions, tools, nil))
		if c.mandatory > MaxRequestBytes {
			return &TooLargeError{Bytes: c.mandatory, Intent: len(c.intent), Tools: len(tools)}
		}
		return nil
	}
	if err := fits(); err != nil {
		return model.Request{}, err
	}
	if c.recent() > maxRecent || c.recent() > 0 && c.mandatory+c.recentBytes > compactAbove {
		c.checkpoints++
		for more := true; more; more = c.recent() > maxRecent || c.recent() > 0 && c.mandatory+c.recentBytes > compactTo {
			c.retire()
			// The line about archived events and the tools to read them come in now.
			if err := fits(); err != nil {
				return model.Request{}, err
			}
		}
	}
	return c.assemble(instructions, tools, c.archive.events[c.retired:]), nil
}

// TooLargeError says that what must be in a request does not fit into it.
type TooLargeError struct{ Bytes, Intent, Tools int }

// Error says how much there is, and of what.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("working context refused: a request would have %d bytes, more than %d, and nothing in it can be left out "+
		"(intent: %d bytes, tools: %d); shorten the intent, or use the context policy legacy",
		e.Bytes, MaxRequestBytes, e.Intent, e.Tools)
}

// CheckSize refuses a request that is larger than [MaxRequestBytes], such as a classification, of which
// nothing can be left out.
func CheckSize(r model.Request) error {
	size := Size(r)
	if size <= MaxRequestBytes {
		return nil
	}
	intent := 0
	for _, item := range r.Input {
		intent += len(item)
	}
	return &TooLargeError{Bytes: size, Intent: intent, Tools: len(r.Tools)}
}

func (c *Context) recent() int { return len(c.archive.events) - c.retired }

// retire takes the oldest recent events out of the requests.
func (c *Context) retire() {
	for range min(retiredAtOnce, c.recent()) {
		c.recentBytes -= c.archive.events[c.retired].shown
		c.retired++
	}
}

// recentHead stands above the recent events.
const recentHead = "Recent events, oldest first, each one line of JSON:"

// assemble puts a request together in the order of 7.6. The candidates come last, as its tools. Where
// there are events at all, the head of the recent ones is there, so that each adds exactly its own size.
func (c *Context) assemble(instructions string, tools []model.Tool, recent []event) model.Request {
	items := []string{"Intent:\n" + c.intent}
	if len(c.references) > 0 {
		var text strings.Builder
		text.WriteString("References found in the intent:")
		for _, ref := range c.references {
			fmt.Fprintf(&text, "\n%s %s", ref.Kind, ref.Value)
		}
		items = append(items, text.String())
	}
	if c.retired > 0 {
		items = append(items, fmt.Sprintf("%d earlier events are archived; %s and %s read them.", c.retired, listHistory, readHistory))
	}
	if state := c.state.json(); state != "" {
		items = append(items, "Current working state, derived by the program from what effects reported:\n"+state)
	}
	if len(c.archive.events) > 0 {
		var text strings.Builder
		text.WriteString(recentHead)
		for _, e := range recent {
			text.WriteByte('\n')
			text.WriteString(e.line)
		}
		items = append(items, text.String())
	}
	return model.Request{
		Instructions: instructions,
		Input:        append(items, c.answers...),
		Tools:        slices.Concat(tools, c.lookups()),
	}
}
