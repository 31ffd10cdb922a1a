package house

// floor is one floor of the house: a name for messages and its rooms, lowest
// first. A room is a package by its path below the module; "." is the root.
type floor struct {
	name  string
	rooms []string
}

// theHouse lists every package of the module from the ground up. A package
// imports only packages that stand before it here. The tools at the bottom may
// import each other in any order; the compiler keeps them free of cycles.
var theHouse = []floor{
	{"tools", []string{
		"internal/document",    // the common tree of values
		"internal/canonjson",   // canonical writer
		"internal/strictjson",  // the JSON reader
		"internal/strictyaml",  // the YAML reader
		"internal/uuid8",       // identifiers that follow from what they name
		"internal/printable",   // the output filter
		"internal/boundedfile", // the file reader
		"internal/atomicfile",  // the file writer
		"internal/xdg",         // where a person's files live
		"internal/process",     // start, feed, bound and kill a child group
		"internal/version",     // what this build calls itself
		"internal/scripts",     // which are written without spaces
		"internal/codeunits",   // characters counted as the limits count them
		"internal/lazyregexp",  // expressions compiled when first used
		"internal/schema",      // numbered migrations of a database
		"internal/sqlitefile",  // private SQLite files
		"internal/valueschema", // JSON Schema, within bounds
	}},
	{"pure", []string{
		"label",       // atoms, clauses, labels, ceilings
		"calendar",    // events, their recurrence, their zones
		"store/words", // text folded and split into words
		"store/query", // the language of searches
		"protocol",    // protocol/1: read, validate, normal form
		"reference",   // tracker keys and links found in an intent
		"governor",    // cases, evidence, frontier, completion
		"event",       // what a run says happened
	}},
	{"ports", []string{
		"catalog/pinnedgit",      // one blob of a pinned commit
		"catalog",                // the definitions a host offers
		"model",                  // one request, one forced reply
		"model/sse",              //   event streams, for the wires
		"model/wire",             //   what the wires share
		"model/chat",             //   a wire
		"model/responses",        //   a wire
		"model/messages",         //   a wire
		"model/codex",            //   a wire
		"model/wires",            //   the wire of a binding's protocol
		"model/modeltest",        //   for tests: a model that replays
		"model/modeltest/replay", // for tests: the same as a program
		"store",                  // a person's records with labels
		"store/storetest",        //   for tests: what every store must pass
		"store/sqlite",           //   on one machine
		"sandbox",                // confinement of a child program
		"journal",                // what a run did
		"journal/sqlstore",       //   in the tables of a database
		"journal/sqlite",         //   on one machine
		"journal/postgres",       //   for several machines
		"journal/journaltest",    //   for tests: what every store must pass
	}},
	{"work", []string{
		"source",             // importers into the store
		"source/mail",        //   mbox, Maildir, messages
		"source/ical",        //   calendars
		"source/vcard",       //   contacts
		"source/markdown",    //   pages
		"source/tracks",      //   places and activity
		"source/formats",     //   which importer reads what
		"readverb",           // the eight read verbs over the store
		"handle",             // tokens for what a run observed
		"retrieval",          // the eight read tools
		"result",             // a run's answer as a labelled document
		"effect",             // what performs and verifies actions
		"effect/command",     //   by a person's own programs
		"effect/retrieve",    //   reads under a ceiling, and the answer
		"run/workingcontext", // what a model is shown of a run, within a fixed size
		"run",                // one run, from intent to stop
		"run/record",         // a run with a journal: kept, resumed, replayed
		"run/audit",          // what a record says of itself, checked
	}},
	{"faces", []string{
		"broker",                // the read verbs served to a confined run
		"internal/config",       // what a person sets once: keys, variables, the file
		"internal/instance",     // where a person's data lives
		"internal/cli",          // one file per verb
		"internal/cli/manpages", // prints the verbs as manual pages
		".",                     // loom.go: the SDK
		"cmd/loom",              // main
	}},
	{"upkeep", []string{
		"internal/house",           // these tests
		"internal/house/covergate", // reads a coverage profile
	}},
}

