// Package lazyregexp is for regular expressions that a package always has and most runs of the program never use. Compiling them
// all at the start took longer than a search.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression that is compiled when it is first used. It may be used by several goroutines.
type Regexp func() *regexp.Regexp

// New gives the expression that text says. A text that is none panics when it is first used, so a test must use it.
func New(text string) Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
