package model

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func exampleRoutes(t *testing.T, edits ...string) *Routes {
	t.Helper()
	text := example(t)
	for i := 0; i < len(edits); i += 2 {
		text = change(t, text, edits[i], edits[i+1])
	}
	routes, err := parseRoutes([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return routes
}

func TestResolveAnonymous(t *testing.T) {
	got, err := exampleRoutes(t).Resolve("lab-agent")
	if err != nil {
		t.Fatal(err)
	}
	want := Binding{
		Alias: "lab-agent", BaseURL: "http://127.0.0.1:8080/v1", UpstreamName: "lab-small-1", Protocol: ChatCompletions,
		Capabilities: Capabilities{
			Tools: true, ToolChoice: true, Temperature: true,
			ReasoningEfforts: []string{"low", "high"}, ContextWindow: 32768, MaxOutputTokens: 4096,
		},
		ProviderID: "lab", AccountID: "lab-anon", EndpointID: "lab-http", ServingModelID: "small-chat",
		AuthKind: Anonymous, BillingKind: SelfHosted,
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Secret{})); diff != "" {
		t.Error(diff)
	}
}

// governed-runs 7.1: every protocol a catalog may name is served.
func TestResolveServesEachProtocol(t *testing.T) {
	for _, protocol := range []Protocol{ChatCompletions, Messages, Responses} {
		got, err := exampleRoutes(t, `"chat-completions"`, `"`+string(protocol)+`"`).Resolve("lab-agent")
		if err != nil || got.Protocol != protocol {
			t.Errorf("%s: got %q, %v", protocol, got.Protocol, err)
		}
	}
}

// governed-runs 11.1, case 9: the target at position 0 counts, wherever it stands in the file.
func TestResolveTakesTheFirstPosition(t *testing.T) {
	t.Setenv("LOOM_TEST_SHOP_KEY", "key-from-the-environment")
	got, err := exampleRoutes(t).Resolve("shop-agent")
	if err != nil {
		t.Fatal(err)
	}
	if got.ServingModelID != "large-chat" || got.Secret.Reveal() != "key-from-the-environment" {
		t.Errorf("got %+v with secret %q", got, got.Secret.Reveal())
	}
}

func TestResolveDoesNotShareWhatItGives(t *testing.T) {
	routes := exampleRoutes(t)
	first, _ := routes.Resolve("lab-agent")
	first.Capabilities.ReasoningEfforts[0] = "changed"
	second, _ := routes.Resolve("lab-agent")
	if second.Capabilities.ReasoningEfforts[0] != "low" {
		t.Error("a change of one binding reaches another")
	}
}

func TestResolveRefuses(t *testing.T) {
	notSet := "LOOM_TEST_NOT_SET"
	if _, set := os.LookupEnv(notSet); set {
		t.Skip(notSet + " is set")
	}
	shopKey := `secret_reference_id = "env:LOOM_TEST_SHOP_KEY"`
	for _, tc := range []struct {
		name, alias string
		edits       []string
		reason      string
	}{
		{"an alias that is not declared", "gpt-5.6-sol", nil, "the alias is not declared"},
		{"no alias", "", nil, "the alias is not declared"},
		{"an id instead of an alias", "r1", nil, "the alias is not declared"},
		{"fallback with two targets", "shop-agent", []string{"fallback_enabled = false", "fallback_enabled = true"}, "its route falls back to other targets, which this version does not do"},
		{"no tools", "lab-agent", []string{"tools = true", "tools = false"}, "its model cannot take a forced tool call"},
		{"no tool choice", "lab-agent", []string{"tool_choice = true", "tool_choice = false"}, "its model cannot take a forced tool call"},
		{"a subscription", "lab-agent", []string{`account_id = "lab-anon"`, `account_id = "shop-seat"`}, "its account signs in by subscription-oauth, which this version does not serve"},
		{"a secret that is not set", "shop-agent", []string{shopKey, `secret_reference_id = "env:` + notSet + `"`}, "the secret of its account (secret_reference_id at byte 427) is in an environment variable that is not set"},
		{"another form of reference", "shop-agent", []string{shopKey, `secret_reference_id = "keyring:shop"`}, "the secret of its account (secret_reference_id at byte 427) has a reference that is neither env:NAME nor file:/absolute/path"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := exampleRoutes(t, tc.edits...).Resolve(tc.alias)
			refused, ok := errors.AsType[*RouteError](err)
			if !ok || refused.Alias != tc.alias || refused.Reason != tc.reason {
				t.Errorf("got %v, want reason %q", err, tc.reason)
			}
			if diff := cmp.Diff(Binding{}, got, cmp.AllowUnexported(Secret{})); diff != "" {
				t.Error(diff)
			}
			if ok && refused.Error() != tc.alias+": "+tc.reason {
				t.Errorf("got %q", refused)
			}
		})
	}
}

// A route with fallback and one target never falls back.
func TestResolveFallbackWithOneTarget(t *testing.T) {
	routes := exampleRoutes(t, "alias = \"lab-agent\"", "alias = \"lab-agent\"\nfallback_enabled = true")
	if _, err := routes.Resolve("lab-agent"); err != nil {
		t.Error(err)
	}
}

func TestResolveReadsASecretFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte("key-from-a-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	routes := exampleRoutes(t, "env:LOOM_TEST_SHOP_KEY", "file:"+path, `"api-key"`, `"bearer"`)
	got, err := routes.Resolve("shop-agent")
	if err != nil || got.Secret.Reveal() != "key-from-a-file" || got.AuthKind != Bearer {
		t.Errorf("got %q, %v", got.Secret.Reveal(), err)
	}
}

func TestBindingURL(t *testing.T) {
	for base, want := range map[string]string{
		"http://127.0.0.1:8080/v1":       "http://127.0.0.1:8080/v1/chat",
		"http://127.0.0.1:8080/v1/":      "http://127.0.0.1:8080/v1/chat",
		"https://host.example":           "https://host.example/chat",
		"HTTPS://host.example/a%2Fb//":   "https://host.example/a%2Fb/chat",
		"http://[::1]:1/v1":              "http://[::1]:1/v1/chat",
		"http://me@host.example/v1":      "the base URL has user information",
		"":                               "the base URL does not start with http:// or https://",
		"http://host.example/v1?key=abc": "the base URL has a query or a fragment",
	} {
		u, err := Binding{BaseURL: base}.URL("/chat")
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = u.String()
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", base, got, want)
		}
		if err != nil && base != "" && strings.Contains(err.Error(), base) {
			t.Errorf("%q quotes the URL", err)
		}
	}
}
