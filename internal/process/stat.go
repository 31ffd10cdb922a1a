package process

import (
	"bytes"
	"strconv"

	"github.com/loomrun/loom/internal/boundedfile"
)

// Seen is what identifies a process, and its place.
type Seen struct {
	Parent int
	Born   string // clock ticks since the system's start: another process of the same id was born at another time
	Ended  bool   // it is only waited for
}

// Look gives what proc(5) says of a process; false where there is none. Where there is no such file system there
// is no process to be seen.
func Look(pid int) (Seen, bool) {
	const (
		state, parent, born = 0, 1, 19 // behind the name, which is in brackets and may hold anything
		lineLimit           = 4096     // bytes
	)
	line, err := boundedfile.Read("/proc/"+strconv.Itoa(pid)+"/stat", lineLimit)
	if err != nil {
		return Seen{}, false
	}
	fields := bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:])
	if len(fields) <= born {
		return Seen{}, false
	}
	number, err := strconv.Atoi(string(fields[parent]))
	ended := string(fields[state]) == "Z" || string(fields[state]) == "X"
	return Seen{Parent: number, Born: string(fields[born]), Ended: ended}, err == nil
}
