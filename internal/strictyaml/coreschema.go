package strictyaml

import (
	"regexp"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"

	"github.com/loomrun/loom/internal/document"
)

// number is the union of the integer and float forms of the YAML 1.2 core schema (section 10.3.2). It
// is compiled when it is first needed, which for most documents is never.
var number = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:` +
		`[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?` +
		`|0o[0-7]+|0x[0-9a-fA-F]+` +
		`|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)
})

// isNumber tells a number of the core schema. Plain words and plain digits are told at a glance.
func isNumber(s string) bool {
	if !strings.ContainsRune("+-.0123456789", rune(s[0])) {
		return false
	}
	return strings.Trim(s, "0123456789") == "" || number().MatchString(s)
}

// scalarKind resolves a scalar by the YAML 1.2 core schema (section 10.3.2). The library resolves
// by a mixture of 1.1 and 1.2, in which 0b1, 1_000 and 2026-01-01 are no text.
func scalarKind(n *yaml.Node) document.Kind {
	if !isPlain(n) {
		return document.Text
	}
	switch n.Value {
	case "", "~", "null", "Null", "NULL":
		return document.Null
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return document.Bool
	}
	if isNumber(n.Value) {
		return document.Number
	}
	return document.Text
}

// isPlain tells a scalar that is neither in quotes nor a block.
func isPlain(n *yaml.Node) bool {
	const marked = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	return n.Style&marked == 0
}
