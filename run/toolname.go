package run

import (
	"fmt"
	"strings"

	"github.com/loomrun/loom/model"
)

// maxToolSuffix is what a tool name keeps free for the number that tells it from another: _ and
// digits for more actions than a protocol can have.
const maxToolSuffix = 8

// toolNames gives each action of a protocol the name of its tool, the same in every step of a run: its
// letters, digits, _ and - as they are, every other character as _, cut to what providers take (D10).
// Of actions that would share a name all but the first get a number behind theirs, and so does one that
// would have a reserved name.
func toolNames(actions []string, reserved ...string) map[string]string {
	names := make(map[string]string, len(actions))
	taken := make(map[string]bool, len(actions))
	for _, name := range reserved {
		taken[name] = true
	}
	last := map[string]int{} // by stem, so that many actions of one stem stay linear
	for _, action := range actions {
		plain := strings.Map(func(c rune) rune {
			switch {
			case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
				return c
			}
			return '_'
		}, action)
		name := plain[:min(len(plain), model.MaxToolName)]
		stem := plain[:min(len(plain), model.MaxToolName-maxToolSuffix)]
		for taken[name] {
			last[stem]++
			name = fmt.Sprintf("%s_%d", stem, last[stem]+1)
		}
		taken[name], names[action] = true, name
	}
	return names
}
