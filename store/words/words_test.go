package words_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/loomrun/loom/store/words"
)

func TestFold(t *testing.T) {
	long := strings.Repeat("a", words.MaxToken)
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"punctuation alone", "!!! -- ...", ""},
		{"words", "Hello, World", "hello world"},
		{"digits are letters", "abc123 42x", "abc123 42x"},
		{"an address", "alice@example.com", "alice example com"},
		{"an underscore separates", "foo_bar", "foo bar"},
		{"a plain apostrophe", "don't", "don t"},
		{"a typographic apostrophe", "don’t", "don t"},
		{"the letter apostrophe of Ukrainian", "мʼята м’ята м'ята", "м ята м ята м ята"},
		{"transliterated Arabic", "Qurʾān", "qur an"},

		{"accents, composed", "Crème Brûlée", "creme brulee"},
		{"accents, decomposed", "CRE\u0300ME", "creme"},
		{"sharp s", "Straße STRASSE STRAẞE", "strasse strasse strasse"},
		{"Turkish", "İstanbul ISPARTA ısparta istanbul", "istanbul isparta isparta istanbul"},
		{"letters without decomposition", "Łódź Søren Æsir œuvre þing", "lodz soren aesir oeuvre thing"},
		{"Vietnamese", "Nguyễn Đình", "nguyen dinh"},
		{"final sigma", "Ὀδυσσεύς ΟΔΥΣΣΕΥΣ", "οδυσσευσ οδυσσευσ"},
		{"iota subscript", "ᾳ ΑΙ α\u0345", "αι αι αι"},
		{"iota subscript among marks", "ᾈ\u3099 \u0391\u3099\u0345", "α \u3099 ι α \u3099 ι"},
		{"Cyrillic", "Ёлка ЕЛКА Й", "елка елка и"},
		{"Armenian ligature", "և", "եւ"},
		{"full width", "Ｌｏｏｍ１２", "loom12"},
		{"ligatures", "ﬁle oﬃce", "file office"},
		{"mathematical letters", "𝐁𝐨𝐥𝐝 𝟚𝟘", "bold 20"},
		{"superscripts stay with the word", "m² x₁", "m2 x1"},
		{"a fraction is numbers of its own", "1½", "1 1 2"},
		{"a unit in one sign", "5㎏", "5 kg"},
		{"circled digits stand alone", "①Open ❶", "1 open ❶"},
		{"Roman numerals", "Ⅷ", "viii"},
		{"the soft hyphen", "Donau\u00addampf", "donaudampf"},
		{"zero-width signs", "zero\u200bwidth\u2060\ufeff\u200d\u200c", "zerowidth"},
		{"bidirectional signs", "\u202eabc\u202c \u2067def\u2069", "abc def"},
		{"bytes that are not UTF-8 separate", "ab\xffcd\xc3", "ab cd"},
		{"the replacement character separates", "ab\ufffdcd", "ab cd"},
		{"private use separates", "ab\ue000cd", "ab cd"},
		{"planes without characters separate", "a\U00040000b\U000f0000c\U0010ffffd\U000e0041e", "a b c de"},
		{"frames are no words", "──┐x", "x"},
		{"NUL separates", "a\x00b", "a b"},

		{"Chinese", "中文搜索ok", "中 文 搜 索 ok"},
		{"a Chinese date", "3月5日", "3 月 5 日"},
		{"Han beyond the basic plane", "𠀀𪜶", "𠀀 𪜶"},
		{"a compatibility ideograph", "\uf900", "豈"},
		{"Japanese", "東京タワーへ", "東 京 タ ワ ー へ"},
		{"voiced kana", "が か\u3099 ｶﾞ ぱ", "か\u3099 か\u3099 カ\u3099 は\u309a"},
		{"a voicing mark alone", "a\u3099", "a \u3099"},
		{"a second voicing mark", "が\u3099", "か\u3099 \u3099"},
		{"a word in one square", "㌀", "ア ハ\u309a ー ト"},
		{"repetition mark and closing mark", "人々〆", "人 々 〆"},
		{"Korean", "한국어 text", "한 국 어 text"},
		{"Korean, decomposed", "\u1112\u1161\u11ab\u1100\u116e\u11a8", "한 국"},
		{"an open syllable takes its final consonant", "가\u11a8", "각"},
		{"jamo that make no syllable", "\u1161\u11a8\u1112x", "\u1161 \u11a8 \u1112 x"},
		{"old jamo", "\u1113\ua960", "\u1113 \ua960"},
		{"Hangul tone marks", "가\u302e", "가"},
		{"compatibility jamo", "ㅎㅏ", "하"},
		{"Thai", "ที่นี่", "ท \u0e35 \u0e48 น \u0e35 \u0e48"},
		{"Thai marks in either order", "ก\u0e48\u0e38", "ก \u0e38 \u0e48"},
		{"Thai marks of one class keep their order", "ก\u0e49\u0e48", "ก \u0e49 \u0e48"},
		{"Thai digits", "๒๐๒๔", "2024"},
		{"Lao", "ລາວ", "ລ າ ວ"},
		{"Khmer", "ខ្មែរ", "ខ \u17d2 ម \u17c2 រ"},
		{"Myanmar", "မြန်", "မ \u103c န \u103a"},
		{"Arabic vowels and alef", "مُحَمَّد أحمد", "محمد احمد"},
		{"Arabic stretched", "محـــمد", "محمد"},
		{"Arabic presentation forms", "ﻣﺤﻤﺪ", "محمد"},
		{"Persian letters", "کتابی", "كتابي"},
		{"Arabic digits", "٢٠٢٤ ۲۰۲۴", "2024 2024"},
		{"Hebrew points", "שָׁלוֹם", "שלום"},
		{"Hebrew gershayim", "צה״ל", "צה ל"},
		{"Hindi keeps its vowels", "हिन्दी", "हिन्दी"},
		{"Hindi nukta, composed and not", "\u0958 \u0915\u093c", "\u0915\u093c \u0915\u093c"},
		{"marks of one letter in either order", "क\u094d\u093c", "क\u093c\u094d"},
		{"Tamil", "தமிழ்", "தமிழ்"},

		{"an emoji", "ok👍!", "ok 👍"},
		{"an emoji with a skin tone", "👍🏽👍", "👍 👍"},
		{"a skin tone alone", "a🏽", "a 🏽"},
		{"an emoji with a variation selector", "❤️ ❤︎ ❤", "❤ ❤ ❤"},
		{"a family", "👨‍👩‍👧", "👨 👩 👧"},
		{"a profession with a skin tone", "👩🏽‍💻", "👩 💻"},
		{"flags", "🇩🇪🇫🇷", "🇩🇪 🇫🇷"},
		{"half a flag", "🇩 x", "🇩 x"},
		{"a flag of tags", "🏴\U000e0067\U000e0062\U000e007f", "🏴"},
		{"keycaps", "1️⃣2️⃣ #️⃣", "1 ⃣ 2 ⃣ ⃣"},
		{"emoji that are punctuation or letters", "‼️ ⁉ ™️ ©® ↔️ 〰️ ◾", "‼ ⁉ ™ © ® ↔ 〰 ◾"},
		{"a picture of the future", "\U0001fadf", "\U0001fadf"},

		{"the longest word", long, long},
		{"a longer word is cut", long + "b c", long + " c"},
		{"a longer word goes on being cut", long[:60] + "ü" + long, long[:60] + "uaaa"},
		{"a cut is between characters", long[:63] + "яaя", long[:63]},
		{"a word exactly long enough", long[:62] + "яb", long[:62] + "я"},
		{"an accented letter after a full word", long[:63] + "яé", long[:63]},
		{"ASCII after a full word", long + "я" + "a", long},
	} {
		if got := words.Fold(tc.text); got != tc.want {
			t.Errorf("%s: Fold(%q) = %+q, want %+q", tc.name, tc.text, got, tc.want)
		}
	}
}

