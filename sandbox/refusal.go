package sandbox

import (
	"fmt"
	"regexp"
)

// Code is why a program cannot be confined, in the words of governed-runs section 8.
type Code string

// The codes. None of them leads to a run without confinement.
const (
	// BackendMissing: bubblewrap is not there, not executable, or too old.
	BackendMissing Code = "BackendMissing"
	// CgroupUndelegated: no control group serves, and one was asked for or nothing else limits.
	CgroupUndelegated Code = "CgroupUndelegated"
	// ScopeInvalid: a folder may not be given to a program as it is.
	ScopeInvalid Code = "ScopeInvalid"
	// WorkspaceNameInvalid: the name of a work folder has other characters than may be.
	WorkspaceNameInvalid Code = "WorkspaceNameInvalid"
	// NamespacesUnavailable: the kernel, or who runs it, lets this user make no namespaces.
	NamespacesUnavailable Code = "NamespacesUnavailable"
)

// Refusal says that a program was not run, since it cannot be confined as asked.
type Refusal struct {
	Code   Code
	Detail string // what is wrong, where, and what to do
}

// Error gives "CODE: detail".
func (r *Refusal) Error() string { return string(r.Code) + ": " + r.Detail }

func refuse(code Code, format string, args ...any) *Refusal {
	return &Refusal{code, fmt.Sprintf(format, args...)}
}

var workspaceName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_-]*$`)

// CheckWorkspaceName refuses a folder name that the test of a software change may not run in: it has
// ASCII letters, digits, "_" and "-", and does not begin with "-" (section 8).
func CheckWorkspaceName(name string) error {
	if !workspaceName.MatchString(name) {
		return refuse(WorkspaceNameInvalid, "the work folder is named %q; its name may have ASCII letters, digits, _ and -, and may not begin with -", name)
	}
	return nil
}
