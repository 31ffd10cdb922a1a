package sqlite_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/store"
	"github.com/loomrun/loom/store/query"
	"github.com/loomrun/loom/store/sqlite"
)

// records is how many records the benchmarks of a large store generate. LOOM_BENCH_RECORDS changes it; LOOM_BENCH_STORE names
// a file to keep the store in, so that a second run need not make it again.
const records = 1_000_000

// vocabulary is so large that its words, drawn by Zipf's law, are as common and as rare as those of mail.
const vocabulary = 50_000

// million opens a store of generated mail: three sources, one of them in another facet, over ten years.
func million(b *testing.B) *sqlite.DB {
	b.Helper()
	path := os.Getenv("LOOM_BENCH_STORE")
	n := records
	if text := os.Getenv("LOOM_BENCH_RECORDS"); text != "" {
		if _, err := fmt.Sscan(text, &n); err != nil {
			b.Fatal(err)
		}
	}
	if path == "" {
		path = filepath.Join(b.TempDir(), "store", "loom.db")
	}
	if _, err := os.Stat(path); err != nil {
		generate(b, path, n)
	}
	db, err := sqlite.Open(b.Context(), path, sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	return db
}

func generate(b *testing.B, path string, n int) {
	ctx := context.Background()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	owner := store.Owner{Subject: "ada", Zone: "UTC", Facets: []string{"family", "work"}, Made: at}
	if err := sqlite.Create(ctx, path, owner); err != nil {
		b.Fatal(err)
	}
	db, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.1, 4, vocabulary-1)
	text := func(words int) string {
		var t strings.Builder
		for range words {
			fmt.Fprintf(&t, "w%d ", zipf.Uint64())
		}
		return t.String()
	}
	for s, share := range []int{6, 3, 1} {
		name, facets := fmt.Sprintf("mail-%d", s), []string{"work"}
		if s == 2 {
			facets = []string{"family"}
		}
		if _, err := db.AddSource(ctx, store.Source{Name: name, Kind: store.MailSource, Format: "mbox", Location: "/", Facets: facets, Added: at}); err != nil {
			b.Fatal(err)
		}
		im, err := db.Import(ctx, name, at)
		if err != nil {
			b.Fatal(err)
		}
		changes := []store.Change{{Op: store.Begin, Container: "."}}
		for i := range n * share / 10 {
			sender := fmt.Sprintf("person%d@example.org", random.IntN(2000))
			changes = append(changes, store.Change{Op: store.Put, Container: ".", Position: int64(i), Record: &store.Record{
				Ref: fmt.Sprintf("m%d", i), Kind: store.Mail, Title: text(6), Body: text(60), Folder: "INBOX",
				Time: at.Add(-time.Duration(random.IntN(10*365*24*3600)) * time.Second),
				From: []store.Party{{Name: "Person", Address: store.Identifier(sender)}},
			}})
			if len(changes) == 5000 {
				if err := im.Apply(ctx, changes); err != nil {
					b.Fatal(err)
				}
				changes = changes[:0]
			}
		}
		changes = append(changes, store.Change{Op: store.Done, Container: ".", Stamp: "1"})
		if err := im.Apply(ctx, changes); err != nil {
			b.Fatal(err)
		}
		if _, err := im.Finish(ctx, "", at); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMillion searches a store of a million records, each search through a view of its own as a program that
// starts opens it. It reports the 95th percentile.
func BenchmarkMillion(b *testing.B) {
	db := million(b)
	for _, tc := range []struct {
		name   string
		rank   store.Rank
		facets []string
		query  func(*rand.Rand) string
	}{
		{"newest/common", store.ByRecency, nil, func(r *rand.Rand) string { return fmt.Sprintf("w%d", r.IntN(5)) }},
		{"newest/middle", store.ByRecency, nil, func(r *rand.Rand) string { return fmt.Sprintf("w%d", 100+r.IntN(1000)) }},
		{"newest/two", store.ByRecency, nil, func(r *rand.Rand) string { return fmt.Sprintf("w%d w%d", r.IntN(50), r.IntN(2000)) }},
		{"newest/rare-facet", store.ByRecency, []string{"family"}, func(r *rand.Rand) string { return fmt.Sprintf("w%d", r.IntN(1000)) }},
		{"newest/all", store.ByRecency, nil, func(*rand.Rand) string { return "" }},
		{"score/common", store.ByScore, nil, func(r *rand.Rand) string { return fmt.Sprintf("w%d", r.IntN(5)) }},
		{"score/common-facet", store.ByScore, []string{"work"}, func(r *rand.Rand) string { return fmt.Sprintf("w%d", r.IntN(5)) }},
		{"score/two", store.ByScore, nil, func(r *rand.Rand) string { return fmt.Sprintf("w%d w%d", r.IntN(5), r.IntN(1000)) }},
	} {
		b.Run(tc.name, func(b *testing.B) {
			random := rand.New(rand.NewPCG(3, 4))
			var took []time.Duration
			for b.Loop() {
				q, err := query.Parse(tc.query(random))
				if err != nil {
					b.Fatal(err)
				}
				began := time.Now()
				v, err := db.View(b.Context(), store.Scope{Facets: tc.facets})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := v.Search(b.Context(), store.Search{Query: q, Limit: 20, Rank: tc.rank}); err != nil {
					b.Fatal(err)
				}
				if err := v.Close(); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
		})
	}
}

// BenchmarkLabelAndFit is what one row costs beyond reading it: its label checked and held against a ceiling.
func BenchmarkLabelAndFit(b *testing.B) {
	s := store.Source{Name: "mail", Kind: store.MailSource, Format: "mbox", Facets: []string{"family", "work"}}
	ceiling := label.ScopeCeiling("ada", store.Classes(), []string{"work"})
	l, stored := store.LabelOf("ada", s), int64(7)
	for b.Loop() {
		if stored != 7 || !label.Fits(l, ceiling) {
			b.Fatal("it fits")
		}
	}
}
