package workingcontext_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/run/workingcontext"
)

var tools = []model.Tool{{Name: "work", Parameters: "{}"}}

// request makes a request that must fit, and gives its items.
func request(t rapid.TB, c *workingcontext.Context) []string {
	t.Helper()
	r, err := c.Request("go on", tools)
	if err != nil {
		t.Fatal(err)
	}
	if size := workingcontext.Size(r); size > workingcontext.MaxRequestBytes {
		t.Fatalf("a request of %d bytes", size)
	}
	return r.Input
}

// answer looks something up in a step of its own, and gives what the model is shown of it.
func answer(t rapid.TB, c *workingcontext.Context, tool, arguments string) string {
	t.Helper()
	c.NextStep()
	request(t, c)
	if err := c.Look(tool, arguments); err != nil {
		t.Fatal(err)
	}
	items := request(t, c)
	head, text, _ := strings.Cut(items[len(items)-1], "\n")
	if head != "Look-up 1, "+tool+":" {
		t.Fatalf("no answer to %s: %q", tool, items)
	}
	return text
}

func add(t rapid.TB, c *workingcontext.Context, s workingcontext.Step) {
	t.Helper()
	if err := c.Add(s); err != nil {
		t.Fatal(err)
	}
}

// contextOf makes a context of n short events.
func contextOf(t rapid.TB, n int) *workingcontext.Context {
	c := workingcontext.New("go", nil)
	for i := range n {
		add(t, c, workingcontext.Step{Number: i + 1, Action: "work", Arguments: "{}", Performed: true, Effect: fmt.Sprint("report ", i+1), Evidence: "none"})
	}
	return c
}

const digest = "5f0ee2cbd1b1a4ff5a4f4ae1a6d9e8e9d5f8b1cf1b8d4e1c8e2b5d6a7c9b0a11"

