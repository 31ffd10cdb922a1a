package process

import (
	"errors"
	"os"
	"sync"
	"syscall"
)

// group guards the number of a process group. The number may be used only until the leader is reaped:
// afterwards the system may give it to somebody else's processes.
type group struct {
	mu    sync.Mutex
	ended bool
}

// kill ends every process of the group of leader, unless the leader has ended: then awaitEnd has done
// it.
func (g *group) kill(leader int) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		return os.ErrProcessDone
	}
	return syscall.Kill(-leader, syscall.SIGKILL)
}

// awaitEnd returns when the leader has ended, and kills what is left of its group. The leader is not
// reaped yet, so the number is still its own.
func (g *group) awaitEnd(leader int) {
	const byProcess = 1 // P_PID
	for errno := syscall.EINTR; errors.Is(errno, syscall.EINTR); {
		_, _, errno = syscall.Syscall6(syscall.SYS_WAITID, byProcess, uintptr(leader), 0, syscall.WEXITED|syscall.WNOWAIT, 0, 0)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = true
	// A group without living members is as dead as it should be, whatever the call says of it.
	_ = syscall.Kill(-leader, syscall.SIGKILL)
}
