package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/loomrun/loom/effect/retrieve"
	"github.com/loomrun/loom/internal/boundedfile"
	settings "github.com/loomrun/loom/internal/config"
	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/readverb"
	"github.com/loomrun/loom/result"
	"github.com/loomrun/loom/retrieval"
	"github.com/loomrun/loom/store"
)

// reading are the flags of a run that reads a person's data.
type reading struct {
	config             string // the host's configuration of retrieval; empty: the eight tools do not exist
	tools              []string
	ceiling            string // facets
	maxConfidentiality string
	manifest           string
	requireLabels      bool
	resultSchema       string
	resultCeiling      string
	instance           string
	resumed            bool // the run goes on: what it is held to is in its record
}

// configFlag declares the flag that a run takes anew when it is resumed.
func (r *reading) configFlag(flags *pflag.FlagSet) {
	flags.StringVar(&r.config, "loom-retrieval-config", "", "what the run reads your data with, a JSON `file` by its absolute path; loom retrieval write makes one")
	instanceFlag(flags, &r.instance)
}

// flags declares those that say what a run is held to.
func (r *reading) flags(flags *pflag.FlagSet) {
	flags.StringVar(&r.ceiling, "ceiling", "", "read only what is in one of these facets, a `list` with commas such as work,family")
	flags.StringVar(&r.maxConfidentiality, "max-confidentiality", "", "read only what fits these clauses, a `JSON` list")
	flags.StringVar(&r.manifest, "run-manifest", "", "the manifest of the run, a JSON `file`: its cfc.maxConfidentiality holds too")
	flags.StringArrayVar(&r.tools, "allow-tool", nil, "offer only this `tool` of the eight that read data; may be given several times")
	flags.BoolVar(&r.requireLabels, "require-row-labels", false, "withhold rows that carry no label, instead of giving them that of the question")
	flags.StringVar(&r.resultSchema, "result-schema", "", "ask for a structured result too, and write it as a page: its JSON Schema, a `file`")
	flags.StringVar(&r.resultCeiling, "result-ceiling", "", "write the result only if its label fits: a `list` of facets, or a JSON list of clauses")
}

// check refuses flags that mean nothing together, before anything is read.
func (r *reading) check() error {
	for _, id := range r.tools {
		if _, known := retrieval.ToolNamed(id); !known {
			var ids []string
			for _, t := range retrieval.Tools() {
				ids = append(ids, t.ID)
			}
			return fmt.Errorf("--allow-tool %s: there is no such tool; there are %s", id, strings.Join(ids, ", "))
		}
	}
	if r.config != "" {
		if r.resultCeiling != "" && r.resultSchema == "" {
			return errors.New("--result-ceiling bounds what --result-schema asks for, which is not given")
		}
		return nil
	}
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"--allow-tool", len(r.tools) > 0},
		{"--ceiling", r.ceiling != ""},
		{"--max-confidentiality", r.maxConfidentiality != ""},
		{"--run-manifest", r.manifest != ""},
		{"--require-row-labels", r.requireLabels},
		{"--result-schema", r.resultSchema != ""},
		{"--result-ceiling", r.resultCeiling != ""},
	} {
		if f.given {
			return fmt.Errorf("%s is about reading your data, and this run reads none without --loom-retrieval-config; loom retrieval write makes that file", f.name)
		}
	}
	return nil
}

// binding makes what a run reads with. Nothing has been asked of a model yet; what is wrong in a file or in a ceiling is told now.
func (r *reading) binding(ctx context.Context, set settled) (*retrieve.Binding, error) {
	if r.config == "" {
		return retrieve.New(retrieve.Options{Ceiling: label.Unbounded(), ResultCeiling: label.Unbounded(), Resumed: r.resumed}), nil
	}
	config, err := retrieval.ReadConfig(r.config)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", set.from("loom_retrieval_config", "--loom-retrieval-config"), err)
	}
	if set.sources["instance"].Origin != settings.Flag && config.Transport.Kind == retrieval.Direct {
		r.instance = "" // whose data is read says whose facets are meant, unless the command line says otherwise
	}
	o := retrieve.Options{ConfigPath: r.config, Tools: r.tools, RequireRowLabels: r.requireLabels, Cabinet: r.cabinet(config), Resumed: r.resumed}
	if err := r.bound(ctx, config, &o); err != nil {
		return nil, err
	}
	if o.ResultCeiling, err = r.resultBound(ctx, config); err != nil {
		return nil, err
	}
	if r.resultSchema != "" {
		if o.ResultSchema, err = boundedfile.Read(r.resultSchema, result.MaxSchemaBytes); err == nil {
			_, err = result.ReadSchema(o.ResultSchema)
		}
		if err != nil {
			return nil, fmt.Errorf("--result-schema %s: %w", r.resultSchema, err)
		}
	}
	return retrieve.New(o), nil
}

