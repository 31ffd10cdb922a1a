package result

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/loomrun/loom/handle"
	"github.com/loomrun/loom/internal/boundedfile"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/internal/valueschema"
	"github.com/loomrun/loom/label"
)

// MaxSchemaBytes bounds the text of a schema.
const MaxSchemaBytes boundedfile.Size = 32 << 10

// The keywords that a schema of a result has beside those of JSON Schema.
const (
	keywordIfc       = "ifc"
	keywordCell      = "asCell"
	memberCeiling    = "maxConfidentiality"
	memberIntegrity  = "requiredIntegrity"
	keywordRef       = "$ref"
	keywordReference = "@link"
)

// Schema is the form that a run is asked to give its result: a JSON Schema (2020-12) whose parts may also say
//
//	"asCell": true
//	        a row that the run was shown stands here: its token, or {"@link": token}. What else fits the part may stand here too.
//	"ifc": {"maxConfidentiality": [clause, …], "requiredIntegrity": [atom, …]}
//	        what is labelled beyond these clauses does not stand here; an empty list is for public data alone. What stands here
//	        is made from nothing that is not vouched for with each of these atoms, or with one that has their members.
//
// Of a position in a value every part speaks that may be about it: through allOf, through each branch of anyOf, oneOf and the other
// conditions whether or not the value takes it, and through references, which lead to parts of the same schema by their path
// (#/$defs/name). A Schema is immutable.
type Schema struct {
	values *valueschema.Schema
	reader *schemaReader
	root   *node
}

// node is a part of a schema as far as it says where it speaks and what it says of labels.
type node struct {
	ceiling  *label.Ceiling // nil: none
	required []requirement

	inPlace     []*node // parts about the same value
	properties  map[string]*node
	patterns    []patternNode
	additional  *node   // nil where there is none; for members that no property and no pattern names
	everyMember []*node // parts that may be about any member
	prefix      []*node
	items       *node   // nil where there is none; for those behind prefix
	everyItem   []*node // parts that may be about any item
}

type patternNode struct {
	names *regexp.Regexp
	node  *node
}

// ReadSchema reads a schema of at most [MaxSchemaBytes]. The error says what is wrong and, where it is about a place, line and column.
func ReadSchema(data []byte) (*Schema, error) {
	if len(data) > int(MaxSchemaBytes) {
		return nil, fmt.Errorf("result schema: it is larger than %s", MaxSchemaBytes)
	}
	v, err := strictjson.Parse(data, strictjson.MaxDepth)
	if err != nil {
		return nil, fmt.Errorf("result schema: %w", err)
	}
	if v.Kind != document.Map {
		return nil, fmt.Errorf("result schema: %w", document.Errorf(v.Place, "it is %s, and not a map", v.Kind))
	}
	// As it stands first: what the reader below meets is a schema then.
	if _, err := valueschema.Compile(v); err != nil {
		return nil, fmt.Errorf("result schema: %w", err)
	}
	r := &schemaReader{root: v, nodes: map[string]*node{}, rows: map[string]bool{}, refs: map[string]string{}}
	s := &Schema{reader: r}
	if s.root, err = r.node(v, ""); err != nil {
		return nil, fmt.Errorf("result schema: %w", err)
	}
	if s.values, err = valueschema.Compile(s.Shown()); err != nil {
		return nil, fmt.Errorf("result schema: %w", err)
	}
	return s, nil
}

// Shown is the schema as a model is to see it: what it says of labels is left out, and where a row stands the form of its token is allowed.
func (s *Schema) Shown() document.Value { return s.ShownBelow("") }

// ShownBelow is [Schema.Shown] for a place inside of another schema, a JSON pointer such as /properties/result, which references then begin with.
func (s *Schema) ShownBelow(pointer string) document.Value {
	return s.reader.shown(s.reader.root, "", pointer)
}

