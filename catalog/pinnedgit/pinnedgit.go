// Package pinnedgit reads one file of one pinned Git commit, for installing a protocol from it
// (governed-runs 2.7).
//
//	locator, err := pinnedgit.ParseLocator("git+https://example.org/team/protocols.git#" + commit)
//	content, err := pinnedgit.Fetch(ctx, locator, "clock/team-clock.yaml")
//
// The work is done by the git executable, in a private folder, without a checkout: git transports,
// and everything that a repository, a server or a configuration could make git run besides is
// switched off. A commit is named by the hash over all it contains, so what the server sends is
// either the pinned content or refused.
package pinnedgit
