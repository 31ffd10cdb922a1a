package cli

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/loomrun/loom/internal/printable"
	"github.com/loomrun/loom/source"
)

// progress shows at a terminal how far a sync is, in one line that is written over again. Elsewhere it shows nothing.
type progress struct {
	to    io.Writer
	name  string    // of the source
	last  time.Time // when it was shown
	shown bool
}

const (
	// progressEvery is how long a line stands at least.
	progressEvery = 100 * time.Millisecond
	// barCells is the width of the bar.
	barCells = 24
)

// tell shows how far the sync is, unless it did a moment ago.
func (p *progress) tell(how source.Progress) {
	width, terminal := columns(p.to)
	if !terminal || time.Since(p.last) < progressEvery {
		return
	}
	p.last, p.shown = time.Now(), true
	fmt.Fprintf(p.to, "\r\x1b[K%s", progressLine(p.name, how, width))
}

// clear takes the line away.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.to, "\r\x1b[K")
		p.shown = false
	}
}

// progressLine says how far a sync is, in less than width characters: a terminal that is filled would begin another line.
func progressLine(name string, how source.Progress, width int) string {
	line := printable.Line(name) + ": "
	items := counted(how.Items, "item")
	switch {
	case how.Listing:
		line += "looking at what is there"
	case how.Total <= 0:
		line += items
	default:
		done := min(max(how.Done, 0), how.Total)
		cells := int(barCells * done / how.Total)
		line += fmt.Sprintf("[%s%s] %3d %%, %s", strings.Repeat("#", cells), strings.Repeat("-", barCells-cells), 100*done/how.Total, items)
	}
	if utf8.RuneCountInString(line) >= width {
		return string([]rune(line)[:max(width-1, 0)])
	}
	return line
}