// schemaReader reads the parts of a schema, each once.
type schemaReader struct {
	root   document.Value
	nodes  map[string]*node  // by pointer
	rows   map[string]bool   // pointers of parts that a row may stand for
	refs   map[string]string // what a part refers to, by its pointer
	labels bool
}

// how a keyword's parts are about a value.
type about uint8

const (
	same        about = iota + 1 // a part about the value itself
	sameList                     // a list of them
	sameMap                      // a map of them
	eachMember                   // a part about any member
	eachItem                     // a part about any item
	definitions                  // a map of parts about nothing here
)

// keywords are those with parts, but for properties, patternProperties, additionalProperties, prefixItems and items. Of what a part is
// about that is no position of its own, such as names of members, the value itself is taken.
var keywords = map[string]about{
	"allOf": sameList, "anyOf": sameList, "oneOf": sameList,
	"not": same, "if": same, "then": same, "else": same, "propertyNames": same, "contentSchema": same,
	"dependentSchemas": sameMap, "unevaluatedProperties": eachMember,
	"contains": eachItem, "unevaluatedItems": eachItem,
	"$defs": definitions, "definitions": definitions,
}

// refusedKeywords give parts other names than their paths.
var refusedKeywords = []string{"$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor"}

func (r *schemaReader) node(v document.Value, pointer string) (*node, error) {
	if n, known := r.nodes[pointer]; known {
		return n, nil
	}
	n := &node{}
	r.nodes[pointer] = n // before its parts, which may refer to it
	for _, m := range v.Members {
		if err := r.keyword(n, m, pointer); err != nil {
			return nil, err
		}
	}
	return n, nil
}

func (r *schemaReader) keyword(n *node, m document.Member, pointer string) (err error) {
	below := pointer + "/" + escaped(m.Name)
	switch m.Name {
	case keywordIfc:
		return r.ifc(n, m.Value)
	case keywordCell:
		if m.Value.Kind != document.Bool {
			return document.Errorf(m.Value.Place, "%s is %s, and not true or false", m.Name, m.Value.Kind)
		}
		r.rows[pointer] = r.rows[pointer] || m.Value.Text == "true"
		return nil
	case keywordRef:
		part, target, err := r.target(m.Value)
		if err != nil {
			return err
		}
		r.refs[pointer] = target
		return r.add(&n.inPlace, part, target)
	case "properties":
		n.properties = map[string]*node{}
		for _, p := range m.Value.Members {
			if n.properties[p.Name], err = r.node(p.Value, below+"/"+escaped(p.Name)); err != nil {
				return err
			}
		}
		return nil
	case "patternProperties":
		for _, p := range m.Value.Members {
			names, unreadable := regexp.Compile(p.Name)
			part, err := r.node(p.Value, below+"/"+escaped(p.Name))
			if err = errors.Join(unreadable, err); err != nil {
				return err
			}
			n.patterns = append(n.patterns, patternNode{names, part})
		}
		return nil
	case "additionalProperties":
		n.additional, err = r.node(m.Value, below)
		return err
	case "prefixItems":
		return r.list(&n.prefix, m.Value, below)
	case "items":
		n.items, err = r.node(m.Value, below)
		return err
	}
	if slices.Contains(refusedKeywords, m.Name) {
		return document.Errorf(m.Place, "%s cannot be used here: refer to a part by its path, such as #/$defs/name", m.Name)
	}
	var nowhere []*node
	switch keywords[m.Name] {
	case same:
		return r.add(&n.inPlace, m.Value, below)
	case sameList:
		return r.list(&n.inPlace, m.Value, below)
	case sameMap:
		return r.byName(&n.inPlace, m.Value, below)
	case eachMember:
		return r.add(&n.everyMember, m.Value, below)
	case eachItem:
		return r.add(&n.everyItem, m.Value, below)
	case definitions:
		return r.byName(&nowhere, m.Value, below)
	}
	return nil
}

func (r *schemaReader) add(to *[]*node, v document.Value, pointer string) error {
	n, err := r.node(v, pointer)
	*to = append(*to, n)
	return err
}

