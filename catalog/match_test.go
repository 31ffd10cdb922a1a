package catalog_test

import (
	"testing"

	"github.com/loomrun/loom/catalog"
)

func TestMatcherPicksByTheCatalogsOwnWords(t *testing.T) {
	for _, c := range []struct{ intent, want string }{
		{"need to know the current time", "system-query@1"},
		{"what time is it", "system-query@1"},
		{"What is today's date?", "system-query@1"},
		{"tell me the local time", "system-query@1"},
		{"make the failing test pass", "software-change@1"},
		{"fix the bug in the code and run the tests", "software-change@1"},
		{"change the code so that the tests pass", "software-change@1"},
		{"the service is down, bring it back", "incident-response@1"},
		{"sort this support ticket", "support-triage@1"},
		{"triage ticket SUP-12 and route it", "support-triage@1"},
		{"what events are in my calendar this week", "data-query@1"},
		{"which page says who to ask about the contract", "data-query@1"},
		{"how long do I cook a pasta dinner for four", ""},
		{"what time should I put the roast in the oven for guests", ""},
		{"write a poem about the sea", ""},
		{"book a flight to Rome", ""},
		{"", ""},
		{"the of and", ""},
		{"release the dogs", ""},
	} {
		m, _ := catalog.Bundled().Match(c.intent)
		got := m.Name
		if m.Confidence < 0.5 {
			got = ""
		}
		if got != c.want {
			t.Errorf("%q: %+v, want %q", c.intent, m, c.want)
		}
	}
}
