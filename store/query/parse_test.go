package query

import (
	"errors"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
)

// short writes an index expression as the tables below do: without the columns of a bare word.
func short(match string) string {
	return strings.ReplaceAll(match, "{title body sender recipient} : ", "")
}

func TestParse(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"", ""},
		{" \t\n", ""},
		{"report", `"report"`},
		{"budget report", `("budget" AND "report")`},
		{"budget AND report", `("budget" AND "report")`},
		{`"Budget  Report!"`, `"budget report"`},
		{"“budget report”", `"budget report"`},
		{"„budget report“", `"budget report"`},
		{"＂budget report＂", `"budget report"`},
		{`foo"bar baz"qux`, `("foo" AND "bar baz" AND "qux")`},
		{"budg*", `"budg" *`},
		{`"annual budg"*`, `"annual budg" *`},
		{"alice@exam*", `"alice exam" *`},
		{"(budg*)", `"budg" *`},

		{"-draft", `(scope : "a" NOT "draft")`},
		{"NOT draft", `(scope : "a" NOT "draft")`},
		{"NOT NOT draft", `"draft"`},
		{"NOT -draft", `"draft"`},
		{"NOT (-draft)", `"draft"`},
		{"report -draft", `("report" NOT "draft")`},
		{"report -draft -old year", `(("report" AND "year") NOT ("draft" OR "old"))`},
		{"-draft -old", `(scope : "a" NOT ("draft" OR "old"))`},
		{`-"first draft"`, `(scope : "a" NOT "first draft")`},
		{"-(a b)", `(scope : "a" NOT ("a" AND "b"))`},
		{"-dra*", `(scope : "a" NOT "dra" *)`},
		{"well-known", `"well known"`},
		{"--draft", `(scope : "a" NOT "draft")`},

		{"a OR b", `("a" OR "b")`},
		{"a b OR c", `(("a" AND "b") OR "c")`},
		{"a OR b OR c", `("a" OR "b" OR "c")`},
		{"a OR -b", `("a" OR (scope : "a" NOT "b"))`},
		{"a (b OR c)", `("a" AND ("b" OR "c"))`},
		{"a(b OR c)d", `("a" AND ("b" OR "c") AND "d")`},
		{"((a))", `"a"`},
		{"or and not", `("or" AND "and" AND "not")`},
		{"ORacle ANDy NOThing", `("oracle" AND "andy" AND "nothing")`},
		{`"OR"`, `"or"`},
		{"-OR", `(scope : "a" NOT "or")`},
		{"a OR(b)", `("a" OR "b")`},

		{"from:alice", `sender : "alice"`},
		{"FROM:Alice", `sender : "alice"`},
		{"to:bob@example.com", `recipient : "bob example com"`},
		{`subject:"budget report"`, `title : "budget report"`},
		{"in:inb*", `folder : "inb" *`},
		{"from:(alice OR bob)", `(sender : "alice" OR sender : "bob")`},
		{"-from:alice", `(scope : "a" NOT sender : "alice")`},
		{"NOT from:alice x", `("x" NOT sender : "alice")`},
		{"from:(-alice)", `(scope : "a" NOT sender : "alice")`},
		{"subject:re:budget", `title : "re budget"`},
		{"from:OR", `sender : "or"`},
		{"from:alice(b)", `(sender : "alice" AND "b")`},
		{"http://example.com/a?b=c", `"http example com a b c"`},
		{"12:30", `"12 30"`},
		{"foo:bar", `"foo bar"`},
		{"scope:b", `"scope b"`},
		{`foo:"bar baz"`, `("foo" AND "bar baz")`},
		{"xfrom:alice", `"xfrom alice"`},

		{"tom & jerry", `("tom" AND "jerry")`},
		{"tom - jerry", `("tom" AND "jerry")`},
		{"tom -- jerry -!", `("tom" AND "jerry")`},
		{"(tom &)", `"tom"`},
		{"and/or", `"and or"`},
		{"a\xffb", `"a b"`},
		{"don’t", `"don t"`},
		{"x\x00y", `"x y"`},
		{`a\b`, `"a b"`},
		{`x'; DROP TABLE t`, `("x" AND "drop" AND "table" AND "t")`},
		{`^a + {b}:c`, `("a" AND "b c")`},
		{"NEAR(a b)", `("near" AND ("a" AND "b"))`},

		{"中文", `"中 文"`},
		{"中", `"中"`},
		{"한국 어*", `("한 국" AND "어" *)`},
		{"👍🏽", `"👍"`},
		{"🇩🇪", `"🇩🇪"`},
		{"שָׁלוֹם", `"שלום"`},
		{"CRE\u0300ME", `"creme"`},

		{"/colou?r/", ""},
		{"budget /colou?r/", `"budget"`},
		{`-/a b/ budget -draft`, `("budget" NOT "draft")`},
	} {
		q, err := Parse(tc.text)
		if err != nil {
			t.Errorf("%q: %v", tc.text, err)
		} else if got := short(q.Match()); got != tc.want {
			t.Errorf("%q: got %s, want %s", tc.text, got, tc.want)
		}
	}
}

