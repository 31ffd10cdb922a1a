package model

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/loomrun/loom/internal/boundedfile"
)

// secretMark is what is shown in place of a secret.
const secretMark = "[secret]"

// Secret is an account's key or token. Whatever prints, formats or encodes one shows only
// "[secret]", or nothing for the zero Secret; [Secret.Reveal] is the one way to its text.
type Secret struct {
	// A pointer, because fmt prints the fields of a struct's unexported fields without asking
	// their methods, but follows no pointer there.
	text *string
}

// NewSecret makes a Secret of a text. The empty text gives the zero Secret.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{text: &text}
}

// Reveal gives the secret text, for the header of a request and nothing else.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsZero reports whether there is no secret.
func (s Secret) IsZero() bool { return s.text == nil }

// String gives "[secret]".
func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return secretMark
}

// GoString gives "[secret]".
func (s Secret) GoString() string { return s.String() }

// Format writes "[secret]", whatever the verb.
func (s Secret) Format(state fmt.State, _ rune) { fmt.Fprint(state, s.String()) }

// MarshalText gives "[secret]".
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalJSON gives the JSON text of "[secret]".
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + s.String() + `"`), nil }

// LogValue gives "[secret]".
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// partOfSecret is how many bytes in a row make a part of a secret that is worth hiding.
const partOfSecret = 8

// Hide gives text with every part of the secret in it, of 8 bytes or more, replaced by "[secret]".
// It hides parts because an endpoint may repeat a secret cut or escaped.
func (s Secret) Hide(text string) string {
	secret := s.Reveal()
	width := min(partOfSecret, len(secret))
	if width == 0 || len(text) < width {
		return text
	}
	parts := make(map[string]struct{}, len(secret))
	for i := 0; i+width <= len(secret); i++ {
		parts[secret[i:i+width]] = struct{}{}
	}
	var b strings.Builder
	kept := 0 // text before it is written or hidden
	for i := 0; i+width <= len(text); i++ {
		if _, found := parts[text[i:i+width]]; !found {
			continue
		}
		end := i + width
		for end < len(text) {
			if _, found := parts[text[end-width+1:end+1]]; !found {
				break
			}
			end++
		}
		b.WriteString(text[kept:i])
		b.WriteString(secretMark)
		kept, i = end, end-1
	}
	b.WriteString(text[kept:])
	return b.String()
}

// In reports whether the whole secret stands in text.
func (s Secret) In(text string) bool {
	return !s.IsZero() && strings.Contains(text, s.Reveal())
}

// maxSecret bounds a secret. Signed tokens are the longest and stay well below it.
const maxSecret boundedfile.Size = 16 << 10

// resolveSecret finds the secret a reference names (DECISIONS D13): env:NAME, or
// file:/absolute/path of a private file. Its errors finish the sentence "the secret …" and quote
// neither the reference nor what it leads to, since a person may have pasted the secret itself.
func resolveSecret(reference string) (Secret, error) {
	kind, rest, _ := strings.Cut(reference, ":")
	var text string
	switch {
	case kind == "env" && environmentName(rest):
		value, set := os.LookupEnv(rest)
		if !set {
			return Secret{}, errors.New("is in an environment variable that is not set")
		}
		text = value
	case kind == "file" && filepath.IsAbs(rest) && !strings.Contains(rest, "\x00"):
		data, err := boundedfile.ReadPrivate(rest, maxSecret)
		if err != nil {
			return Secret{}, unreadable(err)
		}
		text = strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	default:
		return Secret{}, errors.New("has a reference that is neither env:NAME nor file:/absolute/path")
	}
	switch {
	case text == "":
		return Secret{}, errors.New("is empty")
	case boundedfile.Size(len(text)) > maxSecret:
		return Secret{}, fmt.Errorf("exceeds %s", maxSecret)
	}
	for _, c := range []byte(text) {
		if c <= ' ' || c > '~' {
			return Secret{}, errors.New("holds white space, a control character or a character beyond ASCII")
		}
	}
	return NewSecret(text), nil
}

// unreadable says why a secret's file was not read, without its name.
func unreadable(err error) error {
	for _, reason := range []struct{ is, say error }{
		{boundedfile.ErrNotRegular, errors.New("is in a file that is not a regular file")},
		{boundedfile.ErrSymbolicLink, errors.New("is in a file reached by a symbolic link")},
		{boundedfile.ErrNotPrivate, errors.New("is in a file that is not private; it must belong to you and have mode 0600")},
		{boundedfile.ErrTooLarge, fmt.Errorf("is in a file that exceeds %s", maxSecret)},
		{fs.ErrNotExist, errors.New("is in a file that does not exist")},
	} {
		if errors.Is(err, reason.is) {
			return reason.say
		}
	}
	return errors.New("is in a file that cannot be opened")
}

// environmentName reports whether s is a name that a shell could set.
func environmentName(s string) bool {
	for i, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}
