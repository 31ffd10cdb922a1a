package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/internal/boundedfile"
	"github.com/loomrun/loom/internal/config"
	"github.com/loomrun/loom/internal/xdg"
)

func environment(vars map[string]string) xdg.Lookup {
	return func(name string) (string, bool) {
		value, set := vars[name]
		return value, set
	}
}

// written gives a home folder whose configuration file has this text.
func written(t *testing.T, text string) (home, file string) {
	t.Helper()
	home = t.TempDir()
	file = filepath.Join(home, ".config/loom/config.toml")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return home, file
}

// one holds for each key a value for the file and one for the environment (D2).
var one = map[string]struct{ inFile, fromFile, inEnvironment, fromEnvironment string }{
	"catalog":               {`'/m/file.toml'`, "/m/file.toml", "env.toml", "env.toml"},
	"model":                 {`'file'`, "file", "env", "env"},
	"classifier_model":      {`'file'`, "file", "env", "env"},
	"threshold":             {`0.25`, "0.25", "0.75", "0.75"},
	"max_steps":             {`3`, "3", "0x10", "16"},
	"output":                {`'jsonl'`, "jsonl", "human", "human"},
	"context_policy":        {`'bounded'`, "bounded", "legacy", "legacy"},
	"journal":               {`'postgres://file/j'`, "postgres://file/j", "postgresql://env/j", "postgresql://env/j"},
	"action_bindings":       {`'/b/file.json'`, "/b/file.json", "env.json", "env.json"},
	"loom_retrieval_config": {`'/r/file.json'`, "/r/file.json", "/r/env.json", "/r/env.json"},
	"instance":              {`'work'`, "work", "/d/env", "/d/env"},
}

// Every key: the environment wins over the file, an empty variable over nothing.
func TestEnvironmentWinsOverFile(t *testing.T) {
	if len(one) != len(config.Keys()) {
		t.Fatalf("%d keys are tested, there are %d", len(one), len(config.Keys()))
	}
	for _, key := range config.Keys() {
		t.Run(key.Name, func(t *testing.T) {
			value := one[key.Name]
			home, file := written(t, "# one key\n"+key.Name+" = "+value.inFile+"\n")
			fromFile := config.Setting{Text: value.fromFile, Source: config.Source{Origin: config.File, Name: file, Line: 2}}
			fromEnvironment := config.Setting{Text: value.fromEnvironment, Source: config.Source{Origin: config.Environment, Name: key.Variable}}
			for _, tc := range []struct {
				name  string
				vars  map[string]string
				want  config.Setting
				found bool
			}{
				{"neither", map[string]string{"HOME": "/nowhere"}, config.Setting{}, false},
				{"the file", map[string]string{"HOME": home}, fromFile, true},
				{"the environment", map[string]string{"HOME": "/nowhere", key.Variable: value.inEnvironment}, fromEnvironment, true},
				{"both", map[string]string{"HOME": home, key.Variable: value.inEnvironment}, fromEnvironment, true},
				{"the file and an empty variable", map[string]string{"HOME": home, key.Variable: ""}, fromFile, true},
			} {
				settings, err := config.Read(environment(tc.vars))
				if err != nil {
					t.Fatal(err)
				}
				got, found, err := settings.Get(key)
				if diff := cmp.Diff(tc.want, got); diff != "" || found != tc.found || err != nil {
					t.Errorf("%s: found %v, %v\n%s", tc.name, found, err, diff)
				}
			}
		})
	}
}

