package codex

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"
)

func TestExpiryReadsOneStrictForm(t *testing.T) {
	b64 := base64.RawURLEncoding.EncodeToString
	claims := func(text string) string { return jwtOf(text, "x") }
	whole := claims(`{"exp":1796040000}`)
	unsigned := whole[:strings.LastIndex(whole, ".")+1]
	notJWT, noEnd := "is not a JWT: ", "ends at no instant (exp is not a whole number of seconds up to the year 9999)"
	for _, tc := range []struct{ name, token, want string }{ // want: the instant, or the error
		{"a whole token", whole, "2026-11-30T12:00:00Z"},
		{"other claims beside", claims(`{"aud":["a"],"exp":1796040000,"https://x/auth":{"exp":1}}`), "2026-11-30T12:00:00Z"},
		{"the first instant", claims(`{"exp":0}`), "1970-01-01T00:00:00Z"},
		{"the last instant", claims(`{"exp":253402300799}`), "9999-12-31T23:59:59Z"},
		{"an instant later", claims(`{"exp":253402300800}`), noEnd},
		{"an instant before the first", claims(`{"exp":-1}`), noEnd},
		{"a fraction", claims(`{"exp":1.5}`), noEnd},
		{"an exponent", claims(`{"exp":1e9}`), noEnd},
		{"beyond 64 bits", claims(`{"exp":99999999999999999999}`), noEnd},
		{"text", claims(`{"exp":"1796040000"}`), noEnd},
		{"null", claims(`{"exp":null}`), noEnd},
		{"a map", claims(`{"exp":{}}`), noEnd},
		{"no exp", claims(`{"EXP":1796040000}`), "does not say when it ends (exp)"},
		{"a list of claims", claims(`[1796040000]`), "does not say when it ends (exp)"},
		{"exp twice", claims(`{"exp":1796040000,"exp":1}`), notJWT + "its claims: line 1, column 19: a member is written twice"},
		{"claims that are cut", claims(`{"exp":1796040000`), notJWT + "its claims: line 1, column 18: the JSON value ends too early"},
		{"something behind the claims", claims(`{"exp":1796040000} x`), notJWT + "its claims: line 1, column 20: something follows the JSON value"},
		{"claims that are not UTF-8", claims("{\"exp\":1796040000,\"a\":\"\xff\"}"), notJWT + "its claims: line 1, column 24: the input is not UTF-8"},
		{"129 levels", claims(`{"exp":1,"a":` + strings.Repeat("[", 128) + strings.Repeat("]", 128) + `}`), notJWT + "its claims: line 1, column 141: the JSON value is nested too deeply"},
		{"nothing", "", notJWT + "it does not have three parts"},
		{"an API key", "sk-0123456789", notJWT + "it does not have three parts"},
		{"two parts", "YQ.YQ", notJWT + "it does not have three parts"},
		{"four parts", whole + ".YQ", notJWT + "it does not have three parts"},
		{"empty parts", "..", notJWT + "part 1 is not base64url"},
		{"no header", whole[strings.Index(whole, "."):], notJWT + "part 1 is not base64url"},
		{"no signature", unsigned, notJWT + "part 3 is not base64url"},
		{"padding", "YQ==." + b64([]byte(`{"exp":1}`)) + ".YQ", notJWT + "part 1 is not base64url"},
		{"the other alphabet", "YQ." + b64([]byte(`{"exp":1}`)) + ".+/+/", notJWT + "part 3 is not base64url"},
		{"bits left over", "YR." + b64([]byte(`{"exp":1}`)) + ".YQ", notJWT + "part 1 is not base64url"},
		{"a line feed", "Y\nQ." + b64([]byte(`{"exp":1}`)) + ".YQ", notJWT + "part 1 is not base64url"},
		{"a space", " " + whole, notJWT + "part 1 is not base64url"},
		{"the longest", unsigned + strings.Repeat("A", maxToken-len(unsigned)), "2026-11-30T12:00:00Z"},
		{"too long", strings.Repeat("A", maxToken+1), "exceeds 16384 bytes"},
	} {
		got := ""
		at, err := expiry(tc.token)
		if err != nil {
			got = err.Error()
		} else {
			got = at.Format(time.RFC3339)
		}
		if got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

// Whatever a token is, its end is an instant of four-digit years or an error that quotes nothing.
func FuzzExpiry(f *testing.F) {
	f.Add("")
	f.Add("..")
	f.Add(jwtOf(`{"exp":1796040000}`, "x"))
	f.Add(jwtOf(`{"exp":1e9}`, "x"))
	f.Fuzz(func(t *testing.T, token string) {
		at, err := expiry(token)
		if err == nil && (at.Before(time.Unix(0, 0)) || at.Year() > 9999 || len(token) > maxToken) {
			t.Errorf("%q ends at %v", token, at)
		}
		if err != nil && len(token) >= 24 && strings.Contains(err.Error(), token) {
			t.Errorf("the error quotes the token: %v", err)
		}
	})
}
