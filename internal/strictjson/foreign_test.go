package strictjson_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/strictjson"
)

// What other programs write may have a member twice and halves of surrogate pairs, and nothing else that Parse refuses.
func TestParseForeign(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"a":1,"a":2}`, `{"a":1,"a":2}`},
		{`[{"ifc":{},"ifc":[]}]`, `[{"ifc":{},"ifc":[]}]`},
		{`"\ud83d"`, "\"\uFFFD\""},
		{`"\ud83d\ude00"`, `"😀"`},
		{`1e999`, `1e999`},
	} {
		v, err := strictjson.ParseForeign([]byte(c.text), 3)
		if got := canonjson.Compact(v); err != nil || got != c.want {
			t.Errorf("%s: %s, %v", c.text, got, err)
		}
	}
	for _, text := range []string{"", "{", "NaN", `{"a":1} 2`, "\"\xff\"", `{a:1}`, `[01]`} {
		if v, err := strictjson.ParseForeign([]byte(text), 2); err == nil {
			t.Errorf("%q is read as %s", text, canonjson.Compact(v))
		}
	}
	if _, err := strictjson.ParseForeign([]byte(strings.Repeat("[", 3)+strings.Repeat("]", 3)), 2); !errors.Is(err, strictjson.ErrTooDeep) {
		t.Errorf("three levels: %v", err)
	}
}
