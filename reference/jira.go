package reference

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// minProjectLetters is how many letters a Jira project has before its first digit
// (governed-runs 3.1): AB2-12 is a key, A1-5 is not.
const minProjectLetters = 2

// standards are the names that are never taken as the project of a bare key: UTF-8 and RFC-12 are
// no issues (governed-runs 3.1; DECISIONS D25 has the list). The name counts whole, so RFCX-1 is a
// key. A browse link overrides the table, because it says that there is such a project.
var standards = map[string]bool{
	"AES": true, "ANSI": true, "ASCII": true, "BASE": true, "CSS": true,
	"CVE": true, "CWE": true, "EC": true, "ECMA": true, "HTML": true,
	"HTTP": true, "IEC": true, "IEEE": true, "IP": true, "IPV": true,
	"ISO": true, "MD": true, "RFC": true, "RSA": true, "SHA": true,
	"SMTP": true, "SSL": true, "TLS": true, "UTF": true, "WCAG": true,
}

// keyAt returns the bare Jira key that starts with the word at i (governed-runs 3.1). Whether it
// stands in an e-mail address is not asked here.
func keyAt(text string, i int) (string, bool) {
	key := leadingKey(text[i:])
	end := i + len(key)
	if key == "" || joinedBefore(text, i) || joinedAfter(text, end) || decimalAt(text, end) {
		return "", false
	}
	project, _, _ := strings.Cut(key, "-")
	return key, !standards[project]
}

// isKey says whether s is a Jira key and nothing else.
func isKey(s string) bool {
	return s != "" && leadingKey(s) == s
}

// leadingKey returns the start of s that has the shape of a Jira key, project, dash and number, or
// "". What follows the number is not looked at.
func leadingKey(s string) string {
	project := 0
	for project < len(s) && (isUpper(s[project]) || isDigit(s[project]) && project >= minProjectLetters) {
		project++
	}
	if project < minProjectLetters || !strings.HasPrefix(s[project:], "-") {
		return ""
	}
	number := leadingDigits(s[project+1:])
	if number == "" {
		return ""
	}
	return s[:project+1+len(number)]
}

// leadingDigits returns the ASCII digits that s starts with.
func leadingDigits(s string) string {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return s[:n]
}

// isNumber says whether s is ASCII digits and nothing else.
func isNumber(s string) bool {
	return s != "" && leadingDigits(s) == s
}

// decimalAt says whether a number that ends at i goes on as a decimal, as in MPL-2.0.
func decimalAt(text string, i int) bool {
	if !strings.HasPrefix(text[i:], ".") {
		return false
	}
	r, _ := utf8.DecodeRuneInString(text[i+1:])
	return unicode.IsDigit(r)
}
