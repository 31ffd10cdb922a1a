package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/loomrun/loom/internal/boundedfile"
)

const (
	// maxRoutesFile bounds a catalog file (governed-runs 7.1).
	maxRoutesFile = 2 * boundedfile.MiB
	// maxEntries bounds each table of a catalog, and each list in it (7.1).
	maxEntries = 4096
	// maxTargets bounds the targets of one route (7.1).
	maxTargets = 64
	// routesFormat is the one format there is.
	routesFormat = "llm.catalog/1"
)

// FileError says what is wrong with a catalog file, and where. It names what a catalog calls its
// fields, and quotes nothing of the file: a secret in the wrong place is not shown.
type FileError struct {
	Path   string
	Offset int64 // bytes of the file before the trouble
	Reason string
}

// Error gives "path: byte N: reason".
func (e *FileError) Error() string {
	return fmt.Sprintf("%s: byte %d: %s", e.Path, e.Offset, e.Reason)
}

// ReadRoutes reads and checks a catalog of routes: a regular file of at most 2 MiB (governed-runs
// 7.1). Secrets are not looked for yet. The error names the path; it is a [*FileError] when the
// content is wrong.
func ReadRoutes(path string) (*Routes, error) {
	data, err := boundedfile.Read(path, maxRoutesFile)
	if err != nil {
		return nil, err
	}
	routes, err := parseRoutes(data)
	if wrong, ok := errors.AsType[*FileError](err); ok {
		wrong.Path = path
	}
	return routes, err
}

func parseRoutes(data []byte) (*Routes, error) {
	root, err := readTOML(data)
	if err != nil {
		return nil, err
	}
	c := catalog{
		root:      root,
		providers: map[string]struct{}{},
		accounts:  map[string]account{},
		endpoints: map[string]endpoint{},
		models:    map[string]string{},
		serving:   map[string]servingModel{},
		routes:    map[string]*openRoute{},
	}
	return c.read()
}

// catalog collects the tables of a file by id. The tables refer only to the ones before them.
type catalog struct {
	root      *tomlTable
	err       error // the first one; later ones are not kept
	providers map[string]struct{}
	accounts  map[string]account
	endpoints map[string]endpoint
	models    map[string]string // id to upstream name
	serving   map[string]servingModel
	routes    map[string]*openRoute
}

// openRoute is a route whose targets are still being collected.
type openRoute struct {
	at      int // of the alias
	alias   string
	route   route
	targets map[int64]servingModel // by position
	serving map[string]struct{}    // ids of the targets' serving models
}

func (c *catalog) read() (*Routes, error) {
	top := row{c, c.root, "the catalog"}
	top.only("format", "providers", "accounts", "endpoints", "models", "serving_models", "routes", "targets")
	if format, at := top.text("format"); c.err == nil && format != routesFormat {
		c.refuse(at, "format is not "+routesFormat)
	}
	each(c, "providers", c.provider)
	c.subscriptionsOnce(each(c, "accounts", c.account))
	each(c, "endpoints", c.endpoint)
	each(c, "models", c.model)
	each(c, "serving_models", c.servingModel)
	opened := each(c, "routes", c.route)
	each(c, "targets", c.target)
	routes := &Routes{byAlias: make(map[string]route, len(opened))}
	for _, open := range opened {
		if _, twice := routes.byAlias[open.alias]; twice {
			c.refuse(open.at, "the alias of this route is the alias of an earlier route")
		}
		routes.byAlias[open.alias] = c.close(open)
	}
	if c.err != nil {
		return nil, c.err
	}
	return routes, nil
}

// refuse keeps the first error.
func (c *catalog) refuse(at int, format string, args ...any) {
	if c.err == nil {
		c.err = refuseAt(at, fmt.Sprintf(format, args...))
	}
}

// each reads a list of tables with unique ids, and gives what read makes of each, in order. After
// an error it reads nothing more.
func each[T any](c *catalog, name string, read func(row) T) []T {
	field := c.root.find(name)
	if field == nil || c.err != nil {
		return nil
	}
	if field.value.kind != tomlList {
		c.refuse(field.value.at, "%s is not a list of tables", name)
		return nil
	}
	ids := make(map[string]struct{}, len(field.value.items))
	made := make([]T, 0, len(field.value.items))
	for _, item := range field.value.items {
		if item.kind != tomlMap {
			c.refuse(item.at, "an entry of %s is not a table", name)
			return nil
		}
		r := row{c, item.table, name}
		id, at := r.text("id")
		if _, twice := ids[id]; twice {
			c.refuse(at, "the id is used by an earlier entry of %s", name)
		}
		ids[id] = struct{}{}
		made = append(made, read(r))
		if c.err != nil {
			return nil
		}
	}
	return made
}

