package workingcontext

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
)

// maxPointedNodes bounds the values of a result that a pointer is followed in (6.3).
const maxPointedNodes = 65_536

// pointed gives the value of a result, which is JSON, that a pointer names (RFC 6901): as text where it
// is a text, or as JSON. A member written twice would make a pointer ambiguous; such a result is not
// read at all.
func (r result) pointed(by document.Value, rendering string) (string, error) {
	members, err := exactly(by, "kind", "pointer")
	if err != nil {
		return "", err
	}
	tree, err := strictjson.Parse([]byte(r.text), strictjson.MaxDepth)
	if err != nil {
		return "", fmt.Errorf("the result is not JSON that a pointer can be followed in: %w", err)
	}
	if nodes(tree) > maxPointedNodes {
		return "", fmt.Errorf("the result has more than %d values, too many for a pointer", maxPointedNodes)
	}
	pointer := members[1].Value
	if pointer.Kind != document.Text {
		return "", errors.New("pointer is not text")
	}
	found, err := follow(tree, pointer.Text)
	if err != nil {
		return "", err
	}
	shown := document.M("json", found)
	switch rendering {
	case renderJSON:
	case renderText:
		if found.Kind != document.Text {
			return "", fmt.Errorf("the pointer names %s; rendering text takes a text, rendering json anything", found.Kind)
		}
		shown.Name = "text"
	default:
		return "", fmt.Errorf("rendering is not %s or %s", renderText, renderJSON)
	}
	return canonjson.Compact(document.MapOf(document.M("result", document.TextOf(r.id)), document.M("pointer", pointer), shown)), nil
}

// nodes counts the values of a tree. The recursion is bounded by strictjson.MaxDepth.
func nodes(v document.Value) int {
	n := 1
	for _, item := range v.Items {
		n += nodes(item)
	}
	for _, m := range v.Members {
		n += nodes(m.Value)
	}
	return n
}

// follow gives the value that a pointer names: from the root on, one member or item for each token.
func follow(v document.Value, pointer string) (document.Value, error) {
	if pointer == "" {
		return v, nil
	}
	tokens := strings.Split(pointer, "/")
	if tokens[0] != "" {
		return v, errors.New("a pointer is empty or begins with a slash")
	}
	for _, token := range tokens[1:] {
		if strings.Contains(strings.NewReplacer("~0", "", "~1", "").Replace(token), "~") {
			return v, errors.New("a tilde in a pointer is written ~0, a slash ~1")
		}
		next, ok := v.Get(strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
		if v.Kind == document.List {
			next, ok = item(v, token)
		}
		if !ok {
			return v, errors.New("the pointer leads nowhere in the result")
		}
		v = next
	}
	return v, nil
}

// item gives an item of a list by its number from 0, without leading zeros.
func item(v document.Value, token string) (document.Value, bool) {
	n, err := strconv.Atoi(token)
	if err != nil || n < 0 || n >= len(v.Items) || strconv.Itoa(n) != token {
		return document.Value{}, false
	}
	return v.Items[n], true
}
