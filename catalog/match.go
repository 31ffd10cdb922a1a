package catalog

import (
	"maps"
	"math"
	"slices"
)

// Matching by words picks a definition without a model (D11). It compares the words of the intent
// with the words of each definition: a word counts the more the fewer definitions have it, and
// confidence is the weight of what the best definition shares, against what it does not share, what
// the next best shares, and a little doubt. It is deterministic and makes nothing up: words outside
// the catalog only lower its confidence.

const (
	// asideWeight is the weight of a word that a definition uses beside its subject.
	asideWeight = 0.7
	// doubt keeps a pick on a single rare word below certainty.
	doubt = 0.3
)

// Match is the definition whose words an intent shares most.
type Match struct {
	Name       string
	Confidence float64  // above 0, below 1
	Shared     []string // the intent's words that the definition has, in code-point order
}

// Match finds the best match of an intent; none where no definition shares a word with it. Of
// definitions that match alike, the first of Entries wins, with a confidence below one half.
func (c Catalog) Match(intent string) (Match, bool) {
	vocabularies := make([]vocabulary, len(c.entries))
	for i, e := range c.entries {
		vocabularies[i] = e.vocabulary()
	}
	asWritten := map[string]string{} // by stem: the intent's own word, for the reason
	for _, word := range tellingWords(intent) {
		if _, known := asWritten[stem(word)]; !known {
			asWritten[stem(word)] = word
		}
	}
	scores := make([]float64, len(c.entries))
	total := 0.0
	for _, word := range slices.Sorted(maps.Keys(asWritten)) { // sums depend on their order
		holders := 0
		for _, v := range vocabularies {
			if v.weight(word) > 0 {
				holders++
			}
		}
		rarity := math.Log(float64(len(c.entries)+1) / (float64(max(holders, 1)) + 0.5))
		total += rarity
		for i, v := range vocabularies {
			scores[i] += rarity * v.weight(word)
		}
	}
	best, second := -1, 0.0
	bestScore := 0.0
	for i, score := range scores {
		switch {
		case score > bestScore:
			best, bestScore, second = i, score, bestScore
		case score > second:
			second = score
		}
	}
	if best < 0 {
		return Match{}, false
	}
	m := Match{Name: c.entries[best].Name, Confidence: bestScore / (second + max(total, bestScore) + doubt)}
	for word, written := range asWritten {
		if vocabularies[best].weight(word) > 0 {
			m.Shared = append(m.Shared, written)
		}
	}
	slices.Sort(m.Shared)
	return m, true
}
