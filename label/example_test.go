package label_test

import (
	"fmt"

	"github.com/loomrun/loom/label"
)

// A reader that is bounded to the facet work sees a record of work and family, but not one of health,
// and nothing that was made from both.
func Example() {
	scope := label.ScopeCeiling("alice", []string{"mail"}, []string{"work"})
	lunch := label.OfRecord("alice", "mail", "google.gmail", []string{"work", "family"})
	doctor := label.OfRecord("alice", "mail", "google.gmail", []string{"health"})
	summary := label.Join(lunch, doctor)

	fmt.Println(label.Fits(lunch, scope), label.Fits(doctor, scope), label.Fits(summary, scope))
	fmt.Println(label.Outside(summary, scope)[0].Canonical())
	fmt.Println(summary.Types().Confidentiality)
	// Output:
	// true false false
	// {"facet":"health","subject":"alice","type":"loom/Facet"}
	// [[loom/User] [loom/Class] [loom/Facet loom/Facet] [loom/Facet]]
}
