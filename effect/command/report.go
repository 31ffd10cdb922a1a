package command

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
)

const (
	// MaxReportBytes bounds the report of a program (6.4).
	MaxReportBytes = 1 << 20
	// MaxReportDepth bounds its nesting. It is kept one level down in an observation, which a journal takes up to
	// strictjson.MaxDepth: what is deeper must be refused as a report, not met as a failure of the journal.
	MaxReportDepth = strictjson.MaxDepth - 1
)

// readReport reads what a program printed: one JSON object and nothing else (6.4, D15).
func readReport(stdout []byte, exceeded bool) (document.Value, error) {
	if exceeded {
		return document.Value{}, fmt.Errorf("its report is longer than %d bytes", MaxReportBytes)
	}
	v, err := strictjson.Parse(stdout, MaxReportDepth)
	switch {
	case errors.Is(err, strictjson.ErrEmpty):
		return v, errors.New("it printed no report")
	case err != nil:
		return v, fmt.Errorf("its report is not one JSON object: %w", err)
	case v.Kind != document.Map:
		return v, fmt.Errorf("its report is %s, not a JSON object", v.Kind)
	}
	return v, nil
}

// observation is what is kept of an effect: the report with all that the program wrote, and how it was confined.
func observation(report, confinement document.Value) string {
	return canonjson.Compact(document.MapOf(document.M("report", report), document.M("confinement", confinement)))
}

// tailLines is how many lines of standard error a refusal cites, and tailBytes how much of them.
const (
	tailLines = 10
	tailBytes = 2 << 10
)

// tail gives the end of what a program wrote to standard error.
func tail(stderr []byte) string {
	text := strings.TrimSpace(strings.ToValidUTF8(string(stderr), "\uFFFD"))
	if len(text) > tailBytes {
		text = text[len(text)-tailBytes:]
		for !utf8.RuneStart(text[0]) {
			text = text[1:]
		}
	}
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(len(lines)-tailLines, 0):], "\n")
}
