package record

import (
	"errors"
	"fmt"
	"strings"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/run"
)

// played is what was recorded of a run, and how far it has been given back.
type played struct {
	entries []journal.Entry
	at      int  // the next entry
	exact   bool // what a model is asked must be the same too
	only    bool // there is nothing but the record
	agent   model.Client
	differs *DiffersError // the first difference; the run is over then
}

// errRecordEnds ends a run that is played from its record alone and would go on.
var errRecordEnds = errors.New("the record ends here")

// DiffersError says where today's code does not do what a record holds.
type DiffersError struct {
	Sequence int64  // of the entry; one more than the last where the record ends before
	Recorded string // what the record holds there
	Now      string // what is done today
}

// Error names the entry and both.
func (e *DiffersError) Error() string {
	return fmt.Sprintf("entry %d differs: the record holds %s, and this version has %s", e.Sequence, e.Recorded, e.Now)
}

// other gives the error of a run that does something else than the next entry.
func (p *played) other(now string) error {
	if p.differs != nil {
		return p.differs
	}
	recorded, sequence := "no more", int64(len(p.entries))+1
	if p.at < len(p.entries) {
		e := p.entries[p.at]
		recorded, sequence = shown(e.Kind, e.Name, e.Body), e.Sequence
	}
	p.differs = &DiffersError{Sequence: sequence, Recorded: recorded, Now: now}
	return p.differs
}

// maxShown bounds what a DiffersError shows of an entry, in bytes.
const maxShown = 2 << 10

func shown(kind journal.Kind, name, body string) string {
	text := strings.TrimSpace(string(kind)+" "+name) + " " + body
	if len(text) > maxShown {
		text = strings.ToValidUTF8(text[:maxShown], "") + "[truncated]"
	}
	return text
}

// kindAt tells whether there is an entry of a kind at a place from the next one on.
func (p *played) kindAt(offset int, kind journal.Kind) bool {
	i := p.at + offset
	return i < len(p.entries) && p.entries[i].Kind == kind
}

// failedAt tells whether there is the event of a failure at a place from the next one on.
func (p *played) failedAt(offset int) bool {
	return p.kindAt(offset, journal.Told) && p.entries[p.at+offset].Name == journal.EventName(event.Failed{})
}

// resumption gives how many entries from a place on are the end of one sitting and the begin of the next; 0
// where the sitting does not end there.
func (p *played) resumption(offset int) int {
	n := 0
	if p.failedAt(offset) {
		n = 1
	}
	if p.kindAt(offset+n, journal.Resumed) {
		return n + 1
	}
	return 0
}

// skip goes past so many entries, into the sitting that begins with the last of them.
func (r *recorder) skip(n int) (journal.Resumption, error) {
	r.at += n
	var resumed journal.Resumption
	if err := journal.Decode(r.entries[r.at-1].Body, &resumed); err != nil {
		return resumed, err
	}
	// A sitting that did not end with a stop goes on in its midst, so for the run it is the same one with other terms.
	r.sit(r.sitting.Number, resumed.Terms)
	return resumed, nil
}

// sit begins a sitting.
func (r *recorder) sit(number int, terms journal.Terms) {
	r.sitting = run.Sitting{Number: number, Budget: terms.Budget}
	if terms.Agent {
		r.sitting.Agent = r.agent
	}
}

// toldBefore compares an event with the record; it reports false where the record has ended.
func (r *recorder) toldBefore(e event.Event) (bool, error) {
	for n := r.resumption(0); n > 0; n = r.resumption(0) { // the sitting before ended here
		if _, err := r.skip(n); err != nil {
			return false, err
		}
	}
	if r.ended() {
		return false, r.endOfRecord()
	}
	body, err := journal.Encode(e)
	if err != nil {
		return false, err
	}
	next := r.entries[r.at]
	name := journal.EventName(e)
	if next.Kind != journal.Told || next.Name != name || next.Body != body {
		return false, r.other(shown(journal.Told, name, body))
	}
	r.at++
	if _, stopped := e.(event.Stopped); !stopped {
		return true, nil
	}
	for r.at < len(r.entries) && saidBetween(r.entries[r.at]) {
		r.at++ // the run does not hear of it but through its authority
	}
	if r.kindAt(0, journal.Resumed) {
		var resumed journal.Resumption
		resumed, err = r.skip(1)
		r.sitting.Number = resumed.Told.Sitting
	}
	return true, err
}

