package broker

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/loomrun/loom/readverb"
)

const anID = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

func TestRequestIsReadAsWritten(t *testing.T) {
	want := request{broker: anID, within: 1500 * time.Millisecond, argv: []string{"search", "a \"b\"\u2028<c>", "--limit", "3"}}
	got, err := readRequest(want.JSON())
	if err != nil || got.broker != want.broker || got.within != want.within || strings.Join(got.argv, "\x00") != strings.Join(want.argv, "\x00") {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestMalformedRequestsAreRefused(t *testing.T) {
	good := `{"broker":"` + anID + `","withinMilliseconds":30000,"argv":["profile"]}`
	if _, err := readRequest([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, text string }{
		{"nothing", ""},
		{"no JSON", "search"},
		{"two values", good + good},
		{"a list", "[" + good + "]"},
		{"no time", strings.Replace(good, `"withinMilliseconds":30000,`, "", 1)},
		{"a member twice", strings.Replace(good, `"argv"`, `"broker":"`+anID+`","argv"`, 1)},
		{"another member", strings.Replace(good, "}", `,"facets":"health"}`, 1)},
		{"another member in place of one", strings.Replace(good, "broker", "run", 1)},
		{"an id that leads elsewhere", strings.Replace(good, anID, "../../../../../../../../ABC", 1)},
		{"an id in lower case", strings.Replace(good, anID, strings.ToLower(anID), 1)},
		{"no milliseconds", strings.Replace(good, "30000", "0", 1)},
		{"more time than there is", strings.Replace(good, "30000", "30001", 1)},
		{"a fraction", strings.Replace(good, "30000", "1.5", 1)},
		{"an exponent", strings.Replace(good, "30000", "1e3", 1)},
		{"time as text", strings.Replace(good, "30000", `"30000"`, 1)},
		{"no words", strings.Replace(good, `"profile"`, "", 1)},
		{"a word that is none", strings.Replace(good, `"profile"`, `"profile",1`, 1)},
		{"words in words", strings.Replace(good, `"profile"`, `["profile"]`, 1)},
		{"deep", strings.Replace(good, `"profile"`, strings.Repeat("[", 200)+strings.Repeat("]", 200), 1)},
		{"more words than a call has", strings.Replace(good, `"profile"`, `"profile"`+strings.Repeat(`,"x"`, readverb.MaxArguments), 1)},
		{"no UTF-8", strings.Replace(good, "profile", "pro\xfffile", 1)},
	} {
		if r, err := readRequest([]byte(tc.text)); err == nil {
			t.Errorf("%s: %+v", tc.name, r)
		}
	}
}

func TestOnlyTheEightVerbsAreServed(t *testing.T) {
	for _, tc := range []struct {
		argv string // words between bars
		want string // begins the reason; "" is none
	}{
		{"search|tide tables|--json|--limit|3", ""},
		{"page|discover|--concise", ""},
		{"calendar|list|--all", ""},
		{"profile", ""},
		{"", "the queue serves search"},
		{"sync", "the queue serves search"},
		{"page", "the queue serves search"},
		{"page|write|x", "the queue serves search"},
		{"page read|x", "the queue serves search"},
		{"--json|search|x", "the queue serves search"},
		{"broker|serve", "the queue serves search"},
		{"search|x|--facets|health", "--facets is the broker's"},
		{"search|x|--facets=health", "--facets is the broker's"},
		{"profile|--instance|/home/ada", "--instance is the broker's"},
		{"search|x|--peek", "the queue serves no such flag of search"},
		{"profile|--limit|3", "the queue serves no such flag of profile"},
		{"page|read|x|-o", "the queue serves no such flag of page read"},
	} {
		got := forbidden(strings.Split(tc.argv, "|"))
		if got == "" != (tc.want == "") || !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s: %q", tc.argv, got)
		}
	}
	if forbidden(nil) == "" {
		t.Error("no words at all are served")
	}
}

// The flags that the queue lets through are exactly those that the verbs have.
func TestServedFlagsAreThoseOfTheVerbs(t *testing.T) {
	all := map[string]bool{"--facets": true, "--instance": true}
	for _, flags := range served {
		for _, f := range flags {
			all[f] = true
		}
	}
	for verb, flags := range served {
		mine := strings.Join(flags, " ") + " "
		for f := range all {
			_, err := readverb.Parse(append(strings.Fields(verb), f))
			unknown := err != nil && strings.Contains(err.Error(), "unknown flag")
			if unknown == strings.Contains(mine, f+" ") {
				t.Errorf("%s %s: served %v, %v", verb, f, !unknown, err)
			}
		}
	}
}

func TestReplyIsReadAsWritten(t *testing.T) {
	for _, want := range []Reply{
		{Stdout: []byte("{\"a\":\"\xff\n\"}\n"), Notes: []string{"one", "two"}},
		{Status: readverb.StatusContested, Message: "Error: ada is contested"},
		{Status: readverb.StatusFailed, Message: "column 1", Caret: "(\n^"},
		{Status: readverb.StatusFailed, Stdout: []byte("{\"ok\":false}\n"), Message: "no page"},
		refusal(Refused, "too late"),
		refusal(Forbidden, "no"),
	} {
		got, err := readReply(want.file())
		if err != nil || !bytes.Equal(got.file(), want.file()) {
			t.Errorf("%+v became %+v, %v", want, got, err)
		}
	}
}

// What is longer than a reply has is shortened by who writes it, so that it can be read.
func TestLongWordsOfAReplyAreShortened(t *testing.T) {
	long := strings.Repeat("\x01", maxMessage-1) + "ü" + strings.Repeat("x", maxMessage)
	r := Reply{Message: long, Caret: long, Status: readverb.StatusFailed}
	for range 2 * maxNotes {
		r.Notes = append(r.Notes, long)
	}
	got, err := readReply(r.file())
	if err != nil || len(got.Notes) != maxNotes || len(got.Message) != maxMessage-1 {
		t.Errorf("%d notes, %d bytes of message, %v", len(got.Notes), len(got.Message), err)
	}
}

func TestMalformedRepliesAreRefused(t *testing.T) {
	good := `{"code":"","status":0,"notes":[],"message":"","caret":""}` + "\n"
	if _, err := readReply([]byte(good + "{}\n")); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, text string }{
		{"nothing", ""},
		{"no line", strings.TrimSpace(good)},
		{"another code", strings.Replace(good, `"code":""`, `"code":"granted"`, 1)},
		{"a refusal with status 0", strings.Replace(good, `"code":""`, `"code":"refused"`, 1)},
		{"a refusal with a payload", strings.NewReplacer(`"code":""`, `"code":"refused"`, `:0`, `:1`).Replace(good) + "{}"},
		{"a status that no verb has", strings.Replace(good, `:0`, `:2`, 1)},
		{"a status as text", strings.Replace(good, `:0`, `:"0"`, 1)},
		{"a note that is none", strings.Replace(good, `[]`, `[1]`, 1)},
		{"notes that are none", strings.Replace(good, `[]`, `""`, 1)},
		{"too many notes", strings.Replace(good, `[]`, `["x"`+strings.Repeat(`,"x"`, maxNotes)+"]", 1)},
		{"too long a message", strings.Replace(good, `"message":""`, `"message":"`+strings.Repeat("x", maxMessage+1)+`"`, 1)},
		{"another member", strings.Replace(good, `{`, `{"x":1,`, 1)},
		{"too long a line", strings.Repeat(" ", maxHead) + good},
		{"too much", good + strings.Repeat("x", MaxAnswerBytes+1)},
	} {
		if r, err := readReply([]byte(tc.text)); err == nil {
			t.Errorf("%s: %+v", tc.name, r)
		}
	}
}

// Whatever a client writes, it is refused or is a request that says the same when it is written again.
func FuzzReadRequest(f *testing.F) {
	f.Add(request{broker: anID, within: time.Second, argv: []string{"search", "x", "--facets", "health"}}.JSON())
	f.Add([]byte(`{"argv":["page","read","../x"],"broker":"` + anID + `","withinMilliseconds":1}`))
	f.Add([]byte(`{"broker":[],"argv":{},"withinMilliseconds":1e9}`))
	f.Add([]byte("[[[["))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := readRequest(data)
		if err != nil {
			return
		}
		if !isID(r.broker) || r.within <= 0 || r.within > MaxTime || len(r.argv) == 0 || len(r.argv) > readverb.MaxArguments {
			t.Errorf("beyond the limits: %+v", r)
		}
		again, err := readRequest(r.JSON())
		if err != nil || !bytes.Equal(again.JSON(), r.JSON()) {
			t.Errorf("%+v became %+v, %v", r, again, err)
		}
		// What is let through is a call of one of the eight, whatever else may be wrong with it.
		if forbidden(r.argv) != "" {
			if _, err := readverb.Parse(r.argv); err == nil {
				t.Errorf("a call that can be read is forbidden: %q", r.argv)
			}
		}
	})
}

// Whatever stands in a reply, it is refused or within the limits.
func FuzzReadReply(f *testing.F) {
	f.Add(Reply{Stdout: []byte("{}\n"), Notes: []string{"n"}}.file())
	f.Add(refusal(Refused, "no").file())
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := readReply(data)
		if err != nil {
			return
		}
		again, err := readReply(r.file())
		if err != nil || !bytes.Equal(again.file(), r.file()) {
			t.Errorf("%+v became %+v, %v", r, again, err)
		}
	})
}
