// Package config holds what a person sets once instead of at every command: the keys, the environment
// variable beside each, and the file config.toml (DECISIONS D2).
//
// A flag wins over an environment variable, and that over the file. Flags belong to the command line,
// so this package answers for the other two:
//
//	settings, err := config.Read(os.LookupEnv)
//	for _, key := range config.Keys() {
//		setting, found, err := settings.Get(key)
//	}
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/loomrun/loom/internal/boundedfile"
	"github.com/loomrun/loom/internal/xdg"
)

const (
	// maxFile bounds the configuration file.
	maxFile boundedfile.Size = 64 << 10
	// fileName is the file's name in the folder of a person's configuration.
	fileName = "config.toml"
)

// Settings are what the environment and the configuration file say.
type Settings struct {
	// Path is where the configuration file is looked for. It is empty where there is no place for
	// one: neither XDG_CONFIG_HOME nor HOME is set.
	Path string
	// Present is true when there is such a file.
	Present bool

	lookup  xdg.Lookup
	entries map[string]entry
}

// Setting is one value and where it stands.
type Setting struct {
	Text   string // as the key's flag takes it
	Source Source
}

// Read reads the configuration file: a regular file of at most 64 KiB, $XDG_CONFIG_HOME/loom/config.toml
// or $HOME/.config/loom/config.toml. That there is none is no error and costs one system call. An error
// names the file, and the line and column of what is wrong in it (both from 1, columns in characters),
// and quotes no value: a secret in the wrong place is not shown. Variables are looked up when they are
// asked for.
func Read(lookup xdg.Lookup) (Settings, error) {
	s := Settings{lookup: lookup}
	if unset(lookup, "XDG_CONFIG_HOME") && unset(lookup, "HOME") {
		return s, nil
	}
	folder, err := xdg.Config(lookup)
	if err != nil {
		return Settings{}, fmt.Errorf("find the configuration: %w", err)
	}
	s.Path = filepath.Join(folder, fileName)
	data, err := boundedfile.Read(s.Path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return Settings{}, fmt.Errorf("read the configuration: %w", err)
	}
	entries, wrong := parse(data)
	if wrong != nil {
		return Settings{}, fmt.Errorf("%s:%d:%d: %s", s.Path, wrong.Place.Line, wrong.Place.Column, wrong.Message)
	}
	s.Present, s.entries = true, entries
	return s, nil
}

func unset(lookup xdg.Lookup, variable string) bool {
	value, _ := lookup(variable)
	return value == ""
}

// Get gives what the environment says about a key, or else the file; it reports false where neither
// says anything. A variable that is empty counts as unset. An error names a variable whose value the
// key does not take, without quoting it.
func (s Settings) Get(key Key) (Setting, bool, error) {
	if value, _ := s.lookup(key.Variable); value != "" {
		text, ok := key.form.read(value)
		if !ok {
			return Setting{}, false, fmt.Errorf("%s is not %s", key.Variable, key.form.wants)
		}
		return Setting{text, Source{Origin: Environment, Name: key.Variable}}, true, nil
	}
	e, ok := s.entries[key.Name]
	if !ok {
		return Setting{}, false, nil
	}
	text := e.text
	if key.Path && !filepath.IsAbs(text) && !isAddress(text) {
		text = filepath.Join(filepath.Dir(s.Path), text)
	}
	return Setting{text, Source{Origin: File, Name: s.Path, Line: e.line}}, true, nil
}

// Origin is a kind of source, in the words of loom config.
type Origin string

// The kinds of sources; the earlier win over the later.
const (
	Flag        Origin = "flag"
	Environment Origin = "environment"
	File        Origin = "file"
	Default     Origin = "default"
)

// Source says where a value stands.
type Source struct {
	Origin Origin
	Name   string // the flag with its dashes, the variable, or the file's path; empty for a default
	Line   int    // in the file, from 1; else 0
}

// String gives the flag, the variable, PATH:LINE, or "default".
func (s Source) String() string {
	switch s.Origin {
	case File:
		return fmt.Sprintf("%s:%d", s.Name, s.Line)
	case Default:
		return string(Default)
	default:
		return s.Name
	}
}
