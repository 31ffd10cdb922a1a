package query

import (
	"database/sql"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	_ "modernc.org/sqlite"
	"pgregory.net/rapid"

	"github.com/loomrun/loom/store/words"
)

// theIndex is a real index as the store makes it.
var theIndex = sync.OnceValue(func() *sql.DB {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		panic(err)
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`CREATE VIRTUAL TABLE t USING fts5(title, body, sender, recipient, folder, scope,
		content='', contentless_delete=1, tokenize='ascii')`); err != nil {
		panic(err)
	}
	return db
})

// record is what a test puts into the index.
type record struct{ title, body, sender, recipient, folder string }

func fill(t interface{ Fatal(...any) }, records []record) {
	db := theIndex()
	if _, err := db.Exec(`DELETE FROM t`); err != nil {
		t.Fatal(err)
	}
	for i, r := range records {
		if _, err := db.Exec(`INSERT INTO t (rowid, title, body, sender, recipient, folder, scope) VALUES ($1, $2, $3, $4, $5, $6, 'a x')`,
			i, words.Fold(r.title), words.Fold(r.body), words.Fold(r.sender), words.Fold(r.recipient), words.Fold(r.folder)); err != nil {
			t.Fatal(err)
		}
	}
}

func search(t interface{ Fatalf(string, ...any) }, match string) (ids []int) {
	rows, err := theIndex().Query(`SELECT rowid FROM t WHERE t MATCH $1 ORDER BY rowid`, match)
	if err != nil {
		t.Fatalf("%s: %v", match, err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			t.Fatalf("%s: %v", match, err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", match, err)
	}
	return ids
}

// finds says what n means, without an index.
func (n *node) finds(r record) bool {
	switch n.kind {
	case all:
		return !slices.ContainsFunc(n.kids, func(kid *node) bool { return !kid.finds(r) })
	case some:
		return slices.ContainsFunc(n.kids, func(kid *node) bool { return kid.finds(r) })
	case not:
		return !n.kids[0].finds(r)
	}
	texts := map[Field][]string{
		Anywhere: {r.title, r.body, r.sender, r.recipient},
		From:     {r.sender}, To: {r.recipient}, Subject: {r.title}, In: {r.folder},
	}
	return slices.ContainsFunc(texts[n.term.Field], func(text string) bool {
		tokens := words.Split(text)
		for i := range tokens {
			if i+len(n.term.Tokens) > len(tokens) {
				return false
			}
			same := true
			for k, want := range n.term.Tokens {
				got := tokens[i+k].Text
				last := k == len(n.term.Tokens)-1
				same = same && (got == want || last && n.term.Prefix && strings.HasPrefix(got, want))
			}
			if same {
				return true
			}
		}
		return false
	})
}

var vocabulary = []string{
	"a", "b", "ab", "abc", "Ä", "b-a", "don't", "中", "文", "中文", "한", "👍", "👍🏽", "🇩🇪", "ที่", "É", "e\u0301", "x1",
	"alice@example.com", "or", "NEAR", "near", "שלום", "a*b", "!",
}

func phrases(least, most int) *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(rapid.SampledFrom(vocabulary), least, most), func(parts []string) string {
		return strings.Join(parts, " ")
	})
}

var records = rapid.Custom(func(t *rapid.T) record {
	return record{
		phrases(0, 3).Draw(t, "title"), phrases(0, 6).Draw(t, "body"), phrases(0, 2).Draw(t, "sender"),
		phrases(0, 2).Draw(t, "recipient"), phrases(0, 1).Draw(t, "folder"),
	}
})

// queries draws the text of a query. Some are damaged.
func queries(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		most := 9
		if depth == 0 {
			most = 4
		}
		word := rapid.SampledFrom(vocabulary).Filter(func(s string) bool { return s != "a*b" })
		inner := func(name string) string { return queries(depth-1).Draw(t, name) }
		field := rapid.SampledFrom([]string{"from:", "to:", "subject:", "in:"})
		switch rapid.IntRange(0, most).Draw(t, "form") {
		case 0, 1:
			return word.Draw(t, "word")
		case 2:
			return `"` + phrases(1, 3).Draw(t, "phrase") + `"`
		case 3:
			return word.Draw(t, "word") + "*"
		case 4:
			return field.Draw(t, "field") + word.Draw(t, "word")
		case 5:
			return "-(" + inner("negated") + ")"
		case 6:
			return inner("left") + " OR " + inner("right")
		case 7:
			return "(" + inner("left") + ") " + inner("right")
		case 8:
			return inner("left") + " -" + inner("right")
		}
		return field.Draw(t, "field") + "(" + inner("value") + ")"
	})
}

