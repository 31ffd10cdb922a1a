package codex

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
)

// maxToken bounds one token, in bytes. Signed tokens with many claims stay well below it.
const maxToken = 16 << 10

// lastInstant is the end of the year 9999, the last that a date in four digits can name, in seconds.
const lastInstant = 253402300799

// expiry reads until when a JWT is good (RFC 7519, section 4.1.4). The signature is the provider's
// business: what is read here only decides when to renew. Errors finish the sentence "the access
// token …" and quote nothing of it.
func expiry(token string) (time.Time, error) {
	if len(token) > maxToken {
		return time.Time{}, fmt.Errorf("exceeds %d bytes", maxToken)
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}, errors.New("is not a JWT: it does not have three parts")
	}
	var claims []byte
	for i, part := range parts {
		// The decoder passes over line feeds, which have no place in a token.
		data, err := base64.RawURLEncoding.Strict().DecodeString(part)
		if err != nil || part == "" || strings.ContainsAny(part, "\r\n") {
			return time.Time{}, fmt.Errorf("is not a JWT: part %d is not base64url", i+1)
		}
		if i == 1 {
			claims = data
		}
	}
	tree, err := strictjson.Parse(claims, strictjson.MaxDepth)
	if err != nil {
		return time.Time{}, fmt.Errorf("is not a JWT: its claims: %w", err)
	}
	exp, ok := tree.Get("exp")
	if !ok {
		return time.Time{}, errors.New("does not say when it ends (exp)")
	}
	seconds, err := strconv.ParseInt(exp.Text, 10, 64)
	if exp.Kind != document.Number || err != nil || seconds < 0 || seconds > lastInstant {
		return time.Time{}, errors.New("ends at no instant (exp is not a whole number of seconds up to the year 9999)")
	}
	return time.Unix(seconds, 0).UTC(), nil
}
