package config_test

import (
	"strings"
	"testing"

	"github.com/loomrun/loom/internal/config"
)

// What the key journal takes, and what is shown of it: no password, wherever in an address it stands.
func TestReadJournal(t *testing.T) {
	for _, tc := range []struct {
		text  string
		shown string // empty: it is refused
	}{
		{"journal.db", "journal.db"},
		{"/var/lib/a b/journal.db", "/var/lib/a b/journal.db"},
		{"postgres:journal.db", "postgres:journal.db"},
		{"postgres://", "postgres://"},
		{"postgres:///loom?host=/run/postgresql", "postgres:///loom?host=/run/postgresql"},
		{"postgres://ada@db.example.org:5433/loom", "postgres://ada@db.example.org:5433/loom"},
		{"postgresql://ada:sk-secret@db/loom", "postgresql://ada:xxxxx@db/loom"},
		{"postgres://ada:sk-secret@more@db/loom", "postgres://ada:xxxxx@db/loom"},
		{"postgres://ada@db/loom?password=sk-secret&sslmode=require", "postgres://ada@db/loom?password=xxxxx&sslmode=require"},
		{"postgres://ada@db/loom?sslpassword=sk-secret&password=sk-secret", "postgres://ada@db/loom?password=xxxxx&sslpassword=xxxxx"},

		{"", ""},
		{"a\x00b", ""},
		{"mysql://ada:sk-secret@db/loom", ""},
		{"file:///journal.db", ""},
		{"postgres://ada:sk-secret@db:port/loom", ""},
		{"postgres://ada:%zz@db/loom", ""},
		{"postgres://ada@db/loom?password=%zz", ""},
		{"postgres://ada:12/sk-secret@db/loom", ""},
		{"postgres://ada:12?sk-secret@db/loom", ""},
		{"postgres://ada:12#sk-secret@db/loom", ""},
		{"postgres://ada:12@1/sk-secret@db/loom", ""},
	} {
		journal, ok := config.ReadJournal(tc.text)
		if ok != (tc.shown != "") || ok && journal.String() != tc.shown {
			t.Errorf("%q: %v, %s, want %s", tc.text, ok, journal, tc.shown)
		}
		if shown := journal.String(); strings.Contains(tc.text, "://") && strings.Contains(shown, "sk-secret") {
			t.Errorf("%q is shown as %s", tc.text, shown)
		}
		if ok && journal.Path+journal.Address != tc.text {
			t.Errorf("%q is read as %+v", tc.text, journal)
		}
	}
}
