package workingcontext

import (
	"fmt"
	"maps"
	"slices"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
)

const (
	// MaxEvents bounds the events of a run (7.6).
	MaxEvents = 4096
	// MaxArchiveBytes bounds their lines together (7.6). Texts too long for a line are kept apart.
	MaxArchiveBytes = 16 << 20

	maxInlineBytes = 1280 // of each part of a line, as it stands in a request
	maxNameBytes   = 256  // of an action, an artifact or a revision there
)

// Step is one step of a run that ended: a proposal and what came of it. Its texts are UTF-8.
type Step struct {
	Number    int
	Action    string // empty where none was named
	Arguments string // JSON of one object; empty for none
	Refused   string // why there was no effect

	// What came of an effect.
	Performed bool
	Effect    string            // its report
	Subject   string            // the artifact the report is about; may be empty
	Moved     map[string]string // artifact revisions that it changed
	Evidence  string            // what the verifier made of it, one record a line
}

// event is a step in the archive.
type event struct {
	sequence int
	action   string
	line     string
	shown    int // what the line takes in a request
}

// archive holds every event of a run, the first one first.
type archive struct {
	events []event
	bytes  int
}

// CapacityError says that a run has come to more than its context may keep.
type CapacityError struct{ Reason string }

// Error gives the reason.
func (e *CapacityError) Error() string { return "working context refused: " + e.Reason }

func overCapacity(format string, args ...any) error {
	return &CapacityError{fmt.Sprintf(format, args...)}
}

// Add keeps a step. An error is a [*CapacityError]: the run has come to more than may be kept.
func (c *Context) Add(s Step) error {
	if len(c.archive.events) == MaxEvents {
		return overCapacity("a run keeps at most %d events, and step %d is one more", MaxEvents, s.Number)
	}
	line, err := c.line(s)
	if err != nil {
		return err
	}
	if c.archive.bytes += len(line); c.archive.bytes > MaxArchiveBytes {
		return overCapacity("the events of a run take at most %d MiB, and with step %d they take more", MaxArchiveBytes>>20, s.Number)
	}
	e := event{sequence: len(c.archive.events) + 1, action: s.Action, line: line, shown: quoted("\n" + line)}
	c.archive.events = append(c.archive.events, e)
	c.recentBytes += e.shown
	c.state.observe(s)
	return nil
}

// line gives a step as one line of JSON. The report is an object, so that no text of an effect can
// pass for a refusal or for evidence.
func (c *Context) line(s Step) (string, error) {
	part := func(what, text string, short document.Value) document.Value {
		// The first is quick where a text is long.
		if len(text) <= maxInlineBytes && quoted(canonjson.Compact(short)) <= maxInlineBytes {
			return short
		}
		return c.results.keep(s.Number, what, text)
	}
	arguments, moved := document.Value{Kind: document.Null}, movedValue(s.Moved)
	if s.Arguments != "" {
		parsed, err := strictjson.Parse([]byte(s.Arguments), strictjson.MaxDepth)
		if err != nil { // a proposal that was refused may come with any text
			parsed = document.TextOf(s.Arguments)
		}
		arguments = part("arguments", s.Arguments, parsed)
	}
	var report []document.Member
	if s.Performed {
		report = append(report,
			document.M("effect", part("report", s.Effect, document.TextOf(s.Effect))),
			document.M("evidence", part("evidence", s.Evidence, document.TextOf(s.Evidence))))
	} else {
		report = append(report, document.M("refused", part("refusal", s.Refused, document.TextOf(s.Refused))))
	}
	line := canonjson.Compact(document.MapOf(
		document.M("sequence", document.IntOf(int64(len(c.archive.events)+1))),
		document.M("action", document.TextOf(cut(s.Action, maxNameBytes))),
		document.M("arguments", arguments),
		document.M("report", document.MapOf(report...)),
		document.M("artifacts", part("artifacts", canonjson.Compact(moved), moved)),
	))
	return line, c.results.full
}

// movedValue gives artifact revisions in the order of the artifacts.
func movedValue(moved map[string]string) document.Value {
	var members []document.Member
	for _, artifact := range slices.Sorted(maps.Keys(moved)) {
		members = append(members, document.M(artifact, document.TextOf(moved[artifact])))
	}
	return document.MapOf(members...)
}
