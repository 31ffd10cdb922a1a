package model

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Entries say what Resolve would, and show no secret, not even where it stands in a base URL.
func TestEntries(t *testing.T) {
	t.Setenv("LOOM_TEST_SHOP_KEY", "key-from-the-environment")
	lab := RouteEntry{Alias: "lab-agent", UpstreamName: "lab-small-1", Protocol: ChatCompletions, BaseURL: "http://127.0.0.1:8080/v1", AuthKind: Anonymous, BillingKind: SelfHosted}
	shop := RouteEntry{Alias: "shop-agent", UpstreamName: "shop-large-9", Protocol: ChatCompletions, BaseURL: "https://models.shop.example/v1/", AuthKind: APIKey, BillingKind: Metered}
	refused := func(e RouteEntry, reason string) RouteEntry { e.Refusal = reason; return e }
	hidden := shop
	hidden.BaseURL = "https://models.shop.example/[secret]/"
	for _, tc := range []struct {
		name  string
		edits []string
		want  []RouteEntry
	}{
		{"usable", nil, []RouteEntry{lab, shop}},
		{"with a reason why not", []string{"tools = true", "tools = false"}, []RouteEntry{refused(lab, "its model cannot take a forced tool call"), shop}},
		{"with a secret in the wrong place", []string{"models.shop.example/v1/", "models.shop.example/key-from-the-environment/"}, []RouteEntry{lab, hidden}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, exampleRoutes(t, tc.edits...).Entries()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
