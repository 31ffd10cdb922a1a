package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// sweepLimit is how often orphans are looked for before giving up on a program that starts new ones
// faster than they are ended.
const sweepLimit = 1000

// family is what this process started and has not reaped.
var family = children{leaders: map[int]bool{}}

// children guards the ids of the programs running here. A child that is none of them is an orphan of
// one, where orphans are adopted.
type children struct {
	mu       sync.Mutex
	leaders  map[int]bool
	adopting bool
}

// start starts the program as a leader. No orphans are looked for meanwhile: a child that is not
// listed yet would be taken for one.
func (c *children) start(cmd *exec.Cmd) (*group, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c.leaders[cmd.Process.Pid] = true
	return &group{process: cmd.Process, leader: cmd.Process.Pid}, nil
}

// ended forgets a leader that has been reaped and ends what it left behind. While other programs run,
// an orphan may be theirs, so the last of them ends all.
func (c *children) ended(leader int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.leaders, leader)
	if !c.adopting || len(c.leaders) > 0 {
		return nil
	}
	for range sweepLimit {
		if !anyChild() {
			return nil
		}
		endOrphans()
	}
	return fmt.Errorf("what a program left behind is not ended after %d rounds", sweepLimit)
}

// group guards the number of a process group. The number may be used only until the leader is reaped:
// afterwards the system may give it to somebody else's processes.
type group struct {
	process *os.Process
	leader  int
	mu      sync.Mutex
	ended   bool
}

// kill ends the leader and what can be reached from it, unless the leader has ended: then awaitEnd has
// done it.
func (g *group) kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		return
	}
	endDescendants(g.leader)
	_ = syscall.Kill(-g.leader, syscall.SIGKILL)
}

// awaitEnd returns when the leader has ended and what is left of it is killed. The state is nil where
// foreign code reaped the leader. The error says that something is left.
func (g *group) awaitEnd() (*os.ProcessState, error) {
	const byProcess = 1 // P_PID
	for errno := syscall.EINTR; errors.Is(errno, syscall.EINTR); {
		_, _, errno = syscall.Syscall6(syscall.SYS_WAITID, byProcess, uintptr(g.leader), 0, syscall.WEXITED|syscall.WNOWAIT, 0, 0)
	}
	g.mu.Lock()
	g.ended = true
	// The leader is not reaped yet, so the number is still its own. A group without living members is
	// as dead as it should be, whatever the call says of it.
	_ = syscall.Kill(-g.leader, syscall.SIGKILL)
	g.mu.Unlock()
	state, _ := g.process.Wait()
	return state, family.ended(g.leader)
}
