package governor

import (
	"slices"

	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
)

// Received is a record as a verifier submitted it: every one is kept, whether or not it applies.
type Received struct {
	Kind     string // as announced
	Producer string
	Data     []byte // JSON: one document or a list of them, as written
	Applies  bool   // decided once, on arrival
}

// Source says who reported an observation.
type Source string

// The sources of observations.
const (
	ExecutorSource Source = "executor"
	EffectSource   Source = "effect"
)

// Observation is what an executor or an effect reported. It is kept and never read by evaluation.
type Observation struct {
	Source  Source
	Subject string // what it is about, such as an action
	Payload []byte // JSON, as written
}

// Evidence takes a verifier's record. It applies if its data carries exactly one canon-evidence/1
// document, of the announced kind, and evaluation with it is not refused; otherwise it is kept and
// set aside. Which of the two is decided here, once.
func (g *Governor) Evidence(id string, received Received) (applies bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c, err := g.find(id)
	if err != nil {
		return false, err
	}
	received.Data = slices.Clone(received.Data)
	received.Applies = false
	if record, ok := carried(received); ok && c.takes(&record) {
		c.evidence = append(c.evidence, record)
		c.evidenceIDs[record.ID] = struct{}{}
		received.Applies = true
	}
	c.received = append(c.received, received)
	return received.Applies, nil
}

// takes tells whether evaluation with one more record is not refused. Of what 4.9 refuses, only what
// is wrong with that record, by itself or as a repeat, can be new.
func (c *caseState) takes(record *Record) bool {
	rules := c.definition.Rules
	_, kind := rules.kinds[record.Kind]
	_, subject := rules.artifacts[record.Subject]
	_, repeated := c.evidenceIDs[record.ID]
	return kind && subject && !repeated && checkRecord(record) == nil
}

// carried finds the one evidence document of a record's data.
func carried(received Received) (Record, bool) {
	data, err := strictjson.Parse(received.Data, strictjson.MaxFactDepth)
	if err != nil {
		return Record{}, false
	}
	facts := data.Items
	if data.Kind == document.Map {
		facts = []document.Value{data}
	}
	var record Record
	found := 0
	for _, fact := range facts {
		if format, _ := fact.Get("format"); format.Kind != document.Text || format.Text != EvidenceFormat {
			continue
		}
		found++
		f := fields{part: EvidencePart}
		record = f.record(fact)
		if f.refusal != nil {
			return Record{}, false
		}
	}
	return record, found == 1 && record.Kind == received.Kind
}

// Observe keeps what an executor or an effect reported. The frontier does not move by it.
func (g *Governor) Observe(id string, o Observation) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	c, err := g.find(id)
	if err != nil {
		return err
	}
	o.Payload = slices.Clone(o.Payload)
	c.observations = append(c.observations, o)
	return nil
}

// Kept gives the records and observations of a case, in the order in which they came.
func (g *Governor) Kept(id string) (records []Received, observations []Observation, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c, err := g.find(id)
	if err != nil {
		return nil, nil, err
	}
	records, observations = slices.Clone(c.received), slices.Clone(c.observations)
	for i := range records {
		records[i].Data = slices.Clone(records[i].Data)
	}
	for i := range observations {
		observations[i].Payload = slices.Clone(observations[i].Payload)
	}
	return records, observations, nil
}