func (c *catalog) provider(r row) struct{} {
	r.only("id", "category")
	id, _ := r.text("id")
	r.text("category")
	c.providers[id] = struct{}{}
	return struct{}{}
}

func (c *catalog) account(r row) account {
	r.only("id", "provider_id", "auth_kind", "billing_kind", "secret_reference_id")
	a := account{}
	a.id, _ = r.text("id")
	a.providerID, _ = reference(r, "provider_id", c.providers)
	a.auth = oneOf(r, "auth_kind", Anonymous, Bearer, APIKey, SubscriptionOAuth)
	a.billing = oneOf(r, "billing_kind", SelfHosted, Metered, Subscription)
	if r.table.find("secret_reference_id") != nil {
		a.secret, a.secretAt = r.text("secret_reference_id")
		if a.auth == Anonymous {
			c.refuse(a.secretAt, "an anonymous account has a secret_reference_id")
		}
	} else if a.auth != Anonymous {
		c.refuse(r.table.at, "an account that is not anonymous has no secret_reference_id")
	}
	c.accounts[a.id] = a
	return a
}

// subscriptionsOnce keeps the secret of a subscription to one account.
func (c *catalog) subscriptionsOnce(accounts []account) {
	subscribed := func(a account) bool { return a.auth == SubscriptionOAuth || a.billing == Subscription }
	first := map[string]account{}
	for _, a := range accounts {
		if a.secret == "" {
			continue
		}
		earlier, shared := first[a.secret]
		if shared && (subscribed(a) || subscribed(earlier)) {
			c.refuse(a.secretAt, "the secret of a subscription is used by two accounts")
		}
		if !shared || subscribed(a) {
			first[a.secret] = a
		}
	}
}

func (c *catalog) endpoint(r row) endpoint {
	r.only("id", "account_id", "base_url")
	e := endpoint{}
	e.id, _ = r.text("id")
	_, e.account = reference(r, "account_id", c.accounts)
	var at int
	e.baseURL, at = r.text("base_url")
	if reason := badBaseURL(e.baseURL); reason != "" {
		c.refuse(at, "base_url %s", reason)
	}
	c.endpoints[e.id] = e
	return e
}

func (c *catalog) model(r row) string {
	r.only("id", "upstream_name")
	id, _ := r.text("id")
	c.models[id], _ = r.text("upstream_name")
	return id
}

func (c *catalog) servingModel(r row) servingModel {
	r.only("id", "endpoint_id", "model_id", "protocol", "capabilities")
	s := servingModel{}
	s.id, _ = r.text("id")
	_, s.endpoint = reference(r, "endpoint_id", c.endpoints)
	_, s.upstream = reference(r, "model_id", c.models)
	s.protocol = oneOf(r, "protocol", ChatCompletions, Messages, Responses)
	if can, ok := r.inner("capabilities"); ok {
		s.capabilities = capabilities(can)
	}
	c.serving[s.id] = s
	return s
}

func capabilities(r row) Capabilities {
	r.only("tools", "tool_choice", "temperature", "top_p", "reasoning_efforts", "context_window", "max_output_tokens")
	return Capabilities{
		Tools:            r.flag("tools"),
		ToolChoice:       r.flag("tool_choice"),
		Temperature:      r.flag("temperature"),
		TopP:             r.flag("top_p"),
		ReasoningEfforts: r.texts("reasoning_efforts"),
		ContextWindow:    r.number("context_window", 1),
		MaxOutputTokens:  r.number("max_output_tokens", 1),
	}
}

func (c *catalog) route(r row) *openRoute {
	r.only("id", "alias", "fallback_enabled")
	open := &openRoute{targets: map[int64]servingModel{}, serving: map[string]struct{}{}}
	id, _ := r.text("id")
	open.alias, open.at = r.text("alias")
	if r.table.find("fallback_enabled") != nil {
		open.route.fallback = r.flag("fallback_enabled")
	}
	c.routes[id] = open
	return open
}

