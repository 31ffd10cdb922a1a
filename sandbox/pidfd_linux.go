package sandbox

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/loomrun/loom/internal/boundedfile"
)

// The system calls have the same numbers on every architecture.
const (
	pidfdSendSignal = 424
	pidfdOpen       = 434
)

// pidfd is an open process: whatever happens to its number, it is this one.
type pidfd int

// openChild opens the process pid, which must be a child of parent.
func openChild(pid, parent int) (pidfd, error) {
	fd, _, errno := syscall.Syscall(pidfdOpen, uintptr(pid), 0, 0)
	if errno != 0 {
		return -1, errno
	}
	status, err := boundedfile.Read(proc(pid, "status"), procLimit)
	if err == nil && !strings.Contains(string(status), fmt.Sprintf("\nPPid:\t%d\n", parent)) {
		err = errors.New("it is somebody else's")
	}
	if err != nil {
		_ = syscall.Close(int(fd))
		return -1, err
	}
	return pidfd(fd), nil
}

// end kills the process and waits until it has ended, with all of its process namespace: the kernel
// lets the first process of one end last.
func (p pidfd) end(limit time.Duration) error {
	_, _, errno := syscall.Syscall6(pidfdSendSignal, uintptr(p), uintptr(syscall.SIGKILL), 0, 0, 0, 0)
	if errno != 0 && errno != syscall.ESRCH {
		return fmt.Errorf("kill the sandbox: %w", errno)
	}
	poll := struct {
		fd              int32
		events, revents int16
	}{fd: int32(p), events: 1} // POLLIN
	for {
		wait := syscall.NsecToTimespec(int64(limit))
		n, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&poll)), 1, uintptr(unsafe.Pointer(&wait)), 0, 0, 0)
		switch {
		case errno == syscall.EINTR:
		case errno != 0:
			return fmt.Errorf("await the end of the sandbox: %w", errno)
		case n == 0:
			return fmt.Errorf("the sandbox has not ended %v after it was killed", limit)
		default:
			return nil
		}
	}
}

func (p pidfd) close() { _ = syscall.Close(int(p)) }
