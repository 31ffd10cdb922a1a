package reference

import "strings"

// slackStamp is the number of digits in the stamp of a Slack message; the last slackFraction of them
// are the fraction of a second (governed-runs 3.1).
const (
	slackStamp    = 16
	slackFraction = 6
)

// reference returns what a link names: an issue, a merge request or a message where it is of one of
// the specific kinds, and only then not the URL itself. Query, fragment and what follows in the path
// are ignored for the specific kinds (governed-runs 3.1).
func (l link) reference() Reference {
	host, path := l.hostname(), l.path()
	for _, tracker := range []func(host, path string) (Reference, bool){atlassian, slack, github, gitlab} {
		if r, ok := tracker(host, path); ok {
			return r
		}
	}
	return Reference{Url, l.scheme + schemeEnd + l.host + l.tail}
}

// atlassian reads /browse/KEY of a host of Atlassian's.
func atlassian(host, path string) (Reference, bool) {
	rest, ok := strings.CutPrefix(path, "/browse/")
	key, _, _ := strings.Cut(rest, "/")
	ok = ok && (within(host, "atlassian.net") || within(host, "atlassian.com")) && isKey(key)
	return Reference{JiraIssue, key}, ok
}

// slack reads /archives/<channel>/p<stamp>.
func slack(host, path string) (Reference, bool) {
	rest, ok := strings.CutPrefix(path, "/archives/")
	channel, rest, _ := strings.Cut(rest, "/")
	stamp, _, _ := strings.Cut(rest, "/")
	stamp, marked := strings.CutPrefix(stamp, "p")
	if !ok || !marked || !within(host, "slack.com") || len(stamp) != slackStamp || !isNumber(stamp) ||
		!isName(channel, "") {
		return Reference{}, false
	}
	seconds, fraction := stamp[:slackStamp-slackFraction], stamp[slackStamp-slackFraction:]
	return Reference{SlackMessage, channel + "/" + seconds + "." + fraction}, true
}

var githubKinds = map[string]Kind{"issues": GithubIssue, "pull": GithubPullRequest}

// github reads /owner/repo/issues/<n> and /owner/repo/pull/<n>.
func github(host, path string) (Reference, bool) {
	rest, ok := strings.CutPrefix(path, "/")
	owner, rest, _ := strings.Cut(rest, "/")
	repo, rest, _ := strings.Cut(rest, "/")
	what, rest, _ := strings.Cut(rest, "/")
	number, _, _ := strings.Cut(rest, "/")
	kind, known := githubKinds[what]
	ok = ok && known && strings.TrimPrefix(host, "www.") == "github.com" &&
		isName(owner, "-_") && isName(repo, "-_.") && isNumber(number)
	return Reference{kind, strings.ToLower(owner+"/"+repo) + "#" + number}, ok
}

// gitlab reads /group/…/app/-/issues/<n> and /group/…/app/-/merge_requests/<n>. GitLab is run by
// many under their own names, so the host says nothing and the /-/ in the path has to.
func gitlab(_, path string) (Reference, bool) {
	project, rest, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/-/")
	what, rest, _ := strings.Cut(rest, "/")
	number, _, _ := strings.Cut(rest, "/")
	if !ok || !isProject(project) || !isNumber(number) {
		return Reference{}, false
	}
	switch what {
	case "issues":
		return Reference{GitlabIssue, project + "#" + number}, true
	case "merge_requests":
		return Reference{GitlabMergeRequest, project + "!" + number}, true
	}
	return Reference{}, false
}

// isProject says whether s is the path of a GitLab project: a group, any number of groups in it, and
// the project's own name.
func isProject(s string) bool {
	for part := range strings.SplitSeq(s, "/") {
		if !isName(part, "-_.") {
			return false
		}
	}
	return strings.Contains(s, "/")
}

// within says whether host is domain or a name under it.
func within(host, domain string) bool {
	return host == domain || strings.HasSuffix(host, "."+domain)
}

// isName says whether s is ASCII letters, digits and signs, at least one of them. A template such as
// {owner} is no name, and its link names no issue.
func isName(s, signs string) bool {
	for i := range len(s) {
		if !isWordByte(s[i]) && strings.IndexByte(signs, s[i]) < 0 {
			return false
		}
	}
	return s != ""
}
