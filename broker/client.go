package broker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/loomrun/loom/internal/atomicfile"
	"github.com/loomrun/loom/internal/boundedfile"
)

const (
	// grace is how much longer than the read may take its answer is waited for.
	grace = 2 * time.Second
	// A reply is looked for every askAtFirst, and later every so much of the time waited, at most every askAtLast.
	askAtFirst = 500 * time.Microsecond
	askAtLast  = 20 * time.Millisecond
	askShare   = 20
)

// Ask asks the broker of the queue at path for a read, in the words of [readverb.Parse], and waits for what it answers: at most as long as ctx
// has, at most MaxTime and a little. Where no broker answers the error wraps [ErrNobody]; where ctx is done, its cause. Nothing of the
// question stays in the queue.
func Ask(ctx context.Context, path string, argv []string) (Reply, error) {
	nobody := func(err error) (Reply, error) {
		return Reply{}, fmt.Errorf("%w: %w", ErrNobody, err)
	}
	if !filepath.IsAbs(path) {
		return nobody(fmt.Errorf("the queue %s is not an absolute path", path))
	}
	if err := atomicfile.CheckPrivate(path); err != nil {
		return nobody(err)
	}
	broker, err := readPresence(path)
	if err != nil {
		return nobody(err)
	}
	defer broker.close()

	within := MaxTime
	if until, bounded := ctx.Deadline(); bounded {
		within = min(within, time.Until(until)).Truncate(time.Millisecond)
	}
	if err := ctx.Err(); err != nil || within <= 0 {
		return Reply{}, errors.Join(err, context.DeadlineExceeded)
	}
	question := request{broker: broker.id, within: within, argv: argv}.JSON()
	if len(question) > int(MaxRequestBytes) {
		return refusal(Refused, fmt.Sprintf("the request exceeds %s", MaxRequestBytes)), nil
	}
	id := rand.Text()
	asked, answered := filepath.Join(path, id+requestEnd), filepath.Join(path, id+replyEnd)
	defer func() {
		_ = os.Remove(asked)
		_ = os.Remove(answered)
	}()
	if err := queued.Write(asked, question); err != nil {
		return nobody(err)
	}
	begun := time.Now()
	for {
		// That the broker is gone counts only if it was so before the reply was looked for.
		alive := broker.held()
		data, err := boundedfile.ReadPrivate(answered, maxHead+1+MaxAnswerBytes)
		switch {
		case err == nil:
			return readReply(data)
		case !errors.Is(err, fs.ErrNotExist):
			return Reply{}, fmt.Errorf("read the reply of the broker: %w", err)
		case !alive:
			return nobody(fmt.Errorf("the one of %s has stopped", path))
		}
		waited := time.Since(begun)
		if waited > within+grace {
			return nobody(fmt.Errorf("nothing came in %s within %s", path, within))
		}
		select {
		case <-ctx.Done():
			return Reply{}, context.Cause(ctx)
		case <-time.After(min(max(askAtFirst, waited/askShare), askAtLast)):
		}
	}
}