func TestLookups(t *testing.T) {
	c := contextOf(t, 66)
	long := strings.Repeat("zeile eins\nñandú\n\"drei\"\n", 1000)
	add(t, c, workingcontext.Step{Number: 67, Action: "work", Arguments: `{"text":"` + strings.Repeat("a", 2000) + `"}`, Performed: true, Effect: long, Evidence: "none"})
	// The reference of the report is shown in its descriptor.
	line := answer(t, c, "read_history", `{"sequence":67}`)
	_, shown, _ := strings.Cut(line, `"report":{"effect":`)
	_, reference, _ := strings.Cut(shown, `"reference":`)
	reference, _, _ = strings.Cut(reference, `},"evidence"`)
	sum := reference[strings.Index(reference, `"sha256":"`)+10:][:64]
	ref := func(id, sum, selected, rendering string) string {
		return fmt.Sprintf(`{"result":%q,"sha256":%q,"select":%s,"rendering":%q}`, id, sum, selected, rendering)
	}
	of := func(selected string) string { return ref("result-s67-2", sum, selected, "text") }
	for _, l := range []struct{ tool, arguments, want string }{
		{"list_history", `{"offset":64}`, `{"events":[{"sequence":65,"action":"work","utf8_bytes":111},{"sequence":66,"action":"work","utf8_bytes":111},{"sequence":67,*`},
		{"list_history", `{"offset":67}`, `{"events":[]}`},
		{"list_history", `{"offset":0}`, `{"events":[{"sequence":1,*},{"sequence":8,"action":"work","utf8_bytes":109}],"next_offset":8}`},
		{"list_history", `{"offset":68}`, `{"lookup_failed":"offset is not a whole number from 0 to 67"}`},
		{"list_history", `{"offset":-1}`, `{"lookup_failed":"offset is not a whole number from 0 to 67"}`},
		{"list_history", `{"offset":"0"}`, `{"lookup_failed":"offset is not a whole number from 0 to 67"}`},
		{"list_history", `{"offset":1.0}`, `{"lookup_failed":"offset is not a whole number from 0 to 67"}`},
		{"list_history", `{"offset":99999999999999999999}`, `{"lookup_failed":"offset is not a whole number from 0 to 67"}`},
		{"list_history", `{}`, `{"lookup_failed":"what is asked for has exactly these members: offset"}`},
		{"list_history", `{"offset":0,"more":1}`, `{"lookup_failed":"what is asked for has exactly these members: offset"}`},
		{"list_history", `{"offset":0,"offset":1}`, `{"lookup_failed":"the arguments are not JSON"}`},
		{"list_history", `[0]`, `{"lookup_failed":"what is asked for has exactly these members: offset"}`},
		{"list_history", ``, `{"lookup_failed":"the arguments are not JSON"}`},
		{"read_history", `{"sequence":1}`, `{"sequence":1,"action":"work","arguments":{},"report":{"effect":"report 1","evidence":"none"},"artifacts":{}}`},
		{"read_history", `{"offset":1}`, `{"lookup_failed":"what is asked for has exactly these members: sequence"}`},
		{"read_history", `{"sequence":0}`, `{"lookup_failed":"sequence is not a whole number from 1 to 67"}`},
		{"read_history", `{"sequence":68}`, `{"lookup_failed":"sequence is not a whole number from 1 to 67"}`},
		{"list_results", `{"offset":0}`, `{"results":[{"result":"result-s67-1",*"origin":"the arguments of step 67",*{"result":"result-s67-2","sha256":"` + sum + `","origin":"the report of step 67","capture":"complete","utf8_bytes":26000,"reference":{*}}]}`},
		{"list_results", `{"offset":2}`, `{"results":[]}`},
		{"list_results", `{"offset":3}`, `{"lookup_failed":"offset is not a whole number from 0 to 2"}`},
		{"read_result", reference, `{"result":"result-s67-2","start_byte":0,"end_byte":4096,"utf8_bytes":26000,"text":"zeile eins\nñandú\n\"drei\"\n*`},
		{"read_result", of(`{"kind":"lines","start":2,"end":3}`), `{"result":"result-s67-2","start_byte":11,"end_byte":26,"utf8_bytes":26000,"text":"ñandú\n\"drei\"\n"}`},
		{"read_result", of(`{"kind":"lines","start":3000,"end":3000}`), `{"result":"result-s67-2","start_byte":25993,"end_byte":26000,"utf8_bytes":26000,"text":"\"drei\"\n"}`},
		{"read_result", of(`{"kind":"lines","start":1,"end":3001}`), `{"lookup_failed":"end is not a whole number from 1 to 3000"}`},
		{"read_result", of(`{"kind":"lines","start":0,"end":1}`), `{"lookup_failed":"start is not a whole number from 1 to 3000"}`},
		{"read_result", of(`{"kind":"bytes","start":11,"end":13}`), `{"result":"result-s67-2","start_byte":11,"end_byte":13,"utf8_bytes":26000,"text":"ñ"}`},
		{"read_result", of(`{"kind":"bytes","start":26000,"end":26000}`), `{"result":"result-s67-2","start_byte":26000,"end_byte":26000,"utf8_bytes":26000,"text":""}`},
		{"read_result", of(`{"kind":"bytes","start":12,"end":13}`), `{"lookup_failed":"start or end falls into a character"}`},
		{"read_result", of(`{"kind":"bytes","start":5,"end":4}`), `{"lookup_failed":"end is not a whole number from 5 to 26000"}`},
		{"read_result", of(`{"kind":"bytes","start":26001,"end":26001}`), `{"lookup_failed":"start is not a whole number from 0 to 26000"}`},
		{"read_result", of(`{"kind":"bytes","start":0}`), `{"lookup_failed":"what is asked for has exactly these members: kind, start, end"}`},
		{"read_result", of(`{"kind":"whole"}`), `{"lookup_failed":"the answer would take *, more than 8192; ask for less"}`},
		{"read_result", of(`{"kind":"whole","start":1}`), `{"lookup_failed":"what is asked for has exactly these members: kind"}`},
		{"read_result", of(`{"kind":"tail","start":1,"end":1}`), `{"lookup_failed":"kind is not whole, bytes, lines or json_pointer"}`},
		{"read_result", of(`"whole"`), `{"lookup_failed":"what is asked for has exactly these members: kind, start, end"}`},
		{"read_result", ref("result-s67-3", sum, `{"kind":"whole"}`, "text"), `{"lookup_failed":"there is no such result; list_results lists those there are"}`},
		{"read_result", ref("result-s67-2", digest, `{"kind":"whole"}`, "text"), `{"lookup_failed":"the result has another sha256"}`},
		{"read_result", ref("result-s67-2", sum, `{"kind":"whole"}`, "json"), `{"lookup_failed":"rendering is not text; json goes with a JSON pointer only"}`},
		{"read_result", `{"result":"result-s67-2"}`, `{"lookup_failed":"what is asked for has exactly these members: result, sha256, select, rendering"}`},
	} {
		got := answer(t, c, l.tool, l.arguments)
		if !like(l.want, got) {
			t.Errorf("%s %s:\ngot  %s\nwant %s", l.tool, l.arguments, got, l.want)
		}
	}
}

