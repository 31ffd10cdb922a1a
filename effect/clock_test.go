package effect_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/protocol"
)

const revision = "intent-sha256-0000000000000000000000000000000000000000000000000000000000000000"

// port opens the clock of a host that shows one moment in one zone.
func port(now time.Time, zone *time.Location) effect.Port {
	return effect.NewClock(
		catalog.SystemQuery().Protocol,
		func() time.Time { return now },
		func() (*time.Location, error) { return zone, nil },
	).Open(effect.Intent{Text: "what time is it", Revision: revision})
}

func request(arguments string) effect.Request {
	return effect.Request{
		Run: "R", Step: 1, Case: "case-1", Revision: 1, Artifacts: map[string]string{"intent": revision},
		Action: "system.time.read", Arguments: arguments,
	}
}

var moment = time.Date(2026, 3, 1, 9, 20, 30, 999_999_999, time.UTC)

// One reading gives both renderings, in whole seconds, with the offset written out.
func TestReading(t *testing.T) {
	for _, c := range []struct {
		name   string
		now    time.Time
		offset int // seconds
		text   string
		after  string // the observation from local on
	}{
		{"a fraction is cut off", moment, 0, "Local time: 2026-03-01T09:20:30+00:00\nUTC: 2026-03-01T09:20:30Z", `"2026-03-01T09:20:30+00:00","offset_seconds":0,"utc":"2026-03-01T09:20:30Z"}`},
		{"ahead", moment, 3600, "Local time: 2026-03-01T10:20:30+01:00\nUTC: 2026-03-01T09:20:30Z", `"2026-03-01T10:20:30+01:00","offset_seconds":3600,"utc":"2026-03-01T09:20:30Z"}`},
		{"ahead by half an hour", moment, 19800, "Local time: 2026-03-01T14:50:30+05:30\nUTC: 2026-03-01T09:20:30Z", `"2026-03-01T14:50:30+05:30","offset_seconds":19800,"utc":"2026-03-01T09:20:30Z"}`},
		{"behind by half an hour", moment, -12600, "Local time: 2026-03-01T05:50:30-03:30\nUTC: 2026-03-01T09:20:30Z", `"2026-03-01T05:50:30-03:30","offset_seconds":-12600,"utc":"2026-03-01T09:20:30Z"}`},
		{"behind by less than an hour", moment, -1800, "Local time: 2026-03-01T08:50:30-00:30\nUTC: 2026-03-01T09:20:30Z", `"2026-03-01T08:50:30-00:30","offset_seconds":-1800,"utc":"2026-03-01T09:20:30Z"}`},
		{"another day and year", time.Date(2026, 12, 31, 23, 59, 59, 0, time.UTC), 50400, "Local time: 2027-01-01T13:59:59+14:00\nUTC: 2026-12-31T23:59:59Z", `"2027-01-01T13:59:59+14:00","offset_seconds":50400,"utc":"2026-12-31T23:59:59Z"}`},
		{"a clock that is itself in another zone", moment.In(time.FixedZone("", -7200)), 3600, "Local time: 2026-03-01T10:20:30+01:00\nUTC: 2026-03-01T09:20:30Z", `"2026-03-01T10:20:30+01:00","offset_seconds":3600,"utc":"2026-03-01T09:20:30Z"}`},
	} {
		report, err := port(c.now, time.FixedZone("", c.offset)).Perform(t.Context(), request("{}"))
		want := effect.Report{
			Text: c.text, Source: "loom/host-clock", Subject: "intent",
			Observation: `{"case_id":"case-1","intent_revision":"` + revision + `","local":` + c.after,
		}
		if diff := cmp.Diff(want, report); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", c.name, err, diff)
		}
	}
}

