package result

// To be replaced: the API as the other parts use it.

import (
	"context"
	"errors"
	"time"

	"github.com/loomrun/loom/handle"
	"github.com/loomrun/loom/internal/boundedfile"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/store"
)

// MaxSchemaBytes bounds a schema.
const MaxSchemaBytes boundedfile.Size = 32 << 10

type Cabinet interface {
	Trust(ctx context.Context) (store.Trust, error)
	Write(ctx context.Context, trust store.Trust, documents []store.Written, at time.Time) error
}

type Code string

type Error struct {
	Code     Code
	Refusals []string
}

func (e *Error) Error() string { return string(e.Code) }

type Schema struct{}

func ReadSchema([]byte) (*Schema, error)    { return nil, errors.New("not yet") }
func (s *Schema) Shown() document.Value     { return document.Value{} }
func (w *Written) Document() document.Value { return document.Value{} }

type Request struct {
	Run, Intent, Answer string
	Value               document.Value
	Schema              *Schema
	Handles             *handle.Table
	Cited               []string
	Context             label.Label
	Ceiling             label.Ceiling
	At                  time.Time
}

type Plan struct{ Label label.Label }

type Written struct {
	Link   string
	Label  label.Label
	Minted []Minted
}

func Check(r Request) (*Plan, error)                           { return &Plan{r.Context}, nil }
func Write(context.Context, Cabinet, Request) (*Written, error) { return nil, errors.New("not yet") }

type Minted struct {
	Token, Link string
	Label       label.Label
}

func ReadWritten(document.Value) (*Written, error) { return nil, errors.New("not yet") }
