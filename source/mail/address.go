package mail

import (
	"bytes"
	"strings"

	"github.com/loomrun/loom/store"
)

// parties reads a list of addresses (RFC 5322 3.4, 4.4), at most limit. What stands there instead of an address is kept as a name.
func parties(raw []byte, limit int) []store.Party {
	var all []store.Party
	var name, address []byte // name is not decoded
	angle, quoted := false, false
	comment := 0
	var remark []byte
	flush := func() {
		p := store.Party{Name: cutText(decode(name), maxNamesBytes)}
		if address != nil {
			p.Address = mailbox(address)
		} else if p.Address = mailbox([]byte(p.Name)); p.Address != "" {
			p.Name = cutText(decode(remark), maxNamesBytes)
		}
		if p.Name == "" && p.Address == "" {
			p.Name = cutText(decode(address), maxNamesBytes)
		}
		if string(p.Address) == strings.ToLower(p.Name) {
			p.Name = ""
		}
		if p != (store.Party{}) && len(all) < limit {
			all = append(all, p)
		}
		name, address, remark, angle, quoted, comment = nil, nil, nil, false, false, 0
	}
	for i := 0; i < len(raw) && len(all) < limit; i++ {
		c := raw[i]
		into := &name
		switch {
		case angle:
			into = &address
		case comment > 0:
			into = &remark
		}
		switch {
		case c == '\\' && (quoted || comment > 0) && i+1 < len(raw):
			i++
			*into = append(*into, raw[i])
		case comment > 0 && c == ')':
			if comment--; comment > 0 {
				*into = append(*into, c)
			}
		case comment > 0 && c == '(':
			comment++
			*into = append(*into, c)
		case comment > 0:
			*into = append(*into, c)
		case c == '"':
			quoted = !quoted
		case quoted:
			*into = append(*into, c)
		case c == '(' && !angle:
			comment = 1
		case c == '<' && address == nil:
			angle, address = true, []byte{}
		case c == '>':
			angle = false
		case c == ':' && !angle && !bytes.Contains(name, []byte("@")): // a group: its members are what counts
			name = nil
		case (c == ',' || c == ';') && (!angle || c == ','):
			// A route (RFC 5322 4.4) has commas of its own.
			if angle && bytes.HasPrefix(bytes.TrimSpace(address), []byte("@")) {
				*into = append(*into, c)
				continue
			}
			flush()
		default:
			*into = append(*into, c)
		}
	}
	flush()
	return all
}

func mailbox(raw []byte) store.Identifier {
	if at := bytes.LastIndexByte(raw, ':'); at >= 0 && bytes.HasPrefix(bytes.TrimSpace(raw), []byte("@")) {
		raw = raw[at+1:]
	}
	if bytes.IndexByte(raw, '@') < 0 {
		return ""
	}
	return store.EmailIdentifier(string(raw))
}

// normalID gives a Message-ID without brackets, white space and control characters.
func normalID(raw []byte) string {
	if from := bytes.IndexByte(raw, '<'); from >= 0 {
		raw = raw[from+1:]
		if to := bytes.IndexByte(raw, '>'); to >= 0 {
			raw = raw[:to]
		}
	}
	id := strings.ToValidUTF8(string(raw), "")
	id = strings.Map(func(r rune) rune {
		if r <= ' ' || r == 0x7f || unseen(r) || r >= 0x80 && r < 0xa0 {
			return -1
		}
		return r
	}, id)
	return cutText(id, maxIDBytes)
}

// ids gives the Message-IDs of References or In-Reply-To. Of more than [maxReferences] the first and the last are kept.
func ids(raw []byte) []string {
	var all []string
	for {
		from := bytes.IndexByte(raw, '<')
		if from < 0 {
			return all
		}
		raw = raw[from:]
		to := bytes.IndexByte(raw, '>')
		if to < 0 {
			return all
		}
		if id := normalID(raw[:to+1]); id != "" && strings.Contains(id, "@") {
			if len(all) == maxReferences {
				copy(all[1:], all[2:])
				all = all[:maxReferences-1]
			}
			all = append(all, id)
		}
		raw = raw[to+1:]
	}
}
