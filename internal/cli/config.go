package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/config"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/printable"
)

func newConfig(s streams) *cobra.Command {
	var f runFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "config [--json] [flags]",
		Short: "Show what is set, and where",
		Long: `Print the configuration file, then one line for each thing that can be set: its key, the
value that loom run would use, and where that comes from. Two spaces or more separate the
columns; a hyphen stands for no value.

A flag wins over an environment variable, and that over the configuration file. The flags
of loom run are taken here too, to see what they change.`,
		Example: `  loom config
  LOOM_THRESHOLD=0.9 loom config
  loom config --json --model large`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			set, err := settle(c.Flags())
			if err != nil {
				return err
			}
			values := map[string]string{}
			for _, key := range config.Keys() {
				values[key.Name] = c.Flags().Lookup(key.Flag).Value.String()
			}
			values["journal"] = set.journalShown(values["journal"])
			if asJSON {
				return s.write(canonjson.Append(nil, configDocument(set, values)))
			}
			return s.write(configLines(set, values))
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.BoolVar(&asJSON, "json", false, "print a JSON object instead")
	f.settable(flags)
	return c
}

func configLines(set settled, values map[string]string) []byte {
	path, state := set.configuration.Path, "not there"
	switch {
	case path == "":
		path, state = "-", "neither XDG_CONFIG_HOME nor HOME is set"
	case set.configuration.Present:
		state = "read"
	}
	lines := configLine(nil, "file", path, state)
	for _, key := range config.Keys() {
		value := values[key.Name]
		if value == "" {
			value = "-"
		}
		lines = configLine(lines, key.Name, value, set.sources[key.Name].String())
	}
	return lines
}

func configLine(lines []byte, name, value, source string) []byte {
	return fmt.Appendf(lines, "%-16s  %s  %s\n", name, printable.Line(value), printable.Line(source))
}

// configDocument is the JSON form. Values are text, as flags take them.
func configDocument(set settled, values map[string]string) document.Value {
	file := document.MapOf(
		document.M("path", textOrNull(set.configuration.Path)),
		document.M("present", document.BoolOf(set.configuration.Present)))
	settings := document.MapOf()
	for _, key := range config.Keys() {
		source := set.sources[key.Name]
		setting := document.MapOf(
			document.M("value", textOrNull(values[key.Name])),
			document.M("source", document.TextOf(string(source.Origin))))
		switch source.Origin {
		case config.Flag:
			setting.Members = append(setting.Members, document.M("flag", document.TextOf(source.Name)))
		case config.Environment:
			setting.Members = append(setting.Members, document.M("variable", document.TextOf(source.Name)))
		case config.File:
			setting.Members = append(setting.Members,
				document.M("path", document.TextOf(source.Name)), document.M("line", document.IntOf(int64(source.Line))))
		}
		settings.Members = append(settings.Members, document.M(key.Name, setting))
	}
	return document.MapOf(document.M("file", file), document.M("settings", settings))
}

func textOrNull(text string) document.Value {
	if text == "" {
		return document.Value{}
	}
	return document.TextOf(text)
}
