package label_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/loomrun/loom/label"
)

func TestWords(t *testing.T) {
	for _, c := range []struct {
		clauses []label.Clause
		want    string
	}{
		{nil, "public"},
		{label.OfRecord("ada", "email", "mail.mbox", []string{"work"}).Confidentiality(), "owner ada; class email; facet work"},
		{label.OfRecord("ada", "email", "mail.mbox", nil).Confidentiality(), "owner ada; class email; facet (none)"},
		{
			label.ScopeCeiling("ada", []string{"calendar", "email"}, []string{"family", "work"}).Clauses(),
			"owner ada; class calendar, email; facet family, work",
		},
		{
			[]label.Clause{label.AnyOf(label.Facet("a", "ada"), label.Facet("b", "ada")), label.AnyOf(label.Facet("c", "ada"))},
			"facet a or b; facet c",
		},
		{[]label.Clause{label.AnyOf(label.User("ada"), label.Facet("a", "ada"))}, `{"anyOf":[{"facet":"a","subject":"ada","type":"loom/Facet"},{"subject":"ada","type":"loom/User"}]}`},
		{[]label.Clause{label.AnyOf(label.ReadFailed())}, `"cfc:label-read-failed"`},
		{
			[]label.Clause{label.AnyOf(label.Class("email", "ada")), label.AnyOf(label.User("ada")), label.AnyOf(label.Class("calendar", "ada"))},
			"owner ada; class email, calendar",
		},
		{[]label.Clause{label.AnyOf()}, `{"anyOf":[]}`},
		{[]label.Clause{label.AnyOf(), label.AnyOf(label.User("ada"))}, `owner ada; {"anyOf":[]}`},
		{met(t, label.ScopeCeiling("ada", store, []string{"work", "home"}), label.ScopeCeiling("ada", []string{"email"}, []string{"work"})), "owner ada; class email; facet work"},
	} {
		if got := label.Words(c.clauses); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	var many []label.Clause
	for i := range 600 {
		many = append(many, label.AnyOf(label.Facet(fmt.Sprint("f", i), "ada")))
	}
	if got := label.Words(append(many, label.AnyOf(label.Facet("f0", "ada"), label.Facet("g", "ada")))); !strings.HasSuffix(got, "; facet f0 or g") {
		t.Errorf("of very many clauses none is compared: %s", got[len(got)-40:])
	}
	odd, err := label.ReadCeiling([]byte(`[{"type":"loom/User","subject":7}]`))
	if got := label.Words(odd.Clauses()); err != nil || got != `{"subject":7,"type":"loom/User"}` {
		t.Errorf("%q, %v", got, err)
	}
}

var store = []string{"activity", "calendar", "contact", "document", "email", "location"}

func met(t *testing.T, a, b label.Ceiling) []label.Clause {
	t.Helper()
	c, err := label.Meet(a, b)
	if err != nil {
		t.Fatal(err)
	}
	return c.Clauses()
}
