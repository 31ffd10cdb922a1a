package retrieve

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/handle"
	"github.com/loomrun/loom/internal/codeunits"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/retrieval"
)

// read makes one read and measures it.
func (p *port) read(ctx context.Context, r effect.Request, input document.Value) (effect.Report, error) {
	query, err := contextOf(r)
	if err != nil {
		return effect.Report{}, err
	}
	session := retrieval.Session{
		ConfigPath: p.binding.options.ConfigPath, Program: p.binding.options.Program,
		Ceiling: p.ceiling, RequireRowLabels: p.terms.RequireRowLabels, FailOnExceed: p.terms.FailOnExceed,
	}
	observed := session.Call(ctx, retrieval.Call{OutputID: outputID(r.Step), Tool: r.Action, Input: input, Query: query})
	// Also of a read that was cancelled there is a report: it changed nothing, so nobody has to say whether it was performed.
	report := effect.Report{Source: source, Subject: artifact, Observation: string(observed.JSON())}
	disclose(&report, observed, p.held(r.Run).Clone())
	return report, nil
}

// disclose makes what people and the model are shown of a read, and gives how many rows were admitted. It follows from the observation and from
// what the run holds, and holds what it shows.
func disclose(report *effect.Report, observed retrieval.Observed, held *handle.Table) (admitted int, failure *retrieval.Failure) {
	measured, failure := observed.Measure(held)
	if failure != nil {
		report.Text = string(failure.Code) + ": " + failure.Message
		report.Disclosed = &effect.Disclosure{OutputID: observed.OutputID, Text: string(failure.Shown(observed.OutputID))}
		return 0, failure
	}
	report.Text = summary(measured)
	report.Disclosed = &effect.Disclosure{
		OutputID: observed.OutputID, Text: string(measured.Shown()), Label: canonical(measured.Observed), Truncated: measured.Truncated,
	}
	return measured.Admitted, nil
}

// canonical gives a label as reports hold it.
func canonical(l label.Label) string {
	if l.Public() {
		return ""
	}
	return label.New(l.Confidentiality(), nil).Canonical()
}

// verifyRead measures the observation of a read again, and holds what it shows. A report that shows anything else is nothing that this program made.
func (p *port) verifyRead(r effect.Request, report effect.Report) (effect.Verdict, error) {
	observed, err := retrieval.ReadObserved([]byte(report.Observation))
	if err != nil {
		return effect.Verdict{}, fmt.Errorf("the observation of the read: %w", err)
	}
	input, err := strictjson.Parse([]byte(r.Arguments), strictjson.MaxDepth)
	if err != nil || !observed.AskedHolds(input) || observed.Tool != r.Action || observed.OutputID != outputID(r.Step) || canonical(observed.Query) != r.Label {
		return effect.Verdict{}, errors.New("the observation is not that of the read that was asked for")
	}
	var again effect.Report
	admitted, failure := disclose(&again, observed, p.held(r.Run))
	switch {
	case report.Disclosed == nil || *again.Disclosed != *report.Disclosed:
		return effect.Verdict{}, errors.New("what the read showed is not what its observation comes to")
	case failure != nil:
		return effect.Verdict{Why: string(failure.Code)}, nil
	case admitted == 0:
		return evidence(r, report, rowsNone), nil
	}
	return evidence(r, report, rowsAdmitted), nil
}

const (
	shownRows  = 10 // that a person is shown of a read
	shownTitle = 80 // characters of each
)

// summary is what a person is shown of a read.
func summary(m *retrieval.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s admitted, %d withheld, %d omitted", counted(m.Admitted, "row"), m.Withheld, m.Omitted)
	if m.Unlabelled > 0 {
		fmt.Fprintf(&b, "; %d without a label of their own took that of the query", m.Unlabelled)
	}
	if m.Truncated {
		b.WriteString("; not all is shown")
	}
	for i, e := range m.Entries {
		if i == shownRows {
			fmt.Fprintf(&b, "\n… and %d more", len(m.Entries)-i)
			break
		}
		if e.Withheld != "" {
			b.WriteString("\nwithheld (" + e.Withheld + ")")
			continue
		}
		b.WriteString("\n" + strings.TrimSpace(e.Token+" "+titleOf(e.Value)))
	}
	return b.String()
}

func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// titles are the members that may say what a row is about, the best first.
var titles = []string{"title", "displayName", "name", "summary", "subject", "path", "pageId", "id"}

// titleOf says what a row is about, in a few words of it.
func titleOf(row document.Value) string {
	for _, name := range titles {
		if v := member(row, name); v.Kind == document.Text && strings.TrimSpace(v.Text) != "" {
			text := strings.Join(strings.Fields(v.Text), " ")
			if short := codeunits.Cut(text, shownTitle); short != text {
				return short + "…"
			}
			return text
		}
	}
	return ""
}
