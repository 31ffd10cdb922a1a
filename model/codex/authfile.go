package codex

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/loomrun/loom/internal/boundedfile"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/model"
)

// maxAuthFile bounds auth.json. Codex writes some four kilobytes.
const maxAuthFile = boundedfile.MiB

// maxAccountID bounds the account's name, in bytes.
const maxAccountID = 128

// ErrNoToken means that there is no file, or that the file holds no access token: nobody has logged
// in, or only with an API key.
var ErrNoToken = errors.New("no Codex access token")

// authFile is auth.json as it was read.
type authFile struct {
	text      []byte
	tokens    document.Value // the map at /tokens
	access    model.Secret
	refresh   model.Secret // zero where the file has none
	expires   time.Time
	accountID string // may be empty
}

// readAuthFile reads and checks a login's file. Errors name the file and no value of it.
func readAuthFile(path string) (authFile, error) {
	text, err := boundedfile.ReadPrivate(path, maxAuthFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return authFile{}, fmt.Errorf("%w: there is no %s; run codex login", ErrNoToken, path)
	case err != nil:
		return authFile{}, fmt.Errorf("the Codex login: %w", err)
	}
	a, err := parseAuthFile(text)
	switch {
	case errors.Is(err, ErrNoToken):
		return authFile{}, fmt.Errorf("%w in %s; run codex login", ErrNoToken, path)
	case err != nil:
		return authFile{}, fmt.Errorf("the Codex login in %s: %w; run codex login", path, err)
	}
	return a, nil
}

// parseAuthFile reads the text of auth.json. Members that are not needed here may be anything.
func parseAuthFile(text []byte) (authFile, error) {
	root, err := strictjson.Parse(text, strictjson.MaxDepth)
	if err != nil {
		return authFile{}, err
	}
	if root.Kind != document.Map {
		return authFile{}, fmt.Errorf("the file is %s instead of a map", root.Kind)
	}
	a := authFile{text: text}
	var ok bool
	if a.tokens, ok = root.Get("tokens"); !ok || a.tokens.Kind == document.Null {
		return authFile{}, ErrNoToken
	}
	if a.tokens.Kind != document.Map {
		return authFile{}, fmt.Errorf("/tokens is %s instead of a map", a.tokens.Kind)
	}
	var texts [3]string
	for i, name := range []string{"access_token", "refresh_token", "account_id"} {
		if texts[i], err = textMember(a.tokens, name, [...]int{maxToken, maxToken, maxAccountID}[i]); err != nil {
			return authFile{}, fmt.Errorf("/tokens/%s %w", name, err)
		}
	}
	if texts[0] == "" {
		return authFile{}, ErrNoToken
	}
	if a.expires, err = expiry(texts[0]); err != nil {
		return authFile{}, fmt.Errorf("the access token %w", err)
	}
	a.access, a.refresh, a.accountID = model.NewSecret(texts[0]), model.NewSecret(texts[1]), texts[2]
	return a, nil
}

// textMember gives a member that may be missing or null, which counts as empty. It becomes part of a
// header or of a request, so it is visible ASCII.
func textMember(m document.Value, name string, limit int) (string, error) {
	v, ok := m.Get(name)
	switch {
	case !ok || v.Kind == document.Null:
		return "", nil
	case v.Kind != document.Text:
		return "", fmt.Errorf("is %s instead of text", v.Kind)
	case len(v.Text) > limit:
		return "", fmt.Errorf("exceeds %d bytes", limit)
	}
	for _, c := range []byte(v.Text) {
		if c <= ' ' || c > '~' {
			return "", errors.New("holds white space, a control character or a character beyond ASCII")
		}
	}
	return v.Text, nil
}

// sameTokens reports whether b holds the tokens that a holds.
func (a authFile) sameTokens(b authFile) bool {
	return a.access.Reveal() == b.access.Reveal() && a.refresh.Reveal() == b.refresh.Reveal()
}

// renewed gives the text of the file with the tokens of a grant in place of its own. Every other
// byte stays as it is. A token that the grant or the file does not have is left alone.
func (a authFile) renewed(g grant) []byte {
	type edit struct {
		start, end int
		token      model.Secret
	}
	var edits []edit
	for _, m := range a.tokens.Members {
		token := g.token(m.Name)
		if token.IsZero() || m.Value.Kind != document.Text {
			continue
		}
		start := offsetOf(a.text, m.Value.Place)
		edits = append(edits, edit{start, endOfText(a.text, start), token})
	}
	slices.SortFunc(edits, func(x, y edit) int { return cmp.Compare(x.start, y.start) })
	var out []byte
	kept := 0
	for _, e := range edits {
		out = append(out, a.text[kept:e.start]...)
		out = canonjson.AppendString(out, e.token.Reveal())
		kept = e.end
	}
	return append(out, a.text[kept:]...)
}

// offsetOf finds the byte that a place names. The place is one of a value in text.
func offsetOf(text []byte, at document.Place) int {
	cursor := document.NewCursor(text)
	for i := range text {
		// The later bytes of a character have the place of the next one, but no such character stands
		// directly before a value.
		if cursor.At(int64(i)) == at {
			return i
		}
	}
	return len(text)
}

// endOfText gives the offset behind the JSON text that begins at start.
func endOfText(text []byte, start int) int {
	for i := start + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}