// Daylight saving is the zone's: the same local time means two moments on the day the clocks go back.
func TestReadingAroundAChangeOfOffset(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for utc, local := range map[string]string{
		"2026-03-29T00:59:59Z": "2026-03-29T01:59:59+01:00",
		"2026-03-29T01:00:00Z": "2026-03-29T03:00:00+02:00",
		"2026-10-25T00:30:00Z": "2026-10-25T02:30:00+02:00",
		"2026-10-25T01:30:00Z": "2026-10-25T02:30:00+01:00",
	} {
		now, err := time.Parse(time.RFC3339, utc)
		if err != nil {
			t.Fatal(err)
		}
		report, err := port(now, berlin).Perform(t.Context(), request("{}"))
		if want := "Local time: " + local + "\nUTC: " + utc; report.Text != want || err != nil {
			t.Errorf("%s: %q, %v", utc, report.Text, err)
		}
	}
}

// The clock is read once, after the zone.
func TestTheClockIsReadOnce(t *testing.T) {
	var touched []string
	clock := effect.NewClock(
		catalog.SystemQuery().Protocol,
		func() time.Time {
			touched = append(touched, "clock")
			return moment.Add(time.Duration(len(touched)) * time.Hour)
		},
		func() (*time.Location, error) {
			touched = append(touched, "zone")
			return time.UTC, nil
		},
	)
	p := clock.Open(effect.Intent{Revision: revision})
	if _, err := p.Start(t.Context()); err != nil || touched != nil {
		t.Errorf("before it is performed: %v, %v", touched, err)
	}
	report, err := p.Perform(t.Context(), request("{}"))
	if err != nil || strings.Join(touched, " ") != "zone clock" {
		t.Errorf("%v, %v", touched, err)
	}
	if _, err := p.Verify(request("{}"), report); err != nil || len(touched) != 2 {
		t.Errorf("to verify: %v, %v", touched, err)
	}
}

// Any argument is a refusal, and nothing is read (123).
func TestTheClockTakesNoArguments(t *testing.T) {
	unread := effect.NewClock(
		catalog.SystemQuery().Protocol,
		func() time.Time { panic("read") },
		func() (*time.Location, error) { panic("read") },
	).Open(effect.Intent{Revision: revision})
	for _, arguments := range []string{
		`{"zone":"UTC"}`, `{"":null}`, `{"a":1,"a":2}`, `[]`, `null`, `""`, `0`, ``, `{`, `{} {}`, "{\xff}", strings.Repeat("[", 200),
	} {
		report, err := unread.Perform(t.Context(), request(arguments))
		if diff := cmp.Diff(effect.Report{Refused: "system.time.read takes no arguments"}, report); diff != "" || err != nil {
			t.Errorf("%q: %v\n%s", arguments, err, diff)
		}
		if unread.CheckArguments("system.time.read", arguments) == "" {
			t.Errorf("%q is taken", arguments)
		}
	}
	for _, arguments := range []string{`{}`, " {\n} "} {
		if refused := unread.CheckArguments("system.time.read", arguments); refused != "" {
			t.Errorf("%q: %s", arguments, refused)
		}
	}
}

func TestAReadingThatFails(t *testing.T) {
	mean := time.FixedZone("LMT", 3208) // the old local mean time of Berlin
	for _, c := range []struct {
		name string
		zone func() (*time.Location, error)
		want string
	}{
		{"an offset that is no whole number of minutes", func() (*time.Location, error) { return mean, nil }, "the time zone's offset of 3208 s is no whole number of minutes, which a local time cannot show"},
		{"no zone", func() (*time.Location, error) { return nil, errors.New("TZ is odd") }, "read the time zone: TZ is odd"},
	} {
		clock := effect.NewClock(catalog.SystemQuery().Protocol, func() time.Time { return moment }, c.zone)
		report, err := clock.Open(effect.Intent{Revision: revision}).Perform(t.Context(), request("{}"))
		if err == nil || err.Error() != c.want || report.Text != "" {
			t.Errorf("%s: %v, %+v", c.name, err, report)
		}
	}
}

