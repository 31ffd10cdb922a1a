package pinnedgit

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxLocator is the longest locator taken, in characters (governed-runs 2.7).
const MaxLocator = 8192

// PinLength is how many hex digits a pin has: a full SHA-1 commit id, so that a branch, a tag or a
// shortened id can never stand where a commit must be named (governed-runs 2.7).
const PinLength = 40

// scheme marks a locator as one of a Git repository; a URL follows it.
const scheme = "git+"

// Locator names one commit of one repository. The zero value names none; ParseLocator makes the
// others. Locators are comparable.
type Locator struct {
	// URL is what git is given: an https, ssh or file URL, as it was written.
	URL string
	// Pin is the commit: 40 lower-case hex digits.
	Pin string
}

// String gives the canonical text, git+URL#PIN, which ParseLocator reads back to an equal Locator.
func (l Locator) String() string { return scheme + l.URL + "#" + l.Pin }

// ParseLocator reads `git+<URL>#<pin>` (governed-runs 2.7). The URL has the scheme https, ssh or
// file, no password, no user (ssh may have a bare user name) and no query; a file URL has an
// absolute path on this machine. The pin is exactly 40 hex digits, kept in lower case.
//
// Nothing is looked up and no process is started. An error never repeats the locator, which may hold
// a password.
func ParseLocator(text string) (Locator, error) {
	l, err := parseLocator(text)
	if err != nil {
		return Locator{}, fmt.Errorf("git source locator: %w", err)
	}
	return l, nil
}

func parseLocator(text string) (Locator, error) {
	if err := checkText(text, MaxLocator); err != nil {
		return Locator{}, err
	}
	rest, ok := strings.CutPrefix(text, scheme)
	if !ok {
		return Locator{}, errors.New("write it as git+URL#COMMIT")
	}
	address, pin, _ := strings.Cut(rest, "#")
	if strings.Contains(pin, "#") {
		return Locator{}, errors.New("more than one '#'; write it as git+URL#COMMIT")
	}
	if !isPin(pin) {
		return Locator{}, fmt.Errorf("pin the commit: '#' and its full id of %d hex digits must follow the URL; branches, tags and shortened ids are not taken", PinLength)
	}
	if err := checkURL(address); err != nil {
		return Locator{}, err
	}
	return Locator{URL: address, Pin: strings.ToLower(pin)}, nil
}

// checkURL applies the rules for the URL. It is stricter than git: what git would decode, complete or
// hand to a remote helper or to ssh as an option is refused here, so that git never sees it.
func checkURL(address string) error {
	// Git takes the scheme literally, where url.Parse would accept other spellings.
	kind, _, _ := strings.Cut(address, "://")
	switch kind {
	case "https", "ssh", "file":
	default:
		return errors.New("the URL must begin with https://, ssh:// or file://")
	}
	if strings.Contains(address, "?") {
		return errors.New("a query ('?') is not taken")
	}
	u, err := url.Parse(address)
	if err != nil {
		// The error of url.Parse repeats the URL.
		return errors.New("the URL is malformed")
	}
	if strings.ContainsFunc(u.Path, unicode.IsControl) || !utf8.ValidString(u.Path) {
		return errors.New("the URL's path decodes to control characters or to bytes that are not UTF-8")
	}
	if err := checkUser(kind, u.User); err != nil {
		return err
	}
	if kind == "file" {
		if u.Host != "" && u.Host != "localhost" {
			return errors.New("the host of a file URL must be empty or localhost")
		}
		if !strings.HasPrefix(u.Path, "/") {
			return errors.New("a file URL needs an absolute path")
		}
		return nil
	}
	if kind == "ssh" && strings.Trim(u.Path, "/") == "" {
		return errors.New("an ssh URL needs the path of the repository")
	}
	return checkHost(u)
}

// checkUser: no user, except a bare user name for ssh.
func checkUser(kind string, user *url.Userinfo) error {
	if user == nil {
		return nil
	}
	if _, set := user.Password(); set {
		return errors.New("a password is not taken")
	}
	if kind != "ssh" {
		return errors.New("a user name is taken for ssh only")
	}
	if !isName(user.Username(), "._-+") {
		return errors.New("the user name must be of ASCII letters, digits and ._-+ and not begin with '-'")
	}
	return nil
}

// checkHost: a host name in ASCII or an IP address, and a port number if any.
func checkHost(u *url.URL) error {
	host, port := u.Hostname(), u.Port()
	if strings.HasPrefix(u.Host, "[") {
		if a, err := netip.ParseAddr(host); err != nil || !a.Is6() || a.Zone() != "" {
			return errors.New("the URL's host is no IPv6 address")
		}
	} else if !isName(host, ".-_") {
		return errors.New("the URL's host must be of ASCII letters, digits and .-_ and not begin with '-'")
	}
	if n, err := strconv.ParseUint(port, 10, 16); port != "" && (err != nil || n == 0) || strings.HasSuffix(u.Host, ":") {
		return errors.New("the URL's port is no number from 1 to 65535")
	}
	return nil
}

// isName reports whether s is ASCII letters, digits and characters of extra, and does not begin with
// '-', which ssh would read as an option.
func isName(s, extra string) bool {
	if s == "" || s[0] == '-' {
		return false
	}
	return !strings.ContainsFunc(s, func(c rune) bool {
		alphanumeric := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		return !alphanumeric && !strings.ContainsRune(extra, c)
	})
}

func isPin(s string) bool {
	if len(s) != PinLength {
		return false
	}
	return !strings.ContainsFunc(s, func(c rune) bool {
		return !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F')
	})
}

// checkText: at most limit characters of UTF-8, no control characters.
func checkText(text string, limit int) error {
	switch {
	case !utf8.ValidString(text):
		return errors.New("not UTF-8")
	case utf8.RuneCountInString(text) > limit:
		return fmt.Errorf("longer than %d characters", limit)
	case strings.ContainsFunc(text, unicode.IsControl):
		return errors.New("control characters are not taken")
	}
	return nil
}
