// Package reference finds the tracker keys and links that a person wrote in an intent.
//
// It implements governed-runs 3.1. The rules are fixed and need no model, no network and no file:
// the same text always gives the same references. A reference is a label. Nothing is fetched.
//
//	for _, r := range reference.Extract("fix ABC-12, see https://github.com/Owner/Repo/pull/7") {
//		fmt.Println(r.Kind, r.Value)
//	}
//	// JiraIssue ABC-12
//	// GithubPullRequest owner/repo#7
package reference

// Kind says what a reference names. The words are those that a run prints and stores
// (governed-runs 3.1, 1.4).
type Kind string

// The kinds of governed-runs 3.1, each with the form of its values.
const (
	// JiraIssue is a bare key or an Atlassian /browse/KEY link: ABC-12.
	JiraIssue Kind = "JiraIssue"
	// SlackMessage is a link to one message: <channel>/<seconds>.<6 digits>.
	SlackMessage Kind = "SlackMessage"
	// GitlabIssue is an issue link of any GitLab host: group/sub/app#9, the case of the path kept.
	GitlabIssue Kind = "GitlabIssue"
	// GitlabMergeRequest is a merge request link of any GitLab host: group/sub/app!42.
	GitlabMergeRequest Kind = "GitlabMergeRequest"
	// GithubIssue is an issue link of github.com: owner/repo#8 in lower case.
	GithubIssue Kind = "GithubIssue"
	// GithubPullRequest is a pull request link of github.com: owner/repo#7 in lower case.
	GithubPullRequest Kind = "GithubPullRequest"
	// Url is every other http or https link: scheme and host in lower case, without user and
	// password, with port, path, query and fragment as written.
	Url Kind = "Url"
)

// Reference is one thing the text names. References are comparable; two are the same when kind and
// value are (governed-runs 3.1).
type Reference struct {
	Kind  Kind
	Value string
}
