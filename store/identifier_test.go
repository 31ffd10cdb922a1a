package store_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/loomrun/loom/store"
)

// Every form of DECISIONS D35, in the spellings people use; what is none is refused.
func TestParseIdentifier(t *testing.T) {
	for _, tc := range []struct {
		text string
		want store.Identifier // "" is an error
	}{
		{"alice@example.com", "alice@example.com"},
		{"  Alice.B+tag@Example.COM\n", "alice.b+tag@example.com"},
		{"mailto:alice@example.com", ""}, // a link is no address; what reads a card takes the link off
		{"o'neil@example.com", "o'neil@example.com"},
		{"zoë@exämple.com", "zoë@exämple.com"},
		{"alice@localhost", "alice@localhost"},
		{"@example.com", ""},
		{"alice@", ""},
		{"alice", ""},
		{"Alice Example", ""},
		{"Alice <alice@example.com>", ""},
		{"a@b@c", ""},
		{"a b@example.com", ""},
		{"a@example.com, b@example.com", ""},
		{`"a"@example.com`, ""},

		{"+14155550100", "+14155550100"},
		{"+1 (415) 555-0100", "+14155550100"},
		{"+1.415.555.0100", "+14155550100"},
		{"0041 44 555 01 00", "+41445550100"},
		{"044 555 01 00", "0445550100"},
		{"12345", "12345"},
		{"1234", ""},
		{"+1234", ""},
		{"1 2 3 4", ""},
		{"+", ""},
		{"++12345678", ""},
		{"1234567x", ""},
		{strings.Repeat("1", 32), store.Identifier(strings.Repeat("1", 32))},
		{strings.Repeat("1", 33), ""},
		{"٣٤٥٦٧٨٩", ""},

		{"handle:alice", "handle:alice"},
		{"handle:Alice Q", "handle:alice q"},
		{"handle:@alice:example.org", "handle:@alice:example.org"},
		{"handle:", ""},
		{"handle: alice", ""},
		{"HANDLE:alice", ""},
		{"person:01HABC", "person:01habc"},
		{"person:", ""},
		{"group:Family", "group:family"},
		{"group:", ""},
		{"org:acme", ""},

		{"People/Alice Example/about.md", "People/Alice Example/about.md"},
		{"People/ALICE/about.md", "People/ALICE/about.md"}, // a path is as it is
		{"People/Alice/notes.md", ""},
		{"People/a/b/about.md", ""},
		{"People//about.md", ""},
		{"people/Alice/about.md", ""},
		{"/People/Alice/about.md", ""},

		{"", ""},
		{" \t", ""},
		{"alice\x00@example.com", ""},
		{"handle:a\x1bb", ""},
		{"handle:a\nb", ""},
		{"handle:\xff", ""},
		{"handle:" + strings.Repeat("a", store.MaxIdentifierBytes-7), store.Identifier("handle:" + strings.Repeat("a", store.MaxIdentifierBytes-7))},
		{"handle:" + strings.Repeat("a", store.MaxIdentifierBytes-6), ""},
	} {
		got, err := store.ParseIdentifier(tc.text)
		if got != tc.want || (err == nil) != (tc.want != "") || err != nil && !errors.Is(err, store.ErrNoIdentifier) {
			t.Errorf("%.60q is %q, %v, want %q", tc.text, got, err, tc.want)
		}
		if again, err := store.ParseIdentifier(string(got)); tc.want != "" && (again != got || err != nil) {
			t.Errorf("%q is read as %q, %v", got, again, err)
		}
		if got.Key() != string(got) {
			t.Errorf("%q has the key %q", got, got.Key())
		}
	}
}

func TestIdentifiersOfSources(t *testing.T) {
	for _, tc := range []struct {
		of   func(string) store.Identifier
		text string
		want store.Identifier
	}{
		{store.EmailIdentifier, " Alice@Example.com ", "alice@example.com"},
		{store.EmailIdentifier, "MAILTO:alice@example.com", "alice@example.com"},
		{store.EmailIdentifier, "undisclosed-recipients:;", ""},
		{store.EmailIdentifier, "alice", ""},
		{store.EmailIdentifier, "a\x7fb@example.com", ""},
		{store.EmailIdentifier, "\xff@example.com", ""},
		{store.EmailIdentifier, strings.Repeat("a", store.MaxIdentifierBytes) + "@b", ""},
		{store.PhoneIdentifier, "tel:+1-415-555-0100", "+14155550100"},
		{store.PhoneIdentifier, "+1 415 555 0100 x12", "+14155550100"},
		{store.PhoneIdentifier, "tel:+14155550100;ext=12", "+14155550100"},
		{store.PhoneIdentifier, "+14155550100,,,12#", "+14155550100"},
		{store.PhoneIdentifier, "0049\u00a030/1234–56", "+4930123456"},
		{store.PhoneIdentifier, "415-CALL-NOW", ""},
		{store.PhoneIdentifier, "1+4155550100", ""},
		{store.PhoneIdentifier, "112", ""},
		{store.PhoneIdentifier, "", ""},
	} {
		if got := tc.of(tc.text); got != tc.want {
			t.Errorf("%q is %q, want %q", tc.text, got, tc.want)
		}
	}
}

// What is read once is read again as itself, and no text makes the reader fall over.
func TestIdentifiersAreNormal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.String(),
			rapid.StringMatching(`[+0-9 ().-]{0,20}`),
			rapid.StringMatching(`(handle|person|group|People)[:/].{0,10}(/about\.md)?`),
			rapid.StringMatching(`[A-Za-z.@ ]{0,20}`),
		).Draw(t, "text")
		i, err := store.ParseIdentifier(text)
		if err != nil {
			if i != "" {
				t.Fatalf("%q with %v", i, err)
			}
			return
		}
		if again, err := store.ParseIdentifier(string(i)); again != i || err != nil {
			t.Fatalf("%q is read as %q, %v", i, again, err)
		}
	})
}
