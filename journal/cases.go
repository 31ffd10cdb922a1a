package journal

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/protocol"
)

// CheckCase tells whether the tables of cases take what an event says of a case (4.11). Other events pass.
// The error is a *governor.CaseError of code InvalidCaseId or StoreUnavailable. What passes can be read back
// exactly as it was written.
func CheckCase(e event.Event) error {
	switch e := e.(type) {
	case event.CaseOpened:
		if !protocol.ValidIdentifier(e.Case) {
			return storeError(governor.InvalidCaseIDError, "%q is no identifier", e.Case)
		}
		if len(e.Case) > MaxCaseIDBytes {
			return storeError(governor.InvalidCaseIDError, "the id has %d bytes, more than %d", len(e.Case), MaxCaseIDBytes)
		}
		return firstError(checkRevision(e.Case, e.Revision), checkWords(e.Case, e.Protocol, e.SHA256))
	case event.RevisionsMoved:
		return checkRevision(e.Case, e.Revision)
	case event.EvidenceReceived:
		return firstError(checkWords(e.Case, e.Kind, e.Producer), checkJSON(e.Case, "a record", e.Data, strictjson.MaxFactDepth))
	case event.Observed:
		if source := governor.Source(e.Source); source != governor.ExecutorSource && source != governor.EffectSource {
			return storeError(governor.StoreUnavailableError, "case %s: an observation has the source %q", e.Case, e.Source)
		}
		return firstError(checkWords(e.Case, e.Subject), checkJSON(e.Case, "an observation", e.Payload, strictjson.MaxDepth))
	}
	return nil
}

// CheckText tells whether every database gives a text back as it is: PostgreSQL holds neither NUL nor what
// is not UTF-8.
func CheckText(text string) error {
	switch {
	case !utf8.ValidString(text):
		return fmt.Errorf("%.100q is not UTF-8", text)
	case strings.Contains(text, "\x00"):
		return fmt.Errorf("%.100q holds a NUL", text)
	}
	return nil
}

// checkRevision refuses what the integers of a database, which have a sign, cannot hold.
func checkRevision(id string, revision uint64) error {
	if revision > math.MaxInt64 {
		return storeError(governor.StoreUnavailableError, "case %s: its revision %d is too high", id, revision)
	}
	return nil
}

func checkWords(id string, words ...string) error {
	for _, word := range words {
		if err := CheckText(word); err != nil {
			return storeError(governor.StoreUnavailableError, "case %s: %v", id, err)
		}
	}
	return nil
}

func checkJSON(id, what, text string, depth int) error {
	if _, err := strictjson.Parse([]byte(text), depth); err != nil {
		return storeError(governor.StoreUnavailableError, "case %s: %s cannot be read: %v", id, what, err)
	}
	return nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
