package store_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/loomrun/loom/store"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func good() *store.Record {
	return &store.Record{
		Ref: "ref", Kind: store.Mail, Title: "title", Body: "body", Time: noon, Until: noon.Add(time.Hour),
		From: []store.Party{{Name: "name", Address: "a@example.com"}}, To: []store.Party{{Name: "other", Address: "b@example.com"}},
		Folder: "folder", Thread: "thread", Keys: []string{"key"}, Details: []byte(`{"a":1}`),
	}
}

func TestRecordCheck(t *testing.T) {
	if err := good().Check(); err != nil {
		t.Fatal(err)
	}
	long := func(n int) string { return strings.Repeat("a", n) }
	for _, tc := range []struct {
		name  string
		spoil func(r *store.Record)
		ok    bool
	}{
		{"a bare one", func(r *store.Record) { *r = store.Record{Ref: "r", Kind: store.Place} }, true},
		{"no reference", func(r *store.Record) { r.Ref = "" }, false},
		{"the longest reference", func(r *store.Record) { r.Ref = long(store.MaxRefBytes) }, true},
		{"a longer one", func(r *store.Record) { r.Ref = long(store.MaxRefBytes + 1) }, false},
		{"no kind", func(r *store.Record) { r.Kind = "" }, false},
		{"a kind of source", func(r *store.Record) { r.Kind = "calendar" }, false},
		{"the longest title", func(r *store.Record) { r.Title = long(store.MaxTitleBytes) }, true},
		{"a longer title", func(r *store.Record) { r.Title = long(store.MaxTitleBytes + 1) }, false},
		{"a longer folder", func(r *store.Record) { r.Folder = long(store.MaxTitleBytes + 1) }, false},
		{"a longer thread", func(r *store.Record) { r.Thread = long(store.MaxTitleBytes + 1) }, false},
		{"the longest body", func(r *store.Record) { r.Body = long(store.MaxBodyBytes) }, true},
		{"a longer body", func(r *store.Record) { r.Body = long(store.MaxBodyBytes + 1) }, false},
		{"longer details", func(r *store.Record) { r.Details = []byte(`{"a":"` + long(store.MaxDetailsBytes) + `"}`) }, false},
		{"no details", func(r *store.Record) { r.Details = nil }, true},
		{"empty details", func(r *store.Record) { r.Details = []byte{} }, false},
		{"a list of details", func(r *store.Record) { r.Details = []byte(`[]`) }, false},
		{"broken details", func(r *store.Record) { r.Details = []byte(`{"a"`) }, false},
		{"details of two names", func(r *store.Record) { r.Details = []byte(`{"a":1,"a":2}`) }, false},
		{"most parties", func(r *store.Record) { r.To = slices.Repeat(r.To, store.MaxParties) }, true},
		{"more recipients", func(r *store.Record) { r.To = slices.Repeat(r.To, store.MaxParties+1) }, false},
		{"more senders", func(r *store.Record) { r.From = slices.Repeat(r.From, store.MaxParties+1) }, false},
		{"a party of nothing", func(r *store.Record) { r.From = []store.Party{{}} }, true},
		{"a long name", func(r *store.Record) { r.From[0].Name = long(store.MaxTitleBytes + 1) }, false},
		{"a long address", func(r *store.Record) { r.From[0].Address = store.Identifier(long(store.MaxTitleBytes + 1)) }, false},
		{"a name of two lines", func(r *store.Record) { r.To[0].Name = "a\nb" }, false},
		{"an address of two lines", func(r *store.Record) { r.To[0].Address = "a\nb" }, false},
		{"a name that is not UTF-8", func(r *store.Record) { r.To[0].Name = "\xff" }, false},
		{"an address with a NUL", func(r *store.Record) { r.From[0].Address = "\x00" }, false},
		{"most keys", func(r *store.Record) { r.Keys = slices.Repeat(r.Keys, store.MaxKeys) }, true},
		{"more keys", func(r *store.Record) { r.Keys = slices.Repeat(r.Keys, store.MaxKeys+1) }, false},
		{"an empty key", func(r *store.Record) { r.Keys = []string{""} }, false},
		{"a long key", func(r *store.Record) { r.Keys = []string{long(store.MaxRefBytes + 1)} }, false},
		{"a key of two lines", func(r *store.Record) { r.Keys = []string{"a\nb"} }, false},
		{"a key that is not UTF-8", func(r *store.Record) { r.Keys = []string{"\xc3"} }, false},
		{"a reference with a NUL", func(r *store.Record) { r.Ref = "a\x00" }, false},
		{"a title that is not UTF-8", func(r *store.Record) { r.Title = "\xed\xa0\x80" }, false},
		{"a body with a NUL", func(r *store.Record) { r.Body = "\x00" }, false},
		{"a folder that is not UTF-8", func(r *store.Record) { r.Folder = "\xff" }, false},
		{"a thread that is not UTF-8", func(r *store.Record) { r.Thread = "\xff" }, false},
		{"a body of lines", func(r *store.Record) { r.Body = "a\n\tb\x1b" }, true},
	} {
		r := good()
		tc.spoil(r)
		if err := r.Check(); (err == nil) != tc.ok {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
	for _, k := range store.Kinds {
		if err := (&store.Record{Ref: "r", Kind: k}).Check(); err != nil {
			t.Error(err)
		}
	}
}

// Two records have one hash only where they are the same in everything, also where the same bytes stand in other fields.
func TestHashIsOfEverything(t *testing.T) {
	seen := map[[32]byte]string{}
	for name, change := range map[string]func(r *store.Record){
		"nothing":                  func(*store.Record) {},
		"ref":                      func(r *store.Record) { r.Ref = "x" },
		"kind":                     func(r *store.Record) { r.Kind = store.Event },
		"title":                    func(r *store.Record) { r.Title = "x" },
		"body":                     func(r *store.Record) { r.Body = "x" },
		"title and body":           func(r *store.Record) { r.Title, r.Body = "titleb", "ody" },
		"title for body":           func(r *store.Record) { r.Title, r.Body = r.Body, r.Title },
		"time":                     func(r *store.Record) { r.Time = noon.Add(time.Second) },
		"no time":                  func(r *store.Record) { r.Time = time.Time{} },
		"1970":                     func(r *store.Record) { r.Time = time.Unix(0, 0) },
		"until":                    func(r *store.Record) { r.Until = noon },
		"no until":                 func(r *store.Record) { r.Until = time.Time{} },
		"forever":                  func(r *store.Record) { r.Until = store.Forever },
		"time and until":           func(r *store.Record) { r.Time, r.Until = r.Until, r.Time },
		"a sender's name":          func(r *store.Record) { r.From[0].Name = "x" },
		"a sender's address":       func(r *store.Record) { r.From[0].Address = "x" },
		"no sender":                func(r *store.Record) { r.From = nil },
		"the sender sent to":       func(r *store.Record) { r.From, r.To = nil, append(r.From, r.To...) },
		"a recipient":              func(r *store.Record) { r.To = append(r.To, store.Party{}) },
		"folder":                   func(r *store.Record) { r.Folder = "x" },
		"thread":                   func(r *store.Record) { r.Thread = "x" },
		"thread for folder":        func(r *store.Record) { r.Folder, r.Thread = r.Thread, r.Folder },
		"key":                      func(r *store.Record) { r.Keys = []string{"x"} },
		"no key":                   func(r *store.Record) { r.Keys = nil },
		"two keys":                 func(r *store.Record) { r.Keys = []string{"ke", "y"} },
		"details":                  func(r *store.Record) { r.Details = []byte(`{"a":2}`) },
		"no details":               func(r *store.Record) { r.Details = nil },
		"details in other letters": func(r *store.Record) { r.Details = []byte(`{"a": 1}`) },
		"unsearched":               func(r *store.Record) { r.Unsearched = true },
	} {
		r := good()
		change(r)
		if other, twice := seen[r.Hash()]; twice {
			t.Errorf("%s and %s have one hash", name, other)
		}
		seen[r.Hash()] = name
	}
	r := good()
	r.Time = noon.Add(999 * time.Millisecond).In(time.FixedZone("", -3600)) // what is kept of a time is its second
	if r.Hash() != good().Hash() {
		t.Error("parts of a second or the zone change the hash")
	}
}

// times are random: near and far, at the edges of what an ID can hold, and none.
var times = rapid.OneOf(
	rapid.Map(rapid.Int64Range(-1<<62, 1<<62), func(s int64) time.Time { return time.Unix(s, 0) }),
	rapid.Map(rapid.Int64Range(0, 4e9), func(s int64) time.Time { return time.Unix(s, 0) }),
	rapid.Map(rapid.Int64Range(-5, 5), func(s int64) time.Time { return time.Unix(s-62135596800, 0) }),
	rapid.Map(rapid.Int64Range(-5, 5), func(s int64) time.Time { return time.Unix(s+1<<38-62135596800, 0) }),
	rapid.Just(time.Time{}), rapid.Just(store.Forever), rapid.Just(time.Unix(math.MaxInt64>>1, 0)),
)

func TestIDsAreInOrderOfTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := times.Draw(t, "a"), times.Draw(t, "b")
		source, ref := rapid.String().Draw(t, "source"), rapid.String().Draw(t, "ref")
		x, y := store.NewID(source, ref, a), store.NewID(rapid.String().Draw(t, "source"), rapid.String().Draw(t, "ref"), b)
		first := store.FirstID(a)
		switch {
		case x != store.NewID(source, ref, a.Add(time.Millisecond)) && !a.IsZero():
			t.Fatal("an ID changes within a second")
		case x < first || x >= store.LastID || first < 0:
			t.Fatalf("%d is not between %d and %d", x, first, store.LastID)
		case a.IsZero() && first != 0 || !a.IsZero() && first == 0:
			t.Fatal("only what has no time is at 0")
		case a.Before(b) && !b.IsZero() && store.FirstID(a) > store.FirstID(b):
			t.Fatal("the first ID of an earlier time is greater")
		}
		// Within the times that IDs tell apart, records of a window are those between its first IDs.
		from, to := time.Time{}.Add(time.Second), time.Date(8710, 1, 1, 0, 0, 0, 0, time.UTC)
		if a.After(from) && a.Before(to) && b.After(from) && b.Before(to) && a.Unix() < b.Unix() {
			if x >= y || x >= store.FirstID(b) || y < store.FirstID(b) {
				t.Fatalf("%v has %d, %v has %d", a, x, b, y)
			}
		}
	})
}

func TestIDsOfOneSecondAreSpread(t *testing.T) {
	seen := map[store.ID]bool{}
	const records = 1000 // of 16 million places: some two are in one with a chance of 3%, and these are not
	for n := range records {
		seen[store.NewID("mail", strings.Repeat("r", n), noon)] = true
	}
	if len(seen) != records {
		t.Errorf("%d IDs of %d records", len(seen), records)
	}
	if store.NewID("a", "bc", noon) == store.NewID("ab", "c", noon) {
		t.Error("the source's name runs into the reference")
	}
}
