package pinnedgit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/loomrun/loom/internal/process"
)

// maxOutput is how much of git's output is read: the largest blob and one byte that shows when there
// is more. Every other answer is a line.
const maxOutput = MaxBlob + 1

// git runs the git executable hardened, so that it works by what is written here and not by any
// configuration of the machine, the person, or the repository (governed-runs 2.7).
type git struct {
	executable string
	settings   settings
}

// settings are additions for the tests of this package: how to trust their own certificate and where
// the key for their own ssh server is. They come after the settings of the product. The product adds
// none.
type settings struct {
	config      []string // NAME=VALUE
	environment []string // NAME=VALUE
}

// hardening is the configuration of every git process.
var hardening = []string{
	"core.hooksPath=/dev/null",
	"core.fsmonitor=false",
	"credential.helper=", // empty: drops those named before
	"protocol.version=2", // the one in which a server gives any object by its id
	"protocol.allow=never",
	"protocol.https.allow=always",
	"protocol.ssh.allow=always",
	"protocol.file.allow=always",
	"http.followRedirects=false",
	"fetch.recurseSubmodules=false",
	"transfer.fsckObjects=true",
	// The folder is about to be removed: nothing in it need survive a power cut, and housekeeping
	// would go on in the background.
	"core.fsync=none",
	"gc.auto=0",
	"maintenance.auto=false",
}

// environment is the whole environment of every git process. The three variables of the caller are
// left out when they are not set.
func environment() []string {
	env := []string{
		"GIT_DIR=.", // the folder itself; none is looked for above it
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_ASKPASS=", // set and empty: no program is asked, not even one of git's configuration
		"GIT_SSH_COMMAND=ssh -oBatchMode=yes",
		"GIT_LITERAL_PATHSPECS=1",
		// The server's side of a file URL runs on this machine and does not see the configuration above.
		"GIT_ALLOW_PROTOCOL=https:ssh:file",
		"GIT_NO_LAZY_FETCH=1",
		"LC_ALL=C",
	}
	for _, name := range []string{"PATH", "HOME", "SSH_AUTH_SOCK"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// operationError is a git process that did not do its work. The text is fixed but for the verb and
// how the process ended: what git prints may be what a server or a repository wants to be read.
type operationError struct {
	verb, status string
	cause        error // the context's, when that ended it
}

func (e *operationError) Error() string {
	return fmt.Sprintf("Git protocol source operation %s failed (%s)", e.verb, e.status)
}

func (e *operationError) Unwrap() error { return e.cause }

// run performs one git command in the folder and gives its standard output.
func (g git) run(ctx context.Context, folder, verb string, stdin []byte, args ...string) ([]byte, error) {
	var all []string
	for _, setting := range slices.Concat(hardening, g.settings.config) {
		all = append(all, "-c", setting)
	}
	all = append(append(all, verb), args...)
	result, err := process.Run(ctx, process.Command{
		Path:      g.executable,
		Args:      all,
		Dir:       folder,
		Env:       append(environment(), g.settings.environment...),
		Stdin:     stdin,
		MaxStdout: maxOutput,
	})
	switch {
	case errors.Is(err, context.Canceled):
		return nil, &operationError{verb, "cancelled", err}
	case errors.Is(err, context.DeadlineExceeded):
		return nil, &operationError{verb, "time limit", err}
	case err != nil:
		return nil, &operationError{verb, "not started", err}
	case result.ExitCode != 0:
		return nil, &operationError{verb, result.Status, nil}
	case result.StdoutExceeded:
		return nil, &operationError{verb, "too much output", nil}
	}
	return result.Stdout, nil
}
