package codex

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestInspect(t *testing.T) {
	text := func(left time.Duration) string { return authJSON(oldAccess(left), oldRefresh, oldID) }
	noRefresh := func(left time.Duration) string { return `{"tokens":{"access_token":"` + oldAccess(left) + `"}}` }
	const notRenewable = "it has no refresh token"
	for _, tc := range []struct {
		name, text string
		link       bool
		want       Status // FILE stands for the path
		renewable  bool
	}{
		{"a whole login", text(90 * time.Minute), false, Status{ExpiresAt: noon.Add(90 * time.Minute), Left: 90 * time.Minute}, true},
		{"an end that has passed", text(-time.Hour), false, Status{ExpiresAt: noon.Add(-time.Hour)}, true},
		{"no refresh token, 15 minutes", noRefresh(15 * time.Minute), false, Status{ExpiresAt: noon.Add(15 * time.Minute), Left: 15 * time.Minute, NotRenewable: notRenewable}, false},
		{"no refresh token, less", noRefresh(14 * time.Minute), false, Status{
			ExpiresAt: noon.Add(14 * time.Minute), Left: 14 * time.Minute, NotRenewable: notRenewable,
			Problem: "the Codex login in FILE ends at 2026-11-30T12:14:00Z and cannot be renewed: it has no refresh token; run codex login",
		}, false},
		{"no refresh token, none", noRefresh(0), false, Status{
			ExpiresAt: noon, NotRenewable: notRenewable,
			Problem: "the Codex login in FILE ended at 2026-11-30T12:00:00Z and cannot be renewed: it has no refresh token; run codex login",
		}, false},
		{"hard links", text(time.Hour), true, Status{ExpiresAt: noon.Add(time.Hour), Left: time.Hour, NotRenewable: "FILE has several hard links"}, false},
		{"nobody logged in", `{"tokens":null}`, false, Status{Problem: "no Codex access token in FILE; run codex login"}, false},
		{"no JSON", `no`, false, Status{Problem: "the Codex login in FILE: line 1, column 2: this is not JSON; run codex login"}, false},
	} {
		path := write(t, tc.text)
		if tc.link {
			if err := os.Link(path, path+".other"); err != nil {
				t.Fatal(err)
			}
		}
		got := inspect(path, atNoon)
		tc.want.File = path
		tc.want.Problem = strings.ReplaceAll(tc.want.Problem, "FILE", path)
		tc.want.NotRenewable = strings.ReplaceAll(tc.want.NotRenewable, "FILE", path)
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
		if got.Renewable() != tc.renewable {
			t.Errorf("%s: renewable is %t", tc.name, got.Renewable())
		}
	}
}