func TestABareWordIsNotLookedForInTheFolder(t *testing.T) {
	q, _ := Parse("inbox")
	if got, want := q.Match(), `{title body sender recipient} : "inbox"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestDamagedQueries has the place as a caret under the query, which is the second line of what is shown.
func TestDamagedQueries(t *testing.T) {
	deep := strings.Repeat("(", MaxNesting)
	for _, tc := range []struct {
		text, caret string
		fault       Fault
		message     string
	}{
		{`say "hello`, `    ^`, OpenQuote, "never closed"},
		{`say "`, `    ^`, OpenQuote, "never closed"},
		{`(a (b)`, `^`, OpenParenthesis, "never closed"},
		{`a (`, `  ^`, OpenParenthesis, "never closed"},
		{`a) b`, ` ^`, StrayParenthesis, "no parenthesis is open"},
		{`)`, `^`, StrayParenthesis, "no parenthesis is open"},
		{`a OR`, `  ^`, LoneOperator, "OR needs"},
		{`OR a`, `^`, LoneOperator, "OR needs"},
		{`OR`, `^`, LoneOperator, "OR needs"},
		{`a OR OR b`, `     ^`, LoneOperator, "OR needs"},
		{`(a OR )`, `   ^`, LoneOperator, "OR needs"},
		{`a OR AND b`, `     ^`, LoneOperator, "AND needs"},
		{`a AND`, `  ^`, LoneOperator, "AND needs"},
		{`AND a`, `^`, LoneOperator, "AND needs"},
		{`a AND AND b`, `      ^`, LoneOperator, "AND needs"},
		{`a NOT`, `  ^`, LoneOperator, "NOT needs"},
		{`NOT NOT`, `    ^`, LoneOperator, "NOT needs"},
		{`(NOT )`, ` ^`, LoneOperator, "NOT needs"},
		{`NOT OR a`, `^`, LoneOperator, "NOT needs"},
		{`from:`, `^`, LoneField, "from: needs"},
		{`a From: b`, `  ^`, LoneField, "From: needs"},
		{`(to:)`, ` ^`, LoneField, "to: needs"},
		{`from:(to:x)`, `      ^`, NestedField, "to:"},
		{`from:-alice`, `     ^`, MisplacedMinus, "-from:"},
		{`*`, `^`, MisplacedStar, "before it"},
		{`a *`, `  ^`, MisplacedStar, "before it"},
		{`-*`, ` ^`, MisplacedStar, "before it"},
		{`from:*`, `     ^`, MisplacedStar, "before it"},
		{`a*b`, ` ^`, MisplacedStar, "at the end"},
		{`a**`, ` ^`, MisplacedStar, "at the end"},
		{`!!!`, `^`, NothingToFind, "nothing to search for"},
		{`  !!! ---`, `  ^`, NothingToFind, "nothing to search for"},
		{`a (!!!)`, `   ^`, NothingToFind, "nothing to search for"},
		{`a !!!*`, `  ^`, NothingToFind, "nothing to search for"},
		{`a ""`, `  ^`, NothingToFind, "nothing to search for"},
		{`a "!"`, `  ^`, NothingToFind, "nothing to search for"},
		{`from:!`, `     ^`, NothingToFind, "nothing to search for"},
		{`a OR !`, `     ^`, NothingToFind, "nothing to search for"},
		{`a NOT !`, `  ^`, NothingToFind, "nothing to search for"},
		{`a ()`, `  ^`, NothingToFind, "empty"},
		{`a /b`, `  ^`, OpenRegexp, "never closed"},
		{`/a\/`, `^`, OpenRegexp, "never closed"},
		{`/a\`, `^`, OpenRegexp, "never closed"},
		{`/a/b`, `   ^`, BadRegexp, "ends before this"},
		{`/home/user/`, `      ^`, BadRegexp, "ends before this"},
		{`//`, `^`, BadRegexp, "empty"},
		{`x /a(b/`, `   ^`, BadRegexp, "missing closing )"},
		{`x /ab[z-a]/`, `      ^`, BadRegexp, "invalid character class range"},
		{`x /ab**/`, `     ^`, BadRegexp, "invalid nested repetition operator"},
		{`/(a{90}){91}/`, `        ^`, BadRegexp, "invalid repeat count"},
		{`/\pL{900}b{900}\PN{900}/`, `^`, BadRegexp, "steps"},
		{`/` + strings.Repeat("a", MaxRegexp+1) + `/`, `^`, BadRegexp, "longer than 256 bytes"},
		{"/\xff/", ` ^`, BadRegexp, "invalid UTF-8"},
		{`a OR /b/`, `     ^`, MisplacedRegexp, "beside OR"},
		{`a -/b/ OR c`, `   ^`, MisplacedRegexp, "beside OR"},
		{`(/b/)`, ` ^`, MisplacedRegexp, "inside parentheses"},
		{`-(a -/b/)`, `     ^`, MisplacedRegexp, "inside parentheses"},
		{`from:/b/`, `     ^`, MisplacedRegexp, "value of a field"},
		{`/1/ /2/ /3/ /4/ /5/`, `                ^`, TooMany, "more than 4 regular"},
		{deep + `(a`, strings.Repeat(" ", MaxNesting) + `^`, TooDeep, "more than 16"},
		{strings.Repeat("a ", MaxTerms) + "b", "", TooMany, "more than 64 words"},
		{strings.Repeat("a ", MaxLength/2) + "b", "", TooLong, "longer than 500"},
		{strings.Repeat("𐀀", MaxLength/2) + "b", "", TooLong, "longer than 500"},

		{"中文 OR", `     ^`, LoneOperator, "OR needs"},
		{"ｆｕ OR", `     ^`, LoneOperator, "OR needs"},
		{"cre\u0300me OR", `      ^`, LoneOperator, "OR needs"},
		{"a\tb OR", `    ^`, LoneOperator, "OR needs"},
		{"\x1bx OR", `        ^`, LoneOperator, "OR needs"},
	} {
		_, err := Parse(tc.text)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q: no error", tc.text)
			continue
		}
		_, caret, _ := strings.Cut(e.Caret(), "\n")
		if e.Fault != tc.fault || !strings.Contains(e.Message, tc.message) || tc.caret != "" && caret != tc.caret {
			t.Errorf("%q: %s: %v\n%s", tc.text, e.Fault, err, e.Caret())
		}
		if e.Byte < 0 || e.Byte > len(e.Query) || e.Column != len([]rune(e.Query[:e.Byte]))+1 {
			t.Errorf("%q: byte %d, column %d", tc.text, e.Byte, e.Column)
		}
	}
}

