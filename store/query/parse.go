package query

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/loomrun/loom/internal/codeunits"
	"github.com/loomrun/loom/store/words"
)

// Parse reads a query. An error is always an *[Error].
func Parse(text string) (Query, error) {
	p := parser{text: text}
	if at := len(codeunits.Cut(text, MaxLength)); at < len(text) {
		p.text = text[:min(len(text), at+utf8.UTFMax*columnsAfter)]
		return Query{}, p.fault(TooLong, at, "the query is longer than %d characters; shorten it here", MaxLength)
	}
	root, err := p.either(Anywhere)
	if err != nil {
		return Query{}, err
	}
	if p.pos < len(text) { // it stops early at nothing else
		return Query{}, p.fault(StrayParenthesis, p.pos, "no parenthesis is open here; remove this one or open one before")
	}
	if root == nil {
		return Query{}, nil
	}
	return split(root), nil
}

// split takes the regular expressions out of the top level, the only one that has any.
func split(root *node) Query {
	var regexps []Regexp
	rest := &node{kind: all}
	for _, kid := range kidsOf(root, all) {
		switch {
		case kid.kind == expression:
			regexps = append(regexps, Regexp{kid.regexp, false})
		case kid.kind == not && kid.kids[0].kind == expression:
			regexps = append(regexps, Regexp{kid.kids[0].regexp, true})
		default:
			rest.kids = append(rest.kids, kid)
		}
	}
	if len(rest.kids) == 0 {
		return made(nil, regexps)
	}
	return made(joined(all, rest.kids), regexps)
}

// joined gives several nodes as one of the kind.
func joined(as kind, nodes []*node) *node {
	if len(nodes) == 1 {
		return nodes[0]
	}
	return &node{kind: as, kids: nodes, at: nodes[0].at}
}

// kidsOf undoes joined.
func kidsOf(n *node, as kind) []*node {
	if n.kind == as {
		return n.kids
	}
	return []*node{n}
}

type parser struct {
	text    string
	pos     int
	depth   int // of parentheses
	terms   int
	regexps int
}

func (p *parser) fault(fault Fault, at int, format string, args ...any) *Error {
	return &Error{
		Fault: fault, Query: p.text, Byte: at, Column: utf8.RuneCountInString(p.text[:at]) + 1,
		Message: fmt.Sprintf(format, args...),
	}
}

func (p *parser) nothing(at int) *Error {
	return p.fault(NothingToFind, at, "nothing to search for: there is no letter, digit or picture here")
}

