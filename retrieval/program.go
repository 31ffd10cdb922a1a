package retrieval

import (
	"context"
	"errors"
	"os"

	"github.com/loomrun/loom/internal/process"
)

// MaxPayloadBytes bounds what a program may print. More is no answer.
const MaxPayloadBytes = 8 << 20

// Program answers the calls of one run.
type Program interface {
	// Run makes one call. An error means that there is no answer; what it says is not looked at, since it may name places of the host.
	Run(ctx context.Context, argv []string) (Exit, error)
}

// Exit is how a call ended.
type Exit struct {
	Status int
	Stdout []byte
}

// The variables that tell a program where to read (5.2).
const (
	PageQueueVariable   = "LOOM_PAGE_RPC_QUEUE"
	SearchQueueVariable = "LOOM_SEARCH_BROKER_QUEUE"
	InstanceVariable    = "LOOM_INSTANCE_DIR"
	DispatchVariable    = "LOOM_DISPATCH_ID"
)

// Environment is the whole environment of the program: the search path of the host and where to read, nothing else (5.2).
func (c *Config) Environment(path string) []string {
	env := []string{"PATH=" + path}
	if c.Transport.Kind == Broker {
		return append(env, PageQueueVariable+"="+c.Transport.QueuePath, SearchQueueVariable+"="+c.Transport.QueuePath)
	}
	return append(env, InstanceVariable+"="+c.Transport.InstanceDir, DispatchVariable+"="+c.Transport.RunID)
}

// Process gives the program of a configuration: a process for each call, which gets no input, and of whose output the errors are dropped.
func (c *Config) Process() Program { return program{c} }

type program struct{ *Config }

var errFlood = errors.New("the program printed more than a payload may have")

// Run starts the program. It and all that it has started are dead when Run returns. What prints more than [MaxPayloadBytes] is ended at once.
func (p program) Run(ctx context.Context, argv []string) (Exit, error) {
	path, _ := os.LookupEnv("PATH")
	result, err := process.Run(ctx, process.Command{
		Path: p.CLIPath, Args: argv, Dir: "/", Env: p.Environment(path), MaxStdout: MaxPayloadBytes, EndAtMaxStdout: true,
	})
	switch {
	case err != nil:
		return Exit{}, err
	case result.StdoutExceeded:
		return Exit{}, errFlood
	}
	return Exit{Status: result.ExitCode, Stdout: result.Stdout}, nil
}
