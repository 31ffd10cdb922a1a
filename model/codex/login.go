// Package codex asks models by the login of the Codex program (governed-runs 7.4): it reads the file
// in which Codex keeps its tokens, renews them when they are about to end, and speaks the responses
// protocol to the provider's backend.
//
//	path, err := codex.Path()
//	login, err := codex.Open(path)
//	client, err := codex.New(login, "gpt-5.6-sol")
//
// The file stays Codex's own. Only its token values are ever changed, in place, and no token is part
// of a message, an error or a status.
package codex

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/loomrun/loom/internal/atomicfile"
	"github.com/loomrun/loom/model"
)

// RenewBefore is how long an access token must still live to be used: with less left it is renewed
// first (7.4).
const RenewBefore = 15 * time.Minute

// authFileName is the login's file in Codex's folder.
const authFileName = "auth.json"

// Path gives the file of the Codex login: $CODEX_HOME/auth.json, else $HOME/.codex/auth.json (1.9). An
// empty variable counts as unset; with neither set the error is [ErrNoToken]. It does not look whether
// there is such a file.
func Path() (string, error) {
	if folder := os.Getenv("CODEX_HOME"); folder != "" {
		return under("CODEX_HOME", folder)
	}
	home := os.Getenv("HOME")
	if home == "" {
		return "", fmt.Errorf("%w: neither CODEX_HOME nor HOME is set", ErrNoToken)
	}
	return under("HOME", home, ".codex")
}

func under(variable, folder string, below ...string) (string, error) {
	if !filepath.IsAbs(folder) {
		return "", fmt.Errorf("%s is the relative path %s; set %s to an absolute directory", variable, folder, variable)
	}
	return filepath.Join(append(append([]string{folder}, below...), authFileName)...), nil
}

// Login is a Codex login that can be used. It is safe for use by several goroutines.
type Login struct {
	path      string
	provider  provider
	now       func() time.Time
	accountID string // as when it was opened; may be empty

	// The file's text is not kept: whatever prints a Login by mistake prints no token.
	turn    chan struct{} // holds one element while a goroutine uses what follows
	access  model.Secret
	expires time.Time
	failed  *model.Failure // why the one renewal failed
}

// Open reads the login in the file at path, which must be a regular file of at most 1 MiB that belongs
// to the user of this process, with mode 0600, and no symbolic link. It fails with [ErrNoToken] when
// nobody has logged in there, and also when the token is about to end and could not be renewed. It
// opens no connection. Errors name the file and no value of it.
func Open(path string) (*Login, error) { return open(path, openAI, time.Now) }

func open(path string, p provider, now func() time.Time) (*Login, error) {
	file, err := readAuthFile(path)
	if err != nil {
		return nil, err
	}
	l := &Login{path: path, provider: p, now: now, accountID: file.accountID, turn: make(chan struct{}, 1)}
	l.use(file)
	if l.due(file.expires) {
		if err := l.renewable(file); err != nil {
			return nil, l.ending(file, err)
		}
	}
	return l, nil
}

// use takes the token of a file into use.
func (l *Login) use(f authFile) { l.access, l.expires, l.failed = f.access, f.expires, nil }

// due reports whether a token that ends at an instant has too little time left.
func (l *Login) due(end time.Time) bool { return end.Sub(l.now()) < RenewBefore }

// renewable says why a file's tokens cannot be renewed, or nothing.
func (l *Login) renewable(f authFile) error {
	if f.refresh.IsZero() {
		return errors.New("it has no refresh token")
	}
	return rewritable(l.path)
}

// ending is the error of a login whose token is too old and cannot be renewed.
func (l *Login) ending(f authFile, reason error) error {
	how := "ends at " + f.expires.Format(time.RFC3339)
	if !f.expires.After(l.now()) {
		how = "ended at " + f.expires.Format(time.RFC3339)
	}
	return fmt.Errorf("the Codex login in %s %s and cannot be renewed: %w; run codex login", l.path, how, reason)
}

