package process

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

const (
	setChildSubreaper = 36  // PR_SET_CHILD_SUBREAPER
	closeRange        = 436 // the system call, the same number on every architecture
	markOnly          = 4   // CLOSE_RANGE_CLOEXEC
)

// AdoptOrphans makes this process the parent of everything its children leave behind, so that Run can
// end it. It holds for the whole process and from now on: call it once, at the start of a program whose
// every child is started by Run. Children that other code starts would be taken for orphans.
func AdoptOrphans() error {
	family.mu.Lock()
	defer family.mu.Unlock()
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, setChildSubreaper, 1, 0, 0, 0, 0); errno != 0 {
		return fmt.Errorf("become the parent of orphans: %w", errno)
	}
	family.adopting = true
	return nil
}

// keepRange marks every descriptor from first on. It reports false on a kernel without the call.
func keepRange(first uintptr) bool {
	_, _, errno := syscall.RawSyscall(closeRange, first, ^uintptr(0), markOnly)
	return errno == 0
}

// bornIn makes a program start in a control group.
func bornIn(cgroup *os.File, attr *syscall.SysProcAttr) {
	if cgroup != nil {
		attr.UseCgroupFD, attr.CgroupFD = true, int(cgroup.Fd())
	}
}

// anyChild reports whether this process has a child, living or not. It reaps none.
func anyChild() bool {
	const all = 0 // P_ALL
	_, _, errno := syscall.RawSyscall6(syscall.SYS_WAITID, all, 0, 0, syscall.WEXITED|syscall.WNOWAIT|syscall.WNOHANG, 0, 0)
	return !errors.Is(errno, syscall.ECHILD)
}

// endOrphans kills and reaps every child of this process. No leader is among them. A child's id is its
// own until it is reaped here, so no other process can be hit.
func endOrphans() {
	for pid, p := range processes() {
		if p.Parent == os.Getpid() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			_, _ = syscall.Wait4(pid, nil, 0, nil)
		}
	}
}

// endDescendants kills what is below the leader and left its group. All are stopped first: a stopped
// process starts no other, and the parent of none ends, which would hide its children. Each is held by
// a descriptor of the process, so that an id that was given away meanwhile is not hit.
func endDescendants(leader int) {
	_ = syscall.Kill(-leader, syscall.SIGSTOP)
	held := map[int]*os.Process{}
	for range sweepLimit {
		found := processes()
		before := len(held)
		for pid := range found {
			if held[pid] == nil && found.below(pid, leader) {
				if p := hold(pid, found[pid]); p != nil {
					held[pid] = p
					_ = p.Signal(syscall.SIGSTOP)
				}
			}
		}
		if len(held) == before {
			break
		}
	}
	for _, p := range held {
		_ = p.Signal(syscall.SIGKILL)
		_ = p.Release()
	}
}

// hold opens a descriptor of the process that was seen, or gives nil where it has ended.
func hold(pid int, seen Seen) *os.Process {
	p, err := os.FindProcess(pid)
	if err != nil {
		return nil
	}
	if now, ok := Look(pid); !ok || now.Born != seen.Born {
		_ = p.Release()
		return nil
	}
	return p
}

// seenProcesses are processes by their ids.
type seenProcesses map[int]Seen

// below reports whether ancestor is above pid.
func (s seenProcesses) below(pid, ancestor int) bool {
	for range len(s) {
		p, ok := s[pid]
		if !ok || p.Parent == 0 {
			return false
		}
		if p.Parent == ancestor {
			return true
		}
		pid = p.Parent
	}
	return false
}

// processes lists all that can be seen. One that ends meanwhile is left out.
func processes() seenProcesses {
	entries, _ := os.ReadDir("/proc")
	all := seenProcesses{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if p, ok := Look(pid); ok {
			all[pid] = p
		}
	}
	return all
}
