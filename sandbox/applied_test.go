package sandbox

import (
	"strings"
	"testing"
)

func TestAppliedHasOneForm(t *testing.T) {
	a := Applied{
		Namespaces: []string{"mnt", "net"}, Write: []string{"/w/notes"}, Read: []string{"/usr", "/w"},
		Scratch: []Scratch{{"/tmp", 1024}}, Limits: []Limit{{"cpu", 3600, ByRlimit}},
	}
	const want = `{
  "backend": "bubblewrap",
  "capabilities": false,
  "limits": [
    {
      "by": "rlimit",
      "name": "cpu",
      "value": 3600
    }
  ],
  "namespaces": [
    "mnt",
    "net"
  ],
  "network": false,
  "new_privileges": false,
  "read": [
    "/usr",
    "/w"
  ],
  "scratch": [
    {
      "at": "/tmp",
      "size": 1024
    }
  ],
  "write": [
    "/w/notes"
  ]
}
`
	if got := string(a.Canonical()); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := a.Digest(), "24a4c826a771b8f4baabca6a9b52174232361e802b04ea76040f1257461fee76"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestEveryDifferenceIsAnError(t *testing.T) {
	asked := Applied{Namespaces: []string{"net"}, Write: []string{"/w/a"}, Read: []string{"/usr"}, Scratch: []Scratch{{"/tmp", 1}}, Limits: []Limit{{"cpu", 1, ByRlimit}}}
	if err := asked.difference(asked); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*Applied){
		"a namespace less":   func(a *Applied) { a.Namespaces = nil },
		"a writable folder":  func(a *Applied) { a.Write = []string{"/w/a", "/w/b"} },
		"something to see":   func(a *Applied) { a.Read = []string{"/home", "/usr"} },
		"scratch of a size":  func(a *Applied) { a.Scratch = []Scratch{{"/tmp", 0}} },
		"a limit":            func(a *Applied) { a.Limits = []Limit{{"cpu", 2, ByRlimit}} },
		"another keeper":     func(a *Applied) { a.Limits = []Limit{{"cpu", 1, ByHost}} },
		"capabilities":       func(a *Applied) { a.Capabilities = true },
		"new privileges":     func(a *Applied) { a.NewPrivileges = true },
		"nothing is applied": func(a *Applied) { *a = Applied{} },
	} {
		a := asked
		change(&a)
		if err := a.difference(asked); err == nil || !strings.Contains(err.Error(), "was asked") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWorkspaceNames is case 176 of the specification.
func TestWorkspaceNames(t *testing.T) {
	for name, fits := range map[string]bool{"a": true, "_a-1": true, "A9": true, "-x": false, "": false, "a b": false, "é": false, "a.b": false, "a\n": false} {
		if err := CheckWorkspaceName(name); (err == nil) != fits {
			t.Errorf("%q: %v", name, err)
		}
	}
}