func TestRangesSayWhatATokenWasMadeFrom(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"Hello, World", "Hello|World"},
		{"CRE\u0300ME!", "CRE\u0300ME"},
		{"e\u0301", "e\u0301"},
		{"a\u00adb\u00ad c", "a\u00adb|c"},
		{"中文", "中|文"},
		{"\u1112\u1161\u11ab", "\u1112\u1161\u11ab"},
		{"👍🏽.", "👍🏽"},
		{"👩🏽\u200d💻", "👩🏽|💻"},
		{"1½", "1|½|½"},
		{"ก\u0e48\u0e38", "ก|\u0e48|\u0e38"},
		{strings.Repeat("a", 70) + " b", strings.Repeat("a", 70) + "|b"},
		{strings.Repeat("я", 70), strings.Repeat("я", 70)},
	} {
		var parts []string
		for _, token := range words.Split(tc.text) {
			parts = append(parts, tc.text[token.Start:token.End])
		}
		if got := strings.Join(parts, "|"); got != tc.want {
			t.Errorf("%+q: got %+q, want %+q", tc.text, got, tc.want)
		}
	}
}

func TestAppendingKeepsWhatIsThere(t *testing.T) {
	folded, ranges := words.AppendTokens([]byte("x"), []words.Range{{7, 8}}, "A b")
	if string(folded) != "xa b" || !slices.Equal(ranges, []words.Range{{7, 8}, {0, 1}, {2, 3}}) {
		t.Errorf("got %q %v", folded, ranges)
	}
	if got := words.AppendIndexed([]byte("x "), "A b"); string(got) != "x a b" {
		t.Errorf("got %q", got)
	}
}