// either reads what stands between OR. It gives nil where there is nothing, and stops at a closing
// parenthesis.
func (p *parser) either(field Field) (*node, error) {
	var kids []*node
	for operator := -1; ; {
		kid, err := p.every(field)
		if err != nil {
			return nil, err
		}
		at := p.pos
		more := p.keyword("OR")
		if kid == nil && more {
			operator = at
		}
		if kid == nil && operator >= 0 {
			return nil, p.fault(LoneOperator, operator, `OR needs something on both sides; for the word itself write "or"`)
		}
		if kid != nil {
			kids = append(kids, kid)
		}
		if !more {
			break
		}
		operator = at
	}
	if len(kids) == 0 {
		return nil, nil
	}
	n := joined(some, kids)
	if len(kids) > 1 {
		if err := p.noRegexp(n, "beside OR"); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// noRegexp gives an error for the first regular expression in n.
func (p *parser) noRegexp(n *node, where string) error {
	if n.kind == expression {
		return p.fault(MisplacedRegexp, n.at,
			"a regular expression cannot stand %s, because the index cannot answer it there; put it outside, beside the rest", where)
	}
	for _, kid := range n.kids {
		if err := p.noRegexp(kid, where); err != nil {
			return err
		}
	}
	return nil
}

// every reads what stands side by side. It gives nil where there is nothing.
func (p *parser) every(field Field) (*node, error) {
	var kids []*node
	dropped, operator := -1, -1
	for {
		p.space()
		at := p.pos
		if p.ended() || p.peek("OR") {
			break
		}
		if p.keyword("AND") {
			if operator >= 0 || len(kids) == 0 {
				return nil, p.loneAnd(at)
			}
			operator = at
			continue
		}
		kid, err := p.operand(field)
		if err != nil {
			return nil, err
		}
		if kid == nil {
			if dropped < 0 {
				dropped = at
			}
			continue
		}
		kids = append(kids, kid)
		operator = -1
	}
	switch {
	case operator >= 0:
		return nil, p.loneAnd(operator)
	case len(kids) == 0 && dropped >= 0:
		return nil, p.nothing(dropped)
	case len(kids) == 0:
		return nil, nil
	}
	return joined(all, kids), nil
}

func (p *parser) loneAnd(at int) error {
	return p.fault(LoneOperator, at, `AND needs something on both sides; for the word itself write "and"`)
}

// operand reads one thing with what negates it. It gives nil for signs that are no words.
func (p *parser) operand(field Field) (*node, error) {
	begin, negated, named := p.pos, false, false
	for {
		at := p.pos
		if !p.keyword("NOT") {
			break
		}
		negated, named = !negated, true
		if p.space(); p.ended() || p.peek("OR") || p.peek("AND") {
			return nil, p.fault(LoneOperator, at, `NOT needs something behind it; for the word itself write "not"`)
		}
	}
	if p.next() == '-' && !boundary(p.text[p.pos+1:], false) {
		p.pos++
		negated = !negated
	}
	n, err := p.thing(field)
	switch {
	case err != nil:
		return nil, err
	case n == nil && named:
		return nil, p.nothing(begin)
	case n == nil:
		return nil, nil
	case !negated:
		return n, nil
	case n.kind == not:
		return n.kids[0], nil
	}
	return &node{kind: not, kids: []*node{n}, at: begin}, nil
}

// thing reads a group, a phrase, a regular expression, or a word that may name a field.
func (p *parser) thing(field Field) (*node, error) {
	begin := p.pos
	colon := strings.IndexByte(p.text[p.pos:], ':')
	if colon > 0 {
		if of, ok := fieldNames[strings.ToLower(p.text[p.pos:p.pos+colon])]; ok {
			name := p.text[p.pos : p.pos+colon+1]
			if field != Anywhere {
				return nil, p.fault(NestedField, begin, `%s stands inside another field; close the parenthesis before it, or write "%s" for the word`, name, name)
			}
			p.pos += colon + 1
			return p.value(of, name, begin)
		}
	}
	return p.plain(field)
}

// value reads what stands behind the name of a field.
func (p *parser) value(field Field, name string, begin int) (*node, error) {
	at := p.pos
	switch {
	case boundary(p.text[p.pos:], false):
		return nil, p.fault(LoneField, begin, "%s needs a value directly behind it, without a space: %salice", name, name)
	case p.next() == '-':
		return nil, p.fault(MisplacedMinus, at, "the minus belongs before the field: -%s", name)
	case p.next() == '/':
		return nil, p.fault(MisplacedRegexp, at, "a regular expression cannot be the value of a field; write it alone, or the value in quotes")
	}
	n, err := p.plain(field)
	if err == nil && n == nil {
		return nil, p.nothing(at)
	}
	return n, err
}

// plain reads a group, a phrase, a regular expression or a word.
func (p *parser) plain(field Field) (*node, error) {
	switch c := p.next(); {
	case c == '(':
		return p.group(field)
	case isQuote(c):
		return p.phrase(field)
	case c == '/':
		return p.expression()
	}
	return p.word(field)
}

func (p *parser) group(field Field) (*node, error) {
	begin := p.pos
	if p.depth == MaxNesting {
		return nil, p.fault(TooDeep, begin, "more than %d parentheses are open here; take some away", MaxNesting)
	}
	p.depth++
	p.pos++
	n, err := p.either(field)
	p.depth--
	if err != nil {
		return nil, err
	}
	if p.next() != ')' {
		return nil, p.fault(OpenParenthesis, begin, "this parenthesis is never closed; add one behind the group")
	}
	p.pos++
	if n == nil {
		return nil, p.fault(NothingToFind, begin, "nothing to search for: these parentheses are empty")
	}
	return n, p.noRegexp(n, "inside parentheses")
}

func (p *parser) phrase(field Field) (*node, error) {
	begin := p.pos
	_, size := utf8.DecodeRuneInString(p.text[begin:])
	inside := p.text[begin+size:]
	end := strings.IndexFunc(inside, isQuote)
	if end < 0 {
		return nil, p.fault(OpenQuote, begin, "this quote is never closed; add one behind the phrase")
	}
	_, closing := utf8.DecodeRuneInString(inside[end:])
	p.pos += size + end + closing
	n, err := p.term(field, inside[:end], begin)
	if err == nil && n == nil {
		return nil, p.nothing(begin)
	}
	return n, err
}

func (p *parser) word(field Field) (*node, error) {
	begin := p.pos
	for p.pos < len(p.text) && !boundary(p.text[p.pos:], true) && p.text[p.pos] != '*' {
		_, size := utf8.DecodeRuneInString(p.text[p.pos:])
		p.pos += size
	}
	if p.pos == begin && p.next() == '*' {
		return nil, p.fault(MisplacedStar, begin, "a star needs the beginning of a word before it: rep* finds report")
	}
	return p.term(field, p.text[begin:p.pos], begin)
}

// term makes a term of text and of a star behind it. It gives nil where the text has no words and no star.
func (p *parser) term(field Field, text string, begin int) (*node, error) {
	term := Term{Field: field, Prefix: p.next() == '*'}
	for _, token := range words.Split(text) {
		term.Tokens = append(term.Tokens, token.Text)
	}
	if term.Prefix {
		if len(term.Tokens) == 0 {
			return nil, p.nothing(begin)
		}
		if p.pos++; !boundary(p.text[p.pos:], false) {
			return nil, p.fault(MisplacedStar, p.pos-1, "a star stands at the end of a word only; put a space behind it")
		}
	}
	if len(term.Tokens) == 0 {
		return nil, nil
	}
	if p.terms == MaxTerms {
		return nil, p.fault(TooMany, begin, "more than %d words and phrases; leave some out", MaxTerms)
	}
	p.terms++
	return &node{kind: wanted, term: term, at: begin}, nil
}

func (p *parser) expression() (*node, error) {
	begin := p.pos
	end := begin + 1
	for end < len(p.text) && p.text[end] != '/' {
		if p.text[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(p.text) {
		return nil, p.fault(OpenRegexp, begin, "this regular expression is never closed; add a slash behind it, or put text that begins with a slash in quotes")
	}
	if p.pos = end + 1; !boundary(p.text[p.pos:], false) {
		return nil, p.fault(BadRegexp, p.pos, `the regular expression ends before this; put a space here, write \/ for a slash within it, or put the whole in quotes`)
	}
	source := p.text[begin+1 : end]
	switch {
	case source == "":
		return nil, p.fault(BadRegexp, begin, "the regular expression is empty; write one between the slashes")
	case len(source) > MaxRegexp:
		return nil, p.fault(BadRegexp, begin, "the regular expression is longer than %d bytes; shorten it", MaxRegexp)
	case p.regexps == MaxRegexps:
		return nil, p.fault(TooMany, begin, "more than %d regular expressions; leave some out", MaxRegexps)
	}
	p.regexps++
	re, err := regexp.Compile(anyCase + source)
	if err != nil {
		at, what := begin+1, err.Error()
		if bad, ok := errors.AsType[*syntax.Error](err); ok {
			at += max(0, strings.Index(source, strings.TrimPrefix(bad.Expr, anyCase)))
			what = bad.Code.String()
		}
		return nil, p.fault(BadRegexp, at, "the regular expression is not right here: %s", what)
	}
	if steps(re) > MaxProgram {
		return nil, p.fault(BadRegexp, begin, "the regular expression takes more than %d steps; use smaller repetitions", MaxProgram)
	}
	return &node{kind: expression, regexp: re, at: begin}, nil
}

// anyCase before a regular expression makes it match without regard to case; (?-i) in it takes that back.
const anyCase = "(?i)"

// steps gives the number of instructions that re compiles to.
func steps(re *regexp.Regexp) int {
	// Neither fails on what package regexp has taken.
	parsed, _ := syntax.Parse(re.String(), syntax.Perl)
	program, _ := syntax.Compile(parsed.Simplify())
	return len(program.Inst)
}

// next gives the character at the place, or -1 at the end.
func (p *parser) next() rune {
	if p.pos == len(p.text) {
		return -1
	}
	c, _ := utf8.DecodeRuneInString(p.text[p.pos:])
	return c
}

func (p *parser) space() {
	p.pos = len(p.text) - len(strings.TrimLeftFunc(p.text[p.pos:], unicode.IsSpace))
}

// ended says that nothing more can stand side by side here.
func (p *parser) ended() bool { return p.pos == len(p.text) || p.text[p.pos] == ')' }

// peek says whether the operator stands here.
func (p *parser) peek(operator string) bool {
	rest, ok := strings.CutPrefix(p.text[p.pos:], operator)
	return ok && boundary(rest, true)
}

// keyword moves behind the operator if it stands here.
func (p *parser) keyword(operator string) bool {
	ok := p.peek(operator)
	if ok {
		p.pos += len(operator)
	}
	return ok
}

// boundary says whether a word ends before rest: at the end, at space and at a closing parenthesis; with
// openers also at an opening parenthesis and a quote.
func boundary(rest string, openers bool) bool {
	c, size := utf8.DecodeRuneInString(rest)
	return size == 0 || c == ')' || unicode.IsSpace(c) || openers && (c == '(' || isQuote(c))
}

// isQuote knows the quotes of keyboards and of typography.
func isQuote(c rune) bool {
	switch c {
	case '"', '“', '”', '„', '‟', '＂':
		return true
	}
	return false
}
