package pinnedgit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const somePin = "0123456789abcdef0123456789abcdef01234567"

func TestLocatorIsTaken(t *testing.T) {
	for _, tc := range []struct{ name, text, url string }{
		{"https", "git+https://example.org/a/b.git#" + somePin, "https://example.org/a/b.git"},
		{"https with a port", "git+https://example.org:8443/b#" + somePin, "https://example.org:8443/b"},
		{"an IPv6 address", "git+https://[::1]:8443/b#" + somePin, "https://[::1]:8443/b"},
		{"a dash as a path segment", "git+https://example.org/-/b#" + somePin, "https://example.org/-/b"},
		{"ssh without a user", "git+ssh://example.org/b#" + somePin, "ssh://example.org/b"},
		{"ssh with a user", "git+ssh://git@example.org:22/~/b#" + somePin, "ssh://git@example.org:22/~/b"},
		{"file", "git+file:///srv/b.git#" + somePin, "file:///srv/b.git"},
		{"file on localhost", "git+file://localhost/srv/b#" + somePin, "file://localhost/srv/b"},
		{"an encoded question mark", "git+file:///srv/b%3Fc#" + somePin, "file:///srv/b%3Fc"},
		{"a path outside ASCII", "git+file:///srv/ä#" + somePin, "file:///srv/ä"},
		{"exactly 8,192 characters", longest("é", 0), "file:///" + strings.Repeat("é", MaxLocator-8-4-41)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l, err := ParseLocator(tc.text)
			if err != nil {
				t.Fatal(err)
			}
			if want := (Locator{tc.url, somePin}); l != want {
				t.Errorf("%+v, want %+v", l, want)
			}
			if l.String() != tc.text {
				t.Errorf("String gives %q, want %q", l, tc.text)
			}
		})
	}
}

// longest gives a locator of MaxLocator+more characters.
func longest(c string, more int) string {
	return "git+file:///" + strings.Repeat(c, MaxLocator+more-8-4-41) + "#" + somePin
}

func TestCase59UpperCasePinIsStoredInLowerCase(t *testing.T) {
	l, err := ParseLocator("git+https://example.org/b#" + strings.ToUpper(somePin))
	if err != nil {
		t.Fatal(err)
	}
	if l.Pin != somePin || l.String() != "git+https://example.org/b#"+somePin {
		t.Errorf("%+v prints as %q", l, l)
	}
}

var refusedLocators = []struct{ name, text string }{
	{"a branch (case 55)", "git+https://example.org/b#main"},
	{"a tag (case 55)", "git+https://example.org/b#v1.2.3"},
	{"39 hex digits (case 55)", "git+https://example.org/b#" + somePin[:39]},
	{"41 hex digits (case 55)", "git+https://example.org/b#" + somePin + "0"},
	{"two fragments (case 55)", "git+https://example.org/b#" + somePin + "#" + somePin},
	{"two # (case 55)", "git+https://example.org/b##" + somePin},
	{"a query (case 55)", "git+https://example.org/b?c=d#" + somePin},
	{"an empty query", "git+https://example.org/b?#" + somePin},
	{"a password for https (case 55)", "git+https://u:SECRET@example.org/b#" + somePin},
	{"a password for ssh (case 55)", "git+ssh://git:SECRET@example.org/b#" + somePin},
	{"an empty password", "git+ssh://git:@example.org/b#" + somePin},
	{"a user on https (case 55)", "git+https://u@example.org/b#" + somePin},
	{"an empty user on https", "git+https://@example.org/b#" + somePin},
	{"a user on file", "git+file://u@localhost/b#" + somePin},
	{"http (case 55)", "git+http://example.org/b#" + somePin},
	{"git (case 55)", "git+git://example.org/b#" + somePin},
	{"ext (case 55)", "git+ext::sh -c touch% MARK#" + somePin},
	{"ext without git+ (case 55)", "ext::sh -c touch% MARK#" + somePin},
	{"ext as a scheme", "git+ext://sh#" + somePin},
	{"a helper before a scheme", "git+https::ssh://example.org/b#" + somePin},
	{"the scp form", "git+git@example.org:b#" + somePin},
	{"the scp form after ssh", "git+ssh://git@example.org:team/b#" + somePin},
	{"a scheme in upper case", "git+HTTPS://example.org/b#" + somePin},
	{"no git+", "https://example.org/b#" + somePin},
	{"git+ in upper case", "GIT+https://example.org/b#" + somePin},
	{"nothing", ""},
	{"only a pin", "git+#" + somePin},
	{"no pin", "git+https://example.org/b"},
	{"an empty pin", "git+https://example.org/b#"},
	{"a pin that is no hex", "git+https://example.org/b#" + strings.Repeat("g", 40)},
	{"a pin with another digit", "git+https://example.org/b#" + strings.Repeat("0", 37) + "٣"},
	{"an option as the URL", "git+--upload-pack=touch MARK#" + somePin},
	{"an option as the locator", "--upload-pack=touch MARK#" + somePin},
	{"an option as the host", "git+ssh://-oProxyCommand=touch/b#" + somePin},
	{"an option as an encoded host", "git+ssh://%2doProxyCommand=touch/b#" + somePin},
	{"an option as the user", "git+ssh://-lroot@example.org/b#" + somePin},
	{"an option as an encoded user", "git+ssh://%2dlroot@example.org/b#" + somePin},
	{"a user with a space", "git+ssh://a%20b@example.org/b#" + somePin},
	{"an empty user", "git+ssh://@example.org/b#" + somePin},
	{"a host outside ASCII", "git+https://exämple.org/b#" + somePin},
	{"a host for the shell", "git+ssh://$(touch)/b#" + somePin},
	{"no host", "git+https:///b#" + somePin},
	{"no address in brackets", "git+https://[example.org]/b#" + somePin},
	{"an address with a zone", "git+https://[fe80::1%25eth0]/b#" + somePin},
	{"port 0", "git+https://example.org:0/b#" + somePin},
	{"port 65536", "git+https://example.org:65536/b#" + somePin},
	{"an empty port", "git+https://example.org:/b#" + somePin},
	{"ssh without a path", "git+ssh://example.org#" + somePin},
	{"ssh with the path /", "git+ssh://example.org/#" + somePin},
	{"a file on another host", "git+file://example.org/b#" + somePin},
	{"a file on localhost with a port", "git+file://localhost:1/b#" + somePin},
	{"a relative file", "git+file:b#" + somePin},
	{"a file with no path", "git+file://localhost#" + somePin},
	{"a line feed", "git+https://example.org/b\n#" + somePin},
	{"an escape", "git+https://example.org/\x1b[31m#" + somePin},
	{"a C1 control", "git+https://example.org/\u009b#" + somePin},
	{"an encoded line feed", "git+https://example.org/%0ab#" + somePin},
	{"an encoded NUL", "git+file:///b%00c#" + somePin},
	{"an encoded byte that is not UTF-8", "git+file:///b%ff#" + somePin},
	{"a broken escape", "git+https://example.org/%zz#" + somePin},
	{"bytes that are not UTF-8", "git+https://example.org/\xff#" + somePin},
	{"8,193 characters", longest("é", 1)},
}

