package journal

import (
	"fmt"
	"os"
	"strings"

	"github.com/loomrun/loom/internal/boundedfile"
	"github.com/loomrun/loom/internal/process"
)

// Holder is a process that has the lease on a run.
type Holder struct {
	Host    string // the name of its machine, for people
	Machine string // processes with the same can look at each other; empty where that is not known
	Process int    // its id
	Started string // when it started, by its machine: another process of the same id started at another time
}

// String names the process.
func (h Holder) String() string { return fmt.Sprintf("process %d on %s", h.Process, h.Host) }

// ThisProcess gives this process as a holder.
func ThisProcess() Holder {
	host, err := os.Hostname()
	if err != nil {
		host = "an unnamed machine"
	}
	return Holder{Host: host, Machine: machine(), Process: os.Getpid(), Started: started(os.Getpid())}
}

// Alive tells whether the process of a holder is alive. It is not known of a process of another machine.
func (h Holder) Alive() (alive, known bool) {
	if h.Machine == "" || h.Machine != machine() || h.Started == "" {
		return false, false
	}
	return started(h.Process) == h.Started, true
}

// machine gives what processes that can look at each other have in common: the boot of the machine, and
// the namespace that gives processes their ids.
func machine() string {
	boot, err := boundedfile.Read("/proc/sys/kernel/random/boot_id", procLimit)
	space, linkErr := os.Readlink("/proc/self/ns/pid")
	if err != nil || linkErr != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + space
}

// procLimit bounds what is read of a file of /proc.
const procLimit = 64 << 10

// started gives when a process started, in ticks since the boot; empty where there is no such process, or
// only what is left of one that has ended.
func started(pid int) string {
	seen, there := process.Look(pid)
	if !there || seen.Ended {
		return ""
	}
	return seen.Born
}