// Token gives an access token that is good for at least [RenewBefore] where the provider's tokens live
// that long, renewing the login first where it must. Its error is a [*model.Failure].
//
// A login is renewed by one request: an answer that was lost may have spent the refresh token, and
// using it twice ends the login. When that failed, later calls fail the same way without another, until
// the file holds a fresh token. A renewal that has begun is carried through, for at most 15 seconds,
// although ctx is done: the provider takes the old refresh token back with its answer, and the new one
// would be lost.
func (l *Login) Token(ctx context.Context) (model.Secret, error) {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return model.Secret{}, withdrawn(ctx)
	}
	if l.due(l.expires) {
		renew := l.renew
		if l.failed != nil {
			renew = l.renewedByOthers
		}
		if failure := renew(ctx); failure != nil {
			return model.Secret{}, failure
		}
	}
	return l.access, nil
}

// renew takes a fresh token into use: from the file, when somebody else has renewed it, or from the
// provider.
func (l *Login) renew(ctx context.Context) *model.Failure {
	unlock, err := lockFolder(ctx, filepath.Dir(l.path))
	if ctx.Err() != nil {
		if err == nil {
			unlock()
		}
		return withdrawn(ctx)
	}
	if err != nil {
		return l.fail(model.Fail(model.Unauthorized, err, "the Codex login in %s cannot be renewed: %v", l.path, err))
	}
	defer unlock()
	// Another process may have renewed it before this one got the lock.
	before, failure := l.reread()
	if failure != nil {
		return l.fail(failure)
	}
	if !l.due(before.expires) {
		l.use(before)
		return nil
	}
	if err := l.renewable(before); err != nil {
		return l.fail(model.Fail(model.Unauthorized, nil, "%v", l.ending(before, err)))
	}
	granted, failure := l.provider.renew(context.WithoutCancel(ctx), before.refresh)
	// Codex itself does not know the lock. What it wrote meanwhile is newer than what was read.
	after, unreadable := l.reread()
	if unreadable == nil && !after.sameTokens(before) {
		if l.due(after.expires) {
			return l.fail(model.Fail(model.Unauthorized, nil, "the Codex login in %s was changed while it was renewed; try again", l.path))
		}
		l.use(after)
		return nil
	}
	switch {
	case failure != nil:
		failure.Hide(before.access)
		return l.fail(failure)
	case unreadable != nil:
		return l.fail(unreadable)
	}
	return l.keep(after, granted)
}

// renewedByOthers takes a fresh token from the file, or fails as the renewal did.
func (l *Login) renewedByOthers(context.Context) *model.Failure {
	file, failure := l.reread()
	if failure != nil || l.due(file.expires) {
		again := *l.failed
		return &again
	}
	l.use(file)
	return nil
}

// keep writes what a renewal gave into the file, and takes it into use.
func (l *Login) keep(file authFile, granted grant) *model.Failure {
	renewed, err := parseAuthFile(file.renewed(granted))
	if err == nil {
		err = rewritable(l.path)
	}
	if err == nil {
		err = atomicfile.Write(l.path, renewed.text)
	}
	if err != nil {
		return l.fail(model.Fail(model.Unauthorized, nil, "the Codex login was renewed but could not be kept: %v; run codex login", err))
	}
	if !renewed.expires.After(l.now()) {
		return l.fail(model.Fail(model.Unauthorized, nil, "the renewed Codex login ended at %s already; look at this machine's clock", renewed.expires.Format(time.RFC3339)))
	}
	l.use(renewed)
	return nil
}

// reread reads the file anew. The account stays the one that this login was opened for.
func (l *Login) reread() (authFile, *model.Failure) {
	file, err := readAuthFile(l.path)
	if err != nil {
		return authFile{}, model.Fail(model.Unauthorized, nil, "%v", err)
	}
	if file.accountID != l.accountID {
		return authFile{}, model.Fail(model.Unauthorized, nil, "the Codex login in %s is of another account now", l.path)
	}
	return file, nil
}

// fail keeps a failure for every later call.
func (l *Login) fail(failure *model.Failure) *model.Failure {
	kept := *failure
	l.failed = &kept
	return failure
}

// withdrawn is the failure of a call whose context is done.
func withdrawn(ctx context.Context) *model.Failure {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return model.Fail(model.Deadline, ctx.Err(), "the time for the request ran out")
	}
	return model.Fail(model.Cancelled, ctx.Err(), "the request was withdrawn")
}
