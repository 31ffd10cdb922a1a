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
	// maxDisclosedBytes bounds the disclosures of all entries together: the newest are shown whole, each of which its maker has bounded.
	maxDisclosedBytes = 256 * 1024
	disclosedBefore   = "(was shown before, and is left out here for its length; ask for it again if it is needed)"
)

// transcript is what a model is shown of a run. Each step that ended has an entry, numbered like the
// step.
type transcript struct {
	references []reference.Reference
	earlier    int     // entries that are shown no more, and not kept
	entries    []entry // the last ones
}

// entry is what a model is shown of one step.
type entry struct {
	head      string // the proposal, and what came of it, cut
	disclosed string // labelled data that the effect brought before the model; it stands behind the effect line that head ends with
	rest      string // what stands behind it
}

// text gives the entry, with what it discloses or with a word that this was shown before.
func (e entry) text(disclosed bool) string {
	switch {
	case e.disclosed == "":
		return e.head
	case disclosed:
		return e.head + e.disclosed + e.rest
	}
	return e.head + disclosedBefore + e.rest
}

// add adds the entry of a step: the proposal and what came of it. Text from outside stays behind the
// bar of its line, so that it cannot pass for another entry.
func (t *transcript) add(p Proposal, came ...string) {
	t.append(entry{head: cut(strings.Join(append([]string{headOf(p)}, came...), "\n"), maxEntryBytes)})
}

// addDisclosed is add for a step whose effect disclosed something, which is one line. It is not cut.
func (t *transcript) addDisclosed(p Proposal, disclosed string, came ...string) {
	t.append(entry{
		head:      cut(headOf(p), maxEntryBytes) + effectLine,
		disclosed: behindBars(disclosed),
		rest:      cut("\n"+strings.Join(came, "\n"), maxEntryBytes),
	})
}

// effectLine begins the line that says what an effect reported.
const effectLine = "\n  effect: "

// headOf is the first line of an entry.
func headOf(p Proposal) string {
	head := strings.TrimSpace(behindBars(p.Action) + " " + p.Arguments) // arguments are on one line
	if head == "" {
		return "no action"
	}
	return head
}

func (t *transcript) append(e entry) {
	if len(t.entries) == shownEntries {
		t.entries = slices.Delete(t.entries, 0, 1)
		t.earlier++
	}
	t.entries = append(t.entries, e)
}

// disclosing gives the first entry whose disclosure is shown, and those of all behind it.
func (t *transcript) disclosing() int {
	size := 0
	for i, e := range slices.Backward(t.entries) {
		if size += len(e.disclosed); size > maxDisclosedBytes {
			return i + 1
		}
	}
	return 0
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
	from := t.disclosing()
	for i, e := range t.entries {
		fmt.Fprintf(&text, "\n%d. %s", t.earlier+i+1, e.text(i >= from))
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
