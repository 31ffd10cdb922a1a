package store_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/loomrun/loom/store"
	"github.com/loomrun/loom/store/words"
)

func TestIndex(t *testing.T) {
	r := &store.Record{
		Ref: "r", Kind: store.Contact, Title: "Crème  Brûlée!", Body: "The body, 東京", Folder: "In/Box",
		From: []store.Party{{Name: "Zoë", Address: "zoe@example.com"}, {Name: "Nobody"}}, To: []store.Party{{Address: "+14155550100"}}, Keys: []string{"zoe@example.com", "alias"},
	}
	x := store.Index(r)
	for _, tc := range []struct{ column, got, want string }{
		{"title", x.Title, "creme brulee"},
		{"body", x.Body, "the body 東 京"},
		{"sender", x.Sender, "zoe zoe example com nobody"},
		{"recipient", x.Recipient, "14155550100"},
		{"folder", x.Folder, "in box"},
	} {
		if tc.got != tc.want || words.Fold(tc.got) != tc.got {
			t.Errorf("%s: %q, want %q", tc.column, tc.got, tc.want)
		}
	}
	if x.Hash != r.Hash() {
		t.Error("another hash")
	}
	if got := x.Tokens(); got != 2+4+5+1 {
		t.Errorf("%d tokens", got)
	}
	scope := strings.Fields(x.Scope(7, store.Contact))
	for _, word := range []string{
		store.Everything, store.SourceWord(7), store.KindWord(store.Contact), store.PartyWord("zoe@example.com"), store.PartyWord("+14155550100"), store.PartyWord("alias"),
	} {
		if !slices.Contains(scope, word) {
			t.Errorf("%q is not in %q", word, scope)
		}
	}
	if slices.Contains(scope, store.PartyWord("")) || slices.Contains(scope, store.PartyWord("nobody")) {
		t.Errorf("%q holds who has no address", scope)
	}
}

// An empty text among others leaves no gap: what is stored is what folding the whole gives.
func TestIndexOfEmptyTexts(t *testing.T) {
	x := store.Index(&store.Record{Ref: "r", Kind: store.Mail, Title: "…", From: []store.Party{{}, {Name: "!", Address: "a@b"}, {Name: "c"}}})
	if x.Title != "" || x.Sender != "a b c" || x.Tokens() != 3 {
		t.Errorf("%q, %q, %d tokens", x.Title, x.Sender, x.Tokens())
	}
	if got := store.Index(&store.Record{Ref: "r", Kind: store.Mail}); got.Tokens() != 0 || got.Parties != "" {
		t.Errorf("%+v", got)
	}
}

func TestIndexOfWhatIsNotSearched(t *testing.T) {
	r := &store.Record{Ref: "r", Kind: store.Place, Title: "secret", Body: "secret", Folder: "secret", From: []store.Party{{Address: "a@b"}}, Keys: []string{"k"}, Unsearched: true}
	x := store.Index(r)
	if x.Title+x.Body+x.Sender+x.Recipient+x.Folder+x.Parties != "" || x.Hash != r.Hash() {
		t.Errorf("%+v", x)
	}
}

// The words of scopes are tokens of letters and digits, told apart by their first letter, so that none is taken for another or ends a quotation.
func TestScopeWords(t *testing.T) {
	list := []string{store.Everything, store.SourceWord(1), store.SourceWord(11), store.PartyWord("a"), store.PartyWord(`a" OR "b`), store.PartyWord("")}
	for _, k := range store.Kinds {
		list = append(list, store.KindWord(k))
	}
	for i, word := range list {
		if words.Fold(word) != word || strings.ContainsAny(word, ` "`) || len(word) > words.MaxToken {
			t.Errorf("%q is no word", word)
		}
		if slices.Contains(list[:i], word) {
			t.Errorf("%q stands for two", word)
		}
	}
}
