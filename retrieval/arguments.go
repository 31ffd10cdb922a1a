package retrieval

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/loomrun/loom/internal/codeunits"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/lazyregexp"
	"github.com/loomrun/loom/store"
)

// arguments takes the input of one call apart. The first fault stays; what is taken after it does not count.
type arguments struct {
	input document.Value
	words []string
	fault *Failure
}

// Argv gives the command line that a call comes to, without the program (5.3). Nothing that a model writes becomes a word that begins with
// a hyphen, or one of the words of the command. The error is an [InvalidInput].
func Argv(tool string, input document.Value) ([]string, *Failure) {
	a := arguments{input: input}
	switch tool {
	case "loom_search":
		a.search()
	case "loom_page_discover":
		a.only("kind", "limit")
		a.put("page", "discover", "--json", "--concise")
		a.kind()
		a.count("limit", MaxPages)
	case "loom_page_inspect":
		a.page("inspect", "--json", "--concise")
	case "loom_page_read":
		a.page("read", "--json")
	case "loom_people":
		a.people()
	case "loom_calendar_list":
		a.calendar()
	case "loom_context":
		a.context()
	case "loom_profile":
		a.only("fresh")
		a.put("profile", "--json")
		if a.flag("fresh") {
			a.put("--fresh")
		}
	default:
		a.refuse("there is no tool of this name")
	}
	if a.fault != nil {
		return nil, a.fault
	}
	return a.words, nil
}

// CheckInput says what is wrong with the input of a call; nil where nothing is.
func CheckInput(tool string, input document.Value) *Failure {
	_, fault := Argv(tool, input)
	return fault
}

func (a *arguments) search() {
	a.only("query", "sources", "since", "until", "tz", "person", "limit", "rank")
	a.put("search")
	query, asked := a.text("query")
	if asked {
		a.put(query)
	}
	a.put("--json")
	_, person := a.input.Get("person")
	if !asked && !person {
		a.refuse("search needs a query or a person")
	}
	for _, name := range []string{"sources", "since", "until", "tz", "person"} {
		a.option(name)
	}
	a.count("limit", MaxHits)
	a.word("rank", "recency", "score")
}

func (a *arguments) page(verb string, flags ...string) {
	a.only("target")
	a.put("page", verb)
	target, given := a.text("target")
	if !given {
		a.refuse("target is missing")
	}
	a.put(target)
	a.put(flags...)
}

// kind passes a kind of pages on in the singular (D34).
func (a *arguments) kind() {
	singular := map[string]string{"all": "all", "project": "project", "projects": "project", "entity": "entity", "entities": "entity"}
	v, given := a.input.Get("kind")
	if !given {
		return
	}
	kind, known := singular[v.Text]
	if v.Kind != document.Text || !known {
		a.refuse("kind is one of all, project, projects, entity, entities")
	}
	a.put("--kind", kind)
}

func (a *arguments) people() {
	a.only("query", "shape")
	query, given := a.text("query")
	if !given {
		a.refuse("query is missing")
	}
	// Each identifier by its own grammar, so that no verb of the command passes for one (D35).
	if _, err := store.ParseIdentifier(query); a.fault == nil && err != nil {
		a.refuse("query is not an email address, a phone number, handle:…, person:…, group:… or People/<Name>/about.md")
	}
	a.put("people", query, "--json")
	a.word("shape", "summary", "card")
}

