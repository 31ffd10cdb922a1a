package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loomrun/loom/internal/atomicfile"
	"github.com/loomrun/loom/internal/xdg"
	"github.com/loomrun/loom/retrieval"
)

func newRetrieval(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "retrieval",
		Short: "Configure what a run reads your data with",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newRetrievalWrite(s))
	return c
}

// retrievalFile is the configuration that is written where no other place is named, in the folder of a person's configuration.
const retrievalFile = "retrieval.json"

func newRetrievalWrite(s streams) *cobra.Command {
	var out, queue, record, facets, place string
	var force bool
	c := &cobra.Command{
		Use:   "write [flags]",
		Short: "Write the file that lets runs read your data",
		Long: `Write the configuration of retrieval: which program answers the reads of a run, and how it
reaches the data. It is for --loom-retrieval-config of loom run.

By default this program reads the instance itself. With --queue it asks a broker instead
(see loom broker serve), so that what a run starts cannot open the instance at all. With
--record every read is bounded by a ceiling record too (see loom ceiling write).`,
		Example: `  loom retrieval write
  loom retrieval write --queue /run/user/1000/loom --record work.json --facets work --out broker.json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			config := &retrieval.Config{}
			var err error
			if config.CLIPath, err = os.Executable(); err != nil {
				return fmt.Errorf("find this program: %w", err)
			}
			if queue != "" {
				config.Transport.Kind = retrieval.Broker
				config.Transport.QueuePath, err = filepath.Abs(queue)
			} else {
				var in opened
				if in, err = openInstance(c.Context(), place); err == nil {
					config.Transport = retrieval.Transport{Kind: retrieval.Direct, InstanceDir: in.Folder, RunID: s.program}
					err = in.Close()
				}
			}
			if err == nil && record != "" {
				config.ReadCeilingFile, err = filepath.Abs(record)
			}
			if err == nil && out == "" {
				var folder string
				if folder, err = xdg.Config(os.LookupEnv); err == nil {
					out, err = filepath.Join(folder, retrievalFile), atomicfile.MakeFolder(folder)
					if errors.Is(err, fs.ErrExist) {
						err = nil
					}
				}
			}
			if err != nil {
				return err
			}
			if facets != "" {
				config.Facets = strings.Split(facets, ",")
			}
			return s.writeRetrieval(config, out, force)
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&out, "out", "", "write this `file` (default: "+retrievalFile+" beside config.toml)")
	flags.StringVar(&queue, "queue", "", "ask the broker of this `folder`, instead of opening the instance")
	flags.StringVar(&record, "record", "", "bound every read by this ceiling record, a `file` of loom ceiling write")
	flags.StringVar(&facets, "facets", "", "refuse a record that is not about exactly these facets, a `list` with commas")
	flags.BoolVar(&force, "force", false, "write over a file that is there")
	instanceFlag(flags, &place)
	return c
}

// writeRetrieval writes a configuration that can be read, and says how it is used.
func (s streams) writeRetrieval(config *retrieval.Config, out string, force bool) error {
	if err := config.Check(); err != nil {
		return err
	}
	path, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil && !force {
		return fmt.Errorf("%s is there already; --force writes over it", path)
	}
	if err := atomicfile.Write(path, config.JSON()); err != nil {
		return err
	}
	return s.write(fmt.Appendf(nil, `wrote %[1]s
to read your data in a run: %[2]s run --loom-retrieval-config %[1]s "QUESTION"
or for every run, in config.toml: loom_retrieval_config = "%[1]s"
`, path, s.program))
}
