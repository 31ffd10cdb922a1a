package workingcontext

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
)

// read resolves a reference and gives what it selects (6.3).
func (r *results) read(given document.Value) (string, error) {
	members, err := exactly(given, "result", "sha256", "select", "rendering")
	if err != nil {
		return "", err
	}
	found, ok := r.byID[members[0].Value.Text]
	switch {
	case !ok:
		return "", errors.New("there is no such result; " + listResults + " lists those there are")
	case members[1].Value.Text != found.sha256:
		return "", errors.New("the result has another sha256")
	}
	by, rendering := members[2].Value, members[3].Value.Text
	if kind, _ := by.Get("kind"); kind.Text == selectPointer {
		return found.pointed(by, rendering)
	}
	if rendering != renderText {
		return "", errors.New("rendering is not text; json goes with a JSON pointer only")
	}
	start, end, err := found.selected(by)
	if err != nil {
		return "", err
	}
	return canonjson.Compact(document.MapOf(
		document.M("result", document.TextOf(found.id)),
		document.M("start_byte", document.IntOf(int64(start))),
		document.M("end_byte", document.IntOf(int64(end))),
		document.M("utf8_bytes", document.IntOf(int64(len(found.text)))),
		document.M("text", document.TextOf(found.text[start:end])))), nil
}

// selected gives the bytes that a selection is of: from start to before end.
func (r result) selected(by document.Value) (start, end int, err error) {
	kind, _ := by.Get("kind")
	if kind.Text == selectWhole {
		_, err := exactly(by, "kind")
		return 0, len(r.text), err
	}
	members, err := exactly(by, "kind", "start", "end")
	if err != nil {
		return 0, 0, err
	}
	switch kind.Text {
	case selectBytes:
		if start, err = integer(members[1], 0, len(r.text)); err != nil {
			return 0, 0, err
		}
		if end, err = integer(members[2], start, len(r.text)); err != nil {
			return 0, 0, err
		}
		if !border(r.text, start) || !border(r.text, end) {
			return 0, 0, errors.New("start or end falls into a character")
		}
		return start, end, nil
	case selectLines:
		lines := strings.Count(strings.TrimSuffix(r.text, "\n"), "\n") + 1
		first, err := integer(members[1], 1, lines)
		if err != nil {
			return 0, 0, err
		}
		last, err := integer(members[2], first, lines)
		if err != nil {
			return 0, 0, err
		}
		number := 0
		for line := range strings.Lines(r.text) {
			if number++; number < first {
				start += len(line)
			}
			if end += len(line); number == last {
				break
			}
		}
		return start, end, nil
	default:
		return 0, 0, fmt.Errorf("kind is not %s, %s, %s or %s", selectWhole, selectBytes, selectLines, selectPointer)
	}
}

// border tells whether a character begins at a place of a text, or the text ends there.
func border(text string, at int) bool { return at == len(text) || utf8.RuneStart(text[at]) }
