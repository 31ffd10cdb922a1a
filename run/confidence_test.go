package run_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/loomrun/loom/run"
)

// A decimal is what JSON takes for a number, and a little more that people write. Whatever has a
// value outside 0 to 1, or none, is refused: NaN must not compare its way through (14).
func TestParseDecimal(t *testing.T) {
	for _, text := range []string{
		"0", "1", "0.5", "0.50", "0.0", "1.0", "1e-3", "1E-3", "0.1e1", "5e-1", "10e-1", "-0", "-0.0", "+0.5", ".5", "1.", "01", "0e99",
		"1e-99", "1e-00000000000000000000000000000000001", "0.1234567890123456789012345678901234567",
	} {
		if d, err := run.ParseDecimal(text); err != nil || d.String() != text {
			t.Errorf("%s: %q, %v", text, d, err)
		}
	}
	for _, text := range []string{
		"", " ", "nan", "NaN", "inf", "-inf", "+Inf", "abc", "high", "2", "1.1", "-0.1", "-0.5", "-1", "1.0000000000000000000000001",
		".", "+", "-", "e", "e5", "1e", "1e+", "1e-", ".e1", "0.5 ", " 0.5", "0,5", "0.5.5", "--0", "1/2", "1_0e-1", "0_1", "0x1", "0x1p-2", "0b1", "0o1", "1p-2",
		"1e1", "1e2", "1e-100", "1e-999999", "1e1000000", "1e999999999", "0e999", "1e--1", "1e-1.0", "0.5\x00", "½", "٠", "0.5\n",
		"0.12345678901234567890123456789012345678901", "0." + strings.Repeat("0", 1<<20),
	} {
		d, err := run.ParseDecimal(text)
		if err == nil {
			t.Errorf("%.50q is taken as %v", text, d)
			continue
		}
		if want := " is not a number from 0 to 1"; !strings.HasSuffix(err.Error(), want) || len(err.Error()) > 100 {
			t.Errorf("%.50q: %.200s", text, err)
		}
	}
}

// The comparison is exact: it agrees with fractions, however the numbers are written (13).
func TestBelowAgreesWithFractions(t *testing.T) {
	decimal := rapid.Custom(func(t *rapid.T) string {
		digits := rapid.StringMatching(`[0-9]{1,17}`).Draw(t, "digits")
		return rapid.SampledFrom([]string{
			"0." + digits, "0." + digits + "0", "." + digits, "1", "1.0", "0", "0.5", "0.50", "5e-1",
			fmt.Sprintf("%se-%d", digits, len(digits)), fmt.Sprintf("%sE-%02d", digits, len(digits)+1),
		}).Draw(t, "written")
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := decimal.Draw(t, "a"), decimal.Draw(t, "b")
		x, okX := new(big.Rat).SetString(a)
		y, okY := new(big.Rat).SetString(b)
		if !okX || !okY {
			t.Fatalf("%s, %s", a, b)
		}
		if got, want := run.MustDecimal(a).Below(run.MustDecimal(b)), x.Cmp(y) < 0; got != want {
			t.Fatalf("%s below %s: %v", a, b, got)
		}
	})
}

func TestTheZeroDecimalIsNothing(t *testing.T) {
	var zero run.Decimal
	if zero.Below(run.MustDecimal("0")) || run.MustDecimal("0").Below(zero) || !zero.Below(run.MustDecimal("1e-99")) {
		t.Error("it is not 0")
	}
}

func TestMustDecimalPanicsOnWhatIsNone(t *testing.T) {
	defer func() {
		if got, want := fmt.Sprint(recover()), "run: 2 is not a number from 0 to 1"; got != want {
			t.Errorf("panic %q, want %q", got, want)
		}
	}()
	run.MustDecimal("2")
}

// Rounded up, two definitions that match alike would reach a threshold of one half.
func TestTheMatchersConfidenceIsRoundedDown(t *testing.T) {
	for _, c := range []struct {
		confidence float64
		want       string
	}{{0.4999999, "0.49"}, {0.5, "0.50"}, {0.999999999, "0.99"}, {0.001, "0.00"}, {1e-300, "0.00"}, {0.75, "0.75"}} {
		if got := run.ShownConfidence(c.confidence).String(); got != c.want {
			t.Errorf("%v: %s, want %s", c.confidence, got, c.want)
		}
	}
}

func FuzzParseDecimal(f *testing.F) {
	for _, seed := range []string{"0.5", "1e-3", "1E+00", "-0", ".5", "nan", "1e999999999", "0x1p-2", "1_0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := run.ParseDecimal(text)
		if err != nil {
			return
		}
		value, ok := new(big.Rat).SetString(text)
		if !ok || value.Sign() < 0 || value.Cmp(big.NewRat(1, 1)) > 0 || d.String() != text {
			t.Errorf("%q is taken as %v", text, d)
		}
		if d.Below(d) || run.MustDecimal("1").Below(d) || d.Below(run.Decimal{}) {
			t.Errorf("%q compares wrongly", text)
		}
	})
}