func (r *schemaReader) list(to *[]*node, v document.Value, pointer string) error {
	for i, item := range v.Items {
		if err := r.add(to, item, pointer+"/"+strconv.Itoa(i)); err != nil {
			return err
		}
	}
	return nil
}

func (r *schemaReader) byName(to *[]*node, v document.Value, pointer string) error {
	for _, m := range v.Members {
		if err := r.add(to, m.Value, pointer+"/"+escaped(m.Name)); err != nil {
			return err
		}
	}
	return nil
}

// target gives what a reference leads to, with its pointer.
func (r *schemaReader) target(ref document.Value) (document.Value, string, error) {
	elsewhere := document.Errorf(ref.Place, "a reference leads to no part of this schema: it is written as #/$defs/name")
	fragment, here := strings.CutPrefix(ref.Text, "#")
	fragment, err := url.PathUnescape(fragment)
	if !here || err != nil || fragment != "" && fragment[0] != '/' {
		return ref, "", elsewhere
	}
	v, pointer := r.root, ""
	for _, token := range strings.Split(fragment, "/")[1:] {
		name := unescaped(token)
		found := false
		switch v.Kind {
		case document.Map:
			v, found = v.Get(name)
		case document.List:
			// In the one spelling of a number, so that no part has two pointers.
			if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(v.Items) && strconv.Itoa(i) == name {
				v, found = v.Items[i], true
			}
		}
		if !found {
			return ref, "", elsewhere
		}
		pointer += "/" + escaped(name)
	}
	return v, pointer, nil
}

func (r *schemaReader) ifc(n *node, v document.Value) error {
	if v.Kind != document.Map {
		return document.Errorf(v.Place, "ifc is %s, and not a map", v.Kind)
	}
	for _, m := range v.Members {
		if m.Value.Kind != document.List {
			return document.Errorf(m.Place, "%s of ifc is %s, and not a list", m.Name, m.Value.Kind)
		}
		switch m.Name {
		case memberCeiling:
			ceiling, err := ceilingOf(m.Value)
			if err != nil {
				return document.Errorf(m.Place, "%s of ifc: %s", m.Name, err)
			}
			n.ceiling = &ceiling
		case memberIntegrity:
			// As in a label: each is text, or a record with a type.
			if _, err := label.LabelOf(document.MapOf(document.M("confidentiality", document.ListOf()), document.M("integrity", m.Value))); err != nil {
				return document.Errorf(m.Place, "%s of ifc: %s", m.Name, err)
			}
			for _, item := range m.Value.Items {
				if item.Kind == document.Text && item.Text == "" {
					return document.Errorf(item.Place, "%s of ifc names an empty text", m.Name)
				}
				n.required = append(n.required, requirementOf(item))
			}
		default:
			return document.Errorf(m.Place, "ifc has no member %q: it has %s and %s", m.Name, memberCeiling, memberIntegrity)
		}
		r.labels = true
	}
	return nil
}

// ceilingOf reads the clauses of a part, each a text, a record, or anyOf over a list with something in it (4.6). There may be none.
func ceilingOf(list document.Value) (label.Ceiling, error) {
	for _, clause := range list.Items {
		atoms := []document.Value{clause}
		if alternatives, ok := clause.Get("anyOf"); ok && len(clause.Members) == 1 {
			atoms = alternatives.Items
			if len(atoms) == 0 {
				return label.Ceiling{}, errors.New("a clause has no alternative")
			}
		}
		for _, atom := range atoms {
			if atom.Kind != document.Map && (atom.Kind != document.Text || atom.Text == "") {
				return label.Ceiling{}, errors.New("a clause names what is neither text nor a record")
			}
		}
	}
	return label.CeilingOf(list)
}

