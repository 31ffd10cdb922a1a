package config

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/loomrun/loom/internal/lazyregexp"
	"github.com/loomrun/loom/run"
)

// Key is one thing that can be set.
type Key struct {
	Name     string // in the file
	Variable string // in the environment
	Flag     string // on the command line, without its dashes
	Path     bool   // a path, or an address SCHEME://: a relative path in the file counts from the file's folder

	form form
}

// form says which values a key takes.
type form struct {
	wants string                           // for messages: what a value must be
	kinds []unstable.Kind                  // how one is written in the file
	read  func(text string) (string, bool) // the text as the flag takes it, where it is one
}

var (
	text  = []unstable.Kind{unstable.String}
	whole = []unstable.Kind{unstable.Integer}
	share = []unstable.Kind{unstable.Float, unstable.Integer}
)

var keys = []Key{
	{"catalog", "LOOM_CATALOG", "catalog", true, form{"a path", text, named}},
	{"model", "LOOM_MODEL", "model", false, form{"an alias", text, named}},
	{"classifier_model", "LOOM_CLASSIFIER_MODEL", "classifier-model", false, form{"an alias", text, named}},
	{"threshold", "LOOM_THRESHOLD", "threshold", false, form{"a number from 0 to 1", share, decimal}},
	{"max_steps", "LOOM_MAX_STEPS", "max-steps", false, form{"a whole number from 0", whole, count}},
	{"output", "LOOM_OUTPUT", "output", false, form{"human or jsonl", text, oneOf("human", "jsonl")}},
	{"context_policy", "LOOM_CONTEXT_POLICY", "context-policy", false, form{"legacy or bounded", text, oneOf(string(run.ContextLegacy), string(run.ContextBounded))}},
	{"journal", "LOOM_JOURNAL", "journal", true, form{journalWants, text, journal}},
	{"action_bindings", "LOOM_ACTION_BINDINGS", "action-bindings", true, form{"a path", text, named}},
	{"loom_retrieval_config", "CF_HARNESS_LOOM_RETRIEVAL_CONFIG", "loom-retrieval-config", true, form{"a path", text, named}},
	{"instance", "LOOM_INSTANCE_DIR", "instance", false, form{"the name of an instance or an absolute path", text, instance}},
}

// Keys gives all keys, in the order in which they are shown.
func Keys() []Key { return slices.Clone(keys) }

// find gives the key of a name in the file.
func find(name string) (Key, bool) {
	i := slices.IndexFunc(keys, func(k Key) bool { return k.Name == name })
	if i < 0 {
		return Key{}, false
	}
	return keys[i], true
}

func names() string {
	all := make([]string, len(keys))
	for i, k := range keys {
		all[i] = k.Name
	}
	return strings.Join(all, ", ")
}

// named takes any text but an empty one, and none with a NUL, which no path can hold.
func named(text string) (string, bool) { return text, text != "" && !strings.Contains(text, "\x00") }

func decimal(text string) (string, bool) {
	_, err := run.ParseDecimal(text)
	return text, err == nil
}

// instanceName is the form of the name of an instance, which is also that of its folder.
var instanceName = lazyregexp.New(`^[a-z0-9][a-z0-9-]{0,63}$`)

// IsInstanceName tells whether a text can be the name of an instance: 1 to 64 of a-z, 0-9 and -, of which the first is no
// hyphen.
func IsInstanceName(text string) bool { return instanceName().MatchString(text) }

func instance(text string) (string, bool) {
	path, ok := named(text)
	return path, ok && (filepath.IsAbs(path) || IsInstanceName(path))
}

// count gives a whole number in plain digits: TOML and flags agree on few other ways to write one.
func count(text string) (string, bool) {
	n, err := strconv.ParseInt(text, 0, 64)
	return strconv.FormatInt(n, 10), err == nil && n >= 0
}

func oneOf(words ...string) func(string) (string, bool) {
	return func(text string) (string, bool) { return text, slices.Contains(words, text) }
}
