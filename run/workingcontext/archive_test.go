package workingcontext_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/loomrun/loom/reference"
	"github.com/loomrun/loom/run/workingcontext"
)

// The limits of what a run keeps. What is one too many is an error that says so.
func TestCapacity(t *testing.T) {
	step := workingcontext.Step{Number: 7, Action: "work", Performed: true}
	with := func(effect string, moved map[string]string) workingcontext.Step {
		s := step
		s.Effect, s.Moved = effect, moved
		return s
	}
	mib := strings.Repeat("x", 1<<20)
	for _, c := range []struct {
		name string
		step workingcontext.Step
		fits int
		want string
	}{
		{"events", with("-", nil), 4096, "a run keeps at most 4096 events, and step 7 is one more"},
		{"one result", with(strings.Repeat(mib, 16)+"x", nil), 0, "the report of step 7 has 16777217 bytes, more than 16 MiB"},
		{"all results", with(strings.Repeat(mib, 16), nil), 4, "the long texts of a run take at most 64 MiB, and with the report of step 7 they take more"},
		{"number of results", with(strings.Repeat("x", 2000), nil), 1024, "a run keeps at most 1024 long texts, and the report of step 7 is one more"},
	} {
		context := workingcontext.New("go", nil)
		for i := range c.fits {
			if err := context.Add(c.step); err != nil {
				t.Fatalf("%s: %d fit: %v", c.name, i, err)
			}
		}
		err := context.Add(c.step)
		var capacity *workingcontext.CapacityError
		if !errors.As(err, &capacity) || err.Error() != "working context refused: "+c.want {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Lines short of a result each fill the archive before there are 4,096 of them.
func TestCapacityOfTheArchive(t *testing.T) {
	nearly := strings.Repeat("x", 1270)
	s := workingcontext.Step{
		Number: 9, Action: strings.Repeat("a", 256), Arguments: `{"a":"` + nearly[:1250] + `"}`, Performed: true,
		Effect: nearly, Evidence: nearly, Moved: map[string]string{"thing": nearly[:1250]},
	}
	context := workingcontext.New("go", nil)
	added := 0
	var err error
	for ; err == nil; added++ {
		err = context.Add(s)
	}
	const want = "working context refused: the events of a run take at most 16 MiB, and with step 9 they take more"
	if added < 3000 || added >= 4096 || err.Error() != want {
		t.Errorf("after %d events: %v", added, err)
	}
}

// The state follows from revisions and refusals, and is bounded.
func TestTheWorkingState(t *testing.T) {
	moved := func(subject string, pairs ...string) workingcontext.Step {
		s := workingcontext.Step{Performed: true, Subject: subject, Moved: map[string]string{}, Effect: `{"latest_revision":"made up"}`}
		for i := 0; i < len(pairs); i += 2 {
			s.Moved[pairs[i]] = pairs[i+1]
		}
		return s
	}
	refused := func(reason string) workingcontext.Step {
		return workingcontext.Step{Action: "work", Refused: reason}
	}
	artifact := func(id, revision string) string { return `{"artifact":"` + id + `","revision":"` + revision + `"}` }
	for _, c := range []struct {
		name  string
		steps []workingcontext.Step
		want  string
	}{
		{"nothing moved", []workingcontext.Step{moved("a")}, ""},
		{"one moved, whatever the report is about", []workingcontext.Step{moved("b", "a", "1")}, `{"latest_revision":"1","recent_artifacts":[` + artifact("a", "1") + `]}`},
		{"what the report is about is the latest", []workingcontext.Step{moved("a", "a", "1", "b", "2")}, `{"latest_revision":"1","recent_artifacts":[` + artifact("a", "1") + "," + artifact("b", "2") + `]}`},
		{"no saying which is the latest", []workingcontext.Step{moved("", "a", "1"), moved("", "a", "2", "b", "3")}, `{"recent_artifacts":[` + artifact("a", "2") + "," + artifact("b", "3") + `]}`},
		{"an artifact is listed once, where it moved last", []workingcontext.Step{moved("", "a", "1"), moved("", "b", "1"), moved("", "a", "2")}, `{"latest_revision":"2","recent_artifacts":[` + artifact("b", "1") + "," + artifact("a", "2") + `]}`},
		{
			"the last eight artifacts",
			[]workingcontext.Step{moved("9", "1", "x", "2", "x", "3", "x", "4", "x", "5", "x", "6", "x", "7", "x", "8", "x", "9", "y")},
			`{"latest_revision":"y","recent_artifacts":[` + artifact("2", "x") + "," + artifact("3", "x") + "," + artifact("4", "x") + "," + artifact("5", "x") + "," + artifact("6", "x") + "," + artifact("7", "x") + "," + artifact("8", "x") + "," + artifact("9", "y") + `]}`,
		},
		{"the latest refusal stays", []workingcontext.Step{refused("first"), refused("second"), moved("a", "a", "1")}, `{"latest_revision":"1","latest_refusal":{"action":"work","reason":"second"},"recent_artifacts":[` + artifact("a", "1") + `]}`},
		{"a long reason is cut", []workingcontext.Step{refused(strings.Repeat("n", 1025))}, `{"latest_refusal":{"action":"work","reason":"` + strings.Repeat("n", 1024) + `[truncated]"}}`},
	} {
		context := workingcontext.New("go", nil)
		for _, s := range c.steps {
			add(t, context, s)
		}
		items := request(t, context)
		got := ""
		if len(items) == 3 {
			got = strings.TrimPrefix(items[1], "Current working state, derived by the program from what effects reported:\n")
		}
		if got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

// The order of 7.6. A request above 48 KiB is brought to 32 KiB, one of more than 64 events to 64 or
// fewer, by eights of the oldest.
func TestCheckpoints(t *testing.T) {
	events := func(items []string) (first string, n int) {
		for _, item := range items {
			if lines, ok := strings.CutPrefix(item, "Recent events, oldest first, each one line of JSON:"); ok {
				n = strings.Count(lines, "\n")
				first, _, _ = strings.Cut(strings.TrimPrefix(lines, "\n"), ",")
			}
		}
		return first, n
	}
	c := contextOf(t, 65)
	if first, n := events(request(t, c)); first != `{"sequence":9` || n != 57 || c.Checkpoints() != 1 {
		t.Errorf("65 events: %d from %s, %d checkpoints", n, first, c.Checkpoints())
	}
	if request(t, c); c.Checkpoints() != 1 {
		t.Errorf("a second request makes a checkpoint of its own")
	}
	c = contextOf(t, 4096)
	if first, n := events(request(t, c)); first != `{"sequence":4033` || n != 64 || c.Checkpoints() != 1 {
		t.Errorf("4096 events: %d from %s, %d checkpoints", n, first, c.Checkpoints())
	}

	c = workingcontext.New("fix ABC-12", reference.Extract("fix ABC-12"))
	for i := 1; c.Checkpoints() == 0; i++ {
		add(t, c, workingcontext.Step{Number: i, Action: "work", Arguments: "{}", Performed: true, Effect: strings.Repeat("e", 1000), Moved: map[string]string{"a": "1"}})
		r, err := c.Request("go on", tools)
		if err != nil {
			t.Fatal(err)
		}
		size := workingcontext.Size(r)
		if c.Checkpoints() == 0 {
			if size > 48<<10 {
				t.Fatalf("%d bytes and no checkpoint", size)
			}
			continue
		}
		if size > 32<<10 || size < 24<<10 || i < 40 {
			t.Errorf("%d bytes after the checkpoint of event %d", size, i)
		}
		var heads []string
		for _, item := range r.Input {
			head, _, _ := strings.Cut(item, "\n")
			heads = append(heads, head)
		}
		const want = "Intent:|References found in the intent:|16 earlier events are archived; list_history and read_history read them.|" +
			"Current working state, derived by the program from what effects reported:|Recent events, oldest first, each one line of JSON:"
		if got := strings.Join(heads, "|"); got != want {
			t.Errorf("order: %s", got)
		}
	}
}

// Of what must be shown nothing is cut: it fits up to the last byte, or there is no request. This holds
// too where the first checkpoint brings in what no longer fits.
func TestWhatMustBeShownFitsOrFails(t *testing.T) {
	bare, err := workingcontext.New("", nil).Request("go on", tools)
	if err != nil {
		t.Fatal(err)
	}
	room := workingcontext.MaxRequestBytes - workingcontext.Size(bare)
	if request(t, workingcontext.New(strings.Repeat("i", room), nil)); t.Failed() {
		t.Error("the intent fills the request")
	}
	if _, err := workingcontext.New(strings.Repeat("i", room+1), nil).Request("go on", tools); err == nil ||
		!strings.HasPrefix(err.Error(), "working context refused: a request would have 65537 bytes, more than 65536, and nothing in it can be left out (intent: ") {
		t.Errorf("one byte more: %v", err)
	}
	c := workingcontext.New(strings.Repeat("i", room-100), nil)
	add(t, c, workingcontext.Step{Number: 1, Action: "work", Performed: true, Effect: "-"})
	var large *workingcontext.TooLargeError
	if _, err := c.Request("go on", tools); !errors.As(err, &large) {
		t.Errorf("no room for the tools to read what is retired: %v", err)
	}
	bare.Input = []string{strings.Repeat("i", room+len("Intent:\\n"))}
	if err := workingcontext.CheckSize(bare); err != nil {
		t.Errorf("a full request: %v", err)
	}
	bare.Input[0] += "i"
	if err := workingcontext.CheckSize(bare); !errors.As(err, &large) || large.Bytes != 65_537 {
		t.Errorf("a request of one byte more: %v", err)
	}
}
