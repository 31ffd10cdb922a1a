package journal

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"reflect"

	"github.com/loomrun/loom/event"
)

// Beginning is how a run began.
type Beginning struct {
	Version  string // of the program
	At       string // an instant, YYYY-MM-DDTHH:MM:SS.mmmZ
	Intent   string
	Protocol string // the registration that was asked for; empty where the intent was classified
	Catalog  []Definition
	Terms    Terms

	Threshold     string
	ContextPolicy string
	Classifier    bool // a model classifies
	Executor      bool // the embedding program proposes actions
}

// Definition is one definition of the catalog a run began with.
type Definition struct {
	Name    string
	SHA256  string
	Source  string // as the catalog shows it
	Bundled bool
}

// Terms are what can be otherwise in each sitting of a run.
type Terms struct {
	Budget int  // the run stops at this step
	Agent  bool // a model proposes actions
}

// Resumption is how another sitting of a run begins.
type Resumption struct {
	Version string // of the program
	At      string // an instant, YYYY-MM-DDTHH:MM:SS.mmmZ
	Terms   Terms
	Told    event.Resumed
}

// Asking is what a step is about to do. What that says depends on the step.
type Asking struct {
	About jsontext.Value `json:",omitzero"`
}

// Report is what came of a step: a result, an error, or both.
type Report struct {
	Result   jsontext.Value `json:",omitzero"`
	Error    string         `json:",omitzero"`
	NotBegun bool           `json:",omitzero"` // it was asked for and then not begun
}

// options are those of every body. A nil is kept apart from what is empty, so that a value comes back as
// it was; text that is not UTF-8 is mended rather than lost.
var options = json.JoinOptions(
	json.Deterministic(true), json.FormatNilSliceAsNull(true), json.FormatNilMapAsNull(true),
	jsontext.AllowInvalidUTF8(true), json.RejectUnknownMembers(true))

// Encode gives a value as one line of JSON. Equal values have equal lines.
func Encode(v any) (string, error) {
	data, err := json.Marshal(v, options)
	if err == nil && len(data) > MaxEntryBytes {
		err = fmt.Errorf("it has %d bytes, more than %d", len(data), MaxEntryBytes)
	}
	return string(data), err
}

// Decode reads what Encode gives, into a pointer. It takes no member that the value does not have, and none twice.
func Decode(body string, v any) error {
	if err := json.Unmarshal([]byte(body), v, options); err != nil {
		return fmt.Errorf("%w: an entry cannot be read: %w", ErrDamaged, err)
	}
	return nil
}

// eventTypes are the types of events, by name.
var eventTypes = func() map[string]reflect.Type {
	types := map[string]reflect.Type{}
	for _, e := range []event.Event{
		event.ReferenceFound{},
		event.TurnCompleted{},
		event.ToolCalled{},
		event.TokensUsed{},
		event.Routed{},
		event.Picked{},
		event.PickRefused{},
		event.FrontierComputed{},
		event.Proposed{},
		event.NotProposed{},
		event.EffectReported{},
		event.StepRefused{},
		event.EvidenceSubmitted{},
		event.NoEvidence{},
		event.CaseOpened{},
		event.Decided{},
		event.CeilingSet{},
		event.ContextObserved{},
		event.Observed{},
		event.Admitted{},
		event.RevisionsMoved{},
		event.EvidenceReceived{},
		event.Resumed{},
		event.Stopped{},
		event.Granted{},
		event.Denied{},
		event.Failed{},
	} {
		types[reflect.TypeOf(e).Name()] = reflect.TypeOf(e)
	}
	return types
}()

// EventName gives the name that an event is kept under.
func EventName(e event.Event) string { return reflect.TypeOf(e).Name() }

// Event gives the event of an entry of kind Told, or of a resumption; none for other kinds. An event of a type that this version does not
// know is an error.
func (e Entry) Event() (event.Event, error) {
	switch e.Kind {
	case Resumed:
		var r Resumption
		err := Decode(e.Body, &r)
		return r.Told, err
	case Told:
		of, known := eventTypes[e.Name]
		if !known {
			return nil, fmt.Errorf("entry %d is an event %q, which this version does not know", e.Sequence, e.Name)
		}
		v := reflect.New(of)
		if err := Decode(e.Body, v.Interface()); err != nil {
			return nil, fmt.Errorf("entry %d: %w", e.Sequence, err)
		}
		return v.Elem().Interface().(event.Event), nil
	default:
		return nil, nil
	}
}
