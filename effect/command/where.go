package command

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/loomrun/loom/internal/process"
)

// Where is where programs are started and found.
type Where struct {
	Folder string // the current one, absolute
	Path   string // a list as in PATH: bare names are looked up in its absolute entries alone
	Home   string // the person's home, which no confined program sees; may be empty
}

// find gives the executable that a name stands for, as an absolute path (D16).
func (w Where) find(name string) (string, error) {
	if !strings.ContainsRune(name, filepath.Separator) {
		return process.Find(name, w.Path)
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(w.Folder, name)
	}
	return name, process.CheckExecutable(name)
}

// environment is the whole environment of a program (6.4): PATH as Loom has it, but for the entries that are not
// absolute. With these, and with a PATH that is there and empty, a shell would start what lies in the current folder.
func (w Where) environment() []string {
	entries := slices.DeleteFunc(filepath.SplitList(w.Path), func(entry string) bool { return !filepath.IsAbs(entry) })
	if len(entries) == 0 {
		return nil
	}
	return []string{"PATH=" + strings.Join(entries, string(filepath.ListSeparator))}
}

// holds tells whether a program, or the symbolic link by which it is named, lies in a folder below the current one.
func (w Where) holds(folder, program string) bool {
	folder = filepath.Join(resolved(w.Folder), folder)
	link := filepath.Join(resolved(filepath.Dir(program)), filepath.Base(program))
	return strings.HasPrefix(link, folder+"/") || strings.HasPrefix(resolved(program), folder+"/")
}

// resolved gives a path without symbolic links, or, where it cannot be followed, the path.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
