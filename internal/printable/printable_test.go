package printable_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/loomrun/loom/internal/printable"
)

func TestLineEscapesWhatIsHidden(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"plain text stays", `a~ "é" 日本 𐀀 \u{1b}`, `a~ "é" 日本 𐀀 \u{1b}`},
		{"a tab stays (case 35)", "a\tb", "a\tb"},
		{"an escape sequence (case 31)", "\x1b[31mred\x1b[0m", `\u{1b}[31mred\u{1b}[0m`},
		{"a line feed (case 32)", "ok\nstopped: Completed (answered)", `ok\u{a}stopped: Completed (answered)`},
		{"a carriage return (case 34)", "seen\rforged", `seen\u{d}forged`},
		{"NUL", "a\x00", `a\u{0}`},
		{"backspace", "a\bb", `a\u{8}b`},
		{"DEL (case 35)", "a\x7f", `a\u{7f}`},
		{"a C1 control (case 34)", "a\u009bm", `a\u{9b}m`},
		{"next line", "a\u0085b", `a\u{85}b`},
		{"line separator (D4)", "a\u2028b", `a\u{2028}b`},
		{"paragraph separator (D4)", "a\u2029b", `a\u{2029}b`},
		{"right-to-left override (D4)", "a\u202eb", `a\u{202e}b`},
		{"isolates (D4)", "\u2066a\u2069", `\u{2066}a\u{2069}`},
		{"zero-width space (D4)", "a\u200bb", `a\u{200b}b`},
		{"zero-width joiner (D4)", "a\u200db", `a\u{200d}b`},
		{"byte order mark (D4)", "\ufeffa", `\u{feff}a`},
		{"soft hyphen (D4)", "a\u00adb", `a\u{ad}b`},
		{"a tag character beyond the BMP (D4)", "a\U000e0041", `a\u{e0041}`},
		{"no-break space stays", "a\u00a0b", "a\u00a0b"},
		{"a byte that is not UTF-8", "a\xffb", `a\u{ff}b`},
		{"a character cut short", "a\xe6\x97b", `a\u{e6}\u{97}b`},
		{"a C1 byte without its lead byte", "a\x9bm", `a\u{9b}m`},
		{"a replacement character that was written stays", "a\ufffdb", "a\ufffdb"},
		{"the same beside what is escaped", "\ufffd\n", "\ufffd" + `\u{a}`},
	} {
		if got := printable.Line(tc.text); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestLineEscapesEveryCharacterOfTheHiddenClasses(t *testing.T) {
	for c := rune(0); c <= unicode.MaxRune; c++ {
		if !utf8.ValidRune(c) {
			continue
		}
		want := string(c)
		if c != '\t' && (unicode.IsControl(c) || unicode.Is(unicode.Cf, c) || c == '\u2028' || c == '\u2029') {
			want = fmt.Sprintf(`\u{%x}`, c)
		}
		if got := printable.Line(string(c)); got != want {
			t.Fatalf("%U: got %q, want %q", c, got, want)
		}
	}
}

func TestLinesSplitsAtLineFeedsOnly(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"nothing is one empty line", "", []string{""}},
		{"one line", "a", []string{"a"}},
		{"the last line feed makes no line", "a\n", []string{"a"}},
		{"only one of them", "a\n\n", []string{"a", ""}},
		{"a line feed alone", "\n", []string{""}},
		{"an empty line between", "a\n\nb", []string{"a", "", "b"}},
		{"a forged stop is a line of the text (1.6)", "ok\nstopped: Completed\n", []string{"ok", "stopped: Completed"}},
		{"a carriage return does not split", "a\r\nb\rc", []string{`a\u{d}`, `b\u{d}c`}},
		{"nor does any other separator", "a\u2028b\u0085c\vd\fe", []string{`a\u{2028}b\u{85}c\u{b}d\u{c}e`}},
		{"each line is printable", "\x1b[1m\n\xff", []string{`\u{1b}[1m`, `\u{ff}`}},
	} {
		if got := printable.Lines(tc.text); !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

func FuzzLine(f *testing.F) {
	for _, text := range []string{"", "plain", "a\x1b[31m\nb\tc", "\u202e\ufeff\u2028", "\xff\xe6\x97\ufffd", `\u{1b}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		line := printable.Line(text)
		if !utf8.ValidString(line) {
			t.Errorf("%q is not UTF-8", line)
		}
		for _, c := range line {
			if c != '\t' && (unicode.IsControl(c) || unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp)) {
				t.Errorf("%q holds %U", line, c)
			}
		}
		if again := printable.Line(line); again != line {
			t.Errorf("%q becomes %q", line, again)
		}
		// What needs no escape is kept, in order.
		kept := strings.Map(func(c rune) rune {
			if c == utf8.RuneError || (c != '\t' && unicode.In(c, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)) {
				return -1
			}
			return c
		}, text)
		if kept == text && line != text {
			t.Errorf("%q becomes %q", text, line)
		}
		if got := strings.Join(printable.Lines(text), `\u{a}`); got != printable.Line(strings.TrimSuffix(text, "\n")) {
			t.Errorf("the lines of %q are %q", text, got)
		}
	})
}
