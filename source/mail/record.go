package mail

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json/jsontext"
	"errors"
	"hash"
	"strconv"
	"strings"

	"github.com/loomrun/loom/store"
)

// errNoHeader is the reason of what is skipped: nothing else is.
var errNoHeader = errors.New("it is not a mail message: it does not begin with header fields such as From and Date")

var errEmpty = errors.New("it is empty")

// origin is what is known of a message from where it stands.
type origin struct {
	folder string
	cut    bool // it goes on behind what was read
	gmail  bool // fields that Google Takeout adds count: what a sender writes into them must not
}

// record makes the record of one message: a header, a blank line and a body (RFC 5322, RFC 2045). Source may begin with a From_ line. It is
// not kept and not changed.
//
// What is damaged is read as well as it can be. The error, without content of the message, is for what has no header.
func record(source []byte, from origin) (r *store.Record, err error) {
	m := messages.Get().(*message)
	defer func() {
		const most = 16 << 20
		if cap(m.body)+cap(m.decoded)+cap(m.text) < most {
			messages.Put(m)
		}
	}()
	m.body, m.attachments, m.parts, m.scanned, m.words, m.cut = m.body[:0], m.attachments[:0], 0, 0, 0, from.cut

	line, rest := cutFromLine(source)
	for {
		if is, _ := quotedFrom(rest); !is {
			break
		}
		_, rest, _ = bytes.Cut(rest, []byte("\n"))
	}
	if line == nil { // a blank line before the header is a mistake of many a program
		rest = bytes.TrimLeft(rest, "\r\n")
	}
	h, body := readHeader(rest)
	switch {
	case len(bytes.TrimSpace(source)) == 0:
		return nil, errEmpty
	case h.fields == 0:
		return nil, errNoHeader
	}
	m.entity(&h, body, false, 0, true)

	r = &store.Record{
		Kind:   store.Mail,
		Title:  cutText(decode(h.subject), store.MaxTitleBytes),
		Body:   string(bytes.TrimSpace(m.body)),
		From:   parties(h.from, maxFrom),
		Folder: from.folder,
	}
	if len(r.From) == 0 {
		r.From = parties(h.sender, maxFrom)
	}
	r.To = parties(h.to, maxTo)
	cc := parties(h.cc, maxTo-len(r.To))
	r.To = append(r.To, cc...)

	written, ok := parseDate(string(h.date))
	if r.Time = written; !ok {
		if r.Time, ok = fromLine(line); !ok {
			if at := bytes.LastIndexByte(h.received, ';'); at >= 0 {
				r.Time, _ = parseDate(string(h.received[at+1:]))
			}
		}
	}
	if from.gmail {
		if labels := gmailFolder(decode(h.gmailLabels)); labels != "" {
			r.Folder = labels
		}
	}
	r.Folder = cutText(r.Folder, maxFolderBytes)

	id := normalID(h.messageID)
	references, replied := ids(h.references), ids(h.inReplyTo)
	r.Ref = reference(id, r, h.date)
	switch thread := decode(h.gmailThread); {
	case from.gmail && thread != "":
		r.Thread = threadOf("gmail:" + thread)
	case len(references) > 0:
		r.Thread = threadOf(references[0])
	case len(replied) > 0:
		r.Thread = threadOf(replied[0])
	case id != "":
		r.Thread = threadOf(id)
	default:
		r.Thread = threadOf(r.Ref)
	}
	r.Details = m.details(&h, id, replied, references, cc)
	return r, nil
}

// reference names a message: its Message-ID and the first hex digits of a SHA-256 of what it says, or more of these alone where it has
// no Message-ID.
//
// So the same message in two folders is one record, also where the programs that kept it there changed its encoding, its line ends or the header fields of
// its way. And a message that copies the Message-ID of another, as anybody who sends mail can, is another record: it cannot take the place of
// the first.
func reference(id string, r *store.Record, date []byte) string {
	const withID, alone = 32, 40
	h := sha256.New()
	for _, p := range r.From {
		words(h, p.Name)
		words(h, string(p.Address))
	}
	if written, ok := parseDate(string(date)); ok {
		var b [8]byte
		h.Write(binary.BigEndian.AppendUint64(b[:0], uint64(written.Unix())))
	} else {
		words(h, string(date))
	}
	words(h, r.Title)
	words(h, r.Body)
	sum := hex.EncodeToString(h.Sum(nil))
	if id == "" {
		return "sha256:" + sum[:alone]
	}
	return id + "~" + sum[:withID]
}

// words hashes a text without regard to its white space.
func words(h hash.Hash, text string) {
	var b [512]byte
	n, gap := 0, false
	for i := range len(text) {
		c := text[i]
		if c == ' ' || c == '\n' || c == '\t' {
			gap = true
			continue
		}
		if n+2 > len(b) {
			h.Write(b[:n])
			n = 0
		}
		if gap {
			b[n], gap = ' ', false
			n++
		}
		b[n] = c
		n++
	}
	b2 := append(b[:n], 0)
	h.Write(b2)
}

func threadOf(id string) string {
	const digits = 24
	sum := sha256.Sum256([]byte(id))
	return "t" + hex.EncodeToString(sum[:digits/2])
}

// gmailFolder gives the labels of X-Gmail-Labels without those that say whether it was read.
func gmailFolder(labels string) string {
	var kept []string
	for label := range strings.SplitSeq(labels, ",") {
		switch label = strings.TrimSpace(label); label {
		case "", "Unread", "Opened":
		default:
			kept = append(kept, label)
		}
	}
	return strings.Join(kept, ", ")
}

// details is the JSON of the record's details, as the package comment has it.
func (m *message) details(h *header, id string, replied, references []string, cc []store.Party) jsontext.Value {
	b := []byte{'{'}
	name := func(n string) {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, n...)
		b = append(b, '"', ':')
	}
	quote := func(s string) { b, _ = jsontext.AppendQuote(b, s) } // its error is text that is not UTF-8: replaced
	text := func(n, s string) {
		if s != "" {
			name(n)
			quote(s)
		}
	}
	list := func(n string, size int, each func(int)) {
		if size == 0 {
			return
		}
		name(n)
		b = append(b, '[')
		for i := range size {
			if i > 0 {
				b = append(b, ',')
			}
			each(i)
		}
		b = append(b, ']')
	}
	text("messageId", id)
	if len(replied) > 0 {
		text("inReplyTo", replied[0])
	}
	list("references", len(references), func(i int) { quote(references[i]) })
	list("cc", len(cc), func(i int) {
		if cc[i].Address != "" {
			quote(string(cc[i].Address))
		} else {
			quote(cc[i].Name)
		}
	})
	text("listId", normalID(h.listID))
	list("attachments", len(m.attachments), func(i int) {
		a := m.attachments[i]
		b = append(b, `{"name":`...)
		quote(a.name)
		b = append(b, `,"type":`...)
		quote(a.mediaType)
		b = append(b, `,"size":`...)
		b = append(b, strconv.Itoa(a.size)...)
		b = append(b, '}')
	})
	if m.cut {
		name("cut")
		b = append(b, "true"...)
	}
	return append(b, '}')
}

// safely is record for what must never end the process, whatever stands in a message.
func safely(source []byte, from origin) (r *store.Record, err error) {
	defer func() {
		if p := recover(); p != nil {
			r, err = nil, errors.New("it could not be read: an internal error; please report it")
		}
	}()
	return record(source, from)
}