func (c *catalog) target(r row) struct{} {
	r.only("id", "route_id", "serving_model_id", "position")
	_, open := reference(r, "route_id", c.routes)
	servingID, serving := reference(r, "serving_model_id", c.serving)
	position := r.number("position", 0)
	if c.err != nil {
		return struct{}{}
	}
	if _, twice := open.targets[position]; twice {
		c.refuse(r.table.at, "the position is taken by an earlier target of the route")
	}
	if _, twice := open.serving[servingID]; twice {
		c.refuse(r.table.at, "the serving model is an earlier target of the route")
	}
	open.targets[position] = serving
	open.serving[servingID] = struct{}{}
	return struct{}{}
}

// close checks a route whose targets are all known, and puts them in order.
func (c *catalog) close(open *openRoute) route {
	switch n := len(open.targets); {
	case n == 0:
		c.refuse(open.at, "the route has no target")
		return route{}
	case n > maxTargets:
		c.refuse(open.at, "the route has more than %d targets", maxTargets)
		return route{}
	}
	subscribed, others := false, false
	closed := open.route
	for position := range int64(len(open.targets)) {
		next, ok := open.targets[position]
		if !ok {
			c.refuse(open.at, "the positions of the route's targets are not 0, 1, 2 and so on")
			return route{}
		}
		if next.endpoint.account.billing == Subscription {
			subscribed = true
		} else {
			others = true
		}
		closed.targets = append(closed.targets, next)
	}
	if closed.fallback && subscribed && others {
		c.refuse(open.at, "the route falls back between a subscription and another billing")
	}
	return closed
}

// row reads the fields of one table. Its methods keep the first error in the catalog, and give zero
// values after it. Offsets are of the value.
type row struct {
	catalog *catalog
	table   *tomlTable
	name    string // of the list the table stands in
}

// only refuses a field that is not among the known ones.
func (r row) only(known ...string) {
	for _, field := range r.table.fields {
		if !slices.Contains(known, field.name) {
			r.catalog.refuse(field.at, "%s has no field of this name", r.name)
		}
	}
}

// field finds a field of the given kind that must be there.
func (r row) field(name string, kind tomlKind, called string) (tomlValue, bool) {
	field := r.table.find(name)
	if field == nil {
		r.catalog.refuse(r.table.at, "%s is missing in %s", name, r.name)
		return tomlValue{}, false
	}
	if field.value.kind != kind {
		r.catalog.refuse(field.value.at, "%s is not %s", name, called)
		return tomlValue{}, false
	}
	return field.value, true
}

func (r row) text(name string) (string, int) {
	v, ok := r.field(name, tomlText, "text")
	if ok && v.text == "" {
		r.catalog.refuse(v.at, "%s is empty", name)
	}
	return v.text, v.at
}

func (r row) flag(name string) bool {
	v, _ := r.field(name, tomlBool, "true or false")
	return v.text == "true"
}

func (r row) number(name string, least int64) int64 {
	v, ok := r.field(name, tomlInteger, "a whole number")
	if !ok {
		return 0
	}
	n, fits := v.integer()
	if !fits || n < least {
		r.catalog.refuse(v.at, "%s is out of range", name)
	}
	return n
}

func (r row) texts(name string) []string {
	v, _ := r.field(name, tomlList, "a list")
	var texts []string
	for _, item := range v.items {
		if item.kind != tomlText || item.text == "" {
			r.catalog.refuse(item.at, "an entry of %s is not text", name)
		}
		texts = append(texts, item.text)
	}
	return texts
}

func (r row) inner(name string) (row, bool) {
	v, ok := r.field(name, tomlMap, "a table")
	return row{r.catalog, v.table, name}, ok
}

// oneOf reads a text that is one of the given.
func oneOf[T ~string](r row, name string, choices ...T) T {
	text, at := r.text(name)
	if !slices.Contains(choices, T(text)) {
		words := make([]string, len(choices))
		for i, choice := range choices {
			words[i] = string(choice)
		}
		r.catalog.refuse(at, "%s is none of %s", name, strings.Join(words, ", "))
	}
	return T(text)
}

// reference reads the id of an entry of another table, and finds the entry.
func reference[T any](r row, name string, entries map[string]T) (string, T) {
	id, at := r.text(name)
	entry, ok := entries[id]
	if !ok {
		r.catalog.refuse(at, "%s names no entry of the catalog", name)
	}
	return id, entry
}
