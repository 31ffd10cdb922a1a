package document_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/loomrun/loom/internal/document"
)

func TestKindsAreNamedAsMessagesNameThem(t *testing.T) {
	for kind, want := range map[document.Kind]string{
		document.Null:   "null",
		document.Bool:   "true or false",
		document.Number: "a number",
		document.Text:   "text",
		document.List:   "a list",
		document.Map:    "a map",
	} {
		if got := kind.String(); got != want {
			t.Errorf("kind %d is %q, want %q", uint8(kind), got, want)
		}
	}
}

func TestMakersGiveValuesWithoutAPlace(t *testing.T) {
	type value = document.Value
	for _, tc := range []struct {
		name      string
		got, want value
	}{
		{"the zero value is null", value{}, value{Kind: document.Null}},
		{"text", document.TextOf("é\n"), value{Kind: document.Text, Text: "é\n"}},
		{"true", document.BoolOf(true), value{Kind: document.Bool, Text: "true"}},
		{"false", document.BoolOf(false), value{Kind: document.Bool, Text: "false"}},
		{"the least int64", document.IntOf(math.MinInt64), value{Kind: document.Number, Text: "-9223372036854775808"}},
		{"the greatest uint64", document.UintOf(math.MaxUint64), value{Kind: document.Number, Text: "18446744073709551615"}},
		{"a number as written", document.NumberOf("1.10"), value{Kind: document.Number, Text: "1.10"}},
		{"an empty list", document.ListOf(), value{Kind: document.List}},
		{"a list in order", document.ListOf(document.IntOf(2), document.IntOf(1)), value{Kind: document.List, Items: []value{document.IntOf(2), document.IntOf(1)}}},
		{"texts in order", document.TextsOf([]string{"b", "a"}), value{Kind: document.List, Items: []value{document.TextOf("b"), document.TextOf("a")}}},
		{"no texts", document.TextsOf(nil), value{Kind: document.List, Items: []value{}}},
		{"an empty map", document.MapOf(), value{Kind: document.Map}},
		{"a map in order", document.MapOf(document.M("b", value{}), document.M("a", value{})), value{Kind: document.Map, Members: []document.Member{{Name: "b"}, {Name: "a"}}}},
	} {
		if diff := cmp.Diff(tc.want, tc.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestGetFindsTheFirstMember(t *testing.T) {
	v := document.MapOf(document.M("a", document.IntOf(1)), document.M("b", document.IntOf(2)), document.M("a", document.IntOf(3)))
	for _, tc := range []struct {
		name  string
		in    document.Value
		get   string
		want  string
		found bool
	}{
		{"the first of two", v, "a", "1", true},
		{"another", v, "b", "2", true},
		{"letter case counts", v, "A", "", false},
		{"of a list", document.ListOf(document.TextOf("a")), "a", "", false},
		{"of text", document.TextOf("a"), "a", "", false},
		{"of null", document.Value{}, "", "", false},
	} {
		if got, found := tc.in.Get(tc.get); found != tc.found || got.Text != tc.want {
			t.Errorf("%s: got %q, %t; want %q, %t", tc.name, got.Text, found, tc.want, tc.found)
		}
	}
}

func TestRepeatedMemberIsTheFirstThatHasAnEarlierTwin(t *testing.T) {
	wide := make([]string, 40) // more than are compared in pairs
	for i := range wide {
		wide[i] = fmt.Sprint("m", i)
	}
	for _, tc := range []struct {
		name  string
		names []string
		want  int // index, -1 for none
	}{
		{"nothing", nil, -1},
		{"one", []string{"a"}, -1},
		{"different", []string{"a", "b", "A"}, -1},
		{"twins", []string{"a", "a"}, 1},
		{"twins apart", []string{"a", "b", "c", "a"}, 3},
		{"two pairs, the one completed first", []string{"a", "b", "b", "a"}, 2},
		{"three times, the second", []string{"a", "a", "a"}, 1},
		{"empty names", []string{"", ""}, 1},
		{"the widest map compared in pairs", append(wide[:11:11], "m0"), 11},
		{"the narrowest map with an index", append(wide[:12:12], "m0"), 12},
		{"wide and different", wide, -1},
		{"wide, last", append(wide[:40:40], "m39"), 40},
		{"wide, two pairs", append(wide[:40:40], "m5", "m4"), 40},
	} {
		var v document.Value
		for i, name := range tc.names {
			v.Members = append(v.Members, document.Member{Name: name, Place: document.Place{Line: i + 1, Column: 1}})
		}
		got, repeated := v.RepeatedMember()
		switch {
		case repeated != (tc.want >= 0):
			t.Errorf("%s: repeated is %t", tc.name, repeated)
		case repeated && got.Place.Line != tc.want+1:
			t.Errorf("%s: member %d, want %d", tc.name, got.Place.Line-1, tc.want)
		}
	}
}

func TestErrorsNameThePlaceWhereOneIsKnown(t *testing.T) {
	for _, tc := range []struct {
		at   document.Place
		want string
	}{
		{document.Place{Line: 3, Column: 14}, `line 3, column 14: no "x" here`},
		{document.Place{}, `no "x" here`},
	} {
		var err error = document.Errorf(tc.at, "no %q here", "x")
		if err.Error() != tc.want {
			t.Errorf("got %q, want %q", err, tc.want)
		}
		var known *document.Error
		if !errors.As(err, &known) || known.Place != tc.at || known.Message != `no "x" here` {
			t.Errorf("got %+v", err)
		}
	}
}

func TestCursorCountsLinesAndCharacters(t *testing.T) {
	const text = "aé\n日x\r\n\n𐀀z"
	for _, tc := range []struct {
		name   string
		offset int64
		want   document.Place
	}{
		{"the beginning", 0, document.Place{Line: 1, Column: 1}},
		{"a second byte of the line", 1, document.Place{Line: 1, Column: 2}},
		{"the line feed, behind a character of two bytes", 3, document.Place{Line: 1, Column: 3}},
		{"a character of three bytes", 4, document.Place{Line: 2, Column: 1}},
		{"behind it", 7, document.Place{Line: 2, Column: 2}},
		{"a carriage return", 8, document.Place{Line: 2, Column: 3}},
		{"its line feed", 9, document.Place{Line: 2, Column: 4}},
		{"an empty line", 10, document.Place{Line: 3, Column: 1}},
		{"behind a character of four bytes", 15, document.Place{Line: 4, Column: 2}},
		{"the end", 16, document.Place{Line: 4, Column: 3}},
	} {
		if got := document.NewCursor([]byte(text)).At(tc.offset); got != tc.want {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestCursorMovesOnlyForward(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		cursor := document.NewCursor([]byte(text))
		for i := range text {
			before := text[:i]
			want := document.Place{
				Line:   1 + strings.Count(before, "\n"),
				Column: 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]),
			}
			if got := cursor.At(int64(i)); got != want {
				t.Fatalf("offset %d of %q: got %v, want %v", i, text, got, want)
			}
			if back := cursor.At(0); back != want {
				t.Fatalf("an earlier offset moved the cursor to %v", back)
			}
		}
	})
}

func TestFirstInvalidFindsTheByteThatIsNotUTF8(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       int
	}{
		{"empty", "", 0},
		{"ASCII", "abc", 3},
		{"all lengths", "aé日𐀀", 10},
		{"a replacement character that was written", "a\ufffdb", 5},
		{"the first byte", "\xff", 0},
		{"a continuation byte alone", "é\x80", 2},
		{"cut short", "a\xe6\x97", 1},
		{"an overlong slash", "ab\xc0\xaf", 2},
		{"a surrogate", "\ufffd\xed\xa0\x80", 3},
		{"beyond U+10FFFF", "x\xf4\x90\x80\x80", 1},
		{"the first of two", "a\xffb\xff", 1},
	} {
		if got := document.FirstInvalid([]byte(tc.text)); got != tc.want {
			t.Errorf("%s: got %d, want %d", tc.name, got, tc.want)
		}
	}
}
