package model

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Protocol is how an endpoint is spoken to.
type Protocol string

// The protocols a catalog may name. Each has a wire.
const (
	ChatCompletions Protocol = "chat-completions"
	Messages        Protocol = "messages"
	Responses       Protocol = "responses"
)

// AuthKind is how an account proves itself.
type AuthKind string

// The kinds a catalog may name. This version serves all but SubscriptionOAuth.
const (
	Anonymous         AuthKind = "anonymous" // nothing is sent
	Bearer            AuthKind = "bearer"
	APIKey            AuthKind = "api-key"
	SubscriptionOAuth AuthKind = "subscription-oauth"
)

// BillingKind is who pays for an answer, and how.
type BillingKind string

// The kinds a catalog may name.
const (
	SelfHosted   BillingKind = "self-hosted"
	Metered      BillingKind = "metered"
	Subscription BillingKind = "subscription"
)

// Capabilities is what a catalog says a served model can do.
type Capabilities struct {
	Tools            bool
	ToolChoice       bool
	Temperature      bool
	TopP             bool
	ReasoningEfforts []string
	ContextWindow    int64 // tokens, at least 1
	MaxOutputTokens  int64 // tokens, at least 1
}

// Binding is everything a wire needs to ask one model at one endpoint.
type Binding struct {
	Alias        string // what the person asked for
	BaseURL      string // http or https; the protocol's paths are put behind it
	UpstreamName string // the model's name at the endpoint
	Protocol     Protocol
	Capabilities Capabilities

	// Whose account is used, by ids of the catalog.
	ProviderID, AccountID, EndpointID, ServingModelID string

	AuthKind    AuthKind
	BillingKind BillingKind
	Secret      Secret // zero exactly when AuthKind is Anonymous
}

// URL gives the address of one of the protocol's paths, which starts with a slash, under the base
// URL. It fails when the base URL breaks the rules of a catalog.
func (b Binding) URL(path string) (*url.URL, error) {
	if reason := badBaseURL(b.BaseURL); reason != "" {
		return nil, errors.New("the base URL " + reason)
	}
	return url.Parse(strings.TrimRight(b.BaseURL, "/") + path)
}

// badBaseURL says what is wrong with a base URL, as the end of a sentence, or nothing.
func badBaseURL(s string) string {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return "is not a URL"
	case u.Scheme != "http" && u.Scheme != "https":
		return "does not start with http:// or https://"
	case u.User != nil:
		return "has user information"
	case u.Opaque != "" || u.Hostname() == "":
		return "has no host"
	case strings.ContainsAny(s, "?#"):
		return "has a query or a fragment"
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return "has a port that is not from 1 to 65535"
		}
	}
	return ""
}

// Routes is a catalog that was read and found valid. It does not change.
type Routes struct {
	byAlias map[string]route
}

// route is one alias with its targets in the order of their positions.
type route struct {
	fallback bool
	targets  []servingModel
}

type account struct {
	id         string
	providerID string
	auth       AuthKind
	billing    BillingKind
	secret     string // its reference; empty where there is none
	secretAt   int
}

type endpoint struct {
	id      string
	account account
	baseURL string
}

type servingModel struct {
	id           string
	endpoint     endpoint
	upstream     string
	protocol     Protocol
	capabilities Capabilities
}

// RouteError says why an alias leads to no model that can be asked.
type RouteError struct {
	Alias  string
	Reason string // a clause such as "the alias is not declared"; quotes nothing of the catalog
}

// Error gives the alias and the reason.
func (e *RouteError) Error() string { return e.Alias + ": " + e.Reason }

// Resolve finds the model an alias leads to: the target at position 0 of its route (governed-runs
// 7.2). The account's secret is read now, before any connection. Its error is a [*RouteError].
func (r *Routes) Resolve(alias string) (Binding, error) {
	refuse := func(format string, args ...any) (Binding, error) {
		return Binding{}, &RouteError{Alias: alias, Reason: fmt.Sprintf(format, args...)}
	}
	found, ok := r.byAlias[alias]
	if !ok {
		return refuse("the alias is not declared")
	}
	if found.fallback && len(found.targets) > 1 {
		return refuse("its route falls back to other targets, which this version does not do")
	}
	target := found.targets[0]
	if !target.capabilities.Tools || !target.capabilities.ToolChoice {
		return refuse("its model cannot take a forced tool call")
	}
	payer := target.endpoint.account
	if payer.auth == SubscriptionOAuth {
		return refuse("its account signs in by %s, which this version does not serve", payer.auth)
	}
	var secret Secret
	if payer.auth != Anonymous {
		var err error
		if secret, err = resolveSecret(payer.secret); err != nil {
			return refuse("the secret of its account (secret_reference_id at byte %d) %v", payer.secretAt, err)
		}
	}
	capabilities := target.capabilities
	capabilities.ReasoningEfforts = slices.Clone(capabilities.ReasoningEfforts)
	return Binding{
		Alias:          alias,
		BaseURL:        target.endpoint.baseURL,
		UpstreamName:   target.upstream,
		Protocol:       target.protocol,
		Capabilities:   capabilities,
		ProviderID:     payer.providerID,
		AccountID:      payer.id,
		EndpointID:     target.endpoint.id,
		ServingModelID: target.id,
		AuthKind:       payer.auth,
		BillingKind:    payer.billing,
		Secret:         secret,
	}, nil
}
