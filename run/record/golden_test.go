package record_test

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/effect/retrieve"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/handle"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/retrieval"
	"github.com/loomrun/loom/run"
	"github.com/loomrun/loom/run/record"
)

var update = flag.Bool("update", false, "write the golden records as runs are now")

// goldenFolder holds records of runs, and in documents/ the definitions they began with.
const goldenFolder = "../../testdata/runs"

// golden is a record that is kept as a file, and the site that it is of.
type golden struct {
	name string
	site func() *site
	play func(t *testing.T, s *site) // has the run done
}

var goldens = []golden{
	{
		name: "clock-offline",
		site: func() *site { s := newSite(tower(1), nil); s.clock = true; return s },
		play: once,
	},
	{
		name: "model-and-refused-steps",
		site: func() *site {
			s := shop(
				calls("thing_ship {}"), calls("thing_sell {}"), calls("thing_look 7"), calls("thing_look {}", "thing_check {}"), calls("thing_check {}"), calls("thing_ship {}"))
			s.classifier = says(calls(`pick_protocol {"protocol":"workshop@1","confidence":0.90,"reasons":["it is to be made"]}`))
			s.authority = always(run.Allow)
			return s
		},
		play: once,
	},
	{
		name: "resumed-after-approval",
		site: func() *site { return house(run.Proposal{Action: "front.open", Arguments: `{"why":"home"}`}) },
		play: func(t *testing.T, s *site) {
			once(t, s)
			s.deny(t)
			s.approve(t, time.Hour)
			again(t, s, "")
		},
	},
	{
		name: "killed-with-an-effect-in-doubt",
		site: newTower,
		play: func(t *testing.T, s *site) {
			once(t, s)
			m := s.store.(*memory)
			m.cut(1 + slices.IndexFunc(m.runs[id].record.Entries, func(e journal.Entry) bool { return e.Kind == journal.Asked && e.Name == "effect:lay4" }))
			s.effects.log = s.effects.log[:4]
			s.told = events(t, s.read(t))
			again(t, s, event.Performed)
		},
	},
	{
		name: "bounded-context-with-look-ups",
		site: func() *site {
			s := shop(calls("thing_look {}"), calls(`list_results {"offset":0}`), readsResult, calls(`list_results {"offset":-1}`), calls("thing_check {}"), calls("thing_ship {}"))
			s.acts["thing.look"] = does(deed{says: strings.Repeat("a long line of a report\n", 400)})
			s.policy, s.authority = run.ContextBounded, always(run.Allow)
			return s
		},
		play: once,
	},
	{
		name: "read-under-a-ceiling",
		site: func() *site {
			s := newSite(tower(1), nil)
			s.reads = `{"hits":[{"title":"one","ifc":{"confidentiality":["work"]}},{"title":"two","ifc":{"confidentiality":["health"]}},{"title":"three"}],"truncated":false}`
			s.agent = says(calls(`loom_search {"query":"q"}`), calls(`loom_search {}`), calls(`loom_search {"query":"q"}`), citesFirst)
			return s
		},
		play: once,
	},
}

// citesFirst is a model that answers by the first row that it was shown.
func citesFirst(ctx context.Context, r model.Request) (model.Reply, error) {
	_, after, found := strings.Cut(strings.Join(r.Input, "\n"), handle.Prefix)
	if !found {
		return model.Reply{}, model.Fail(model.Malformed, nil, "nothing was shown")
	}
	token := handle.Prefix + after[:handle.SuffixLength]
	return calls(`answer_give {"answer":"It is one.","cites":["`+token+`"]}`)(ctx, r)
}

// printing is a program that prints one thing.
type printing string

func (p printing) Run(context.Context, []string) (retrieval.Exit, error) {
	return retrieval.Exit{Stdout: []byte(p)}, nil
}

// reading gives the binding of runs that read what is printed below a ceiling; gone, nothing is read.
func reading(gone bool, printed string) effect.Binding {
	if gone {
		return retrieve.Recorded()
	}
	ceiling, err := label.ReadCeiling([]byte(`["work"]`))
	if err != nil {
		panic(err)
	}
	return retrieve.New(retrieve.Options{
		ConfigPath: configOfReads, Ceiling: ceiling, ResultCeiling: label.Unbounded(), From: []string{"--ceiling work"},
		Program: func(*retrieval.Config) retrieval.Program { return printing(printed) },
	})
}

