package store

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/loomrun/loom/internal/lazyregexp"
)

// An Identifier names a person, a group or a page exactly (9.4, D35). It is one of
//
//	alice@example.com                an email address, compared without case
//	+14155550100                     a telephone number: digits, and a plus where the country is named
//	handle:alice                     a name on some service
//	person:01h...                    the id of a person, as `loom people` shows it
//	group:family                     a group, by name or id
//	People/Alice Example/about.md    the page about a person
//
// and always in its normal form, so that two of them are equal when they name the same. The empty identifier names nobody.
type Identifier string

// MaxIdentifierBytes bounds what is taken for an identifier.
const MaxIdentifierBytes = 500

// ErrNoIdentifier is the error of a text that is no identifier: a bare name resolves nothing (9.4).
var ErrNoIdentifier = errors.New("not an email address, a phone number, handle:…, person:…, group:…, or People/<Name>/about.md")

var (
	emailForm = lazyregexp.New(`^[^\s@<>()\[\],;:"\\]+@[^\s@<>()\[\],;:"\\/]+$`)
	phoneForm = lazyregexp.New(`^\+?\d[\d\s().-]{4,}$`)
	wordForm  = lazyregexp.New(`^(handle|person|group):(\S(?:.*\S)?)$`)
	aboutForm = lazyregexp.New(`^People/(?:[^/.]|\.[^/.]|\.\.[^/])[^/]*/about\.md$`) // no folder is named . or ..
)

// ParseIdentifier reads an identifier in any of the spellings people use. The error wraps [ErrNoIdentifier].
func ParseIdentifier(text string) (Identifier, error) {
	s := strings.TrimSpace(text)
	if len(s) > MaxIdentifierBytes || !utf8.ValidString(s) || strings.ContainsFunc(s, control) {
		return "", fmt.Errorf("an identifier of more than %d bytes or with control characters: %w", MaxIdentifierBytes, ErrNoIdentifier)
	}
	switch {
	case aboutForm().MatchString(s):
		return Identifier(s), nil
	case wordForm().MatchString(s):
		kind, name, _ := strings.Cut(s, ":")
		return Identifier(kind + ":" + strings.ToLower(name)), nil
	case phoneForm().MatchString(s):
		if i := PhoneIdentifier(s); i != "" {
			return i, nil
		}
	case emailForm().MatchString(s):
		if i := EmailIdentifier(s); i != "" {
			return i, nil
		}
	}
	return "", fmt.Errorf("%q is %w", s, ErrNoIdentifier)
}

func control(r rune) bool { return r < 0x20 || r == 0x7f }

// EmailIdentifier is the identifier of an address as a message or card gives it, "" where it gives none.
func EmailIdentifier(address string) Identifier {
	if !utf8.ValidString(address) {
		return "" // lower case would be of another text
	}
	s := strings.ToLower(strings.TrimSpace(address))
	s = strings.TrimPrefix(s, "mailto:")
	if len(s) > MaxIdentifierBytes || !emailForm().MatchString(s) || strings.ContainsFunc(s, control) {
		return ""
	}
	return Identifier(s)
}

// PhoneIdentifier is the identifier of a telephone number: what is written between the digits is left out, an
// international 00 becomes a plus. A number of fewer than five digits is "".
func PhoneIdentifier(number string) Identifier {
	s := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(number)), "tel:")
	if at := strings.IndexAny(s, ";,x"); at >= 0 { // an extension is no part of the number
		s = s[:at]
	}
	var digits []rune
	for i, r := range s {
		switch {
		case r >= '0' && r <= '9', r == '+' && i == 0:
			digits = append(digits, r)
		case !strings.ContainsRune(" \t\u00a0()./-–", r):
			return ""
		}
	}
	normal := string(digits)
	if after, ok := strings.CutPrefix(normal, "00"); ok {
		normal = "+" + after
	}
	const fewest, most = 5, 32
	if len(normal) > most || len(strings.TrimPrefix(normal, "+")) < fewest {
		return ""
	}
	return Identifier(normal)
}

// Key is the identifier as a key of a record: what [Record.Keys] holds and [Filter.Key] asks for.
func (i Identifier) Key() string { return string(i) }
