package governor

import (
	"slices"
	"strings"

	"github.com/loomrun/loom/internal/canonjson"
)

// Verdict says what may happen to a proposed action.
type Verdict uint8

// The verdicts. The zero Verdict is a refusal.
const (
	Refused        Verdict = iota // it is not performed; the proposal counts as a step
	NeedsAuthority                // it may be performed once its capability is granted
	Perform                       // it may be performed now
)

// Admission is what the governor says to a proposed action.
type Admission struct {
	Verdict    Verdict
	Capability string // to be granted, where Verdict is NeedsAuthority
	Refusal    string // why not, where Verdict is Refused
}

// Admit judges a proposed action by a frontier, in the order of 5.5. A hostile or broken frontier may
// list an action several times; then the strictest entry counts.
func (f Frontier) Admit(action string) Admission {
	var entries []FrontierEntry
	for _, e := range f.Entries {
		if e.Action == action {
			if strings.TrimSpace(e.Capability) == "" {
				e.Capability = ""
			}
			entries = append(entries, e)
		}
	}
	if len(entries) == 0 {
		return Admission{Refusal: "not-in-frontier: the protocol declares no action " + quote(action)}
	}
	for _, e := range entries {
		if e.Status != Admissible && e.Status != ApprovalRequired {
			why := "blocked: " + action + " is blocked"
			if len(e.Reasons) > 0 {
				why += " by " + strings.Join(e.Reasons, ", ")
			}
			return Admission{Refusal: why}
		}
	}
	var capabilities []string
	for _, e := range entries {
		if e.Status == ApprovalRequired && e.Capability == "" {
			return Admission{Refusal: "no-capability: " + action + " needs approval but names no capability"}
		}
		if e.Capability != "" {
			capabilities = append(capabilities, e.Capability)
		}
	}
	slices.Sort(capabilities)
	capabilities = slices.Compact(capabilities)
	switch len(capabilities) {
	case 0:
		return Admission{Verdict: Perform}
	case 1:
		return Admission{Verdict: NeedsAuthority, Capability: capabilities[0]}
	}
	for i, c := range capabilities {
		capabilities[i] = quote(c)
	}
	return Admission{Refusal: "several-capabilities: " + action + " names " + strings.Join(capabilities, ", ")}
}

func quote(s string) string { return string(canonjson.AppendString(nil, s)) }
