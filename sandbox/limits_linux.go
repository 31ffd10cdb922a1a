package sandbox

import (
	"fmt"
	"math"
	"os"
	"syscall"
	"time"
	"unsafe"
)

// limitProcesses is RLIMIT_NPROC, which package syscall does not name.
const limitProcesses = 6

// limiter holds one program to its limits.
type limiter struct {
	limits []Limit
	group  *cgroup // nil: resource limits alone
}

// newLimiter chooses what limits, and makes the control group where one does.
func newLimiter(s Spec) (*limiter, error) {
	l := s.Limits
	if l.Time <= 0 || l.CPU <= 0 || l.Memory <= 0 || l.Processes <= 0 || l.FileSize <= 0 {
		return nil, fmt.Errorf("a limit of the sandbox is not set: %+v", l)
	}
	group, err := newCgroup(s)
	if err != nil {
		return nil, err
	}
	memory, processes := ByRlimit, ByRlimit
	switch {
	case group == nil:
	case group.v1:
		processes = ByCgroupV1
	default:
		memory, processes = ByCgroup, ByCgroup
	}
	seconds := int64((l.CPU + time.Second - 1) / time.Second)
	return &limiter{group: group, limits: []Limit{
		{"cpu", seconds, ByRlimit},
		{"file_size", l.FileSize, ByRlimit},
		{"memory", l.Memory, memory},
		{"processes", int64(l.Processes), processes},
		{"time", l.Time.Milliseconds(), ByHost},
	}}, nil
}

// close ends what is left in the control group and removes it.
func (l *limiter) close() error {
	if l.group == nil {
		return nil
	}
	return l.group.remove()
}

// resources are the limits of getrlimit(2) by our names.
var resources = map[string]int{"cpu": syscall.RLIMIT_CPU, "file_size": syscall.RLIMIT_FSIZE, "memory": syscall.RLIMIT_AS, "processes": limitProcesses}

// take moves the process into the control group, where there is one. The kernel waits for all its
// processors meanwhile, so it is done while the sandbox is being made.
func (l *limiter) take(child int) error {
	if l.group == nil {
		return nil
	}
	return l.group.take(child)
}

// apply limits the process, and gives what then holds for it, each as it is read back. A hard limit of
// ours that is lower already stays.
func (l *limiter) apply(child int) ([]Limit, error) {
	var read []Limit
	for _, limit := range l.limits {
		var err error
		switch limit.By {
		case ByRlimit:
			limit.Value, err = setResource(child, resources[limit.Name], limit.Value)
		case ByCgroup, ByCgroupV1:
			limit.Value, err = l.group.limit(limit.Name)
		case ByHost:
		}
		if err != nil {
			return nil, fmt.Errorf("limit %s of the sandbox: %w", limit.Name, err)
		}
		read = append(read, limit)
	}
	core := syscall.Rlimit{} // no core files: they hold what the program held
	if err := prlimit(child, syscall.RLIMIT_CORE, &core, nil); err != nil {
		return nil, fmt.Errorf("limit core files of the sandbox: %w", err)
	}
	return read, nil
}

// setResource sets the soft and the hard limit, and gives what is in force.
func setResource(child, resource int, value int64) (int64, error) {
	var now syscall.Rlimit
	if err := prlimit(child, resource, nil, &now); err != nil {
		return 0, err
	}
	n := min(uint64(value), now.Max)
	if err := prlimit(child, resource, &syscall.Rlimit{Cur: n, Max: n}, nil); err != nil {
		return 0, err
	}
	if err := prlimit(child, resource, nil, &now); err != nil {
		return 0, err
	}
	return int64(min(now.Cur, math.MaxInt64)), nil
}

// asked are the limits that apply should find: those of the Spec, or a lower one that holds for us.
func (l *limiter) asked() ([]Limit, error) {
	asked := make([]Limit, len(l.limits))
	for i, limit := range l.limits {
		if limit.By == ByRlimit {
			var ours syscall.Rlimit
			if err := prlimit(os.Getpid(), resources[limit.Name], nil, &ours); err != nil {
				return nil, fmt.Errorf("read our own limits: %w", err)
			}
			limit.Value = int64(min(uint64(limit.Value), ours.Max))
		}
		asked[i] = limit
	}
	return asked, nil
}

// prlimit is the system call: set and get a limit of another process.
func prlimit(pid, resource int, set, get *syscall.Rlimit) error {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), uintptr(resource), uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(get)), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
