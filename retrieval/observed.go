package retrieval

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/loomrun/loom/handle"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/label"
)

// MaxObservedBytes bounds the JSON of an observation: a payload, which may take six bytes for each of its own, and what stands beside it.
const MaxObservedBytes = 6*MaxPayloadBytes + 8<<20

// Observed is what a call came to, and all that decides what is shown of it. What is withheld of the payload is in it: it is for the host, and for those who check the run.
type Observed struct {
	OutputID string
	Tool     string
	Input    document.Value
	Argv     []string // nil where the call did not come so far
	// RunCeiling is that of the run, RecordCeiling that of the record which the configuration names, label.Unbounded() for none. Ceiling is what held.
	RunCeiling, RecordCeiling, Ceiling label.Ceiling
	Query                              label.Label // without integrity
	RequireRowLabels, FailOnExceed     bool
	// Payload is what the program printed, byte for byte, and Status how it ended; "" and 0 where there is a failure.
	Payload string
	Status  int
	Failure *Failure // nil for none
}

func (o Observed) failed(f *Failure) Observed {
	o.Failure = f
	return o
}

// Measure measures the payload. It is a pure function of the observation and of what the table holds.
func (o Observed) Measure(t *handle.Table) (*Result, *Failure) {
	if o.Failure != nil {
		return nil, o.Failure
	}
	tool, known := ToolNamed(o.Tool)
	if !known {
		return nil, failed(NotConfigured)
	}
	payload, failure := outcome(tool, o.Argv, Exit{Status: o.Status, Stdout: []byte(o.Payload)})
	if failure != nil {
		return nil, failure
	}
	return Measure(Measuring{
		OutputID: o.OutputID, Tool: tool, Payload: payload, Ceiling: o.Ceiling, Query: o.Query, RequireRowLabels: o.RequireRowLabels, FailOnExceed: o.FailOnExceed,
		Handles: t,
	})
}

// CeilingHolds tells whether the ceiling that held is the meet of the run's and the record's.
func (o Observed) CeilingHolds() bool {
	met, err := label.Meet(o.RunCeiling, o.RecordCeiling)
	return err == nil && met.Equal(o.Ceiling)
}

// AskedHolds tells whether the observation is of what was asked for: its input, and, where it came so far, the words that this input comes to.
func (o Observed) AskedHolds(input document.Value) bool {
	argv, refused := Argv(o.Tool, o.Input)
	return canonjson.Compact(o.Input) == canonjson.Compact(input) && (o.Argv == nil && o.Failure != nil || refused == nil && slices.Equal(o.Argv, argv))
}

// FailureHolds tells whether the failure is one of the fixed ones: its message that of its code, or what its input is refused with.
func (o Observed) FailureHolds() bool {
	f := o.Failure
	switch {
	case f == nil:
		return true
	case f.Code == InvalidInput:
		refused := CheckInput(o.Tool, o.Input)
		return refused != nil && *refused == *f
	}
	message, known := messages[f.Code]
	return known && f.Message == message && (f.HostCode == "" || f.Code == HostRefused && hostCode().MatchString(f.HostCode))
}

// The members of an observation.
const (
	memberOutput        = "outputId"
	memberTool          = "tool"
	memberInput         = "input"
	memberArgv          = "argv"
	memberRunCeiling    = "runCeiling"
	memberRecordCeiling = "recordCeiling"
	memberCeiling       = "ceiling"
	memberQuery         = "query"
	memberRequire       = "requireRowLabels"
	memberFail          = "failOnExceed"
	memberPayload       = "payload"
	memberStatus        = "status"
	memberCode          = "code"
	memberMessage       = "message"
	memberHostCode      = "hostCode"
)

