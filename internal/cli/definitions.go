package cli

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/internal/xdg"
)

// storeFolder is where installed definitions are, below the folder of a person's data (2.5).
const storeFolder = "protocols"

// definitions gives the catalog of every command that needs one: the bundled definitions and the
// installed ones (2.1). It fails where any installed record is bad, also for a command that would not
// use it.
func definitions() (catalog.Catalog, error) {
	store, err := installedStore()
	if err != nil {
		return catalog.Catalog{}, err
	}
	return store.Load(catalog.Bundled())
}

// installedStore gives the store of this person.
func installedStore() (*catalog.Store, error) {
	data, err := xdg.Data(os.LookupEnv)
	if err != nil {
		return nil, err
	}
	return catalog.OpenStore(filepath.Join(data, storeFolder))
}

// protocolNames completes the names of all definitions, of the bundled ones where the store is bad.
func protocolNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	all, err := definitions()
	if err != nil {
		all = catalog.Bundled()
	}
	return all.Names(), cobra.ShellCompDirectiveNoFileComp
}

// installedNames completes the names of what can be replaced or removed.
func installedNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	if all, err := definitions(); err == nil {
		for _, e := range all.Entries() {
			if !e.Source.Bundled() {
				names = append(names, e.Name)
			}
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
