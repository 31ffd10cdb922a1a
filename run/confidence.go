package run

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
)

// Decimal is a number from 0 to 1 that is compared exactly and printed as it was written: 0.9 and
// 0.90 are equal and stay apart on paper (governed-runs 5.3, 7.6).
type Decimal struct {
	text  string
	value *big.Rat
}

const (
	// maxDecimalBytes bounds a decimal as it is written.
	maxDecimalBytes = 40
	// maxExponentDigits bounds its exponent, leading zeros aside: one such as 1e-999999 would take the
	// memory of its digits.
	maxExponentDigits = 2
)

// ParseDecimal reads a decimal: what JSON takes for a number, such as 0.5, 1 and 1e-3, also with a
// plus sign (+0.5) and without digits before or behind the point (.5, 1.). It has at most 40 bytes
// and an exponent of at most two digits.
func ParseDecimal(text string) (Decimal, error) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	plain := len(text) <= maxDecimalBytes && strings.Trim(mantissa, "+-0123456789.") == "" &&
		len(strings.TrimLeft(exponent, "+-0")) <= maxExponentDigits
	if plain {
		value, ok := new(big.Rat).SetString(text)
		if ok && value.Sign() >= 0 && value.Cmp(big.NewRat(1, 1)) <= 0 {
			return Decimal{text, value}, nil
		}
	}
	return Decimal{}, fmt.Errorf("%s is not a number from 0 to 1", cut(text, maxDecimalBytes))
}

// MustDecimal is ParseDecimal for constants. It panics on a text that is no decimal.
func MustDecimal(text string) Decimal {
	d, err := ParseDecimal(text)
	if err != nil {
		panic(errors.New("run: " + err.Error()))
	}
	return d
}

// String gives the decimal as it was written.
func (d Decimal) String() string { return d.text }

// Below tells whether d is less than e. The zero Decimal is 0.
func (d Decimal) Below(e Decimal) bool { return d.rat().Cmp(e.rat()) < 0 }

func (d Decimal) rat() *big.Rat {
	if d.value == nil {
		return new(big.Rat)
	}
	return d.value
}
