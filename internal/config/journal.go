package config

import (
	"net/url"
	"slices"
	"strings"
)

// journalWants says what the key journal takes.
const journalWants = "a path or a postgres:// URL"

// Journal is where the records of runs are kept: in a file, or in a PostgreSQL database. One of the two is set.
type Journal struct {
	Path    string
	Address string // with its password, if it has one
}

// ReadJournal reads a value of the key journal. It reports false for what is neither a path nor a URL with the
// scheme postgres or postgresql.
func ReadJournal(text string) (Journal, bool) {
	if !isAddress(text) {
		_, ok := named(text)
		return Journal{Path: text}, ok
	}
	_, ok := shown(text)
	return Journal{Address: text}, ok
}

// String gives the path, or the address with xxxxx in the place of each password.
func (j Journal) String() string {
	if j.Address == "" {
		return j.Path
	}
	address, ok := shown(j.Address)
	if !ok {
		return "(an address that cannot be read)"
	}
	return address
}

// passwords are the parameters of an address that hold one, as PostgreSQL has them.
var passwords = []string{"password", "sslpassword"}

// hidden stands in the place of a password, as in url.URL.Redacted.
const hidden = "xxxxx"

// shown gives an address without its passwords, where it is one.
func shown(address string) (string, bool) {
	u, err := url.Parse(address)
	if err != nil || !slices.Contains([]string{"postgres", "postgresql"}, u.Scheme) {
		return "", false
	}
	_, behind, _ := strings.Cut(address, "://")
	if i := strings.IndexAny(behind, "/?#"); i >= 0 && strings.Contains(behind[i:], "@") {
		return "", false // a password that is not escaped, and of which this would be the end
	}
	parameters, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return "", false
	}
	_, secret := u.User.Password()
	for _, name := range passwords {
		if parameters.Has(name) {
			parameters.Set(name, hidden)
			u.RawQuery, secret = parameters.Encode(), true
		}
	}
	if !secret {
		return address, true
	}
	return u.Redacted(), true
}

// isAddress tells an address from a path.
func isAddress(text string) bool { return strings.Contains(text, "://") }

func journal(text string) (string, bool) {
	_, ok := ReadJournal(text)
	return text, ok
}
