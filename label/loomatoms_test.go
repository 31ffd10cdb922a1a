package label_test

import (
	"strings"
	"testing"

	"github.com/loomrun/loom/label"
)

func TestAtomsOfTheOwnStore(t *testing.T) {
	for _, tc := range []struct {
		atom label.Atom
		want string
	}{
		{label.User("alice"), `{"subject":"alice","type":"loom/User"}`},
		{label.Class("mail", "alice"), `{"class":"mail","subject":"alice","type":"loom/Class"}`},
		{label.Facet("work", "alice"), `{"facet":"work","subject":"alice","type":"loom/Facet"}`},
		{label.Observed("google.gmail"), `{"connector":"google.gmail","type":"loom/Observed"}`},
		{label.User("a\"\n\xff"), `{"subject":"a\"\n` + "\ufffd" + `","type":"loom/User"}`},
		{label.ReadFailed(), `"cfc:label-read-failed"`},
	} {
		if got := tc.atom.Canonical(); got != tc.want {
			t.Errorf("got %s, want %s", got, tc.want)
		}
		if again := atomJSON(t, tc.want); again != tc.atom {
			t.Errorf("%s: read it is another atom", tc.want)
		}
	}
}

// D39.
func TestOfRecord(t *testing.T) {
	const head, tail = `{"confidentiality":[{"subject":"alice","type":"loom/User"},{"class":"mail","subject":"alice","type":"loom/Class"},`, `],"integrity":[{"connector":"google.gmail","type":"loom/Observed"}]}`
	facet := func(f string) string { return `{"facet":"` + f + `","subject":"alice","type":"loom/Facet"}` }
	for _, tc := range []struct {
		facets []string
		want   string
	}{
		{nil, facet("(none)")},
		{[]string{"work"}, facet("work")},
		{[]string{"work", "work"}, facet("work")},
		{[]string{"work", "family"}, `{"anyOf":[` + facet("family") + `,` + facet("work") + `]}`},
		{[]string{"family", "work"}, `{"anyOf":[` + facet("family") + `,` + facet("work") + `]}`},
		{[]string{"Work", "family", "(none)", ""}, facet("family")},
		{[]string{"Work"}, facet("(none)")},
	} {
		l := label.OfRecord("alice", "mail", "google.gmail", tc.facets)
		if got := l.Canonical(); got != head+tc.want+tail {
			t.Errorf("%q: got %s, want %s", tc.facets, got, head+tc.want+tail)
		}
		if again, err := label.ReadLabel([]byte(l.Canonical())); err != nil || !again.Equal(l) {
			t.Errorf("%q: it is read with %v", tc.facets, err)
		}
	}
}

func TestScopes(t *testing.T) {
	mailAndCalendar := []string{"mail", "calendar"}
	record := func(facets ...string) label.Label {
		return label.OfRecord("alice", "mail", "google.gmail", facets)
	}
	work := label.ScopeCeiling("alice", mailAndCalendar, []string{"work"})
	both := label.ScopeCeiling("alice", mailAndCalendar, []string{"work", "health"})
	tricked := label.ScopeCeiling("alice", mailAndCalendar, []string{"work", label.NoFacet, "Health"})
	none := label.ScopeCeiling("alice", mailAndCalendar, nil)
	owner := label.OwnerCeiling("alice", mailAndCalendar, []string{"work", "health", "family"})
	for _, tc := range []struct {
		name    string
		ceiling label.Ceiling
		label   label.Label
		fits    bool
	}{
		{"the facet of the scope", work, record("work"), true},
		{"one of two facets", work, record("work", "family"), true},
		{"another facet", work, record("health"), false},
		{"no facet", work, record(), false},
		{"a record of either facet", both, record("health"), true},
		{"a record of both facets", both, record("health", "work"), true},
		{"another owner", work, label.OfRecord("bob", "mail", "google.gmail", []string{"work"}), false},
		{"another class", work, label.OfRecord("alice", "places", "google.timeline", []string{"work"}), false},
		{"the other class", work, label.OfRecord("alice", "calendar", "google.calendar", []string{"work"}), true},
		{"a scope that names what is no facet", tricked, record(), false},
		{"a scope without facets", none, record("work"), false},
		{"a scope without facets, no facet", none, record(), false},
		{"the owner, any facet", owner, record("family"), true},
		{"the owner, no facet", owner, record(), true},
		{"the owner, a facet that is not named", owner, record("club"), false},
		{"the owner, data of another", owner, label.OfRecord("bob", "mail", "google.gmail", nil), false},
		{"made from two facets, under one", work, label.Join(record("work"), record("health")), false},
		{"made from two facets, under both", both, label.Join(record("work"), record("health")), true},
		{"both scopes at once", meet(t, both, work), record("work"), true},
		{"both scopes at once, the wider facet", meet(t, both, work), record("health"), false},
		{"made from a record, public", label.UpTo(), label.Join(record("work")), false},
	} {
		if got := label.Fits(tc.label, tc.ceiling); got != tc.fits {
			t.Errorf("%s: fits is %v; outside are %s", tc.name, got, texts(label.Outside(tc.label, tc.ceiling)))
		}
	}
	if !tricked.Equal(work) {
		t.Errorf("what is no facet id is named: %s", tricked.Canonical())
	}
	if got := len(owner.Clauses()); got != 1+2+3+1 {
		t.Errorf("the owner's ceiling has %d clauses", got)
	}
}

func TestIsFacet(t *testing.T) {
	for id, want := range map[string]bool{
		"work": true, "a": true, "0": true, "a-b-": true, strings.Repeat("a", label.MaxFacetBytes): true,
		"": false, "-a": false, "Work": false, "a_b": false, "a b": false, "é": false, "a\n": false,
		label.NoFacet: false, strings.Repeat("a", label.MaxFacetBytes+1): false, "a/": false, "a:": false, "a`": false, "a{": false,
	} {
		if label.IsFacet(id) != want {
			t.Errorf("%q: not %v", id, want)
		}
	}
}

func BenchmarkOfRecord(b *testing.B) {
	facets := []string{"work", "family"}
	b.ReportAllocs()
	for b.Loop() {
		label.OfRecord("alice", "mail", "google.gmail", facets)
	}
}
