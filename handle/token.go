package handle

import (
	"crypto/sha256"
	"strconv"
	"strings"
)

// The characters of a suffix: digits and small letters without those that are taken for one another (6.1).
const alphabet = "23456789abcdefghjkmnpqrstvwxyz"

// SuffixLength is how many characters the suffix of a minted token has. What is found in a text may have more: then it is a token that
// was never given out.
const SuffixLength = 5

// Suffix is what follows the prefix of a token: from the salt of the table, the key of what the token stands for, and how many tokens
// were tried for the key before and were taken (6.1). It has [SuffixLength] characters.
func Suffix(salt, key string, attempt int) string {
	text := salt + "\x00" + key
	if attempt > 0 {
		text += "\x00" + strconv.Itoa(attempt)
	}
	sum := sha256.Sum256([]byte(text))
	var suffix [SuffixLength]byte
	for i := range suffix {
		suffix[i] = alphabet[int(sum[i])%len(alphabet)]
	}
	return string(suffix[:])
}

// Found is a token in a text. It need not be held by anybody.
type Found struct {
	Token string
	At    int // bytes before it
}

// Find lists every token in a text, of either prefix, in order. A token takes as many characters of the alphabet as follow its prefix, and
// at least [SuffixLength]: one that is glued to more of them is another token (6.1).
func Find(text string) []Found {
	var found []Found
	for at := 0; ; {
		next := strings.Index(text[at:], familyPrefix)
		if next < 0 {
			return found
		}
		at += next
		n := tokenLength(text[at:])
		if n > 0 {
			found = append(found, Found{Token: text[at : at+n], At: at})
		}
		at += max(n, len(familyPrefix))
	}
}

// IsToken tells whether the whole text is a token, of either prefix.
func IsToken(text string) bool { return text != "" && tokenLength(text) == len(text) }

// isReferentToken tells whether the whole text is a token of a referent.
func isReferentToken(text string) bool { return strings.HasPrefix(text, Prefix) && IsToken(text) }

// familyPrefix is what both prefixes begin with.
const familyPrefix = "cfh:"

// tokenLength is how many bytes of a text's beginning are a token: 0 where it begins with none.
func tokenLength(text string) int {
	if !strings.HasPrefix(text, Prefix) && !strings.HasPrefix(text, AddressPrefix) {
		return 0
	}
	n := len(Prefix) // the prefixes have the same length
	for n < len(text) && strings.IndexByte(alphabet, text[n]) >= 0 {
		n++
	}
	if n < len(Prefix)+SuffixLength {
		return 0
	}
	return n
}