// ended tells whether the record has been given back: to its end, or to where its last sitting was
// interrupted from outside.
func (r *recorder) ended() bool {
	if r.at == len(r.entries)-1 && r.failedAt(0) {
		var failed event.Failed
		return journal.Decode(r.entries[r.at].Body, &failed) == nil && failed.Interrupted
	}
	return r.at == len(r.entries)
}

// endOfRecord is what becomes of a run at the end of its record: it goes on, unless there is only the record.
func (r *recorder) endOfRecord() error {
	if r.differs != nil {
		return r.differs
	}
	if r.only {
		return errRecordEnds
	}
	return nil
}

// doneBefore gives back what came of a step; it reports false where the record has ended.
func (r *recorder) doneBefore(step run.Step, result any) (bool, error) {
	if r.ended() {
		return false, r.endOfRecord()
	}
	about, err := asking(step)
	if err != nil {
		return false, err
	}
	asked, err := journal.Encode(about)
	if err != nil {
		return false, err
	}
	for !r.ended() {
		next := r.entries[r.at]
		if n := r.resumption(0); n > 0 {
			if _, err := r.skip(n); err != nil {
				return false, err
			}
			continue
		}
		reported := 0 // where the report is
		if step.Acts {
			// A question may be put otherwise by another version; the answer is one all the same.
			lenient := !r.exact && strings.HasPrefix(step.Name, modelStep)
			if next.Kind != journal.Asked || next.Name != step.Name || next.Body != asked && !lenient {
				return false, r.other(shown(journal.Asked, step.Name, asked))
			}
			reported = 1
		}
		if !r.kindAt(reported, journal.Reported) {
			if again, err := r.unreported(step, reported, result); again || err != nil {
				return again, err
			}
			continue
		}
		if r.entries[r.at+reported].Name != step.Name {
			return false, r.other(step.Name)
		}
		var report journal.Report
		if err := journal.Decode(r.entries[r.at+reported].Body, &report); err != nil {
			return false, err
		}
		if n := r.resumption(reported + 1); n > 0 && (report.Error != "" || report.NotBegun) {
			if again, err := r.resumed(step, reported+1+n, result, report.NotBegun); again || err != nil {
				return again, err
			}
			continue
		}
		r.at += reported + 1
		if report.NotBegun && r.ended() {
			return false, errRecordEnds // there is only the record
		}
		if err := journal.Decode(string(report.Result), result); err != nil {
			return false, err
		}
		if report.Error != "" {
			return true, errors.New(report.Error)
		}
		return true, nil
	}
	return false, r.endOfRecord()
}

// modelStep begins the names of the steps that ask a model.
const modelStep = "model:"

// unreported is what becomes of a step that was asked for and has no report: the sitting ended there.
func (r *recorder) unreported(step run.Step, offset int, result any) (bool, error) {
	if n := r.resumption(offset); n > 0 {
		return r.resumed(step, offset+n, result, false)
	}
	// Only a step that acts can be without a report and yet have failed: its report was not to be kept.
	failed := offset > 0 && r.failedAt(offset) && r.at+offset == len(r.entries)-1
	if r.at+offset < len(r.entries) && !failed {
		r.at += offset
		return false, r.other(step.Name)
	}
	r.at = len(r.entries) // the last sitting ended there, and there is only the record
	return false, errRecordEnds
}

// resumed is what becomes of a step in whose midst a sitting ended: what a person says of an effect, and
// anything else is done again.
func (r *recorder) resumed(step run.Step, n int, result any, notBegun bool) (bool, error) {
	resumed, err := r.skip(n)
	if err != nil || notBegun || resumed.Told.Outcome == "" || !strings.HasPrefix(step.Name, journal.EffectStep) {
		return false, err
	}
	text, err := journal.Encode(run.Performance{Outcome: resumed.Told.Outcome})
	if err != nil {
		return false, err
	}
	return true, journal.Decode(text, result)
}
