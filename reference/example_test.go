package reference_test

import (
	"fmt"

	"github.com/loomrun/loom/reference"
)

func ExampleExtract() {
	for _, r := range reference.Extract("fix ABC-12, see https://github.com/Owner/Repo/pull/7") {
		fmt.Println(r.Kind, r.Value)
	}
	// Output:
	// JiraIssue ABC-12
	// GithubPullRequest owner/repo#7
}
