package readverb

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/loomrun/loom/internal/codeunits"
	"github.com/loomrun/loom/internal/lazyregexp"
)

// Limits of arguments (5.4).
const (
	// MaxText is the length of a text argument in UTF-16 code units (D30).
	MaxText = 500
	// MaxArguments is how many words a call may have.
	MaxArguments = 64
)

// Parse reads a call: the words of the verb, then its operand and its flags in any order, each flag once and its value as the next
// word, as section 5.3 lists them:
//
//	search [QUERY] [--sources v] [--since v] [--until v] [--tz v] [--person v] [--limit n] [--rank recency|score]
//	page discover [--concise] [--kind k] [--limit n]
//	page inspect T [--concise]
//	page read T
//	people Q [--shape summary|card]
//	calendar list [--all | --from d --to d] [--tz v]
//	context where|activity [--at v] [--since v] [--until v] [--tz v]
//	profile [--fresh]
//
// --json may stand with each and changes nothing here. What is not among these is refused. A text has 1 to [MaxText] characters, none of
// them a control character, and does not begin with a hyphen, so that nothing a model writes becomes a flag. The error is an
// [*ArgumentError].
func Parse(argv []string) (Verb, error) {
	if len(argv) > MaxArguments {
		return nil, invalid("more than %d arguments", MaxArguments)
	}
	verb, rest := word(argv)
	switch verb {
	case "search":
		return parseSearch(rest)
	case "people":
		return parsePeople(rest)
	case "context":
		return parseContext(rest)
	case "profile":
		return parseProfile(rest)
	case "page", "calendar":
		second, rest := word(rest)
		switch verb + " " + second {
		case "page discover":
			return parsePageDiscover(rest)
		case "page inspect":
			return parsePageInspect(rest)
		case "page read":
			return parsePageRead(rest)
		case "calendar list":
			return parseCalendarList(rest)
		}
	}
	return nil, invalid("there is no such read: the reads are search, page discover, page inspect, page read, people, calendar list, context and profile")
}

func word(argv []string) (string, []string) {
	if len(argv) == 0 {
		return "", nil
	}
	return argv[0], argv[1:]
}

// grammar is what a verb takes. A text or count that is not given stays what it is.
type grammar struct {
	verb    string
	operand *string
	needs   string // what the operand is, where there must be one
	texts   map[string]*string
	counts  map[string]count
	flags   map[string]*bool
}

type count struct {
	to   *int
	most int
}

// parse takes the words behind the verb.
func (g grammar) parse(argv []string) error {
	seen := map[string]bool{}
	for len(argv) > 0 {
		name := argv[0]
		argv = argv[1:]
		if !strings.HasPrefix(name, "-") {
			if g.operand == nil {
				return invalid("%s: %s is one argument too many", g.verb, strconv.Quote(name))
			}
			if seen[""] {
				return invalid("%s: %s is one argument too many; quote an argument with spaces", g.verb, strconv.Quote(name))
			}
			seen[""] = true
			if err := checkText(g.verb, name); err != nil {
				return err
			}
			*g.operand = name
			continue
		}
		if seen[name] {
			return invalid("%s: %s is there twice", g.verb, name)
		}
		seen[name] = true
		if name == "--json" {
			continue
		}
		if to, ok := g.flags[name]; ok {
			*to = true
			continue
		}
		text, isText := g.texts[name]
		number, isCount := g.counts[name]
		if !isText && !isCount {
			return invalid("%s: unknown flag %s", g.verb, strconv.Quote(name))
		}
		if len(argv) == 0 {
			return invalid("%s: %s needs a value", g.verb, name)
		}
		value := argv[0]
		argv = argv[1:]
		if isText {
			if err := checkText(name, value); err != nil {
				return err
			}
			*text = value
			continue
		}
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > number.most || value != strconv.Itoa(n) {
			return invalid("%s is a whole number from 1 to %d", name, number.most)
		}
		*number.to = n
	}
	if g.needs != "" && !seen[""] {
		return invalid("%s: name %s", g.verb, g.needs)
	}
	return nil
}

// checkText holds a text argument against 5.4.
func checkText(name, value string) error {
	switch {
	case value == "":
		return invalid("%s: an empty argument", name)
	case !utf8.ValidString(value):
		return invalid("%s: the argument is not UTF-8", name)
	case codeunits.Count(value) > MaxText:
		return invalid("%s: an argument has at most %d characters", name, MaxText)
	case strings.ContainsFunc(value, unicode.IsControl):
		return invalid("%s: an argument has no control characters", name)
	case strings.HasPrefix(value, "-"):
		return invalid("%s: an argument does not begin with a hyphen", name)
	}
	return nil
}

// listed splits a comma list. Names that stand there twice count once.
func listed(name, text string) ([]string, error) {
	list := []string{}
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			return nil, invalid("%s: a list with commas between its names, none of them empty", name)
		}
		if !slices.Contains(list, part) {
			list = append(list, part)
		}
	}
	return list, nil
}

func oneOf(name, value string, choices ...string) error {
	if slices.Contains(choices, value) {
		return nil
	}
	return invalid("%s is %s", name, choice(choices))
}

func choice(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// maxNamed bounds how many known names a message lists.
const maxNamed = 40

// theKnown says which names there are.
func theKnown(what string, names []string) string {
	switch {
	case len(names) == 0:
		return "there are no " + what
	case len(names) > maxNamed:
		return fmt.Sprintf("the %s are %s and %d more", what, strings.Join(names[:maxNamed], ", "), len(names)-maxNamed)
	}
	return fmt.Sprintf("the %s are %s", what, strings.Join(names, ", "))
}

var dateForm = lazyregexp.New(`^\d{4}-\d{2}-\d{2}$`)
