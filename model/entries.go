package model

import (
	"errors"
	"maps"
	"slices"
)

// RouteEntry is what can be said of a route without asking its model.
type RouteEntry struct {
	Alias        string
	UpstreamName string // of the target at position 0, as are all below
	Protocol     Protocol
	BaseURL      string // where the account's secret stands in it, that is hidden
	AuthKind     AuthKind
	BillingKind  BillingKind
	// Refusal is why [Routes.Resolve] gives no binding for the alias; empty where it gives one.
	Refusal string
}

// Entries lists the routes of a catalog by alias. It looks for the secrets of their accounts, and keeps
// none.
func (r *Routes) Entries() []RouteEntry {
	var entries []RouteEntry
	for _, alias := range slices.Sorted(maps.Keys(r.byAlias)) {
		target := r.byAlias[alias].targets[0]
		binding, err := r.Resolve(alias)
		entry := RouteEntry{
			Alias:        alias,
			UpstreamName: target.upstream,
			Protocol:     target.protocol,
			BaseURL:      binding.Secret.Hide(target.endpoint.baseURL),
			AuthKind:     target.endpoint.account.auth,
			BillingKind:  target.endpoint.account.billing,
		}
		if refused, ok := errors.AsType[*RouteError](err); ok {
			entry.Refusal = refused.Reason
		}
		entries = append(entries, entry)
	}
	return entries
}
