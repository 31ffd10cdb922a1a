package mail

import (
	"bytes"
	"path"
	"strings"
	"sync"

	"github.com/loomrun/loom/store"
)

// Limits of one message.
const (
	maxDepth       = 30   // parts within parts
	maxParts       = 1000 // of all depths
	maxAttachments = 200  // that are listed
	maxPartBytes   = 8 << 20
	maxFrom        = 50
	maxTo          = store.MaxParties - maxFrom
	maxFolderBytes = 1000
)

// message is a message while it is read. Its buffers are used again for the next.
type message struct {
	body        []byte
	decoded     []byte // of a transfer encoding
	text        []byte // of a charset
	attachments []attachment
	parts       int
	scanned     int // bytes looked at for boundaries, for tests
	words       int // parts of text that held any
	cut         bool
}

type attachment struct {
	name, mediaType string
	size            int
}

var messages = sync.Pool{New: func() any { return new(message) }}

// part is what the header of a part says of its body.
type part struct {
	mediaType, charset, boundary, name string
	flowed, delSp                      bool
	encoding                           string
	attached                           bool
}

func (h *header) part() (p part) {
	p.mediaType = "text/plain"
	if len(h.contentType) > 0 {
		value := parameters(h.contentType, func(name, value string) {
			switch name {
			case "charset":
				p.charset = value
			case "boundary":
				p.boundary = value
			case "name":
				p.name = value
			case "format":
				p.flowed = strings.EqualFold(value, "flowed")
			case "delsp":
				p.delSp = strings.EqualFold(value, "yes")
			}
		})
		if at := strings.IndexAny(value, " \t\r\n,"); at >= 0 {
			value = value[:at]
		}
		value = oneLine([]byte(strings.ToValidUTF8(value, "")))
		switch {
		case strings.Contains(value, "/") && len(value) <= maxNamesBytes:
			p.mediaType = value
		case value == "html": // RFC 2045 5.2 says plain text; what stands there says more
			p.mediaType = "text/html"
		case value == "multipart":
			p.mediaType = "multipart/mixed"
		}
	}
	if len(h.disposition) > 0 {
		value := parameters(h.disposition, func(name, value string) {
			if name == "filename" && value != "" {
				p.name = value
			}
		})
		p.attached = strings.HasPrefix(value, "attachment")
	}
	if p.name != "" { // some write the whole path of their disk
		p.name = cutText(path.Base(strings.ReplaceAll(p.name, `\`, "/")), maxNamesBytes)
	}
	encoding := strings.ToLower(string(bytes.TrimSpace(h.transfer)))
	if at := strings.IndexAny(encoding, " \t\r\n;("); at >= 0 {
		encoding = encoding[:at]
	}
	p.encoding = strings.Trim(encoding, `"`)
	return p
}

// entity reads the body of a message or part (RFC 2046). Quiet lists its attachments only: its text is there in another form. Digest is whether
// a part without a type is a message.
func (m *message) entity(h *header, body []byte, digest bool, depth int, loud bool) {
	if m.parts++; m.parts > maxParts || depth > maxDepth {
		m.cut = true
		return
	}
	p := h.part()
	if digest && h.contentType == nil {
		p.mediaType = "message/rfc822"
	}
	kind, sub, _ := strings.Cut(p.mediaType, "/")
	if kind == "multipart" {
		m.multipart(p, sub, body, depth, loud)
		return
	}
	if sub == "rfc822" || sub == "global" && kind == "message" {
		m.embedded(p, body, depth, loud)
		return
	}
	readable := kind == "text" || kind == "message"
	if readable && !p.attached && p.name == "" {
		if loud {
			m.addText(p, body)
		}
		return
	}
	m.attach(p, decodedSize(p.encoding, body))
	if readable && loud {
		m.addText(p, body)
	}
}

// attach lists an attachment and writes its name, so that it is found by it.
func (m *message) attach(p part, size int) {
	if len(m.attachments) >= maxAttachments {
		m.cut = true
		return
	}
	m.attachments = append(m.attachments, attachment{p.name, p.mediaType, size})
	if p.name != "" {
		m.paragraph()
		m.add([]byte("Attachment: " + p.name + "\n"))
	}
}

// paragraph puts a blank line between what is there and what follows.
func (m *message) paragraph() {
	m.body = bytes.TrimRight(m.body, " \t\n")
	if len(m.body) > 0 {
		m.body = append(m.body, "\n\n"...)
	}
}

func (m *message) room() int { return store.MaxBodyBytes - len(m.body) }

// add appends text of UTF-8, up to the limit of a body.
func (m *message) add(text []byte) {
	if len(text) > m.room() {
		text = []byte(cutText(string(text[:max(m.room(), 0)]), max(m.room()-4, 0)))
		m.cut = true
	}
	m.body = appendClean(m.body, text)
}

// addText appends a part that is text.
func (m *message) addText(p part, body []byte) {
	if len(body) > maxPartBytes {
		body, m.cut = body[:maxPartBytes], true
	}
	switch p.encoding {
	case "base64":
		m.decoded = decodeBase64(m.decoded[:0], body)
		body = m.decoded
	case "quoted-printable":
		m.decoded = decodeQuoted(m.decoded[:0], body)
		body = m.decoded
	case "x-uuencode", "uuencode", "x-uue":
		return
	}
	isHTML := p.mediaType == "text/html" || p.mediaType == "application/xhtml+xml"
	if isHTML && p.charset == "" {
		p.charset = metaCharset(body)
	}
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	if needsDecoding(body, p.charset) {
		m.text = decodeCharset(m.text[:0], body, p.charset)
		body = m.text
	}
	if len(m.body) > 0 && !bytes.HasSuffix(m.body, []byte("\n")) {
		m.paragraph()
	} else if len(m.body) > 0 && !bytes.HasPrefix(lastLine(m.body), []byte("Attachment: ")) {
		m.paragraph()
	}
	start := len(m.body)
	defer func() {
		if hasWords(m.body[min(start, len(m.body)):]) {
			m.words++
		}
	}()
	switch {
	case isHTML:
		text, cut := textOfHTML(nil, body, max(m.room(), 0))
		m.cut = m.cut || cut
		m.add(text)
	case p.flowed:
		m.add(appendFlowed(nil, body, p.delSp))
	default:
		m.add(body)
	}
}

func lastLine(text []byte) []byte {
	text = bytes.TrimSuffix(text, []byte("\n"))
	return text[bytes.LastIndexByte(text, '\n')+1:]
}

func needsDecoding(text []byte, charset string) bool {
	switch charset = strings.ToLower(charset); charset {
	case "", "us-ascii", "utf-8", "iso-8859-1", "windows-1252", "iso-8859-15":
		return !isASCII(text)
	}
	return true
}

// metaCharset finds the charset that a page names itself.
func metaCharset(page []byte) string {
	const before = 2048
	page = bytes.ToLower(page[:min(len(page), before)])
	at := bytes.Index(page, []byte("charset="))
	if at < 0 {
		return ""
	}
	page = bytes.TrimLeft(page[at+len("charset="):], `"' `)
	end := bytes.IndexAny(page, "\"'; />\r\n\t")
	if end < 0 {
		return ""
	}
	return string(page[:end])
}

// decodedSize is how many bytes a part holds.
func decodedSize(encoding string, body []byte) int {
	switch encoding {
	case "base64":
		text := bytes.TrimRight(body, " \t\r\n=")
		n := len(text) - bytes.Count(text, []byte("\n")) - bytes.Count(text, []byte("\r"))
		return n * 3 / 4
	case "quoted-printable":
		escapes := bytes.Count(body, []byte("="))
		soft := bytes.Count(body, []byte("=\n")) + bytes.Count(body, []byte("=\r\n"))
		return max(len(body)-2*(escapes-soft)-2*soft-bytes.Count(body, []byte("=\r\n")), 0)
	}
	return len(body)
}

// embedded reads a message in a message: what its header says stands before its text.
func (m *message) embedded(p part, body []byte, depth int, loud bool) {
	size := decodedSize(p.encoding, body)
	switch p.encoding { // RFC 2046 5.2.1 forbids it
	case "base64":
		body = decodeBase64(nil, body[:min(len(body), maxPartBytes)])
	case "quoted-printable":
		body = decodeQuoted(nil, body[:min(len(body), maxPartBytes)])
	}
	m.attach(p, size)
	_, body = cutFromLine(bytes.TrimLeft(body, "\r\n"))
	h, rest := readHeader(body)
	if loud {
		m.paragraph()
		for _, f := range []struct {
			name  string
			value []byte
		}{{"From", h.from}, {"To", h.to}, {"Cc", h.cc}, {"Date", h.date}, {"Subject", h.subject}} {
			if v := decode(f.value); v != "" {
				m.add([]byte(f.name + ": " + cutText(v, store.MaxTitleBytes) + "\n"))
			}
		}
		m.paragraph()
	}
	m.entity(&h, rest, false, depth+1, loud)
}

// multipart reads the parts of a body (RFC 2046 5.1).
func (m *message) multipart(p part, sub string, body []byte, depth int, loud bool) {
	if p.boundary == "" || !bytes.Contains(body, []byte("--"+p.boundary)) {
		p.boundary = guessBoundary(body)
	}
	digest := sub == "digest"
	if sub != "alternative" || !loud {
		whole := m.each(p.boundary, body, func(source []byte) {
			h, rest := readHeader(source)
			m.entity(&h, rest, digest, depth+1, loud)
		})
		if !whole && loud { // no boundary at all: the text is better than nothing
			m.addText(part{charset: p.charset}, body)
		}
		return
	}
	// The plain form is what a person wrote or what was made for those who see no pages. Only where it says nothing, another one is taken:
	// the last that says something, which the sender thinks the best.
	// Each form is read once, or nested ones would cost twice the time at each depth.
	var forms [][]byte
	m.each(p.boundary, body, func(source []byte) {
		if len(forms) < maxParts {
			forms = append(forms, source)
		}
	})
	if len(forms) == 0 {
		m.addText(part{charset: p.charset}, body)
		return
	}
	rank := make([]int, len(forms)) // the first to be tried has the highest
	for i, source := range forms {
		h, _ := readHeader(source)
		switch p := h.part(); {
		case p.attached:
			rank[i] = attachedForm
		case p.mediaType == "text/plain":
			rank[i] = plainForm
		case p.mediaType == "text/html" || strings.HasPrefix(p.mediaType, "multipart/"):
			rank[i] = richForm
		default:
			rank[i] = otherForm
		}
	}
	words := m.words
	for r := plainForm; r >= attachedForm; r-- {
		for i := len(forms) - 1; i >= 0; i-- {
			if rank[i] == r {
				h, rest := readHeader(forms[i])
				m.entity(&h, rest, false, depth+1, m.words == words || r == attachedForm)
			}
		}
	}
}

// The ranks of the forms of multipart/alternative.
const (
	attachedForm = iota
	otherForm
	richForm
	plainForm
)

// each gives the parts between the lines of a boundary. A last line that is missing is as if it stood at the end.
func (m *message) each(boundary string, body []byte, give func(part []byte)) (found bool) {
	if boundary == "" {
		return false
	}
	delimiter := []byte("--" + boundary)
	start := -1
	for at := 0; at < len(body) && m.parts <= maxParts; {
		i := bytes.Index(body[at:], delimiter)
		if i < 0 {
			break
		}
		m.scanned += i
		i += at
		at = i + len(delimiter)
		if i > 0 && body[i-1] != '\n' {
			continue
		}
		tail := body[at:]
		if end := bytes.IndexByte(tail, '\n'); end >= 0 {
			tail = tail[:end]
		}
		next := min(at+len(tail)+1, len(body))
		closing := bytes.HasPrefix(tail, []byte("--"))
		if len(bytes.Trim(tail, "- \t\r")) > 0 { // the boundary of another that begins as this one does
			continue
		}
		if start >= 0 {
			give(trimEnd(body[start:i]))
		}
		start, at, found = next, next, true
		if closing {
			return true
		}
	}
	if start >= 0 && start < len(body) {
		m.scanned += len(body) - start
		give(body[start:])
	}
	return found
}

// trimEnd takes away the line end that belongs to the boundary behind it.
func trimEnd(text []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
}

// guessBoundary takes the first line that looks like one.
func guessBoundary(body []byte) string {
	for n := 0; len(body) > 0 && n < 100; n++ {
		var line []byte
		line, body, _ = bytes.Cut(body, []byte("\n"))
		line = bytes.TrimRight(line, " \t\r")
		const longest = 70 // RFC 2046 5.1.1
		if name, ok := bytes.CutPrefix(line, []byte("--")); ok && len(name) > 0 && len(name) <= longest && name[len(name)-1] != '-' {
			return string(name)
		}
	}
	return ""
}