// bound sets the ceiling of a run, and where it comes from: what all that bound it admit (4.6).
func (r *reading) bound(ctx context.Context, config *retrieval.Config, o *retrieve.Options) error {
	o.Ceiling = label.Unbounded()
	take := func(name string, c label.Ceiling, err error) error {
		if err == nil {
			o.Ceiling, err = label.Meet(o.Ceiling, c)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if c.Bounded() {
			o.From = append(o.From, name)
		}
		return nil
	}
	if r.maxConfidentiality != "" {
		c, err := retrieval.ParseCeiling(r.maxConfidentiality, r.ownerIfAny(ctx, config))
		if err := take("--max-confidentiality", c, err); err != nil {
			return err
		}
	}
	if r.manifest != "" {
		m, err := retrieval.ReadManifest(r.manifest, r.ownerIfAny(ctx, config))
		if err := take("--run-manifest "+r.manifest, m.Ceiling, err); err != nil {
			return err
		}
		o.FailOnExceed = m.FailOnExceed
	}
	if r.ceiling != "" {
		c, err := r.facetCeiling(ctx, config, r.ceiling)
		if err := take("--ceiling "+r.ceiling, c, err); err != nil {
			return err
		}
	}
	return nil
}

// resultBound gives the ceiling of a result.
func (r *reading) resultBound(ctx context.Context, config *retrieval.Config) (label.Ceiling, error) {
	var c label.Ceiling
	var err error
	switch text := strings.TrimSpace(r.resultCeiling); {
	case text == "":
		return label.Unbounded(), nil
	case text[0] == '[':
		c, err = retrieval.ParseCeiling(text, r.ownerIfAny(ctx, config))
	default:
		c, err = r.facetCeiling(ctx, config, text)
	}
	if err != nil {
		return c, fmt.Errorf("--result-ceiling: %w", err)
	}
	return c, nil
}

// open opens the instance that a run reads from, or writes its result into: the one that is named, else the one that the configuration reads.
func (r *reading) open(ctx context.Context, config *retrieval.Config) (opened, error) {
	place := r.instance
	if place == "" && config.Transport.Kind == retrieval.Direct {
		place = config.Transport.InstanceDir
	}
	return openInstance(ctx, place)
}

// facetCeiling gives what a reader of some facets may see.
func (r *reading) facetCeiling(ctx context.Context, config *retrieval.Config, facets string) (c label.Ceiling, err error) {
	in, err := r.open(ctx, config)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	err = in.ownView(ctx, func(v store.View) error {
		owner := v.Owner()
		scope, err := readverb.ScopeOf(facets, owner.Facets)
		if err != nil {
			return err
		}
		c = label.ScopeCeiling(owner.Subject, store.Classes(), slices.Sorted(slices.Values(scope.Facets)))
		return nil
	})
	return c, err
}

// ownerIfAny names the owner of the instance, for placeholders in a ceiling; "" where there is no instance to ask.
func (r *reading) ownerIfAny(ctx context.Context, config *retrieval.Config) (owner string) {
	in, err := r.open(ctx, config)
	if err != nil {
		return ""
	}
	defer in.Close()
	_ = in.ownView(ctx, func(v store.View) error {
		owner = v.Owner().Subject
		return nil
	})
	return owner
}

// cabinet opens the instance when a result is to be written.
func (r *reading) cabinet(config *retrieval.Config) func(context.Context) (result.Cabinet, func() error, error) {
	return func(ctx context.Context) (result.Cabinet, func() error, error) {
		in, err := r.open(ctx, config)
		if err != nil {
			return nil, nil, err
		}
		return in.Store, in.Close, nil
	}
}
