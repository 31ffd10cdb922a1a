package cli

import (
	"os"

	"github.com/spf13/pflag"

	"github.com/loomrun/loom/internal/config"
	"github.com/loomrun/loom/run"
)

// settled says where the values of a command's settable flags come from.
type settled struct {
	configuration config.Settings
	sources       map[string]config.Source // by the key's name
}

// settle gives each settable flag of a command that its command line leaves out the value that the
// environment or the configuration file has for it (D2). Flags that neither names keep their defaults.
func settle(flags *pflag.FlagSet) (settled, error) {
	configuration, err := config.Read(os.LookupEnv)
	if err != nil {
		return settled{}, err
	}
	s := settled{configuration, map[string]config.Source{}}
	for _, key := range config.Keys() {
		flag := flags.Lookup(key.Flag)
		switch {
		case flag == nil: // this command does not ask for it
			continue
		case flag.Changed:
			s.sources[key.Name] = config.Source{Origin: config.Flag, Name: "--" + key.Flag}
			continue
		}
		setting, found, err := configuration.Get(key)
		if err != nil {
			return settled{}, err
		}
		if !found {
			s.sources[key.Name] = config.Source{Origin: config.Default}
			continue
		}
		if err := flag.Value.Set(setting.Text); err != nil {
			return settled{}, err
		}
		s.sources[key.Name] = setting.Source
	}
	return s, nil
}

// from is how a message names where the value of a flag comes from: the flag itself, also for a default;
// else the variable, or the line of the file and the key.
func (s settled) from(key, flag string) string {
	switch source := s.sources[key]; source.Origin {
	case config.Environment:
		return source.String()
	case config.File:
		return source.String() + ": " + key
	default:
		return flag
	}
}

// settable declares the flags of run that can be set elsewhere too, with their defaults.
func (f *runFlags) settable(flags *pflag.FlagSet) {
	f.settableAgain(flags)
	f.contextPolicy = newChoice("policy", string(run.ContextLegacy), string(run.ContextBounded))
	flags.StringVar(&f.threshold, "threshold", run.DefaultThreshold.String(), "least confidence of an accepted pick, a `number` from 0 to 1")
	flags.Var(&f.contextPolicy, "context-policy", "what a model is shown of the run: legacy, the last 64 steps; bounded, at most 64 KiB a request")
}

// settableAgain declares those of them that a run takes anew when it is resumed.
func (f *runFlags) settableAgain(flags *pflag.FlagSet) {
	f.output = newChoice("mode", outputHuman, outputJSONL)
	flags.StringVar(&f.catalog, "catalog", "", "model catalog, a TOML `file`")
	flags.StringVar(&f.model, "model", defaultAlias, "`alias` of the catalog, else id, of the model that proposes actions")
	flags.StringVar(&f.classifier, "classifier-model", defaultAlias, "`alias` of the catalog, else id, of the model that picks the protocol")
	flags.UintVar(&f.maxSteps, "max-steps", run.DefaultMaxSteps, "stop after this `number` of steps; refused ones count")
	flags.Var(&f.output, "output", "human: lines for people; jsonl: one JSON object a line")
	journalFlag(flags, &f.journal)
	bindingsFlag(flags, &f.actionBindings)
	f.reading.configFlag(flags)
}