func once(t *testing.T, s *site) {
	t.Helper()
	if _, err := s.run(t); err != nil {
		t.Fatal(err)
	}
}

func again(t *testing.T, s *site, outcome event.Outcome) {
	t.Helper()
	if _, err := s.resume(t, outcome); err != nil {
		t.Fatal(err)
	}
}

// readsResult is a model that reads the first result of the list it was answered with.
func readsResult(ctx context.Context, r model.Request) (model.Reply, error) {
	_, listed, _ := strings.Cut(r.Input[len(r.Input)-1], `"reference":`)
	var reference json.RawMessage
	if err := json.NewDecoder(strings.NewReader(listed)).Decode(&reference); err != nil {
		return model.Reply{}, model.Fail(model.Malformed, err, "no reference in %q", listed)
	}
	return calls("read_result "+string(reference))(ctx, r)
}

// Records of earlier runs are played again by today's code, with nothing there but the record. A difference is
// a change of behaviour: where it is meant, write the records anew with -update.
func TestGoldenRecordsReplay(t *testing.T) {
	for _, g := range goldens {
		t.Run(g.name, func(t *testing.T) {
			if *update {
				s := g.site()
				g.play(t, s)
				writeGolden(t, g.name, s.whole(t))
			}
			rec := readGolden(t, g.name)
			if err := rec.Verify(); err != nil {
				t.Error(err)
			}
			if err := record.Replay(rec, g.site().bindings(true)); err != nil {
				t.Error(err)
			}
		})
	}
}

// goldenEntry is an entry as a line of a golden record.
type goldenEntry struct {
	Sequence int64        `json:"sequence"`
	Kind     journal.Kind `json:"kind"`
	Name     string       `json:"name"`
	Body     string       `json:"body"`
	Hash     string       `json:"hash"`
}

func writeGolden(t *testing.T, name string, rec *journal.Record) {
	t.Helper()
	var text strings.Builder
	lines := json.NewEncoder(&text)
	lines.SetEscapeHTML(false)
	for _, e := range rec.Entries {
		if err := lines.Encode(goldenEntry{e.Sequence, e.Kind, e.Name, e.Body, e.Hash.String()}); err != nil {
			t.Fatal(err)
		}
	}
	documents := filepath.Join(goldenFolder, "documents")
	if err := os.MkdirAll(documents, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(goldenFolder, name+".jsonl"), []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	for digest, document := range rec.Documents {
		if err := os.WriteFile(filepath.Join(documents, digest+".yaml"), []byte(document), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func readGolden(t *testing.T, name string) *journal.Record {
	t.Helper()
	lines, err := readLines[goldenEntry](filepath.Join(goldenFolder, name+".jsonl"))
	if err != nil || len(lines) == 0 {
		t.Fatalf("%d entries, %v; write the golden records with -update", len(lines), err)
	}
	rec := &journal.Record{Run: id, Documents: map[string]string{}}
	for _, line := range lines {
		e := journal.Entry{Sequence: line.Sequence, Kind: line.Kind, Name: line.Name, Body: line.Body}
		if e.Hash, err = journal.ParseHash(line.Hash); err != nil {
			t.Fatal(err)
		}
		rec.Entries = append(rec.Entries, e)
		rec.Head = e.Hash
	}
	if rec.Summary, err = journal.Summarise(rec.Entries); err != nil {
		t.Fatal(err)
	}
	var b journal.Beginning
	if err := journal.Decode(rec.Entries[0].Body, &b); err != nil {
		t.Fatal(err)
	}
	for _, d := range b.Catalog {
		text, err := os.ReadFile(filepath.Join(goldenFolder, "documents", d.SHA256+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		rec.Documents[d.SHA256] = string(text)
	}
	return rec
}

// clock gives the clock binding of a host that shows one moment in one zone; gone, it cannot be read.
func clock(gone bool) effect.Binding {
	return effect.NewClock(catalog.SystemQuery().Protocol, func() time.Time {
		if gone {
			panic("a replayed run reads the clock")
		}
		return moment
	}, func() (*time.Location, error) { return time.FixedZone("", 3600), nil })
}

// configOfReads is a configuration of retrieval, of which nothing is started.
var configOfReads = func() string {
	path, err := filepath.Abs("testdata/retrieval.json")
	if err != nil {
		panic(err)
	}
	return path
}()