// JSON writes the observation on one line. A ceiling that is no bound is null.
func (o Observed) JSON() []byte {
	input := document.TextOf(canonjson.Compact(o.Input)) // as a text, so that it may nest as deep as it does
	v := document.MapOf(
		document.M(memberOutput, document.TextOf(o.OutputID)), document.M(memberTool, document.TextOf(o.Tool)), document.M(memberInput, input),
		document.M(memberRunCeiling, document.TextOf(o.RunCeiling.Canonical())), document.M(memberRecordCeiling, document.TextOf(o.RecordCeiling.Canonical())),
		document.M(memberCeiling, document.TextOf(o.Ceiling.Canonical())), document.M(memberQuery, document.TextOf(o.Query.Canonical())),
		document.M(memberRequire, document.BoolOf(o.RequireRowLabels)), document.M(memberFail, document.BoolOf(o.FailOnExceed)))
	if o.Argv != nil {
		v.Members = append(v.Members, document.M(memberArgv, document.TextsOf(o.Argv)))
	}
	if f := o.Failure; f != nil {
		v.Members = append(v.Members, document.M(memberCode, document.TextOf(string(f.Code))), document.M(memberMessage, document.TextOf(f.Message)))
		if f.HostCode != "" {
			v.Members = append(v.Members, document.M(memberHostCode, document.TextOf(f.HostCode)))
		}
		return canonjson.AppendCompact(nil, v)
	}
	v.Members = append(v.Members, document.M(memberStatus, document.IntOf(int64(o.Status))), document.M(memberPayload, document.TextOf(o.Payload)))
	return canonjson.AppendCompact(nil, v)
}

var errObserved = errors.New("the observation of a read is malformed")

// ReadObserved reads what [Observed.JSON] writes, and takes nothing else.
func ReadObserved(data []byte) (Observed, error) {
	var o Observed
	if len(data) > MaxObservedBytes {
		return o, fmt.Errorf("%w: it has more than %d bytes", errObserved, MaxObservedBytes)
	}
	v, err := strictjson.Parse(data, strictjson.MaxDepth)
	if err != nil {
		return o, fmt.Errorf("%w: %w", errObserved, err)
	}
	var input, run, record, ceiling, query, code, message, host string
	texts := map[string]*string{
		memberOutput: &o.OutputID, memberTool: &o.Tool, memberInput: &input, memberRunCeiling: &run, memberRecordCeiling: &record,
		memberCeiling: &ceiling, memberQuery: &query, memberPayload: &o.Payload, memberCode: &code, memberMessage: &message, memberHostCode: &host,
	}
	err = members(v, "the observation", func(m document.Member) error {
		if to, known := texts[m.Name]; known {
			return text(m, to)
		}
		switch {
		case m.Name == memberRequire && m.Value.Kind == document.Bool:
			o.RequireRowLabels = m.Value.Text == "true"
		case m.Name == memberFail && m.Value.Kind == document.Bool:
			o.FailOnExceed = m.Value.Text == "true"
		case m.Name == memberStatus && m.Value.Kind == document.Number:
			o.Status, err = strconv.Atoi(m.Value.Text)
			return err
		case m.Name == memberArgv && m.Value.Kind == document.List:
			o.Argv = make([]string, len(m.Value.Items))
			for i, word := range m.Value.Items {
				o.Argv[i] = word.Text
			}
		default:
			return errUnknown
		}
		return nil
	})
	if err == nil {
		o.Input, err = strictjson.ParseForeign([]byte(input), strictjson.MaxDepth)
	}
	for _, c := range []struct {
		text string
		to   *label.Ceiling
	}{{run, &o.RunCeiling}, {record, &o.RecordCeiling}, {ceiling, &o.Ceiling}} {
		if err == nil {
			*c.to, err = readCeiling(c.text)
		}
	}
	if err == nil {
		o.Query, err = label.ReadLabel([]byte(query))
	}
	if err != nil {
		return Observed{}, fmt.Errorf("%w: %w", errObserved, err)
	}
	if code != "" {
		o.Failure = &Failure{Code: Code(code), Message: message, HostCode: host}
	}
	// One text for each observation: what JSON writes of what Call gives.
	if len(o.Query.Integrity()) > 0 || !slices.Equal(o.JSON(), data) {
		return Observed{}, errObserved
	}
	return o, nil
}

func readCeiling(text string) (label.Ceiling, error) {
	if text == label.Unbounded().Canonical() {
		return label.Unbounded(), nil
	}
	return label.ReadCeiling([]byte(text))
}