// dateForm is the shape of a date; which days there are is the store's to say (5.4).
var dateForm = lazyregexp.New(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`)

func (a *arguments) calendar() {
	a.only("from", "to", "all")
	a.put("calendar", "list", "--json")
	_, from := a.input.Get("from")
	_, to := a.input.Get("to")
	if a.flag("all") {
		if from || to {
			a.refuse("all goes without from and to")
		}
		a.put("--all")
		return
	}
	for _, name := range []string{"from", "to"} {
		if date, given := a.text(name); given {
			if !dateForm().MatchString(date) {
				a.refuse(name + " is a date such as 2026-03-29")
			}
			a.put("--"+name, date)
		}
	}
}

func (a *arguments) context() {
	a.only("read", "at", "since", "until")
	read, given := a.input.Get("read")
	if !given || read.Kind != document.Text || !slices.Contains([]string{"where", "activity"}, read.Text) {
		a.refuse("read is where or activity")
	}
	a.put("context", read.Text, "--json")
	a.option("at")
	for _, name := range []string{"since", "until"} {
		if _, given := a.input.Get(name); given && read.Text == "where" {
			a.refuse(name + " is for activity alone")
		}
		a.option(name)
	}
}

func (a *arguments) put(words ...string) { a.words = append(a.words, words...) }

func (a *arguments) refuse(why string) {
	if a.fault == nil {
		a.fault = &Failure{Code: InvalidInput, Message: why}
	}
}

// maxNamed bounds how much of an unknown argument's name a message repeats.
const maxNamed = 40

// only refuses an input that is no object, and the first member that is none of these.
func (a *arguments) only(names ...string) {
	if a.input.Kind != document.Map {
		a.refuse("the input is not an object")
		return
	}
	for _, m := range a.input.Members {
		if !slices.Contains(names, m.Name) {
			a.refuse(fmt.Sprintf("there is no argument %q; there are %s", codeunits.Cut(m.Name, maxNamed), strings.Join(names, ", ")))
		}
	}
	if twin, twice := a.input.RepeatedMember(); twice {
		a.refuse(fmt.Sprintf("the argument %q is there twice", codeunits.Cut(twin.Name, maxNamed)))
	}
}

// text gives a text argument, held to 5.4.
func (a *arguments) text(name string) (text string, given bool) {
	v, given := a.input.Get(name)
	if !given {
		return "", false
	}
	switch {
	case v.Kind != document.Text:
		a.refuse(name + " is not a text")
	case v.Text == "":
		a.refuse(name + " is empty")
	case codeunits.Count(v.Text) > MaxArgument:
		a.refuse(fmt.Sprintf("%s has more than %d characters", name, MaxArgument))
	case strings.ContainsFunc(v.Text, unwritten):
		a.refuse(name + " has control characters")
	case strings.HasPrefix(v.Text, "-"):
		a.refuse(name + " begins with a hyphen")
	}
	return v.Text, true
}

// unwritten tells a character that no argument needs: all control characters, where 5.4 names only those below a space, and the two
// separators that end a line.
func unwritten(c rune) bool { return unicode.IsControl(c) || c == '\u2028' || c == '\u2029' }

func (a *arguments) option(name string) {
	if text, given := a.text(name); given {
		a.put("--"+name, text)
	}
}

func (a *arguments) word(name string, among ...string) {
	v, given := a.input.Get(name)
	if !given {
		return
	}
	if v.Kind != document.Text || !slices.Contains(among, v.Text) {
		a.refuse(name + " is " + strings.Join(among, " or "))
	}
	a.put("--"+name, v.Text)
}

// wholeForm is a number from 1 to 999 as it is passed on: no sign, no fraction, no exponent.
var wholeForm = lazyregexp.New(`^[1-9][0-9]{0,2}$`)

func (a *arguments) count(name string, most int) {
	v, given := a.input.Get(name)
	if !given {
		return
	}
	n := 0
	if v.Kind == document.Number && wholeForm().MatchString(v.Text) {
		n, _ = strconv.Atoi(v.Text)
	}
	if n < 1 || n > most {
		a.refuse(fmt.Sprintf("%s is a whole number from 1 to %d", name, most))
	}
	a.put("--"+name, v.Text)
}

func (a *arguments) flag(name string) bool {
	v, given := a.input.Get(name)
	if given && v.Kind != document.Bool {
		a.refuse(name + " is true or false")
	}
	return given && v.Text == "true"
}
