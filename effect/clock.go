package effect

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/internal/uuid8"
	"github.com/loomrun/loom/protocol"
)

// The names of the clock contract (governed-runs 6.1).
const (
	clockAction   = "system.time.read"
	clockArtifact = "intent"
	clockKind     = "system_time"
	clockResult   = "observed"
	clockSource   = "loom/host-clock"
	clockProducer = "loom/clock-verifier"
)

const (
	utcLayout   = "2006-01-02T15:04:05Z"
	localLayout = "2006-01-02T15:04:05-07:00" // RFC 3339, also for an offset of zero
)

// Clock is the binding to the host clock. It serves every protocol with the rules of the bundled
// system-query, whatever its header and descriptions say (2.4).
type Clock struct {
	rules func() *protocol.Protocol
	now   func() time.Time
	zone  func() (*time.Location, error)
}

// NewClock makes the binding. Rules gives the protocol whose rules it serves; now and zone are the
// host's clock and time zone (see [HostZone]).
func NewClock(rules func() *protocol.Protocol, now func() time.Time, zone func() (*time.Location, error)) *Clock {
	return &Clock{rules, now, zone}
}

// Name gives "clock".
func (c *Clock) Name() string { return "clock" }

// SHA256 gives a digest that is the same on every host: each has one clock, whatever it is called.
func (c *Clock) SHA256() string {
	sum := sha256.Sum256([]byte(clockSource))
	return hex.EncodeToString(sum[:])
}

// Serves compares rules, not names.
func (c *Clock) Serves(p *protocol.Protocol) bool { return p.SameRules(c.rules()) }

// Lacks gives nothing: its protocol has one action.
func (c *Clock) Lacks(*protocol.Protocol) string { return "" }

// Open makes the port of one run.
func (c *Clock) Open(intent Intent) Port {
	return &clockPort{clock: c, intent: intent, verified: map[string]bool{}}
}

type clockPort struct {
	clock    *Clock
	intent   Intent
	verified map[string]bool // observations that evidence was made of
}

// Start gives the revision of the intent, which never changes.
func (p *clockPort) Start(context.Context) (map[string]string, error) {
	return map[string]string{clockArtifact: p.intent.Revision}, nil
}

func (p *clockPort) Performs(action string) bool { return action == clockAction }

func (p *clockPort) Arguments(string) string { return NoArguments }

// CheckArguments takes only {}: a zone or a format would be a request this binding cannot keep.
func (p *clockPort) CheckArguments(_, arguments string) string {
	v, err := strictjson.Parse([]byte(arguments), strictjson.MaxDepth)
	if err != nil || v.Kind != document.Map || len(v.Members) > 0 {
		return clockAction + " takes no arguments"
	}
	return ""
}

// Reach says that it reads a clock.
func (p *clockPort) Reach(string) string {
	return "reads the clock of this machine, and changes nothing"
}

// Perform reads the clock once. UTC and local time come from the same reading, in whole seconds.
func (p *clockPort) Perform(_ context.Context, r Request) (Report, error) {
	if refused := p.CheckArguments(r.Action, r.Arguments); refused != "" {
		return Report{Refused: refused}, nil
	}
	zone, err := p.clock.zone()
	if err != nil {
		return Report{}, fmt.Errorf("read the time zone: %w", err)
	}
	read := reading{r.Case, p.intent.Revision, p.clock.now().In(zone)}
	if offset := read.offset(); offset%60 != 0 {
		return Report{}, fmt.Errorf("the time zone's offset of %d s is no whole number of minutes, which a local time cannot show", offset)
	}
	return Report{
		Text:        "Local time: " + read.local() + "\nUTC: " + read.utc(),
		Source:      clockSource,
		Subject:     clockArtifact,
		Observation: read.observation(),
	}, nil
}

// Verify makes evidence of a reading that was made for this case and this intent, once.
func (p *clockPort) Verify(r Request, report Report) (Verdict, error) {
	if report.Source != clockSource || report.Subject != clockArtifact {
		return Verdict{}, errors.New("the observation is not the host clock's")
	}
	read, err := readObservation(report.Observation)
	switch {
	case err != nil:
		return Verdict{}, err
	case read.caseID != r.Case:
		return Verdict{}, errors.New("the clock was read for another case")
	case read.intentRevision != p.intent.Revision, read.intentRevision != r.Artifacts[clockArtifact]:
		return Verdict{}, errors.New("the clock was read for another intent")
	case p.verified[report.Observation]:
		return Verdict{}, errors.New("the reading was verified before")
	}
	p.verified[report.Observation] = true
	return Verdict{Evidence: []Evidence{{
		Producer: clockProducer,
		Record: governor.Record{
			ID:              "clock-" + uuid8.Of(r.Run, strconv.Itoa(r.Step), report.Observation),
			Kind:            clockKind,
			Result:          new(clockResult),
			Subject:         clockArtifact,
			SubjectRevision: read.intentRevision,
			ObservedAt:      new(read.utc()),
		},
	}}}, nil
}

// reading is one look at the clock, and what it was for.
type reading struct {
	caseID, intentRevision string
	at                     time.Time // in the local zone; shown in whole seconds
}

func (r reading) utc() string { return r.at.UTC().Format(utcLayout) }

func (r reading) local() string { return r.at.Format(localLayout) }

// offset gives the seconds that local time is ahead of UTC.
func (r reading) offset() int {
	_, offset := r.at.Zone()
	return offset
}

// observation gives the reading as JSON.
func (r reading) observation() string {
	return canonjson.Compact(document.MapOf(
		document.M("case_id", document.TextOf(r.caseID)),
		document.M("intent_revision", document.TextOf(r.intentRevision)),
		document.M("local", document.TextOf(r.local())),
		document.M("offset_seconds", document.IntOf(int64(r.offset()))),
		document.M("utc", document.TextOf(r.utc())),
	))
}

// readObservation reads what observation gives, and takes nothing else: no further member, no other
// form of a time, no local time that is not the same moment.
func readObservation(text string) (reading, error) {
	v, err := strictjson.Parse([]byte(text), strictjson.MaxDepth)
	if err != nil {
		return reading{}, fmt.Errorf("the clock's observation: %w", err)
	}
	member := func(name string) string {
		m, _ := v.Get(name)
		return m.Text
	}
	utc, timeErr := time.Parse(utcLayout, member("utc"))
	offset, offsetErr := strconv.Atoi(member("offset_seconds"))
	read := reading{member("case_id"), member("intent_revision"), utc.In(time.FixedZone("", offset))}
	if timeErr != nil || offsetErr != nil || offset%60 != 0 || read.observation() != text {
		return reading{}, errors.New("the clock's observation is malformed")
	}
	return read, nil
}
