package journal

import (
	"slices"
	"strings"

	"github.com/loomrun/loom/event"
)

// EffectStep begins the names of the steps that perform an action.
const EffectStep = "effect:"

// Summary is what a list says of a run. It follows from the entries.
type Summary struct {
	Began    string // an instant, YYYY-MM-DDTHH:MM:SS.mmmZ
	Intent   string
	Protocol string // the registration; empty before one was accepted
	Steps    int    // that were proposed
	Stop     string // why the run stopped, or "failed" or "interrupted"; empty where it has not stopped
	Detail   string // of the stop
	InDoubt  string // the action whose effect was begun and has not reported; empty for none
	Label    string // of what the run was shown: canonical JSON; empty where that is public
}

// What Stop says of a run that no rule stopped.
const (
	FailedStop      = "failed"
	InterruptedStop = "interrupted"
)

// summarised are the names of the events that change a summary. The others need not be read.
var summarised = []string{
	EventName(event.CaseOpened{}), EventName(event.Proposed{}), EventName(event.NotProposed{}), EventName(event.ContextObserved{}),
	EventName(event.Stopped{}), EventName(event.Failed{}),
}

// With gives the summary after one more entry.
func (s Summary) With(e Entry) (Summary, error) {
	switch e.Kind {
	case Begun:
		var b Beginning
		err := Decode(e.Body, &b)
		return Summary{Began: b.At, Intent: b.Intent}, err
	case Asked:
		if action, ok := strings.CutPrefix(e.Name, EffectStep); ok {
			s.InDoubt = action
		}
		return s, nil
	case Reported:
		if strings.HasPrefix(e.Name, EffectStep) {
			var r Report
			if err := Decode(e.Body, &r); err != nil {
				return s, err
			}
			if r.Error == "" || r.NotBegun {
				s.InDoubt = ""
			}
		}
		return s, nil
	}
	if e.Kind == Told && !slices.Contains(summarised, e.Name) {
		return s, nil
	}
	told, err := e.Event()
	if err != nil {
		return s, err
	}
	switch told := told.(type) {
	case event.CaseOpened:
		s.Protocol = told.Protocol
	case event.Proposed:
		s.Steps = told.Step
	case event.NotProposed:
		s.Steps = told.Step
	case event.ContextObserved:
		s.Label = told.Context
	case event.Resumed:
		s.Stop, s.Detail = "", ""
		if told.Outcome != "" {
			s.InDoubt = ""
		}
	case event.Stopped:
		s.Stop, s.Detail, s.Protocol = string(told.Reason), told.Detail, told.Protocol
	case event.Failed:
		s.Stop, s.Detail = FailedStop, told.Error
		if told.Interrupted {
			s.Stop, s.Detail = InterruptedStop, ""
		}
	}
	return s, nil
}

// Summarise gives the summary of entries.
func Summarise(entries []Entry) (s Summary, err error) {
	for _, e := range entries {
		if s, err = s.With(e); err != nil {
			return s, err
		}
	}
	return s, nil
}
