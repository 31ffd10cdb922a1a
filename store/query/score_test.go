package query

import (
	"math"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/loomrun/loom/store/words"
)

func score(t *testing.T, text string, doc Fields, stats Statistics) float64 {
	t.Helper()
	q, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return q.Score(doc, stats)
}

// TestScoresRank has the better record first.
func TestScoresRank(t *testing.T) {
	even := Statistics{Documents: 1000, AverageLength: 10, Frequency: []int{10, 10, 10}}
	for _, tc := range []struct {
		name, query   string
		better, worse Fields
		stats         Statistics
	}{
		{"the title over a name", "x", Fields{Title: "x"}, Fields{Sender: "x"}, even},
		{"a name over the body", "x", Fields{Recipient: "x"}, Fields{Body: "x"}, even},
		{"more over less", "x", Fields{Body: "x x y"}, Fields{Body: "x y y"}, even},
		{"short over long", "x", Fields{Body: "x y"}, Fields{Body: "x y y y y y"}, even},
		{"both over one often", "x y", Fields{Body: "x y z"}, Fields{Body: "x x z"}, even},
		{"the rare over the common", "x y", Fields{Body: "x"}, Fields{Body: "y"}, Statistics{1000, 10, []int{2, 900}}},
		{"a phrase over its words apart", `"x y" z`, Fields{Body: "x y z"}, Fields{Body: "y x z"}, even},
		{"a prefix over nothing", "rep* z", Fields{Body: "report z"}, Fields{Body: "rest z"}, even},
		{"the field that was asked for", "from:x z", Fields{Sender: "x z"}, Fields{Recipient: "x z"}, even},
		{"the subject", "subject:x z", Fields{Title: "x", Body: "z"}, Fields{Body: "x z"}, even},
		{"accents make no difference", "creme z", Fields{Body: "Crème z"}, Fields{Body: "cremes z"}, even},
		{"a term without a number is rare", "x y", Fields{Body: "y"}, Fields{Body: "x"}, Statistics{1000, 10, []int{500}}},
		{"what goes on is another word", "中 z", Fields{Body: "中文 z"}, Fields{Body: "文 z"}, even},
	} {
		if better, worse := score(t, tc.query, tc.better, tc.stats), score(t, tc.query, tc.worse, tc.stats); !(better > worse) {
			t.Errorf("%s: %v is not above %v", tc.name, better, worse)
		}
	}
}

func TestScoresThatAreZero(t *testing.T) {
	for _, text := range []string{"", "-x", "/x/", "y", "in:x", `"x y"`, "from:x"} {
		if got := score(t, text, Fields{Title: "x", Body: "y2"}, Statistics{Documents: 9, AverageLength: 1}); got != 0 {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestAScoreByHand(t *testing.T) {
	// The title counts 4 and the body 2 with two hits; five tokens where four are the mean.
	weight, norm := 4.0+2.0, 0.25+0.75*5/4
	want := math.Log1p((100-7+0.5)/(7+0.5)) * weight * 2.2 / (weight + 1.2*norm)
	got := score(t, "x", Fields{Title: "x", Body: "x y x z"}, Statistics{100, 4, []int{7}})
	if math.Abs(got-want) > 1e-12 {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestScoresOfDamagedStatisticsAreNumbers(t *testing.T) {
	for _, stats := range []Statistics{
		{}, {-1, -1, []int{-1}}, {1, math.NaN(), []int{5}}, {1, math.Inf(1), nil}, {math.MaxInt, 1e-300, []int{math.MaxInt}}, {0, math.SmallestNonzeroFloat64, []int{0}},
	} {
		if got := score(t, "x", Fields{Body: "x"}, stats); !(got >= 0) || math.IsInf(got, 0) {
			t.Errorf("%v: %v", stats, got)
		}
	}
}

func TestAScoreLooksAtTheStartOfALongText(t *testing.T) {
	if got := score(t, "x", Fields{Body: strings.Repeat("y ", MaxScored/2) + "x"}, Statistics{}); got != 0 {
		t.Errorf("got %v", got)
	}
}

func TestScoresDoNotDependOnWhoElseScores(t *testing.T) {
	q, _ := Parse(`x "y z" a*`)
	docs := []Fields{{Title: "x", Body: "y z abc"}, {Body: strings.Repeat("x y z ", 99)}, {Sender: "a", Recipient: "ab"}}
	stats := Statistics{10, 3, []int{1, 2, 3}}
	var want []float64
	for _, doc := range docs {
		want = append(want, q.Score(doc, stats))
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 50 {
				for i, doc := range docs {
					if got := q.Score(doc, stats); math.Float64bits(got) != math.Float64bits(want[i]) {
						t.Errorf("%d: got %v, want %v", i, got, want[i])
					}
				}
			}
		})
	}
	group.Wait()
}

// TestWhatIsFoundHasAScore holds the scorer against the meaning of a query.
func TestWhatIsFoundHasAScore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := records.Draw(t, "record")
		q, err := Parse(queries(2).Draw(t, "query"))
		if err != nil {
			return
		}
		stands := false
		for _, term := range q.Terms() {
			n := &node{kind: wanted, term: term}
			stands = stands || term.Field != In && n.finds(r)
		}
		got := q.Score(Fields{r.title, r.body, r.sender, r.recipient}, Statistics{Documents: 10, AverageLength: 5})
		if (got > 0) != stands {
			t.Fatalf("score %v, but a term stands there: %v", got, stands)
		}
	})
}

func BenchmarkScore2000(b *testing.B) {
	q, _ := Parse(`quarterly report "next week" budg* from:alice`)
	for name, sentence := range map[string]string{
		"english": "Hello Bob, the quarterly report is attached; please send me your comments by next week, 12:30. ",
		"russian": "Добрый день, отчёт за квартал во вложении, пришлите замечания до пятницы. ",
		"chinese": "你好，季度报告见附件，请在星期五之前把意见发给我，谢谢。",
	} {
		doc := Fields{"Quarterly report", strings.Repeat(sentence, 2048/len(sentence)), "Alice <alice@example.com>", "bob@example.com"}
		stats := Statistics{100_000, 300, []int{1000, 2000, 300, 4000, 50}}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for range 2000 {
					q.Score(doc, stats)
				}
			}
		})
		b.Run(name+" if folded before", func(b *testing.B) {
			folded := words.AppendIndexed(nil, doc.Body)
			for b.Loop() {
				for range 2000 {
					var weights [MaxTerms]float64
					q.weigh(&weights, folded, Anywhere, 1)
				}
			}
		})
	}
}
