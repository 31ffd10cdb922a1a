package sandbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
)

// Applied is the confinement of one program: what Run read from the running sandbox. All lists are
// sorted; paths are places in the sandbox.
type Applied struct {
	// Namespaces are the kinds that are the program's own, by the names of proc(5).
	Namespaces []string
	// Write are the folders of the work folder that may be written.
	Write []string
	// Read are the files and folders that can be seen, the work folder among them.
	Read []string
	// Scratch are the empty, writable folders that end with the program, as path and size in bytes.
	Scratch []Scratch
	// Capabilities says whether any is left to the program.
	Capabilities bool
	// NewPrivileges says whether a program of another user may be started with that user's rights.
	NewPrivileges bool
	// Limits are in force for the program.
	Limits []Limit
}

// Scratch is a folder in memory.
type Scratch struct {
	At   string
	Size int64 // bytes
}

// Limit is one limit and what holds it.
type Limit struct {
	Name  string // "cpu", "file_size", "memory", "processes", "time"
	Value int64  // bytes, processes or seconds; time in milliseconds
	By    Keeper
}

// Keeper is what holds a limit.
type Keeper string

// The keepers.
const (
	ByCgroup   Keeper = "cgroup"    // control group v2, for the program as a whole
	ByCgroupV1 Keeper = "cgroup-v1" // control group v1, for the program as a whole
	ByRlimit   Keeper = "rlimit"    // resource limit; of each process, but for "processes"
	ByHost     Keeper = "host"      // the process that started the sandbox
)

// Document gives the members of a as they are recorded.
func (a Applied) Document() document.Value {
	limits := make([]document.Value, len(a.Limits))
	for i, l := range a.Limits {
		limits[i] = document.MapOf(
			document.M("name", document.TextOf(l.Name)),
			document.M("value", document.IntOf(l.Value)),
			document.M("by", document.TextOf(string(l.By))))
	}
	scratch := make([]document.Value, len(a.Scratch))
	for i, s := range a.Scratch {
		scratch[i] = document.MapOf(document.M("at", document.TextOf(s.At)), document.M("size", document.IntOf(s.Size)))
	}
	return document.MapOf(
		document.M("backend", document.TextOf("bubblewrap")),
		document.M("capabilities", document.BoolOf(a.Capabilities)),
		document.M("limits", document.ListOf(limits...)),
		document.M("namespaces", document.TextsOf(a.Namespaces)),
		document.M("network", document.BoolOf(!slices.Contains(a.Namespaces, "net"))),
		document.M("new_privileges", document.BoolOf(a.NewPrivileges)),
		document.M("read", document.TextsOf(a.Read)),
		document.M("scratch", document.ListOf(scratch...)),
		document.M("write", document.TextsOf(a.Write)),
	)
}

// Canonical gives the canonical JSON (governed-runs 2.11).
func (a Applied) Canonical() []byte { return canonjson.Append(nil, a.Document()) }

// Digest gives the SHA-256 of the canonical JSON in lower case hexadecimal.
func (a Applied) Digest() string {
	sum := sha256.Sum256(a.Canonical())
	return hex.EncodeToString(sum[:])
}

// difference is an error that shows the first lines in which a and what was asked differ, or nil.
func (a Applied) difference(asked Applied) error {
	got, want := bytes.Split(a.Canonical(), []byte("\n")), bytes.Split(asked.Canonical(), []byte("\n"))
	for i := range max(len(got), len(want)) {
		var g, w []byte
		if i < len(got) {
			g = bytes.TrimSpace(got[i])
		}
		if i < len(want) {
			w = bytes.TrimSpace(want[i])
		}
		if !bytes.Equal(g, w) {
			return fmt.Errorf("the sandbox is not as asked: it has %s where %s was asked (line %d of its description)", orNothing(g), orNothing(w), i+1)
		}
	}
	return nil
}

func orNothing(line []byte) []byte {
	if len(line) == 0 {
		return []byte("nothing")
	}
	return line
}
