package cli

import (
	"errors"
	"slices"
	"strings"
)

// choice is the value of a flag that takes one of a few words.
type choice struct {
	word  string
	kind  string   // what help calls the value
	among []string // at least one
}

// newChoice makes a choice whose first word is the default.
func newChoice(kind string, among ...string) choice { return choice{among[0], kind, among} }

// String gives the word that is chosen.
func (c *choice) String() string { return c.word }

// Set takes one of the words.
func (c *choice) Set(word string) error {
	if !slices.Contains(c.among, word) {
		return errors.New("it is " + strings.Join(c.among, " or "))
	}
	c.word = word
	return nil
}

// Type names the value in help.
func (c *choice) Type() string { return c.kind }
