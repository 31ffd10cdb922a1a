package valueschema

import (
	"fmt"
	"strings"

	"github.com/loomrun/loom/internal/document"
)

const (
	// MaxParts bounds the values in a schema, and in a value that a schema judges. Reading a schema takes the square
	// of it, and so does comparing each item with each other, as uniqueItems may do.
	MaxParts = 10_000
	// maxNumberBytes and maxExponentDigits bound a number in either. The library reckons with exact fractions, which
	// have the digits that an exponent stands for, and it ends the process over one with too many.
	maxNumberBytes    = 64
	maxExponentDigits = 3
)

// judgeable refuses what the library of schemas would not survive, or not be done with. Listed is how many values stand in
// the enums that v is held against: the library compares each of v with each of them, and its meter does not see it.
func judgeable(v document.Value, listed int) error {
	n, err := countParts(v)
	switch {
	case err != nil:
		return err
	case n > MaxParts:
		return fmt.Errorf("there are more than %d values", MaxParts)
	case n*listed > MaxWork:
		return overWork{}
	}
	return nil
}

// listed counts the values in the enums of a schema. A member that is only called enum counts as well.
func listed(v document.Value) int {
	n := 0
	for _, item := range v.Items {
		n += listed(item)
	}
	for _, m := range v.Members {
		if m.Name == "enum" {
			n += len(m.Value.Items)
		}
		n += listed(m.Value)
	}
	return n
}

// countParts counts the values in a value, itself included, and refuses numbers that are not to be reckoned with.
func countParts(v document.Value) (int, error) {
	_, exponent, _ := strings.Cut(strings.ToLower(v.Text), "e")
	if v.Kind == document.Number && (len(v.Text) > maxNumberBytes || len(strings.TrimLeft(exponent, "+-0")) > maxExponentDigits) {
		return 0, fmt.Errorf("a number has more than %d characters or an exponent of more than %d digits", maxNumberBytes, maxExponentDigits)
	}
	all := v.Items
	for _, m := range v.Members {
		all = append(all, m.Value)
	}
	n := 1
	for _, part := range all {
		more, err := countParts(part)
		if err != nil {
			return 0, err
		}
		n += more
	}
	return n, nil
}