func TestTheIndexFindsWhatAQueryMeans(t *testing.T) {
	tried, hit := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		held := rapid.SliceOfN(records, 1, 5).Draw(t, "records")
		fill(t, held)
		for range 4 {
			text := queries(3).Draw(t, "query")
			q, err := Parse(text)
			if err != nil {
				continue
			}
			var want []int
			for i, r := range held {
				if q.root.finds(r) {
					want = append(want, i)
				}
			}
			if got := search(t, q.Match()); !slices.Equal(got, want) {
				t.Fatalf("%q as %s: got %v, want %v", text, q.Match(), got, want)
			}
			tried++
			hit += len(want)
		}
	})
	if tried < 100 || hit < tried/2 {
		t.Errorf("%d queries found %d records: that tests little", tried, hit)
	}
}

func TestScriptsAreFoundFromOneCharacterOn(t *testing.T) {
	for _, tc := range []struct {
		text, query string
		want        bool
	}{
		{"Crème brûlée", "creme", true},
		{"CRE\u0300ME", "crème", true},
		{"Straße", "STRASSE", true},
		{"搜索引擎", "索", true},
		{"搜索引擎", "索引", true},
		{"搜索引擎", "引索", false},
		{"搜索引擎", "搜引", false},
		{"東京タワー", "タワー", true},
		{"ﾀﾜｰ", "タワー", true},
		{"がんばって", "か", false},
		{"한국어", "국", true},
		{"\u1112\u1161\u11ab\u1100\u116e\u11a8", "한국", true},
		{"ที่นี่", "ท", true},
		{"ที่นี่", "ที่", true},
		{"ພາສາລາວ", "ລາວ", true},
		{"ភាសាខ្មែរ", "ខ្មែរ", true},
		{"မြန်မာ", "မာ", true},
		{"مُحَمَّد", "محمد", true},
		{"שָׁלוֹם", "שלום", true},
		{"שלום", "של*", true},
		{"well done👍🏽!", "👍", true},
		{"well done 👍", "👍🏿", true},
		{"❤️", "❤", true},
		{"👨‍👩‍👧", "👩", true},
		{"🇩🇪🇫🇷", "🇫🇷", true},
		{"🇩🇪🇫🇷", "🇪🇫", false},
		{"press 1️⃣", "1️⃣", true},
		{"press 1", "1️⃣", false},
		{"don’t", "don't", true},
		{"Donau\u00addampf", "donaudampf", true},
	} {
		fill(t, []record{{body: tc.text}})
		q, err := Parse(tc.query)
		if err != nil {
			t.Errorf("%q: %v", tc.query, err)
		} else if got := search(t, q.Match()); (len(got) == 1) != tc.want {
			t.Errorf("%q in %q: got %v, want %v", tc.query, tc.text, got, tc.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "a OR b", `-"x y"* (from:(a -b) OR in:c)`, `/a\/b/ -/c/`, `a) OR "`, "!!!", "from:", "x'\"; NEAR(a b) ^c + {d}:e", "中文👍🏽*",
		strings.Repeat("(", 17), strings.Repeat("a ", 65), "“a”", "\xff\x00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := Parse(text)
		if err != nil {
			e := err.(*Error)
			if e.Byte < 0 || e.Byte > len(e.Query) || e.Column < 1 || e.Message == "" || !utf8.ValidString(e.Caret()) {
				t.Fatalf("%q: %#v", text, e)
			}
			return
		}
		if match := q.Match(); match != "" {
			search(t, match)
		}
		for _, term := range q.Terms() {
			search(t, term.Match())
		}
		checkExcerpt(t, q, text)
		if score := q.Score(Fields{text, text, text, text}, Statistics{}); !(score >= 0) {
			t.Fatalf("%q: score %v", text, score)
		}
	})
}