func TestAppendIndexedAllocatesNothing(t *testing.T) {
	text := strings.Repeat("Crème brûlée, 中文 👍🏽 한국어 don't ที่ ", 20)
	dst := words.AppendIndexed(nil, text)
	if n := testing.AllocsPerRun(20, func() { dst = words.AppendIndexed(dst[:0], text) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestEveryCharacter holds each character of Unicode against its other spellings.
func TestEveryCharacter(t *testing.T) {
	upper, lower := cases.Upper(language.Und), cases.Lower(language.Und)
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		switch r { // signs that are all alike
		case '\u3500':
			r = '\u4d00'
		case '\u4f00':
			r = '\u9f00'
		case '\uad00':
			r = '\ud700'
		case '\ue010':
			r = '\uf8f0'
		case '\U00017010':
			r = '\U00018700'
		case '\U00020100':
			r = '\U0002a600'
		case '\U0002a710':
			r = '\U0002e700'
		case '\U00032400':
			r = '\U000e0000'
		case '\U000f0010':
			return
		}
		s := "x" + string(r) + "y"
		want := words.Fold(s)
		others := []string{norm.NFC.String(s), norm.NFD.String(s), want}
		if unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r) {
			others = append(others, upper.String(s), lower.String(s), "x"+string(unicode.ToUpper(r))+"y", "x"+string(unicode.ToLower(r))+"y")
		}
		for _, other := range others {
			if other == s {
				continue
			}
			if got := words.Fold(other); got != want {
				t.Errorf("%U: %+q folds to %+q, but %+q to %+q", r, s, want, other, got)
			}
		}
		checkTokens(t, s)
	}
}

// checkTokens holds what every text must.
func checkTokens(t interface{ Fatalf(string, ...any) }, text string) {
	tokens := words.Split(text)
	var joined []string
	before := words.Range{}
	for _, token := range tokens {
		joined = append(joined, token.Text)
		if token.Text == "" || len(token.Text) > words.MaxToken || !utf8.ValidString(token.Text) {
			t.Fatalf("%+q: token %+q", text, token.Text)
		}
		for _, c := range []byte(token.Text) {
			if c < utf8.RuneSelf && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
				t.Fatalf("%+q: token %+q holds %q", text, token.Text, c)
			}
		}
		if token.Start < before.Start || token.Start >= token.End || token.End < before.End || token.End > len(text) {
			t.Fatalf("%+q: token %+q at %v after %v", text, token.Text, token.Range, before)
		}
		before = token.Range
	}
	indexed := string(words.AppendIndexed(nil, text))
	if indexed != strings.Join(joined, " ") {
		t.Fatalf("%+q: indexed %+q, tokens %+q", text, indexed, joined)
	}
	if again := words.Fold(indexed); again != indexed {
		t.Fatalf("%+q: folds to %+q, and that to %+q", text, indexed, again)
	}
}

