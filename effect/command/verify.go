package command

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/internal/uuid8"
	"github.com/loomrun/loom/internal/valueschema"
)

// The names of the contract (6.4).
const (
	source   = "loom/bound-command"
	producer = "loom/bound-command-verifier"
)

// Verify makes a record of each item of evidence in a report, about the intent. One item that the action may not
// produce, and there is none.
func (p *port) Verify(r effect.Request, report effect.Report) (effect.Verdict, error) {
	if report.Source != source || report.Subject != artifact {
		return effect.Verdict{}, errors.New("the report is not that of a bound command")
	}
	v, err := strictjson.Parse([]byte(report.Observation), strictjson.MaxDepth)
	said, given := v.Get("report")
	if err != nil || !given || said.Kind != document.Map {
		return effect.Verdict{}, errors.New("the observation of the bound command is malformed")
	}
	var mayProduce []string
	for _, a := range p.protocol.Actions {
		if a.ID == r.Action {
			mayProduce = a.MayProduce
		}
	}
	items, err := evidenceOf(said, r.Action, mayProduce)
	if misplaced, ok := errors.AsType[*document.Error](err); ok {
		err = errors.New(misplaced.Message) // its place is one of the observation, which nobody wrote
	}
	if err != nil {
		return effect.Verdict{}, err
	}
	var verdict effect.Verdict
	for i, item := range items {
		verdict.Evidence = append(verdict.Evidence, effect.Evidence{Producer: producer, Record: governor.Record{
			ID:              "bound-" + uuid8.Of(r.Run, strconv.Itoa(r.Step), strconv.Itoa(i), report.Observation),
			Kind:            item.kind,
			Result:          item.result,
			Subject:         artifact,
			SubjectRevision: r.Artifacts[artifact],
		}})
	}
	return verdict, nil
}

// claimed is one item of a report's evidence.
type claimed struct {
	kind   string
	result *string
}

// maxClaimed bounds the evidence of one report.
const maxClaimed = 1000

// evidenceOf reads the evidence of a report: kind and optional result, nothing else (D15). Every item must be of a
// kind that the action may produce, or none counts.
func evidenceOf(report document.Value, action string, mayProduce []string) ([]claimed, error) {
	evidence, given := report.Get("evidence")
	if !given {
		return nil, nil
	}
	items, err := list(evidence, "the evidence in the report")
	if err != nil {
		return nil, err
	}
	if len(items) > maxClaimed {
		return nil, fmt.Errorf("the report has more than %d items of evidence", maxClaimed)
	}
	all := make([]claimed, 0, len(items))
	for _, item := range items {
		if err := object(item, "an item of evidence", "kind", "result?"); err != nil {
			return nil, err
		}
		named, _ := item.Get("kind")
		var c claimed
		if c.kind, err = text(named, "the kind of an item of evidence"); err != nil {
			return nil, err
		}
		if result, given := item.Get("result"); given {
			word, err := text(result, "the result of an item of evidence")
			if err != nil {
				return nil, err
			}
			c.result = &word
		}
		if !slices.Contains(mayProduce, c.kind) {
			return nil, fmt.Errorf("the report has evidence of the kind %q, and the protocol lets %s produce %s", valueschema.Cut(c.kind, maxKindBytes), action, orNone(mayProduce))
		}
		all = append(all, c)
	}
	return all, nil
}

// maxKindBytes bounds what a message quotes of a kind that a program made up.
const maxKindBytes = 100

func orNone(kinds []string) string {
	if len(kinds) == 0 {
		return "none"
	}
	return strings.Join(kinds, ", ")
}
