package command

import (
	"slices"
	"strings"

	"github.com/loomrun/loom/internal/document"
)

// object checks that v is a map with these members and no others, and that none is null. A name with a ? behind it may be
// left out.
func object(v document.Value, what string, names ...string) error {
	if v.Kind != document.Map {
		return document.Errorf(v.Place, "%s must be an object, not %s", what, v.Kind)
	}
	for _, m := range v.Members {
		if !slices.Contains(names, m.Name) && !slices.Contains(names, m.Name+"?") {
			return document.Errorf(m.Place, "%s has no member %q", what, m.Name)
		}
		if m.Value.Kind == document.Null {
			return document.Errorf(m.Value.Place, "%s of %s is null; leave it out", m.Name, what)
		}
	}
	for _, name := range names {
		if _, given := v.Get(name); !given && !strings.HasSuffix(name, "?") {
			return document.Errorf(v.Place, "%s has no %s", what, name)
		}
	}
	return nil
}

func text(v document.Value, what string) (string, error) {
	if v.Kind != document.Text {
		return "", document.Errorf(v.Place, "%s must be text, not %s", what, v.Kind)
	}
	return v.Text, nil
}

func list(v document.Value, what string) ([]document.Value, error) {
	if v.Kind != document.List {
		return nil, document.Errorf(v.Place, "%s must be a list, not %s", what, v.Kind)
	}
	return v.Items, nil
}

// words reads a list of texts that the system can take: none has a NUL.
func words(v document.Value, what string, limit int) ([]string, error) {
	items, err := list(v, what)
	if err != nil {
		return nil, err
	}
	if len(items) > limit {
		return nil, document.Errorf(v.Place, "%s has more than %d entries", what, limit)
	}
	all := make([]string, 0, len(items))
	for _, item := range items {
		word, err := text(item, "an entry of "+what)
		if err != nil {
			return nil, err
		}
		if strings.Contains(word, "\x00") {
			return nil, document.Errorf(item.Place, "an entry of %s holds a NUL", what)
		}
		all = append(all, word)
	}
	return all, nil
}
