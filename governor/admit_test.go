package governor_test

import (
	"testing"

	"github.com/loomrun/loom/governor"
)

func TestAdmit(t *testing.T) { // 5.5
	entry := func(status governor.Status, capability string, reasons ...string) governor.FrontierEntry {
		return governor.FrontierEntry{Action: "act", Status: status, Capability: capability, Reasons: reasons}
	}
	const (
		admissible = governor.Admissible
		approval   = governor.ApprovalRequired
		blocked    = governor.Blocked
	)
	perform := governor.Admission{Verdict: governor.Perform}
	needs := func(capability string) governor.Admission {
		return governor.Admission{Verdict: governor.NeedsAuthority, Capability: capability}
	}
	refused := func(why string) governor.Admission {
		return governor.Admission{Verdict: governor.Refused, Refusal: why}
	}
	const (
		absent       = `not-in-frontier: the protocol declares no action "act"`
		noCapability = `no-capability: act needs approval but names no capability`
	)
	for _, c := range []struct {
		name    string
		entries []governor.FrontierEntry
		want    governor.Admission
	}{
		{"no entry at all", nil, refused(absent)},
		{"no entry of that name", []governor.FrontierEntry{{Action: "Act", Status: admissible}}, refused(absent)},
		{"admissible", []governor.FrontierEntry{entry(admissible, "")}, perform},
		{"beside other actions", []governor.FrontierEntry{{Action: "a", Status: blocked}, entry(admissible, ""), {Action: "b", Status: approval, Capability: "x"}}, perform},
		{"blocked", []governor.FrontierEntry{entry(blocked, "", `{"claim":"c","value":"false"}`, `{"claim":"d","value":"unknown"}`)}, refused(`blocked: act is blocked by {"claim":"c","value":"false"}, {"claim":"d","value":"unknown"}`)},
		{"119: once blocked and once admissible", []governor.FrontierEntry{entry(admissible, ""), entry(blocked, "", `{"claim":"c","value":"false"}`)}, refused(`blocked: act is blocked by {"claim":"c","value":"false"}`)},
		{"119: the same the other way round", []governor.FrontierEntry{entry(blocked, "", `{"claim":"c","value":"false"}`), entry(admissible, "")}, refused(`blocked: act is blocked by {"claim":"c","value":"false"}`)},
		{"a status that no action has is no permission", []governor.FrontierEntry{entry("legitimate", "")}, refused(`blocked: act is blocked`)},
		{"approval of a capability", []governor.FrontierEntry{entry(approval, "x")}, needs("x")},
		{"approval of no capability", []governor.FrontierEntry{entry(approval, "")}, refused(noCapability)},
		{"a blank capability is none", []governor.FrontierEntry{entry(approval, " \t\u00a0")}, refused(noCapability)},
		{"a blank capability of an admissible action is none", []governor.FrontierEntry{entry(admissible, " ")}, perform},
		{"a capability is asked for as it is written", []governor.FrontierEntry{entry(approval, " x")}, needs(" x")},
		{"an admissible entry with a capability needs it", []governor.FrontierEntry{entry(admissible, "x")}, needs("x")},
		{"one capability several times", []governor.FrontierEntry{entry(approval, "x"), entry(admissible, "x"), entry(admissible, "")}, needs("x")},
		{"blocked comes before no capability", []governor.FrontierEntry{entry(approval, ""), entry(blocked, "", "r")}, refused(`blocked: act is blocked by r`)},
		{"no capability comes before several", []governor.FrontierEntry{entry(approval, "x"), entry(approval, "y"), entry(approval, "")}, refused(noCapability)},
		{"four capabilities are listed sorted and quoted", []governor.FrontierEntry{entry(approval, "z"), entry(approval, `a"b`), entry(admissible, "\u202e"), entry(approval, "m\n"), entry(approval, "z")}, refused(`several-capabilities: act names "a\"b", "m\n", "z", "` + "\u202e" + `"`)},
	} {
		f := governor.Frontier{Entries: c.entries}
		if got := f.Admit("act"); got != c.want {
			t.Errorf("%s:\ngot  %+v\nwant %+v", c.name, got, c.want)
		}
	}
}

// Admission leaves the frontier as it is.
func TestAdmitChangesNothing(t *testing.T) {
	f := governor.Frontier{Entries: []governor.FrontierEntry{{Action: "act", Status: governor.Admissible, Capability: " "}}}
	f.Admit("act")
	if f.Entries[0].Capability != " " {
		t.Errorf("got %q", f.Entries[0].Capability)
	}
}

// A governor's own frontier: what needs authority needs it for the capability it declares.
func TestAdmitByAFrontier(t *testing.T) {
	g, opening := house(t)
	id := open(t, g, opening)
	submit(t, g, id, "e1", "k")
	f := frontier(t, g, id, "")
	for action, want := range map[string]governor.Admission{
		"act":  {Verdict: governor.NeedsAuthority, Capability: "cap"},
		"look": {Verdict: governor.Perform},
		"jump": {Refusal: `not-in-frontier: the protocol declares no action "jump"`},
	} {
		if got := f.Admit(action); got != want {
			t.Errorf("%s: got %+v, want %+v", action, got, want)
		}
	}
}