// toolsFloor is the floor whose rooms may import each other in any order.
const toolsFloor = "tools"

// onlyImports narrows a room to exactly these rooms, where standing above them
// is not reason enough.
var onlyImports = map[string][]string{
	"cmd/loom":                 {"internal/cli"},
	"internal/cli/manpages":    {"internal/cli", "internal/version"},
	"internal/house":           {},
	"internal/house/covergate": {},
}

// neverImports names the rooms below that a room still may not import: the SDK
// stands beside the command line, not on it.
var neverImports = map[string][]string{
	".": {"internal/cli", "internal/cli/manpages"},
}

// testHelpers are packages for tests and demonstrations only. Other code may not
// import them; they may import testLibraries and open files of their own.
var testHelpers = []string{"model/modeltest", "model/modeltest/replay", "store/storetest", "journal/journaltest"}

// pureRooms decide or convert and touch nothing outside: same input, same bytes.
var pureRooms = []string{
	"label", "calendar", "store/words", "store/query", "protocol", "reference", "governor", "event", "handle",
	"internal/document", "internal/canonjson", "internal/strictjson", "internal/strictyaml", "internal/uuid8", "internal/printable", "internal/codeunits", "internal/scripts",
}

// outside are the packages of the standard library a pure room does not reach,
// neither itself nor through another package of the module. An entry covers the
// packages under it. The standard library's own use of them does not count.
var outside = []string{"os", "net", "syscall", "database/sql", "io/fs", "math/rand", "crypto/rand"}

// clock are the names of package time that read a clock or wait for one.
var clock = []string{
	"time.Now", "time.Since", "time.Until", "time.Sleep",
	"time.After", "time.AfterFunc", "time.Tick", "time.NewTimer", "time.NewTicker",
}

// keepers says which rooms may import a library. An entry covers the packages
// under it. A library from outside the standard library that has no entry may
// be imported by nobody.
var keepers = map[string][]string{
	"encoding/json": {
		"internal/strictjson", "internal/canonjson", "journal", "calendar", "store",
		"source/ical", "source/mail", "source/markdown", "source/tracks", "source/vcard", "readverb",
	},
	"go.yaml.in/yaml/v4":                       {"internal/strictyaml"},
	"github.com/santhosh-tekuri/jsonschema/v6": {"internal/valueschema"},
	"github.com/pelletier/go-toml/v2":          {"model", "internal/config"},
	"github.com/spf13/cobra":                   {"internal/cli", "internal/cli/manpages"},
	"github.com/spf13/pflag":                   {"internal/cli"},
	"modernc.org/sqlite":                       {"internal/sqlitefile", "journal/sqlite", "store/sqlite"},
	"golang.org/x/text":                        {"store/words", "store/query", "source/mail", "source/vcard", "source/markdown", "source/tracks"},
	"golang.org/x/net/html":                    {"source/mail"},
	"github.com/yuin/goldmark":                 {"source/markdown"},
	"github.com/jackc/pgx/v5":                  {"journal/postgres", "journal/journaltest"},
	"github.com/pressly/goose/v3":              {"internal/schema", "internal/sqlitefile", "journal/postgres", "store/sqlite"},
}

// testLibraries may be imported by tests and by testHelpers.
var testLibraries = []string{"github.com/google/go-cmp", "github.com/rogpeppe/go-internal", "pgregory.net/rapid"}

// openers says which rooms may name a function that opens a file. Everything
// else reads through internal/boundedfile and writes through
// internal/atomicfile.
var openers = map[string][]string{
	"os.Open":       {"internal/boundedfile", "internal/atomicfile"},
	"os.OpenFile":   {"internal/boundedfile", "internal/atomicfile", "internal/cli"},
	"os.ReadFile":   {"internal/boundedfile"},
	"os.OpenRoot":   {"internal/boundedfile"},
	"os.OpenInRoot": {"internal/boundedfile"},
	"os.DirFS":      {},
}

// emptyNames say nothing about what a package holds.
var emptyNames = []string{"util", "utils", "common", "helper", "helpers", "misc", "type", "types"}
