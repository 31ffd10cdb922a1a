// Package xdg says where a person's files live (XDG Base Directory Specification; governed-runs 2.5,
// DECISIONS D2).
package xdg

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// folder is the program's own folder in each of a person's.
const folder = "loom"

// Lookup finds an environment variable, as os.LookupEnv does.
type Lookup func(name string) (value string, set bool)

// Data gives the folder of what the program keeps for a person: $XDG_DATA_HOME/loom, or
// $HOME/.local/share/loom.
//
// Like [Config] and [State] it touches no file. A variable that is empty counts as unset. One that
// would be used and is not an absolute path, or has a component "..", is an error that names it; so is
// having neither variable.
func Data(lookup Lookup) (string, error) { return root(lookup, "XDG_DATA_HOME", ".local/share") }

// Config gives the folder of a person's configuration: $XDG_CONFIG_HOME/loom, or $HOME/.config/loom.
func Config(lookup Lookup) (string, error) { return root(lookup, "XDG_CONFIG_HOME", ".config") }

// State gives the folder of what may be lost without losing a person's work: $XDG_STATE_HOME/loom, or
// $HOME/.local/state/loom.
func State(lookup Lookup) (string, error) { return root(lookup, "XDG_STATE_HOME", ".local/state") }

func root(lookup Lookup, variable, below string) (string, error) {
	for _, from := range []struct{ variable, below string }{{variable, ""}, {"HOME", below}} {
		base, _ := lookup(from.variable)
		switch {
		case base == "":
			continue
		case !filepath.IsAbs(base):
			return "", fmt.Errorf("%s is %q, which is no absolute path", from.variable, base)
		case HasParent(base):
			return "", fmt.Errorf(`%s is %q; a path with ".." is not taken`, from.variable, base)
		}
		return filepath.Join(base, from.below, folder), nil
	}
	return "", fmt.Errorf("neither %s nor HOME is set, so there is no place for files; set HOME to an absolute path", variable)
}

// HasParent tells whether a component of a path is "..". Where a symbolic link stands before it, such
// a path leads elsewhere than its text says.
func HasParent(path string) bool {
	return slices.Contains(strings.Split(path, string(filepath.Separator)), "..")
}
