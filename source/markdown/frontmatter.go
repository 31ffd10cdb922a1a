package markdown

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/lazyregexp"
	"github.com/loomrun/loom/internal/strictyaml"
)

// Limits of front matter.
const (
	MaxFrontMatterBytes = 64 << 10
	MaxFrontMatterDepth = 32
	maxEmptyValues      = 64 // that are forgiven; each costs another reading
)

// fault is something on a page that could not be taken.
type fault struct {
	at     int64
	reason string
}

// cutFrontMatter divides a text into its front matter, without the lines of --- around it, and what follows. The text has no byte order mark.
func cutFrontMatter(text []byte) (matter, rest []byte, ok bool) {
	begin, behind, ok := bytes.Cut(text, []byte("\n"))
	if !ok || !isRule(begin, "---") {
		return nil, text, false
	}
	size := 0
	for line := range bytes.Lines(behind) {
		if isRule(line, "---") || isRule(line, "...") {
			return behind[:size], behind[size+len(line):], true
		}
		size += len(line)
	}
	return nil, text, false
}

func isRule(line []byte, rule string) bool { return string(bytes.TrimRight(line, " \t\r\n")) == rule }

// parseFrontMatter reads front matter that begins at an offset of its file, on the second line. What is no map is not front matter but text between
// two rules: ok is false then, and there is no fault.
func parseFrontMatter(matter []byte, offset int64) (v document.Value, ok bool, _ *fault) {
	if len(matter) > MaxFrontMatterBytes {
		return v, false, &fault{offset, fmt.Sprintf("front matter: line 2: it is longer than %d bytes", MaxFrontMatterBytes)}
	}
	blanked := bytes.Clone(matter)
	for tries := 0; ; tries++ {
		if isBlank(blanked) {
			return document.Value{Kind: document.Map}, true, nil
		}
		// Behind an empty line, so that messages count the lines of the file.
		v, err := strictyaml.Parse(append([]byte("\n"), blanked...), strictyaml.Options{})
		if err == nil {
			if v.Kind == document.Map && deeper(v, MaxFrontMatterDepth) {
				return v, false, &fault{offset, fmt.Sprintf("front matter: line 2: it is nested more than %d levels deep", MaxFrontMatterDepth)}
			}
			return v, v.Kind == document.Map, nil
		}
		var refused *document.Error
		if !errors.As(err, &refused) {
			return v, false, &fault{offset, "front matter: line 2: it cannot be read"}
		}
		start, end := lineAt(blanked, refused.Place.Line-1)
		if tries < maxEmptyValues && emptyValue().Match(blanked[start:end]) {
			for i := start; i < end; i++ {
				blanked[i] = ' '
			}
			continue
		}
		return v, false, &fault{
			offset + int64(start),
			fmt.Sprintf("front matter: line %d: %s", refused.Place.Line, quotedForm().ReplaceAllString(refused.Message, "…")),
		}
	}
}

// emptyValue is a line with a name, or the dash of a list, and no value.
var emptyValue = lazyregexp.New(`^\s*(?:-\s*)?(?:-|[^\s#'"\[\]{}&*!|>%@:-][^:#'"]*:|"[^"]*":|'[^']*':)\s*(?:~|null|Null|NULL)?\s*(?:#.*)?$`)

// quotedForm is what a message quotes of the page: reasons show none of it.
var quotedForm = lazyregexp.New(`"(?:[^"\\]|\\.)*"`)

// isBlank tells a text of empty lines and comments.
func isBlank(text []byte) bool {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

// lineAt is where a line, which counts from 1, begins and ends, without its line end.
func lineAt(text []byte, number int) (start, end int) {
	for line := range bytes.Lines(text) {
		if number--; number <= 0 {
			return start, start + len(bytes.TrimRight(line, "\r\n"))
		}
		start += len(line)
	}
	return start, start
}

// deeper tells a value that is nested more than so many levels deep.
func deeper(v document.Value, levels int) bool {
	if levels == 0 {
		return v.Kind == document.Map || v.Kind == document.List
	}
	for _, item := range v.Items {
		if deeper(item, levels-1) {
			return true
		}
	}
	for _, m := range v.Members {
		if deeper(m.Value, levels-1) {
			return true
		}
	}
	return false
}

// member finds the first member that has one of the names, in the order of these, whatever their case.
func member(v document.Value, names ...string) (document.Value, bool) {
	for _, name := range names {
		for _, m := range v.Members {
			if strings.EqualFold(m.Name, name) {
				return m.Value, true
			}
		}
	}
	return document.Value{}, false
}

// scalar is the text of the first of the members that is one.
func scalar(v document.Value, names ...string) string {
	for _, name := range names {
		if m, ok := member(v, name); ok && isScalar(m) {
			if s := strings.TrimSpace(m.Text); s != "" {
				return s
			}
		}
	}
	return ""
}

func isScalar(v document.Value) bool {
	return v.Kind == document.Text || v.Kind == document.Number || v.Kind == document.Bool
}

// list is the texts of members that are lists, or one text. Separators divide the latter.
func list(v document.Value, separators string, names ...string) []string {
	var all []string
	for _, name := range names {
		m, ok := member(v, name)
		switch {
		case !ok:
		case m.Kind == document.List:
			for _, item := range m.Items {
				if isScalar(item) {
					all = append(all, strings.TrimSpace(item.Text))
				}
			}
		case isScalar(m):
			for _, s := range strings.FieldsFunc(m.Text, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
				all = append(all, strings.TrimSpace(s))
			}
		}
	}
	return all
}

// date is the first of the members that is a time within the years 1900 to 2199. One without a zone is in this one.
func date(v document.Value, zone *time.Location, names ...string) time.Time {
	for _, name := range names {
		s := scalar(v, name)
		for _, form := range []string{
			"2006-01-02", time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04",
			"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 Z0700", "2006-01-02T15:04Z07:00",
		} {
			if t, err := time.ParseInLocation(form, s, zone); err == nil && t.Year() >= 1900 && t.Year() < 2200 {
				return t.UTC()
			}
		}
	}
	return time.Time{}
}

// asJSON makes of a value one that JSON can hold: a number in a form of YAML alone becomes the text that was written.
func asJSON(v document.Value) document.Value {
	if v.Kind == document.Number && !jsonNumber().MatchString(v.Text) {
		v.Kind = document.Text
	}
	for i, item := range v.Items {
		v.Items[i] = asJSON(item)
	}
	for i, m := range v.Members {
		v.Members[i].Value = asJSON(m.Value)
	}
	return v
}

var jsonNumber = lazyregexp.New(`^-?(?:0|[1-9]\d{0,30})(?:\.\d{1,30})?(?:[eE][-+]?\d{1,2})?$`)