func TestLocatorIsRefused(t *testing.T) {
	for _, tc := range refusedLocators {
		t.Run(tc.name, func(t *testing.T) {
			l, err := ParseLocator(tc.text)
			if err == nil {
				t.Fatalf("taken as %+v", l)
			}
			if l != (Locator{}) {
				t.Errorf("refused, and yet gives %+v", l)
			}
			if !strings.HasPrefix(err.Error(), "git source locator: ") || strings.Contains(err.Error(), "SECRET") {
				t.Errorf("the message is %q", err)
			}
		})
	}
}

func TestCase55RefusedLocatorMakesNoFolderAndStartsNoProcess(t *testing.T) {
	w := newWorld(t)
	mark := filepath.Join(t.TempDir(), "mark")
	standInForGit(t, "touch '"+mark+"'")
	for _, tc := range refusedLocators {
		rest, ok := strings.CutPrefix(tc.text, scheme)
		if !ok {
			continue // no Locator could say that
		}
		address, pin, _ := strings.Cut(rest, "#")
		if _, err := Fetch(t.Context(), Locator{address, pin}, "a"); err == nil {
			t.Errorf("%s: fetched", tc.name)
		}
		if _, err := os.Stat(mark); err == nil {
			t.Fatalf("%s: a process was started", tc.name)
		}
	}
	w.checkNothingLeft(t)
}

func TestLocatorOfUpperCasePinIsReadFirst(t *testing.T) {
	// Only ParseLocator makes locators that Fetch takes: the pin is compared with what git answers.
	newWorld(t)
	if _, err := Fetch(t.Context(), Locator{"file:///b", strings.ToUpper(somePin)}, "a"); err == nil || !strings.HasPrefix(err.Error(), "git source locator: ") {
		t.Errorf("the error is %v", err)
	}
}

func TestLocatorReadsBackToItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`git\+(https://|ssh://([a-z]+@)?|file://)[a-z0-9.:/%@-]{0,20}#[0-9a-fA-F]{40}`).Draw(t, "text")
		l, err := ParseLocator(text)
		if err != nil {
			return
		}
		if again, err := ParseLocator(l.String()); err != nil || again != l {
			t.Fatalf("%+v reads back as %+v (%v)", l, again, err)
		}
	})
}

func FuzzParseLocator(f *testing.F) {
	for _, tc := range refusedLocators {
		f.Add(tc.text)
	}
	f.Add("git+ssh://git@example.org:22/~/b#" + somePin)
	f.Add("git+https://[::1]:8443/b#" + somePin)
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ParseLocator(text)
		if err != nil {
			return
		}
		if again, err := ParseLocator(l.String()); err != nil || again != l {
			t.Errorf("%+v reads back as %+v (%v)", l, again, err)
		}
		if l.Pin != strings.ToLower(l.Pin) || len(l.Pin) != PinLength || strings.HasPrefix(l.URL, "-") || strings.ContainsAny(l.URL, "?#\n\x00") {
			t.Errorf("takes %q as %+v", text, l)
		}
	})
}
