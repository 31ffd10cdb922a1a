package workingcontext

import (
	"strings"
	"unicode/utf8"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/model"
)

// Append writes the provider-neutral form of a request behind dst: one line of JSON with the
// instructions, the items and the tools, as every wire sends them in its own words. It is what the
// size of a request is measured by. Its texts are UTF-8.
func Append(dst []byte, r model.Request) []byte {
	dst = canonjson.AppendString(append(dst, `{"instructions":`...), r.Instructions)
	dst = append(dst, `,"items":[`...)
	for i, item := range r.Input {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = canonjson.AppendString(dst, item)
	}
	dst = append(dst, `],"tools":[`...)
	for i, tool := range r.Tools {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = canonjson.AppendString(append(dst, `{"name":`...), tool.Name)
		dst = canonjson.AppendString(append(dst, `,"description":`...), tool.Description)
		dst = append(append(append(dst, `,"parameters":`...), tool.Parameters...), '}')
	}
	return append(dst, "]}"...)
}

// Size gives the bytes of a request in the form of [Append], without writing it.
func Size(r model.Request) int {
	size := len(`{"instructions":"","items":[],"tools":[]}`) + quoted(r.Instructions)
	for _, item := range r.Input {
		size += len(`"",`) + quoted(item)
	}
	for _, tool := range r.Tools {
		size += len(`{"name":"","description":"","parameters":},`) + quoted(tool.Name) + quoted(tool.Description) + len(tool.Parameters)
	}
	commas := min(len(r.Input), 1) + min(len(r.Tools), 1) // none stands behind the last
	return size - commas
}

// quoted gives how many bytes a text takes between the quotation marks of a JSON string as
// canonjson.AppendString writes it.
func quoted(text string) int {
	size := len(text)
	for i := range len(text) {
		switch b := text[i]; b {
		case '"', '\\', '\b', '\f', '\n', '\r', '\t':
			size++
		default:
			if b < ' ' {
				size += len(`\u0000`) - 1
			}
		}
	}
	return size
}

// fitting gives the longest start of a text, in whole characters, that takes at most limit bytes in an
// item of a request: a text there stands in a string of a line of JSON, and that line in a string.
func fitting(text string, limit int) string {
	at := 0
	for at < len(text) {
		_, size := utf8.DecodeRuneInString(text[at:])
		limit -= quoted(canonString(text[at : at+size]))
		if limit < 0 {
			return text[:at]
		}
		at += size
	}
	return text
}

// canonString is a text as it stands between the quotation marks of a JSON string.
func canonString(text string) string {
	return strings.TrimSuffix(strings.TrimPrefix(string(canonjson.AppendString(nil, text)), `"`), `"`)
}

// cutMark ends a text that is not shown in full.
const cutMark = "[truncated]"

// cut bounds a text by [fitting].
func cut(text string, limit int) string {
	if start := fitting(text, limit); len(start) < len(text) {
		return start + cutMark
	}
	return text
}
