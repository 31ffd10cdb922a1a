package retrieval

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/loomrun/loom/internal/boundedfile"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/label"
)

// ParseCeiling reads what an operator bounds a run with: a JSON list of clauses (4.6). There must be one, since to have no ceiling it is left
// out; each is a text, a record, or anyOf over a list with something in it. The placeholders {"__ctCurrentPrincipal":true} and
// {"__ctDbOwner":true} stand for the owner; with an owner of "" they are refused.
func ParseCeiling(text, owner string) (label.Ceiling, error) {
	if len(text) > label.MaxBytes {
		return label.Ceiling{}, fmt.Errorf("the ceiling has more than %d bytes", label.MaxBytes)
	}
	v, err := strictjson.Parse([]byte(text), strictjson.MaxDepth)
	if err != nil {
		return label.Ceiling{}, fmt.Errorf("the ceiling: %w", err)
	}
	return ceilingOf(v, owner)
}

func ceilingOf(v document.Value, owner string) (label.Ceiling, error) {
	if v.Kind != document.List {
		return label.Ceiling{}, fmt.Errorf("the ceiling is %s, and not a list of clauses", v.Kind)
	}
	if len(v.Items) == 0 {
		return label.Ceiling{}, errors.New("the ceiling has no clause; to have no ceiling, leave it out")
	}
	v.Items = slices.Clone(v.Items)
	for i, item := range v.Items {
		if clause, ok := item.Get("anyOf"); ok && len(item.Members) == 1 {
			if clause.Kind != document.List || len(clause.Items) == 0 {
				return label.Ceiling{}, fmt.Errorf("clause %d of the ceiling has no alternative", i+1)
			}
			clause.Items = slices.Clone(clause.Items)
			for j := range clause.Items {
				if err := operatorsAtom(&clause.Items[j], owner); err != nil {
					return label.Ceiling{}, fmt.Errorf("clause %d of the ceiling: %w", i+1, err)
				}
			}
			v.Items[i] = document.MapOf(document.M("anyOf", clause))
			continue
		}
		if err := operatorsAtom(&v.Items[i], owner); err != nil {
			return label.Ceiling{}, fmt.Errorf("clause %d of the ceiling: %w", i+1, err)
		}
	}
	c, err := label.CeilingOf(v)
	if err != nil {
		return label.Ceiling{}, fmt.Errorf("the ceiling: %w", err)
	}
	return c, nil
}

// operatorsAtom checks an atom, and puts the owner where a placeholder stands.
func operatorsAtom(v *document.Value, owner string) error {
	switch v.Kind {
	case document.Text:
		if v.Text == "" {
			return errors.New("an empty text")
		}
		return nil
	case document.Map:
	default:
		return fmt.Errorf("%s, where a text or a record stands", v.Kind)
	}
	if len(v.Members) != 1 || v.Members[0].Name != "__ctCurrentPrincipal" && v.Members[0].Name != "__ctDbOwner" {
		return nil
	}
	if set := v.Members[0].Value; set.Kind != document.Bool || set.Text != "true" {
		return fmt.Errorf("%s is not true", v.Members[0].Name)
	}
	if owner == "" {
		return errors.New("a placeholder for the owner, and no instance says who that is")
	}
	own, err := strictjson.Parse([]byte(label.User(owner).Canonical()), strictjson.MaxDepth)
	*v = own
	return err
}

// maxManifest bounds a run's manifest.
const maxManifest boundedfile.Size = 1 << 20

// What a manifest may say of itself (2.4).
const (
	manifestType    = "cf-harness.loom-run-manifest"
	manifestVersion = "1"
	manifestSource  = "loom"
)

// enforcementModes are those that a manifest may name (2.2).
var enforcementModes = []string{"disabled", "observe", "enforce-explicit", "enforce-strict"}

// Manifest is what of a run's manifest bounds its reading (2.4, 4.6).
type Manifest struct {
	Ceiling label.Ceiling // label.Unbounded() where it names none
	// FailOnExceed says that a read with a row above the ceiling fails as a whole (onExceed "fail"); else such rows are withheld.
	FailOnExceed bool
}

// ReadManifest reads a run's manifest: of what it says, type, version, source and cfc. The rest is for others.
func ReadManifest(path, owner string) (Manifest, error) {
	data, err := boundedfile.Read(path, maxManifest)
	if err != nil {
		return Manifest{}, fmt.Errorf("read the run manifest: %w", err)
	}
	m, err := parseManifest(data, owner)
	if err != nil {
		return Manifest{}, fmt.Errorf("the run manifest %s: %w", path, err)
	}
	return m, nil
}

func parseManifest(data []byte, owner string) (Manifest, error) {
	m := Manifest{Ceiling: label.Unbounded()}
	v, err := strictjson.Parse(data, strictjson.MaxDepth)
	if err != nil {
		return m, err
	}
	if v.Kind != document.Map {
		return m, document.Errorf(v.Place, "it is %s, and not an object", v.Kind)
	}
	for _, fixed := range []struct {
		name, value string
		kind        document.Kind
	}{{"type", manifestType, document.Text}, {"version", manifestVersion, document.Number}, {"source", manifestSource, document.Text}} {
		if got, given := v.Get(fixed.name); given && (got.Kind != fixed.kind || got.Text != fixed.value) {
			return m, document.Errorf(got.Place, "%s is not %s", fixed.name, fixed.value)
		}
	}
	cfc, given := v.Get("cfc")
	if !given {
		return m, nil
	}
	return m, m.read(cfc, owner)
}

func (m *Manifest) read(cfc document.Value, owner string) error {
	exceed, bounded := "", false
	err := members(cfc, "cfc", func(member document.Member) (err error) {
		switch member.Name {
		case "enforcementMode":
			// Every read is measured here, whatever the mode: it must only be one.
			if member.Value.Kind != document.Text || !slices.Contains(enforcementModes, member.Value.Text) {
				return document.Errorf(member.Value.Place, "cfc.enforcementMode is none of %s", strings.Join(enforcementModes, ", "))
			}
			return nil
		case "labelSource":
			if member.Value.Text != "loom-run-manifest" {
				return document.Errorf(member.Value.Place, "cfc.labelSource is not loom-run-manifest")
			}
			return nil
		case "maxConfidentiality":
			m.Ceiling, err = ceilingOf(member.Value, owner)
			bounded = true
			return err
		case "onExceed":
			if exceed = member.Value.Text; member.Value.Kind != document.Text || exceed != "fail" && exceed != "skip" {
				return document.Errorf(member.Value.Place, "cfc.onExceed is neither fail nor skip")
			}
			return nil
		}
		return errUnknown
	})
	if err == nil && exceed != "" && !bounded {
		err = errors.New("cfc.onExceed says what to do with what exceeds cfc.maxConfidentiality, which is not there")
	}
	m.FailOnExceed = exceed == "fail"
	return err
}