func TestAnErrorSaysWhere(t *testing.T) {
	_, err := Parse("中文 OR")
	if got, want := err.Error(), `query, column 4: OR needs something on both sides; for the word itself write "or"`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if e := err.(*Error); e.Byte != 7 || e.Column != 4 {
		t.Errorf("byte %d, column %d", e.Byte, e.Column)
	}
}

func TestCaretOfALongQueryShowsThePlace(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{strings.Repeat("abc ", 30) + "OR", "…" + strings.Repeat("abc ", 14) + "OR\n" + strings.Repeat(" ", 57) + "^"},
		{"( " + strings.Repeat("abc ", 30), "( abc abc abc abc ab…\n^"},
		{strings.Repeat("中", 501), "…" + strings.Repeat("中", 28) + strings.Repeat("中", 1) + "\n" + strings.Repeat(" ", 57) + "^"},
	} {
		_, err := Parse(tc.text)
		if got := err.(*Error).Caret(); got != tc.want {
			t.Errorf("%.20q:\n%s\nwant\n%s", tc.text, got, tc.want)
		}
	}
}

func TestLimitsAreReached(t *testing.T) {
	for name, text := range map[string]string{
		"terms":      strings.TrimSpace(strings.Repeat("a ", MaxTerms)),
		"length":     strings.Repeat("a", MaxLength),
		"surrogates": strings.Repeat("𐀀", MaxLength/2),
		"nesting":    strings.Repeat("(", MaxNesting) + "a" + strings.Repeat(")", MaxNesting),
		"siblings":   strings.Repeat("(a)", MaxTerms),
		"regexps":    "/1/ /2/ /3/ /4/",
		"regexp":     "/" + strings.Repeat("a", MaxRegexp) + "/",
	} {
		if _, err := Parse(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEmpty(t *testing.T) {
	for text, want := range map[string]bool{"": true, " ": true, "a": false, "-a": false, "/a/": false, "-/a/": false} {
		if q, err := Parse(text); err != nil || q.Empty() != want {
			t.Errorf("%q: %v %v", text, q.Empty(), err)
		}
	}
	if q := (Query{}); !q.Empty() || q.Match() != "" || !q.Admits(Fields{}) || q.Snippet("a  b") != "a b" {
		t.Error("the zero query is not empty")
	}
}

func TestTerms(t *testing.T) {
	for _, tc := range []struct {
		text string
		want []Term
	}{
		{"", nil},
		{"/a/", nil},
		{"-a", nil},
		{"Alice@Example bob* -carol", []Term{{Anywhere, []string{"alice", "example"}, false}, {Anywhere, []string{"bob"}, true}}},
		{"a a* a from:a A", []Term{{Anywhere, []string{"a"}, false}, {Anywhere, []string{"a"}, true}, {From, []string{"a"}, false}}},
		{"-(a -b)", []Term{{Anywhere, []string{"b"}, false}}},
		{"to:(a OR b) in:c subject:d", []Term{{To, []string{"a"}, false}, {To, []string{"b"}, false}, {In, []string{"c"}, false}, {Subject, []string{"d"}, false}}},
	} {
		q, err := Parse(tc.text)
		if err != nil || !slices.EqualFunc(q.Terms(), tc.want, Term.equal) {
			t.Errorf("%q: %v %v", tc.text, q.Terms(), err)
		}
	}
	if got, want := (Term{In, []string{"a", "b"}, true}).Match(), `folder : "a b" *`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestRegexps(t *testing.T) {
	doc := Fields{Title: "Budget 2026", Body: "The colour\nof money, a/b", Sender: "Alice <alice@example.com>", Recipient: "bob@example.com"}
	for _, tc := range []struct {
		text string
		want bool
	}{
		{"a", true},
		{"/colou?r/", true},
		{"/COLOR/", false},
		{"/COLOUR/", true},
		{"/(?-i)COLOUR/", false},
		{"-/colou?r/", false},
		{"-/COLOR/", true},
		{"NOT NOT /colour/", true},
		{"/colour/ -/color$/ /20\\d\\d/", true},
		{"/colour/ /color$/", false},
		{`/a\/b/`, true},
		{"/alice@/ /bob@/ x", true},
		{"/x|money/", true},
		{"/^budget/", true},
	} {
		q, err := Parse(tc.text)
		if err != nil || q.Admits(doc) != tc.want {
			t.Errorf("%q: %v %v", tc.text, q.Admits(doc), err)
		}
	}
	q, _ := Parse("/a/ x -/b/")
	if r := q.Regexps(); len(r) != 2 || r[0].Re.String() != "(?i)a" || r[0].Not || r[1].Re.String() != "(?i)b" || !r[1].Not {
		t.Errorf("got %v", q.Regexps())
	}
}

func TestAProgramOfTheGreatestSizeIsTaken(t *testing.T) {
	q, err := Parse("/" + `\pL{990}b{990}` + "/")
	if err != nil {
		t.Fatal(err)
	}
	parsed, _ := syntax.Parse(q.Regexps()[0].Re.String(), syntax.Perl)
	if program, _ := syntax.Compile(parsed.Simplify()); len(program.Inst) > MaxProgram || len(program.Inst) < 1900 {
		t.Errorf("%d steps", len(program.Inst))
	}
}