// The record of a reading: about the intent at its revision, of the moment that was read, with an id
// that follows from run, step and reading.
func TestTheEvidenceOfAReading(t *testing.T) {
	p := port(moment, time.FixedZone("", 3600))
	report, err := p.Perform(t.Context(), request("{}"))
	if err != nil {
		t.Fatal(err)
	}
	verdict, err := p.Verify(request("{}"), report)
	if err != nil || len(verdict.Evidence) != 1 {
		t.Fatalf("%+v, %v", verdict, err)
	}
	record := verdict.Evidence[0].Record
	if !regexp.MustCompile(`^clock-[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(record.ID) {
		t.Errorf("id %s", record.ID)
	}
	want := effect.Verdict{Evidence: []effect.Evidence{{
		Producer: "loom/clock-verifier",
		Record: governor.Record{
			ID: record.ID, Kind: "system_time", Result: new("observed"), Subject: "intent", SubjectRevision: revision,
			ObservedAt: new("2026-03-01T09:20:30Z"),
		},
	}}}
	if diff := cmp.Diff(want, verdict); diff != "" {
		t.Error(diff)
	}
	ids := map[string]bool{record.ID: true}
	for _, r := range []effect.Request{{Run: "S", Step: 1}, {Run: "R", Step: 2}} {
		r.Case, r.Artifacts = "case-1", request("").Artifacts
		again, err := port(moment, time.UTC).Verify(r, report)
		if err != nil {
			t.Fatal(err)
		}
		ids[again.Evidence[0].Record.ID] = true
	}
	if len(ids) != 3 {
		t.Errorf("%d ids for three readings", len(ids))
	}
}

// A verifier takes the clock's own observation, made for this case and this intent, once (126).
func TestTheVerifierRefuses(t *testing.T) {
	honest, err := port(moment, time.FixedZone("", 3600)).Perform(t.Context(), request("{}"))
	if err != nil {
		t.Fatal(err)
	}
	const malformed = "the clock's observation is malformed"
	replaced := func(old, with string) func(*effect.Request, *effect.Report) {
		return func(_ *effect.Request, report *effect.Report) {
			if !strings.Contains(report.Observation, old) {
				panic(old)
			}
			report.Observation = strings.Replace(report.Observation, old, with, 1)
		}
	}
	for _, c := range []struct {
		name   string
		change func(*effect.Request, *effect.Report)
		want   string
	}{
		{"nothing is wrong", func(*effect.Request, *effect.Report) {}, ""},
		{"another source", func(_ *effect.Request, r *effect.Report) { r.Source = "loom/host-clock " }, "the observation is not the host clock's"},
		{"about another artifact", func(_ *effect.Request, r *effect.Report) { r.Subject = "item" }, "the observation is not the host clock's"},
		{"asked for by another case", func(r *effect.Request, _ *effect.Report) { r.Case = "case-2" }, "the clock was read for another case"},
		{"read for another case", replaced("case-1", "case-2"), "the clock was read for another case"},
		{"the case's intent is another", func(r *effect.Request, _ *effect.Report) {
			r.Artifacts = map[string]string{"intent": strings.Replace(revision, "0", "1", 1)}
		}, "the clock was read for another intent"},
		{"the case has no intent", func(r *effect.Request, _ *effect.Report) { r.Artifacts = nil }, "the clock was read for another intent"},
		{"read for another intent", replaced("-0000", "-1000"), "the clock was read for another intent"},
		{"another intent on both sides", func(r *effect.Request, report *effect.Report) {
			replaced("-0000", "-1000")(r, report)
			r.Artifacts = map[string]string{"intent": strings.Replace(revision, "-0000", "-1000", 1)}
		}, "the clock was read for another intent"},
		{"nothing", replaced(honest.Observation, ""), "the clock's observation: line 1, column 1: there is no JSON value"},
		{"a case that is no text", replaced(`"case-1"`, `1`), malformed},
		{"no intent", replaced(`"intent_revision":"`+revision+`",`, ""), malformed},
		{"no time", replaced(`,"utc":"2026-03-01T09:20:30Z"`, ""), malformed},
		{"a time with a fraction", replaced(`09:20:30Z`, `09:20:30.5Z`), malformed},
		{"a time that is none", replaced(`09:20:30Z`, `09:20:60Z`), malformed},
		{"another local time", replaced(`10:20:30+01:00`, `10:20:31+01:00`), malformed},
		{"another offset", replaced(`3600`, `7200`), malformed},
		{"an offset of seconds", func(r *effect.Request, report *effect.Report) {
			replaced(`10:20:30+01:00`, `10:20:31+01:00`)(r, report)
			replaced(`3600`, `3601`)(r, report)
		}, malformed},
		{"an offset that is text", replaced(`3600`, `"3600"`), malformed},
		{"a further member", replaced(`}`, `,"zone":"CET"}`), malformed},
		{"a list", replaced(honest.Observation, "[]"), malformed},
		{"white space", replaced(`{`, `{ `), malformed},
	} {
		r, report := request("{}"), honest
		c.change(&r, &report)
		verdict, err := port(moment, time.UTC).Verify(r, report)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != c.want || (err == nil) != (len(verdict.Evidence) == 1) {
			t.Errorf("%s: %q, want %q, evidence %v", c.name, got, c.want, verdict.Evidence)
		}
	}
}

func TestAReadingIsVerifiedOnce(t *testing.T) {
	p := port(moment, time.UTC)
	report, err := p.Perform(t.Context(), request("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Verify(request("{}"), report); err != nil {
		t.Fatal(err)
	}
	for step := 1; step <= 2; step++ { // under another step it is the same reading
		r := request("{}")
		r.Step = step
		if verdict, err := p.Verify(r, report); err == nil || err.Error() != "the reading was verified before" || verdict.Evidence != nil {
			t.Errorf("step %d: %+v, %v", step, verdict, err)
		}
	}
}

func TestTheClocksPort(t *testing.T) {
	p := port(moment, time.UTC)
	revisions, err := p.Start(context.Background())
	if diff := cmp.Diff(map[string]string{"intent": revision}, revisions); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if !p.Performs("system.time.read") || p.Performs("system.time") || p.Performs("") {
		t.Error("it performs another action")
	}
	if p.Arguments("system.time.read") != effect.NoArguments {
		t.Error("it takes arguments")
	}
}

// The clock serves whatever has the rules of system-query, under any name, and nothing else (2.4).
func TestTheClockServesByRules(t *testing.T) {
	clock := effect.HostClock()
	if clock.Name() != "clock" {
		t.Errorf("name %s", clock.Name())
	}
	for _, e := range append(catalog.Bundled().Entries(), catalog.Plugins().Entries()...) {
		if got, want := clock.Serves(e.Protocol()), e.Name == "system-query@1"; got != want {
			t.Errorf("%s: %v", e.Name, got)
		}
	}
	same := `
outcomes: {answered: {requires: {claim: time.observed, is: true}}}
actions: {system.time.read: {may_produce: [{evidence: system_time}], effect: read}}
claims: {time.observed: {description: x, true_when: {evidence: {subject: intent, result: observed, kind: system_time}}}}
evidence_kinds: {system_time: {}}
artifacts: {intent: {description: y}}
protocol: {id: team.clock, revision: 7}
format: protocol/1
`
	for _, c := range []struct {
		name, old, with string
		want            bool
	}{
		{"other order, header and descriptions", "", "", true},
		{"another effect class", "effect: read", "effect: write", false},
		{"an age", "{system_time: {}}", "{system_time: {max_age: 1m}}", false},
		{"another action", "actions: {", "actions: {more: {}, ", false},
		{"a capability", "effect: read", "requires: [{capability: clock}], effect: read", false},
		{"another artifact", "artifacts: {", "artifacts: {item: {}, ", false},
	} {
		p, err := protocol.Compile([]byte(strings.Replace(same, c.old, c.with, 1)))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if clock.Serves(p) != c.want {
			t.Errorf("%s: served %v", c.name, !c.want)
		}
	}
}
