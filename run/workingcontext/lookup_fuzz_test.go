package workingcontext_test

import (
	"strings"
	"testing"

	"github.com/loomrun/loom/run/workingcontext"
)

// Whatever a model asks for is answered within the limits.
func FuzzLook(f *testing.F) {
	for i, arguments := range []string{`{"offset":0}`, `{"sequence":3}`, `{"offset":1}`, `{"result":"result-s66-1","sha256":"","select":{"kind":"lines","start":1,"end":2},"rendering":"text"}`} {
		f.Add(i, arguments)
	}
	c := contextOf(f, 65)
	if err := c.Add(workingcontext.Step{Number: 66, Performed: true, Effect: strings.Repeat("é\n", 3000)}); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, tool int, arguments string) {
		name := workingcontext.LookupTools[uint(tool)%uint(len(workingcontext.LookupTools))]
		if got := answer(t, c, name, arguments); len(got) > 8192 || !strings.HasPrefix(got, "{") {
			t.Errorf("%s %q: %d bytes: %s", name, arguments, len(got), got)
		}
	})
}
