package valueschema

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/loomrun/loom/internal/strictjson"
)

const (
	// MaxWork bounds the parts of a schema that are held against a value, each as often as it is and the more, the more
	// members there are. A schema that refers to itself from two places takes, of a value that nests n levels,
	// 2 to the power of n steps, and a model chooses n.
	MaxWork = 500_000
	// MaxFaults and MaxFaultBytes bound what is said of a value.
	MaxFaults     = 5
	MaxFaultBytes = 300
)

// Check says why a value, JSON text that the caller bounds, does not fit; empty where it does. It says the same of the same text,
// since a run that is played again must be refused in the same words.
func (s *Schema) Check(text string) string {
	v, err := strictjson.Parse([]byte(text), strictjson.MaxDepth)
	if err == nil {
		err = judgeable(v, s.listed)
	}
	var value any
	if err == nil {
		value, err = jsonschema.UnmarshalJSON(strings.NewReader(text))
	}
	if err == nil {
		err = s.validate(value)
	}
	if err == nil {
		return ""
	}
	return why(err)
}

func (s *Schema) validate(value any) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.meter.left = MaxWork
	// The library knows no way to be stopped but this one.
	defer func() {
		if stopped := recover(); stopped != nil {
			err = stopped.(overWork)
		}
	}()
	return s.compiled.Validate(value)
}

// meter counts the work of one check. It is an extension of every part of a schema, which the library calls for each
// value that the part is held against.
type meter struct{ left int }

// overWork is what a meter stops a check with.
type overWork struct{}

func (overWork) Error() string {
	return fmt.Sprintf("to check them against the schema takes more than %d steps", MaxWork)
}

func (m *meter) vocabulary() *jsonschema.Vocabulary {
	return &jsonschema.Vocabulary{
		URL:     "loom:meter",
		Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) { return m, nil },
	}
}

// Validate counts. What a part costs grows with the members that it keeps account of.
func (m *meter) Validate(_ *jsonschema.ValidatorContext, v any) {
	m.left--
	switch v := v.(type) {
	case map[string]any:
		m.left -= len(v)
	case []any:
		m.left -= len(v)
	}
	if m.left < 0 {
		panic(overWork{})
	}
}

// why says in one line what an error of the library, or one about its input, is about.
func why(err error) string {
	if bad, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		err = bad.Err
	}
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		line, _, _ := strings.Cut(err.Error(), "\n")
		return Cut(line, MaxFaultBytes)
	}
	var faults []string
	collect(invalid, &faults)
	// The library goes through members in no order.
	slices.Sort(faults)
	faults = slices.Compact(faults)
	if len(faults) > MaxFaults {
		faults = append(faults[:MaxFaults], fmt.Sprintf("and %d more", len(faults)-MaxFaults))
	}
	return strings.Join(faults, "; ")
}

// collect gives what lies at the bottom of a validation error, each with its place.
func collect(e *jsonschema.ValidationError, faults *[]string) {
	if len(e.Causes) > 0 {
		for _, cause := range e.Causes {
			collect(cause, faults)
		}
		return
	}
	place := ""
	if len(e.InstanceLocation) > 0 {
		place = "/" + strings.Join(e.InstanceLocation, "/") + ": "
	}
	*faults = append(*faults, Cut(place+fault(e.ErrorKind), MaxFaultBytes))
}

// fault says what is wrong. Values that were given are not repeated: they may be long.
func fault(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return fmt.Sprintf("this is %s, and it must be %s", k.Got, strings.Join(k.Want, " or "))
	case *kind.Required:
		return "missing " + strings.Join(k.Missing, ", ")
	case *kind.AdditionalProperties:
		return "no such member: " + strings.Join(slices.Sorted(slices.Values(k.Properties)), ", ")
	case *kind.FalseSchema:
		return "nothing may stand here"
	case *kind.RefCycle:
		return "the schema refers to itself without end"
	case *kind.Not:
		return "it is what the schema excludes"
	default:
		return "it does not satisfy " + strings.Join(k.KeywordPath(), "/")
	}
}

// Cut gives at most so many bytes of a text, and says where something is missing.
func Cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "[truncated]"
}