// tokenForm and linkForm are what may stand for a row.
var (
	tokenForm = document.MapOf(
		document.M("type", document.TextOf("string")), document.M("pattern", document.TextOf("^"+handle.Prefix+"[2-9a-hj-km-np-tv-z]{5,}$")),
		document.M("description", document.TextOf("the token of a row, exactly as it was shown")))
	linkForm = document.MapOf(
		document.M("type", document.TextOf("object")), document.M("properties", document.MapOf(document.M(keywordReference, tokenForm))),
		document.M("required", document.TextsOf([]string{keywordReference})), document.M("additionalProperties", document.BoolOf(false)))
)

// shown rewrites the part at a pointer, and all below it, for a schema that stands at a base.
func (r *schemaReader) shown(v document.Value, pointer, base string) document.Value {
	_, part := r.nodes[pointer]
	switch v.Kind {
	case document.List:
		items := make([]document.Value, len(v.Items))
		for i, item := range v.Items {
			items[i] = r.shown(item, pointer+"/"+strconv.Itoa(i), base)
		}
		return document.ListOf(items...)
	case document.Map:
	default:
		return v
	}
	var members []document.Member
	for _, m := range v.Members {
		switch {
		case part && (m.Name == keywordIfc || m.Name == keywordCell || m.Name == "$schema"):
		case part && m.Name == keywordRef:
			members = append(members, document.M(keywordRef, document.TextOf(reference(base+r.moved(r.refs[pointer])))))
		default:
			members = append(members, document.M(m.Name, r.shown(m.Value, pointer+"/"+escaped(m.Name), base)))
		}
	}
	shown := document.MapOf(members...)
	if part && r.rows[pointer] {
		return document.MapOf(document.M("anyOf", document.ListOf(shown, tokenForm, linkForm)))
	}
	return shown
}

// moved is the pointer that a part has when the parts above it that a row may stand for are alternatives.
func (r *schemaReader) moved(pointer string) string {
	tokens := strings.Split(pointer, "/")
	to := tokens[0]
	for i := range tokens[1:] {
		if r.rows[strings.Join(tokens[:i+1], "/")] {
			to += "/anyOf/0"
		}
		to += "/" + tokens[i+1]
	}
	return to
}

// reference writes a pointer as the reference to it.
func reference(pointer string) string {
	tokens := strings.Split(pointer, "/")
	for i := range tokens {
		tokens[i] = url.PathEscape(tokens[i])
	}
	return "#" + strings.Join(tokens, "/")
}

// escaped writes a name as a token of a JSON pointer (RFC 6901, section 3), unescaped reads it.
func escaped(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

func unescaped(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}

// at gives the parts that are about a value of which these are, each once.
func at(steps *int, parts []*node) []*node {
	all := map[*node]bool{}
	var found []*node
	for len(parts) > 0 {
		n := parts[0]
		parts = parts[1:]
		*steps--
		if !all[n] && *steps > 0 {
			all[n] = true
			found = append(found, n)
			parts = append(parts, n.inPlace...)
		}
	}
	return found
}

// member gives the parts that are about a member, each perhaps several times.
func member(steps *int, parts []*node, name string) (found []*node) {
	for _, n := range parts {
		*steps -= 1 + len(n.patterns)
		if *steps <= 0 {
			return nil
		}
		p, named := n.properties[name]
		if named {
			found = append(found, p)
		}
		for _, pattern := range n.patterns {
			if pattern.names.MatchString(name) {
				named = true
				found = append(found, pattern.node)
			}
		}
		if !named && n.additional != nil {
			found = append(found, n.additional)
		}
		found = append(found, n.everyMember...)
	}
	return found
}

// item gives the parts that are about an item, each perhaps several times.
func item(steps *int, parts []*node, i int) (found []*node) {
	for _, n := range parts {
		*steps--
		if *steps <= 0 {
			return nil
		}
		switch {
		case i < len(n.prefix):
			found = append(found, n.prefix[i])
		case n.items != nil:
			found = append(found, n.items)
		}
		found = append(found, n.everyItem...)
	}
	return found
}