// texts draws text of signs that act on their neighbours.
var texts = rapid.StringOf(rapid.OneOf(
	rapid.Rune(),
	rapid.SampledFrom([]rune("aAßıé ç'.-19\u0301\u0323\u0345\u0308\u3099\u309aかカｶﾞ가\u1112\u1161\u11a8한ที่ํำ\u0e38\u0e48\u0e3aक\u093c\u094d\u0958👍🏽🇩🇪\ufe0f\u200d\u20e3½㎏①中\u00ad\u034fλΣςﷺ")),
))

func TestSpellingsOfOneText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := texts.Draw(t, "text")
		checkTokens(t, text)
		want := words.Fold(text)
		others := []string{norm.NFC.String(text), norm.NFD.String(text)}
		// Capitals of composed and decomposed text differ in Unicode itself where iota is written below.
		if !strings.ContainsRune(norm.NFD.String(text), '\u0345') {
			others = append(others, cases.Upper(language.Und).String(text), cases.Lower(language.Und).String(text))
		}
		for _, other := range others {
			if got := words.Fold(other); got != want {
				t.Fatalf("%+q folds to %+q, but %+q to %+q", text, want, other, got)
			}
		}
	})
}

func FuzzIndexed(f *testing.F) {
	for _, seed := range []string{
		"", "Hello, World", "CRE\u0300ME", "中文👍🏽🇩🇪1️⃣", "\xff\xc3a", "ก\u0e48\u0e38", "か\u3099\u094d\u093c", "ﷺ½",
		strings.Repeat("я", 40), strings.Repeat("\u093c\u094d", 40), "\u1112\u1161\u11ab",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkTokens(t, text)
		if !utf8.ValidString(text) || strings.ContainsRune(norm.NFC.String(text), '\u034f') {
			return // after 30 marks in a row the library puts a joiner between
		}
		want := words.Fold(text)
		if c, d := words.Fold(norm.NFC.String(text)), words.Fold(norm.NFD.String(text)); c != want || d != want {
			t.Fatalf("%+q folds to %+q, composed %+q, decomposed %+q", text, want, c, d)
		}
	})
}

func BenchmarkAppendIndexed(b *testing.B) {
	for _, bc := range []struct{ name, text string }{
		{"ascii", "Hello Bob, the quarterly report is attached; please send me your comments by Friday, 12:30. Thanks!\n"},
		{"german", "Grüße aus München, die Straße führt über Österreich; bitte schick mir Deine Änderungen bis Freitag.\n"},
		{"russian", "Добрый день, отчёт за квартал во вложении, пришлите замечания до пятницы.\n"},
		{"chinese", "你好，季度报告见附件，请在星期五之前把意见发给我，谢谢。\n"},
		{"korean", "안녕하세요, 분기 보고서를 첨부합니다. 금요일까지 의견을 보내 주세요.\n"},
	} {
		b.Run(bc.name, func(b *testing.B) {
			text := strings.Repeat(bc.text, 20)
			dst := words.AppendIndexed(nil, text)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				dst = words.AppendIndexed(dst[:0], text)
			}
		})
	}
}
