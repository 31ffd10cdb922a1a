package reference

import "strings"

// maxQuotedLocal is the length in bytes of the longest local part that an e-mail address may have
// (RFC 5321 4.5.3.1.1). A quoted one is looked for no further back than this.
const maxQuotedLocal = 64

// localSigns are the signs besides letters and digits that a local part may have (RFC 5322 3.2.3),
// without those that prose puts between two words or around one: ABC-1/me@host.test names ABC-1.
const localSigns = ".-_+%=&~$^"

// domainSigns are the signs besides letters and digits that a host name has in practice.
const domainSigns = ".-_"

// addresses walks forward over the e-mail addresses of text. A mention such as @name counts as an
// address without a local part, because nothing after an @ is a bare key (governed-runs 3.1).
type addresses struct {
	text       string
	start, end int // the address that was found last
}

// cover says whether the sign at i is inside an address. Calls must come with rising i.
func (a *addresses) cover(i int) bool {
	for a.end <= i {
		a.next()
	}
	return a.start <= i
}

// next moves to the address after the current one. After the last it stands behind the text.
func (a *addresses) next() {
	for from := a.end; ; {
		n := strings.IndexByte(a.text[from:], '@')
		if n < 0 {
			a.start, a.end = len(a.text)+1, len(a.text)+1
			return
		}
		at := from + n
		if domain := leadingDomain(a.text[at+1:]); domain != "" {
			a.start, a.end = at-len(trailingLocal(a.text[a.end:at])), at+1+len(domain)
			return
		}
		from = at + 1
	}
}

// leadingDomain returns the host name, or the start of an address literal, that s starts with: ""
// where there is no letter or digit in it.
func leadingDomain(s string) string {
	rest := strings.TrimLeftFunc(strings.TrimPrefix(s, "["), func(r rune) bool {
		return isWord(r) || strings.ContainsRune(domainSigns, r)
	})
	domain := s[:len(s)-len(rest)]
	if !strings.ContainsFunc(domain, isWord) {
		return ""
	}
	return domain
}

// trailingLocal returns the local part of an address that s ends with, plain or quoted.
func trailingLocal(s string) string {
	if quoted, ok := strings.CutSuffix(s, `"`); ok {
		quoted = quoted[max(0, len(quoted)-maxQuotedLocal):]
		open := strings.LastIndexAny(quoted, "\"\n")
		if open < 0 || quoted[open] != '"' {
			return ""
		}
		return s[len(s)-len(`"`)-len(quoted)+open:]
	}
	rest := strings.TrimRightFunc(s, func(r rune) bool {
		return isWord(r) || strings.ContainsRune(localSigns, r)
	})
	return s[len(rest):]
}