// like tells whether a text is a pattern with any text in the place of each *.
func like(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if !strings.HasPrefix(text, parts[0]) || !strings.HasSuffix(text, parts[len(parts)-1]) {
		return false
	}
	for _, part := range parts {
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return true
}

// A look-up is offered once there is something to read with it.
func TestWhichLookupsAreOffered(t *testing.T) {
	offered := func(c *workingcontext.Context) string {
		request(t, c)
		var names []string
		for _, name := range workingcontext.LookupTools {
			if c.Offers(name) {
				names = append(names, name)
			}
		}
		return strings.Join(names, " ")
	}
	if got := offered(contextOf(t, 64)); got != "" {
		t.Errorf("nothing is retired: %s", got)
	}
	if got := offered(contextOf(t, 65)); got != "list_history read_history" {
		t.Errorf("something is retired: %s", got)
	}
	c := contextOf(t, 1)
	add(t, c, workingcontext.Step{Number: 2, Refused: strings.Repeat("no ", 1000)})
	if got := offered(c); got != "list_results read_result" || c.Offers("work") {
		t.Errorf("something is kept: %s", got)
	}
}

// An answer for which the request has no room is left out whole; the request still fits.
func TestAnAnswerWithoutRoomIsLeftOut(t *testing.T) {
	c := workingcontext.New(strings.Repeat("i", 50<<10), nil)
	add(t, c, workingcontext.Step{Number: 1, Action: "work", Performed: true, Effect: strings.Repeat("e", 100_000)})
	items := request(t, c)
	// The event is retired at once, so that its result is found by listing.
	if strings.Contains(strings.Join(items, ""), "preview") || c.Checkpoints() != 1 {
		t.Fatalf("the event is still shown: %q", items[1:])
	}
	_, reference, _ := strings.Cut(answer(t, c, "list_results", `{"offset":0}`), `"reference":`)
	reference = strings.TrimSuffix(reference, "}]}")
	c.NextStep()
	request(t, c)
	failed := 0
	for range workingcontext.MaxLookups {
		if err := c.Look("read_result", reference); err != nil {
			t.Fatal(err)
		}
		items := request(t, c)
		if strings.Contains(items[len(items)-1], `{"lookup_failed":"the answer would take 4220 bytes, and the request has room for `) {
			failed++
		}
	}
	if failed != 6 {
		t.Errorf("%d of 8 answers had no room", failed)
	}
	if err := c.Look("read_result", reference); !errors.Is(err, workingcontext.ErrLookups) {
		t.Errorf("the ninth: %v", err)
	}
	if c.Retrievals() != 9 {
		t.Errorf("%d retrievals", c.Retrievals())
	}
}

// Whatever a step comes to, its event can be read again, and so can every text of it that is not in its
// line.
func TestEveryEventCanBeRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := contextOf(t, 64)
		s := workingcontext.Step{
			Number: 1 << 20, Action: scrap.Draw(t, "action"), Arguments: scrap.Draw(t, "arguments"), Performed: rapid.Bool().Draw(t, "performed"),
			Moved: rapid.MapOfN(scrap, scrap, 0, 3).Draw(t, "moved"), Refused: scrap.Draw(t, "refused"),
			Effect: scrap.Draw(t, "effect"), Evidence: scrap.Draw(t, "evidence"), Subject: "x",
		}
		add(t, c, s)
		line := answer(t, c, "read_history", `{"sequence":65}`)
		if strings.Contains(line, "lookup_failed") || !strings.HasPrefix(line, `{"sequence":65,`) {
			t.Fatal(line)
		}
		for _, part := range strings.Split(line, `"reference":`)[1:] {
			reference := part[:strings.Index(part, `"rendering":"text"}`)+len(`"rendering":"text"}`)]
			if got := answer(t, c, "read_result", reference); !strings.HasPrefix(got, `{"result":"`) && !strings.Contains(got, "ask for less") {
				t.Fatalf("%s: %s", reference, got)
			}
		}
	})
}
