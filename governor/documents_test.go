package governor_test

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/protocol"
)

// obj makes a map of names and values in turn.
func obj(pairs ...any) document.Value {
	v := document.MapOf()
	for i := 0; i < len(pairs); i += 2 {
		v.Members = append(v.Members, document.M(pairs[i].(string), val(pairs[i+1])))
	}
	return v
}

func val(x any) document.Value {
	switch x := x.(type) {
	case document.Value:
		return x
	case []document.Value:
		return document.ListOf(x...)
	case bool:
		return document.BoolOf(x)
	case int:
		return document.IntOf(int64(x))
	case nil:
		return document.Value{}
	default:
		return document.TextOf(x.(string))
	}
}

// withList adds a list unless it is empty.
func withList(v document.Value, name string, items []document.Value) document.Value {
	if len(items) > 0 {
		v.Members = append(v.Members, document.M(name, val(items)))
	}
	return v
}

// section makes a map by id.
func section[T any](declared []T, entry func(T) (string, document.Value)) document.Value {
	v := document.MapOf()
	for _, d := range declared {
		id, value := entry(d)
		v.Members = append(v.Members, document.M(id, value))
	}
	return v
}

// text gives the text at the end of a path, or none where the path leads nowhere.
func text(v document.Value, path ...string) string {
	for _, name := range path {
		v = optional(v, name)
	}
	return v.Text
}

func truth(b bool) protocol.Truth {
	return map[bool]protocol.Truth{true: protocol.True, false: protocol.False}[b]
}

func swapped(t protocol.Truth) protocol.Truth {
	return map[protocol.Truth]protocol.Truth{protocol.True: protocol.False, protocol.False: protocol.True, protocol.Unknown: protocol.Unknown}[t]
}

func matching[T any](all []T, is func(T) bool) (some []T) {
	for _, x := range all {
		if is(x) {
			some = append(some, x)
		}
	}
	return some
}

// leaves gives the leaves of one predicate.
func leaves(p *protocol.Predicate) (all []*protocol.Predicate) {
	for _, q := range p.Members {
		all = append(all, leaves(q)...)
	}
	if len(p.Members) == 0 && p.Form != protocol.All && p.Form != protocol.Any {
		all = append(all, p)
	}
	return all
}

func byID(records []document.Value) []document.Value {
	return slices.SortedStableFunc(slices.Values(records), func(a, b document.Value) int { return strings.Compare(text(a, "id"), text(b, "id")) })
}

func byKey[V any](m map[string]V) (values []V) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		values = append(values, m[key])
	}
	return values
}

func repeats(names []string) bool {
	return len(slices.Compact(slices.Sorted(slices.Values(names)))) < len(names)
}

func identifiers(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !protocol.ValidIdentifier(name) })
}

func declared[T any](all []T, id func(T) string, name string) bool {
	return slices.ContainsFunc(all, func(x T) bool { return id(x) == name })
}

// instant gives the seconds of an instant (2.8), and whether it is one.
func instant(s string) (int64, bool) {
	const form = "2006-01-02T15:04:05Z"
	t, err := time.Parse(form, s)
	return t.Unix(), err == nil && t.Format(form) == s // Parse lets fractions pass
}
