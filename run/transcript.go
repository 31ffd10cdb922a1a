package run

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/loomrun/loom/reference"
)

// What a model is shown of the steps before (7.6, policy legacy).
const (
	shownEntries  = 64        // the last ones
	maxEntryBytes = 16 * 1024 // of each
	cutMark       = "[truncated]"
)

// transcript is what a model is shown of a run. Each step that ended has an entry, numbered like the
// step.
type transcript struct {
	references []reference.Reference
	earlier    int      // entries that are shown no more, and not kept
	entries    []string // the last ones, cut
}

// add adds the entry of a step: the proposal and what came of it. Text from outside stays behind the
// bar of its line, so that it cannot pass for another entry.
func (t *transcript) add(p Proposal, came ...string) {
	if len(t.entries) == shownEntries {
		t.entries = slices.Delete(t.entries, 0, 1)
		t.earlier++
	}
	head := strings.TrimSpace(behindBars(p.Action) + " " + p.Arguments) // arguments are on one line
	if head == "" {
		head = "no action"
	}
	text := strings.Join(append([]string{head}, came...), "\n")
	t.entries = append(t.entries, cut(text, maxEntryBytes))
}

// behindBars gives text from outside that continues a line of an entry.
func behindBars(text string) string {
	return strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n    | ")
}

// items gives the user items of a request: the intent, its references, and the steps so far.
func (t *transcript) items(intent string) []string {
	items := []string{"Intent:\n" + intent}
	if len(t.references) > 0 {
		var text strings.Builder
		text.WriteString("References found in the intent:")
		for _, ref := range t.references {
			fmt.Fprintf(&text, "\n%s %s", ref.Kind, ref.Value)
		}
		items = append(items, text.String())
	}
	if len(t.entries) == 0 {
		return items
	}
	var text strings.Builder
	text.WriteString("The case so far:")
	if t.earlier > 0 {
		fmt.Fprintf(&text, "\n(%d earlier entries are not shown)", t.earlier)
	}
	for i, entry := range t.entries {
		fmt.Fprintf(&text, "\n%d. %s", t.earlier+i+1, entry)
	}
	return append(items, text.String())
}

// cut bounds a text without splitting a character.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + cutMark
}
