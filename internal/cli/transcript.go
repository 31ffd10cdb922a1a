package cli

import (
	"context"
	"errors"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/run/record"
)

// transcript prints what a run tells, in the chosen form, and knows how it ended.
type transcript struct {
	streams
	records bool // one JSON object a line instead of lines for people
	jsonl   jsonl
	failed  *event.Failed // how the last sitting failed
}

func newTranscript(s streams, output string) *transcript {
	return &transcript{streams: s, records: output == outputJSONL, jsonl: jsonl{s, new(bool)}}
}

func (t *transcript) read(e event.Event) error {
	if failed, ok := e.(event.Failed); ok {
		t.failed = &failed
	}
	if t.records {
		return t.jsonl.read(e)
	}
	return human{t.streams}.read(e)
}

// unknownOutcome prints an effect that a run waits to hear about.
func (t *transcript) unknownOutcome(doubt *record.InDoubtError) error {
	if t.records {
		return t.jsonl.unknownOutcome(doubt)
	}
	return human{t.streams}.unknownOutcome(doubt)
}

// fail ends what is printed of a run whose error no event tells, and gives the error of the command.
func (t *transcript) fail(status int, err error) error {
	if t.records {
		err = errors.Join(err, t.jsonl.fail(status, err))
	}
	return &statusError{status: status, err: err}
}

// conclude gives the error of a command whose run has ended. Again is the command that goes on with the run.
func (t *transcript) conclude(ctx context.Context, ended record.Ended, err error, again string) error {
	hint := ""
	if ended.Run != "" && record.Resumable(ended.Summary) && isTerminal(t.err) {
		hint = "to go on: " + again + ended.Run
		if ended.Reason == event.ApprovalRequired {
			hint = "to approve: " + t.program + " approve " + ended.Run + "; then, " + hint
		}
	}
	if err == nil {
		return &statusError{status: stopStatus(ended.Reason), hint: hint}
	}
	status := ExitFailed
	if t.failed != nil && t.failed.Interrupted || t.failed == nil && ctx.Err() != nil {
		status = ExitInterrupted
	}
	if t.records {
		err = errors.Join(err, t.jsonl.fail(status, err))
	}
	if status == ExitInterrupted && ctx.Err() != nil {
		why := err
		err = errors.New("interrupted")
		if unwritten, ok := errors.AsType[*record.StorageError](why); ok {
			err = errors.Join(err, unwritten)
		}
	}
	return &statusError{status, err, hint}
}