// Where the file is looked for, and that it need not be there.
func TestWhereTheFileIs(t *testing.T) {
	home, file := written(t, "model = 'a'")
	for _, tc := range []struct {
		name    string
		vars    map[string]string
		path    string
		present bool
		err     string
	}{
		{"below HOME", map[string]string{"HOME": home}, file, true, ""},
		{"in XDG_CONFIG_HOME", map[string]string{"HOME": "/nowhere", "XDG_CONFIG_HOME": home + "/.config"}, file, true, ""},
		{"not in HOME where XDG_CONFIG_HOME is set", map[string]string{"HOME": home, "XDG_CONFIG_HOME": "/nowhere"}, "/nowhere/loom/config.toml", false, ""},
		{"an empty XDG_CONFIG_HOME counts as unset", map[string]string{"HOME": home, "XDG_CONFIG_HOME": ""}, file, true, ""},
		{"no place for one", nil, "", false, ""},
		{"a relative XDG_CONFIG_HOME", map[string]string{"HOME": home, "XDG_CONFIG_HOME": ".config"}, "", false, "find the configuration: XDG_CONFIG_HOME is \".config\", which is no absolute path"},
	} {
		settings, err := config.Read(environment(tc.vars))
		if settings.Path != tc.path || settings.Present != tc.present || message(err) != tc.err {
			t.Errorf("%s: %q, %v, %v", tc.name, settings.Path, settings.Present, err)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A relative path in the file counts from the file's folder, one in a variable from where the program
// stands.
func TestRelativeCatalog(t *testing.T) {
	home, file := written(t, "catalog = '../models/./m.toml'\nmodel = '../a'\njournal = 'j.db'\naction_bindings = 'b.json'\n")
	settings, err := config.Read(environment(map[string]string{"HOME": home}))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"catalog": filepath.Dir(filepath.Dir(file)) + "/models/m.toml", "model": "../a", "journal": filepath.Dir(file) + "/j.db", "action_bindings": filepath.Dir(file) + "/b.json"}
	for _, key := range config.Keys() {
		got, _, err := settings.Get(key)
		if err != nil || got.Text != want[key.Name] {
			t.Errorf("%s is %q, %v", key.Name, got.Text, err)
		}
	}
}

// What is no small regular file is refused at once, naming it; so is a bad file, naming the place.
func TestFilesThatAreRefused(t *testing.T) {
	t.Run("a FIFO", func(t *testing.T) {
		home, file := written(t, "")
		if err := errors.Join(os.Remove(file), syscall.Mkfifo(file, 0o600)); err != nil {
			t.Fatal(err)
		}
		_, err := config.Read(environment(map[string]string{"HOME": home}))
		if !errors.Is(err, boundedfile.ErrNotRegular) || !strings.HasPrefix(message(err), "read the configuration: "+file) {
			t.Error(err)
		}
	})
	t.Run("a folder", func(t *testing.T) {
		home, file := written(t, "")
		if err := errors.Join(os.Remove(file), os.Mkdir(file, 0o700)); err != nil {
			t.Fatal(err)
		}
		_, err := config.Read(environment(map[string]string{"HOME": home}))
		if !errors.Is(err, boundedfile.ErrNotRegular) {
			t.Error(err)
		}
	})
	t.Run("64 KiB and a byte more", func(t *testing.T) {
		text := "model = 'a'\n#"
		text += strings.Repeat("-", 64<<10-len(text))
		home, _ := written(t, text)
		if settings, err := config.Read(environment(map[string]string{"HOME": home})); err != nil || !settings.Present {
			t.Error(err)
		}
		home, _ = written(t, text+"-")
		if _, err := config.Read(environment(map[string]string{"HOME": home})); !errors.Is(err, boundedfile.ErrTooLarge) {
			t.Error(err)
		}
	})
	t.Run("a bad file", func(t *testing.T) {
		home, file := written(t, "\nthreshold = 'sk-secret'\n")
		_, err := config.Read(environment(map[string]string{"HOME": home}))
		if want := file + ":2:13: threshold is not a number from 0 to 1"; message(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
}

// A variable whose value its key does not take is named and not quoted; another key is not disturbed.
func TestBadVariables(t *testing.T) {
	settings, err := config.Read(environment(map[string]string{
		"LOOM_THRESHOLD": "sk-secret", "LOOM_MAX_STEPS": "-1", "LOOM_OUTPUT": "xml", "LOOM_CONTEXT_POLICY": "none", "LOOM_CATALOG": "a\x00b", "LOOM_MODEL": "fine",
		"LOOM_JOURNAL": "mysql://u:sk-secret@h/d", "LOOM_ACTION_BINDINGS": "a\x00b",
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"threshold": "LOOM_THRESHOLD is not a number from 0 to 1",
		"max_steps": "LOOM_MAX_STEPS is not a whole number from 0",
		"output":    "LOOM_OUTPUT is not human or jsonl",

		"context_policy": "LOOM_CONTEXT_POLICY is not legacy or bounded",
		"catalog":        "LOOM_CATALOG is not a path",
		"journal":        "LOOM_JOURNAL is not a path or a postgres:// URL",

		"action_bindings": "LOOM_ACTION_BINDINGS is not a path",
	}
	for _, key := range config.Keys() {
		got, found, err := settings.Get(key)
		if message(err) != want[key.Name] || found != (key.Name == "model") || (err != nil && got != config.Setting{}) {
			t.Errorf("%s: %+v, %v, %v", key.Name, got, found, err)
		}
	}
}

func TestSourceNames(t *testing.T) {
	for _, tc := range []struct {
		source config.Source
		want   string
	}{
		{config.Source{Origin: config.Flag, Name: "--model"}, "--model"},
		{config.Source{Origin: config.Environment, Name: "LOOM_MODEL"}, "LOOM_MODEL"},
		{config.Source{Origin: config.File, Name: "/c/config.toml", Line: 3}, "/c/config.toml:3"},
		{config.Source{Origin: config.Default}, "default"},
	} {
		if got := fmt.Sprint(tc.source); got != tc.want {
			t.Errorf("got %s, want %s", got, tc.want)
		}
	}
}
