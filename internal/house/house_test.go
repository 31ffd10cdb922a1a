package house

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTheModuleKeepsTheRules(t *testing.T) {
	pkgs := theModule(t)
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			for _, broken := range r.check(pkgs) {
				t.Error(broken)
			}
		})
	}
}

// TestTheTablesNameRoomsOfTheHouse catches a misspelt room, which would
// otherwise switch its rule off without a word.
func TestTheTablesNameRoomsOfTheHouse(t *testing.T) {
	places := placesOf(theHouse)
	var named []string
	count := 0
	for _, f := range theHouse {
		count += len(f.rooms)
	}
	if count != len(places) {
		t.Errorf("theHouse lists %d rooms but only %d different ones", count, len(places))
	}
	if theHouse[0].name != toolsFloor {
		t.Errorf("the lowest floor is %q, want %q", theHouse[0].name, toolsFloor)
	}
	named = append(named, pureRooms...)
	named = append(named, testHelpers...)
	for _, table := range []map[string][]string{onlyImports, neverImports} {
		for room, others := range table {
			named = append(append(named, room), others...)
		}
	}
	for _, table := range []map[string][]string{keepers, openers} {
		for _, rooms := range table {
			named = append(named, rooms...)
		}
	}
	for _, room := range named {
		if _, ok := places[room]; !ok {
			t.Errorf("a table names %q, which is no room of the house", room)
		}
	}
}

// theModule describes every package of this module as it is on disk.
func theModule(t *testing.T) []pkg {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	// A test's result is kept until a file or folder that it opened itself
	// changes. Walking the folders makes a new package run it again.
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != root && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	// -e lists a package that does not build too: these rules hold for it all
	// the same, and the compiler says the rest.
	cmd := exec.Command("go", "list", "-e", "-json=Dir,ImportPath,Name,GoFiles,CgoFiles,IgnoredGoFiles", "./...")
	cmd.Dir = root
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var pkgs []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var listed struct {
			Dir, ImportPath, Name             string
			GoFiles, CgoFiles, IgnoredGoFiles []string
		}
		err := dec.Decode(&listed)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		room, ours := roomOf(listed.ImportPath)
		if !ours {
			t.Fatalf("go list names %s, which is not under %s", listed.ImportPath, modulePath)
		}
		sources := map[string]string{}
		for _, file := range slices.Concat(listed.GoFiles, listed.CgoFiles, listed.IgnoredGoFiles) {
			text, err := os.ReadFile(filepath.Join(listed.Dir, file))
			if err != nil {
				t.Fatal(err)
			}
			sources[file] = string(text)
		}
		p, err := describe(room, listed.Name, sources)
		if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
	if !slices.ContainsFunc(pkgs, func(p pkg) bool { return p.room == "internal/house" }) {
		t.Fatalf("go list found %d packages and not this one", len(pkgs))
	}
	return pkgs
}
