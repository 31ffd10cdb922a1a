package cli

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/internal/atomicfile"
)

//go:embed starter
var starter embed.FS

func newProtocolsInit(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "init NAME",
		Short: "Begin a protocol of your own, with a program that performs it",
		Long: `Make a folder with a protocol, a bindings file and a small program, all of them with
comments and ready to run, and print the commands that run them. NAME is that of the
folder, such as team-notes, or team-notes@2 for revision 2. What exists is never touched.`,
		Example: "  loom protocols init team-notes",
		Args:    cobra.ExactArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return protocolsInit(s, args[0]) },
	}
}

// protocolsInit writes the starter under a name into a folder of that name below the current one.
func protocolsInit(s streams, given string) error {
	if !strings.Contains(given, "@") {
		given += "@1"
	}
	name, err := catalog.ParseName(given)
	if err != nil {
		return err
	}
	if _, taken := catalog.Bundled().Get(name.String()); taken {
		return fmt.Errorf("%s is bundled; choose another name", name)
	}
	switch err := writeStarter(name); {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s exists; choose another name, or remove it", name.Stem)
	case err != nil:
		return err
	}
	protocol, bindings, program := name.Stem+".yaml", "bindings.json", "notes"
	width := max(len(protocol), len(bindings))
	var lines []byte
	for _, file := range [][2]string{
		{protocol, "the protocol: what may be done, when, and what counts as done"},
		{bindings, "which program performs which action, and what it may do"},
		{program, "the program"},
	} {
		lines = fmt.Appendf(lines, "%s/%-*s  %s\n", name.Stem, width, file[0], file[1])
	}
	return s.write(fmt.Appendf(lines, `next:
  cd %[1]s
  %[3]s protocols add %[2]s --file %[1]s.yaml
  %[3]s run --offline --protocol %[2]s --action-bindings bindings.json "a first note"
Programs run confined, by bubblewrap (apt-get install bubblewrap). To do without, take the
lines with confine out of bindings.json and add --unconfined-bindings to the last command.
`, name.Stem, name, s.program))
}

// writeStarter makes the folder of a starter. Where the folder exists the error wraps fs.ErrExist; where something else
// fails nothing is left behind.
func writeStarter(name catalog.Name) error {
	if err := os.Mkdir(name.Stem, 0o700); err != nil {
		return err
	}
	fill := strings.NewReplacer(
		"{{ID}}", strings.ReplaceAll(name.Stem, "-", "."),
		"{{REVISION}}", strconv.FormatUint(name.Major, 10),
		"{{NAME}}", name.String(),
	)
	for from, to := range map[string]string{"protocol.yaml": name.Stem + ".yaml", "bindings.json": "bindings.json", "notes": "notes"} {
		text, err := starter.ReadFile("starter/" + from)
		path := filepath.Join(name.Stem, to)
		if err == nil {
			err = atomicfile.Write(path, []byte(fill.Replace(string(text))))
		}
		if err == nil && from == "notes" {
			err = os.Chmod(path, 0o700)
		}
		if err != nil {
			return errors.Join(err, os.RemoveAll(name.Stem))
		}
	}
	return nil
}
