package run

import "github.com/loomrun/loom/model"

// Sitting is one stretch of a run: from its begin, or from a resumption, to the next stop.
type Sitting struct {
	Number int          // the first is 1
	Budget int          // the run stops at this step; refused steps count
	Agent  model.Client // proposes actions; nil: see [Options]
}

// sitting gives what holds now.
func (r *runner) sitting() Sitting {
	if r.Sitting != nil {
		return r.Sitting()
	}
	s := Sitting{Number: 1, Budget: UnboundedMaxSteps, Agent: r.Agent}
	if r.MaxSteps != nil {
		s.Budget = *r.MaxSteps
	}
	return s
}
