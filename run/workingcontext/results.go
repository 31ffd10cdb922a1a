package workingcontext

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"unicode/utf8"

	"github.com/loomrun/loom/internal/document"
)

// The limits of kept results (6.3).
const (
	MaxResultBytes  = 16 << 20
	MaxResultsBytes = 64 << 20
	MaxResults      = 1024

	previewBytes = 1024
)

// result is a text too long for the line of its event.
type result struct {
	id     string
	sha256 string
	origin string
	text   string
}

// results are those of one run.
type results struct {
	byID  map[string]result
	order []string
	bytes int
	full  error // why one more was not kept
}

// keep keeps a text and gives what stands for it in a line. Once a limit is passed full is set.
func (r *results) keep(step int, what, text string) document.Value {
	switch {
	case len(text) > MaxResultBytes:
		r.full = overCapacity("the %s of step %d has %d bytes, more than %d MiB", what, step, len(text), MaxResultBytes>>20)
	case r.bytes+len(text) > MaxResultsBytes:
		r.full = overCapacity("the long texts of a run take at most %d MiB, and with the %s of step %d they take more", MaxResultsBytes>>20, what, step)
	case len(r.order) == MaxResults:
		r.full = overCapacity("a run keeps at most %d long texts, and the %s of step %d is one more", MaxResults, what, step)
	}
	if r.full != nil {
		return document.Value{Kind: document.Null}
	}
	sum := sha256.Sum256([]byte(text))
	kept := result{
		id:     fmt.Sprintf("result-s%d-%d", step, len(r.order)+1),
		sha256: hex.EncodeToString(sum[:]),
		origin: fmt.Sprintf("the %s of step %d", what, step),
		text:   text,
	}
	r.byID[kept.id], r.order, r.bytes = kept, append(r.order, kept.id), r.bytes+len(text)
	return kept.descriptor(true)
}

// descriptor shows a result in the place of its text, with the start of it or without.
func (r result) descriptor(preview bool) document.Value {
	members := []document.Member{
		document.M("result", document.TextOf(r.id)),
		document.M("sha256", document.TextOf(r.sha256)),
		document.M("origin", document.TextOf(r.origin)),
		document.M("capture", document.TextOf("complete")),
		document.M("utf8_bytes", document.IntOf(int64(len(r.text)))),
	}
	if preview {
		// A preview also keeps to the size of a part as it stands in a request.
		start := fitting(r.text[:whole(r.text, previewBytes)], maxInlineBytes)
		members = append(members,
			document.M("preview", document.TextOf(start)),
			document.M("preview_truncated", document.BoolOf(len(start) < len(r.text))),
			document.M("preview_start_byte", document.IntOf(0)),
			document.M("preview_end_byte", document.IntOf(int64(len(start)))))
	}
	return document.MapOf(append(members, document.M("reference", r.reference()))...)
}

// reference is ready to be copied into a look-up: all of a result that fits an answer, else its start.
func (r result) reference() document.Value {
	const inAnswer = maxAnswerBytes / 2 // leaves room for escapes
	selected := document.MapOf(document.M("kind", document.TextOf(selectWhole)))
	if len(r.text) > inAnswer {
		selected = document.MapOf(
			document.M("kind", document.TextOf(selectBytes)),
			document.M("start", document.IntOf(0)),
			document.M("end", document.IntOf(int64(whole(r.text, inAnswer)))))
	}
	return document.MapOf(
		document.M("result", document.TextOf(r.id)),
		document.M("sha256", document.TextOf(r.sha256)),
		document.M("select", selected),
		document.M("rendering", document.TextOf(renderText)))
}

// whole gives the last border between characters of a text that is not behind limit.
func whole(text string, limit int) int {
	if len(text) <= limit {
		return len(text)
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return limit
}
