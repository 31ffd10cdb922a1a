package model

import (
	"errors"
	"strconv"

	"github.com/pelletier/go-toml/v2/unstable"
)

// The catalog is read from the TOML library's syntax tree instead of through its decoder. The tree
// knows the byte offset of every part. The decoder's errors quote the file, so a secret in the wrong
// place would be printed; and it looks for a repeated key by comparing it with every other one, which
// takes minutes for a file of the permitted size.

const (
	// maxTOMLDepth bounds nesting: a list of tables that hold a table that holds a list.
	maxTOMLDepth = 4
	// maxFields bounds the fields of one table. The widest table of a catalog has 8.
	maxFields = 16
)

// tomlTable is a table and where it was opened, as a byte offset.
type tomlTable struct {
	at     int
	made   tomlForm
	fields []tomlField
}

// tomlForm says how a table was written, which decides what may still be added to it.
type tomlForm uint8

const (
	implied   tomlForm = iota // by the header of a table in it; its own header may follow
	headed                    // by its own header
	dotted                    // by a dotted key; further dotted keys may follow
	bracketed                 // between braces; complete
)

type tomlField struct {
	name  string
	at    int
	value tomlValue
}

type tomlKind uint8

const (
	tomlOther tomlKind = iota // a float, a date or a time: no field of a catalog takes one
	tomlText
	tomlBool
	tomlInteger
	tomlList
	tomlMap
)

type tomlValue struct {
	kind   tomlKind
	at     int
	text   string // of a text; of a bool or integer as written
	items  []tomlValue
	table  *tomlTable
	headed bool // a list whose tables come from [[headers]], so that more may follow
}

func (t *tomlTable) find(name string) *tomlField {
	for i := range t.fields {
		if t.fields[i].name == name {
			return &t.fields[i]
		}
	}
	return nil
}

func (t *tomlTable) add(name string, at int, v tomlValue) error {
	if len(t.fields) == maxFields {
		return refuseAt(at, "the table has more fields than any table of a catalog")
	}
	t.fields = append(t.fields, tomlField{name: name, at: at, value: v})
	return nil
}

// addTable puts a new table into t and returns it.
func (t *tomlTable) addTable(name string, at int, made tomlForm) (*tomlTable, error) {
	added := &tomlTable{at: at, made: made}
	return added, t.add(name, at, tomlValue{kind: tomlMap, at: at, table: added})
}

func refuseAt(offset int, reason string) error {
	return &FileError{Offset: int64(offset), Reason: reason}
}

const (
	saidTwice = "this key or table is written twice"
	tooDeep   = "the file is nested too deeply"
	notTOML   = "this is not TOML"
	tooMany   = "the table has more entries than a catalog may hold"
)

