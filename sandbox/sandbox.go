// Package sandbox runs a program confined (governed-runs section 8, DECISIONS D14 and D19).
//
// Bubblewrap does the work, by fixed path. The program gets user, mount, process, network, ipc, host
// name and control group namespaces of its own, no capabilities and no way to new privileges, an
// environment of nothing but what it is given (and PWD, which bubblewrap adds), an empty session keyring,
// no descriptors but the standard streams, and this of the file system: the system's programs and libraries, some public
// configuration, its work folder, and what Spec.Read names, all of them read-only; the folders that
// Spec.Write names; and an empty /tmp and /dev/shm that end with it. Homes, /run, /var, /srv, other
// file systems and the host's processes are not there.
//
// "No network" rests on the network namespace: the kernel has nothing to send by, whatever the
// protocol. A socket or FIFO with a path needs no network, so a work folder that holds one is refused.
// With Spec.Network the program shares the host's network as a whole, with abstract sockets and the
// loopback interface.
//
// What was applied is read from the running sandbox before the program is let go, and compared with
// what was asked: see [Applied]. There is no fallback. What cannot be had is a [Refusal].
//
// # Limits
//
// Memory and processes are limited by a delegated control group (v2) where there is one, and then hold
// for the program as a whole. Otherwise resource limits are set on the sandbox before the program
// exists. Processes are counted in the sandbox's own user namespace, so other programs of the same user
// do not count; the kernel exempts user 0, for whom the process group of control groups v1 is used,
// and without that the run is refused. Memory then bounds the address space of each process: a program
// of n processes may take n times as much, and what it puts in files of /tmp and in shared memory comes
// on top, up to scratchSize for each of the two. CPU time and file size always hold for each process.
//
// The sandbox's first process is bubblewrap's own and reaps: a program as process 1 would ignore
// signals without a handler, its own included, and few programs reap. It counts as one of Processes.
package sandbox

import (
	"time"

	"github.com/loomrun/loom/internal/process"
)

// Backend is the program that confines, the only one that is used.
const Backend = "/usr/bin/bwrap"

// Spec is what to run and what it may see and do.
type Spec struct {
	// Command is the program. Path and Dir are places in the sandbox; an empty Dir is the work folder.
	// Files, Cgroup and Started are the sandbox's own and must be unset.
	Command process.Command
	// Work is the folder that the program works in, absolute. It is read-only but for Write. It must
	// not be above the system's folders or Home.
	Work string
	// At is where the program finds Work, absolute; empty means where it is.
	At string
	// Home is the person's home folder, which is never a work folder as a whole. Empty means none.
	Home string
	// Write are folders that may be written, relative to Work; "." is all of it. One that is absent is
	// created with mode 0700. None may be or lie behind a symbolic link.
	Write []string
	// Read are further files and folders to see, such as the program's own file.
	Read []Root
	// Network gives the host's network; otherwise there is none.
	Network bool
	// Limits must all be set; DefaultLimits has values.
	Limits Limits
	// CgroupRoot is a delegated, empty control group (v2) to make one in for the program. Where it does
	// not serve the run is refused. Empty means: look for one, else use resource limits.
	CgroupRoot string
	// Bwrap is another path of bubblewrap, for tests. Empty means Backend.
	Bwrap string
}

// Root is a file or folder that a program sees read-only.
type Root struct {
	Host string // absolute path here
	At   string // absolute place in the sandbox; empty means Host
}

// Limits are what a program may use. CPU is rounded up to whole seconds.
type Limits struct {
	Time      time.Duration // from start to end, measured here
	CPU       time.Duration // of each process
	Memory    int64         // bytes
	Processes int           // at once, threads included, and bubblewrap's own process
	FileSize  int64         // bytes, of each file that is written
}

// DefaultLimits are those of a confined program of the specification, but for the size of files.
var DefaultLimits = Limits{
	Time:      300 * time.Second,
	CPU:       3600 * time.Second,
	Memory:    8 << 30,
	Processes: 2048,
	FileSize:  1 << 30,
}

// scratchSize is how much /tmp and /dev/shm hold, each, in bytes.
const scratchSize = 256 << 20
