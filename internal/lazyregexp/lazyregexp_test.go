package lazyregexp_test

import (
	"testing"

	"github.com/loomrun/loom/internal/lazyregexp"
)

func TestNew(t *testing.T) {
	word := lazyregexp.New(`^\w+$`)
	if !word().MatchString("word") || word().MatchString("two words") {
		t.Error(`^\w+$ matches otherwise`)
	}
	if first, second := word(), word(); first != second {
		t.Error("it is compiled twice")
	}
	broken := lazyregexp.New("(")
	defer func() {
		if recover() == nil {
			t.Error("( is taken for an expression")
		}
	}()
	broken()
}
