package calendar

import (
	"os"
	"strings"
	"testing"
)

// The recurrence vectors that lie beside the repository on the machines of its developers.
const vectors = "../../shared/data/ical/recurrence.txt"

// unanswered are vectors that come without an answer, and ours. Week 1 has a 30 December in the
// years that begin on a Tuesday, Wednesday or Thursday, and the week belongs to the year after.
var unanswered = map[string]string{
	"FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=30;BYWEEKNO=1;UNTIL=20320101": "20241230,20251230,20301230,20311230",
}

func TestRulesGiveTheInstancesOfTheSharedVectors(t *testing.T) {
	data, err := os.ReadFile(vectors)
	if err != nil {
		t.Skipf("the shared vectors are not here: %v", err)
	}
	count := 0
	for block := range strings.SplitSeq(string(data), "\n\n") {
		part := map[string]string{}
		for line := range strings.SplitSeq(block, "\n") {
			if name, value, ok := strings.Cut(line, ":"); ok && !strings.HasPrefix(line, "#") {
				part[name] = strings.TrimSpace(value)
			}
		}
		if part["RRULE"] == "" {
			continue
		}
		count++
		want := part["INSTANCES"]
		if strings.HasPrefix(want, "***") {
			want = unanswered[part["RRULE"]]
		}
		if got := instancesOf(t, part["RRULE"], part["DTSTART"]); got != want {
			t.Errorf("%s from %s\n got %s\nwant %s", part["RRULE"], part["DTSTART"], got, want)
		}
		if part["START-AT"] != "" {
			seekAgrees(t, part["RRULE"], part["DTSTART"], part["START-AT"])
		}
	}
	if count != 146 {
		t.Errorf("read %d vectors, there are 146", count)
	}
}

// instancesOf lists the instances of a rule, the first two thousand of them.
func instancesOf(t *testing.T, text, start string) string {
	t.Helper()
	rule, err := ParseRule(text)
	if err != nil {
		t.Errorf("%s: %v", text, err)
		return ""
	}
	at, err := ParseTime(start, "")
	if err != nil {
		t.Fatalf("%s: %v", start, err)
	}
	zone := &Zone{name: UTC}
	budget := &work{left: DefaultSteps}
	x := expand(rule, at, budget, rule.untilIn(zone, at))
	var list []string
	for moment, ok := x.next(); ok && len(list) < 2000; moment, ok = x.next() {
		instance := at
		instance.wall = moment
		list = append(list, instance.basic())
	}
	if budget.left < 0 {
		t.Errorf("%s: the work does not suffice", text)
	}
	return strings.Join(list, ",")
}

// seekAgrees checks that to begin late is to leave out the early ones.
func seekAgrees(t *testing.T, text, start, from string) {
	t.Helper()
	rule, _ := ParseRule(text)
	at, _ := ParseTime(start, "")
	begin, _ := ParseTime(from, "")
	zone := &Zone{name: UTC}
	slow := expand(rule, at, &work{left: DefaultSteps}, rule.untilIn(zone, at))
	fast := expand(rule, at, &work{left: DefaultSteps}, rule.untilIn(zone, at))
	fast.seek(begin.wall)
	for range 500 {
		want, ok := slow.next()
		for ok && want < begin.wall {
			want, ok = slow.next()
		}
		got, ok2 := fast.next()
		if got != want || ok != ok2 {
			t.Errorf("%s from %s: after %s comes %d, not %d", text, start, from, got, want)
			return
		}
		if !ok {
			return
		}
	}
}