// readTOML builds the tree of a whole file. Its error is a [*FileError] without a path.
func readTOML(data []byte) (*tomlTable, error) {
	data = data[:len(data):len(data)] // the parser finds offsets by capacity
	root := &tomlTable{made: headed}
	current := root
	var parser unstable.Parser
	parser.Reset(data)
	for parser.NextExpression() {
		expression := parser.Expression()
		var err error
		switch expression.Kind {
		case unstable.Table, unstable.ArrayTable:
			current, err = openTable(root, expression)
		default:
			err = putField(current, expression, 1)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := parser.Error(); err != nil {
		// Only the place is taken: the message may quote the file.
		offset := len(data)
		if syntax, ok := errors.AsType[*unstable.ParserError](err); ok {
			offset = len(data) - cap(syntax.Highlight)
		}
		return nil, refuseAt(min(max(offset, 0), len(data)), notTOML)
	}
	return root, nil
}

// openTable finds or makes the table that a [header] or a [[header]] opens.
func openTable(root *tomlTable, header *unstable.Node) (*tomlTable, error) {
	table := root
	parts := header.Key()
	for depth := 1; parts.Next(); depth++ {
		part := parts.Node()
		name, at := string(part.Data), int(part.Raw.Offset)
		if depth > maxTOMLDepth {
			return nil, refuseAt(at, tooDeep)
		}
		field := table.find(name)
		var err error
		switch {
		case parts.IsLast() && header.Kind == unstable.ArrayTable:
			return appendTable(table, field, name, at)
		case parts.IsLast() && field == nil:
			return table.addTable(name, at, headed)
		case parts.IsLast():
			if field.value.kind != tomlMap || field.value.table.made != implied {
				return nil, refuseAt(at, saidTwice)
			}
			field.value.table.made = headed
			return field.value.table, nil
		case field == nil:
			if table, err = table.addTable(name, at, implied); err != nil {
				return nil, err
			}
		case field.value.kind == tomlMap && field.value.table.made != bracketed:
			table = field.value.table
		case field.value.headed:
			table = field.value.items[len(field.value.items)-1].table
		default:
			return nil, refuseAt(at, saidTwice)
		}
	}
	return table, nil
}

// appendTable adds one table to the list of tables called name.
func appendTable(parent *tomlTable, field *tomlField, name string, at int) (*tomlTable, error) {
	added := &tomlTable{at: at, made: headed}
	item := tomlValue{kind: tomlMap, at: at, table: added}
	switch {
	case field == nil:
		list := tomlValue{kind: tomlList, at: at, items: []tomlValue{item}, headed: true}
		return added, parent.add(name, at, list)
	case !field.value.headed:
		return nil, refuseAt(at, saidTwice)
	case len(field.value.items) == maxEntries:
		return nil, refuseAt(at, tooMany)
	}
	field.value.items = append(field.value.items, item)
	return added, nil
}

// putField adds one key = value to a table that stands at the given depth.
func putField(table *tomlTable, pair *unstable.Node, depth int) error {
	parts := pair.Key()
	for ; parts.Next(); depth++ {
		part := parts.Node()
		name, at := string(part.Data), int(part.Raw.Offset)
		if depth > maxTOMLDepth {
			return refuseAt(at, tooDeep)
		}
		field := table.find(name)
		if parts.IsLast() {
			if field != nil {
				return refuseAt(at, saidTwice)
			}
			value, err := valueOf(pair.Value(), at, depth)
			if err != nil {
				return err
			}
			return table.add(name, at, value)
		}
		switch {
		case field == nil:
			var err error
			if table, err = table.addTable(name, at, dotted); err != nil {
				return err
			}
		case field.value.kind == tomlMap && field.value.table.made == dotted:
			table = field.value.table
		default:
			return refuseAt(at, saidTwice)
		}
	}
	return nil
}

// valueOf reads a value whose key or list begins at offset at.
func valueOf(node *unstable.Node, at, depth int) (tomlValue, error) {
	if node.Raw.Length > 0 {
		at = int(node.Raw.Offset)
	}
	value := tomlValue{at: at}
	switch node.Kind {
	case unstable.String:
		value.kind, value.text = tomlText, string(node.Data)
	case unstable.Bool:
		value.kind, value.text = tomlBool, string(node.Data)
	case unstable.Integer:
		value.kind, value.text = tomlInteger, string(node.Data)
	case unstable.Array:
		if depth >= maxTOMLDepth {
			return tomlValue{}, refuseAt(at, tooDeep)
		}
		value.kind = tomlList
		for items := node.Children(); items.Next(); {
			if len(value.items) == maxEntries {
				return tomlValue{}, refuseAt(at, tooMany)
			}
			item, err := valueOf(items.Node(), at, depth+1)
			if err != nil {
				return tomlValue{}, err
			}
			value.items = append(value.items, item)
		}
	case unstable.InlineTable:
		value.kind, value.table = tomlMap, &tomlTable{at: at, made: bracketed}
		for pairs := node.Children(); pairs.Next(); {
			if err := putField(value.table, pairs.Node(), depth+1); err != nil {
				return tomlValue{}, err
			}
		}
	}
	return value, nil
}

// integer gives the number of a tomlInteger, and false where it does not fit.
func (v tomlValue) integer() (int64, bool) {
	// The parser has checked the form, so that base 0 reads exactly TOML's prefixes and underscores.
	n, err := strconv.ParseInt(v.text, 0, 64)
	return n, err == nil
}
