// Package modeltest is a model for tests and demonstrations: a server on the loopback interface that
// replays recorded answers and keeps the requests it got. It thinks nothing: whatever is asked, the
// next answer of the recording is given.
package modeltest

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/loomrun/loom/internal/boundedfile"
	"github.com/loomrun/loom/internal/canonjson"
)

// Recording is a list of answers, in the order in which they are given.
//
// Its file is a txtar archive with one section per answer, so that people can read and write it. The
// text before the first section says what the recording is for. A section's name is for people too.
// Its content is an answer as HTTP writes one: a status line, header lines, an empty line, the body:
//
//	The model picks a protocol; the connection breaks in the middle of the second answer.
//
//	-- the pick --
//	HTTP 200
//	Content-Type: text/event-stream
//
//	data: {"choices":[…]}
//
//	data: [DONE]
//
//	-- the cut --
//	HTTP 200
//	Fault: cut 120
//
//	data: …
//
// The body is everything up to the next section, so the last event of a stream needs its empty line
// also where the file ends. A line "Fault: KIND N" in the head is not sent. It makes the answer go wrong after N bytes of its
// body; see [Fault] for the kinds.
//
// A model that names what it was shown is recorded with {{token N}} in its body: the Nth token such as cfh:v:2abcd of the request, since
// these are others in every run.
type Recording struct {
	Answers []Answer
}

// Answer is one recorded answer.
type Answer struct {
	Name   string
	Status int
	Header http.Header
	Body   string
	Fault  Fault
	After  int // bytes of Body that are sent before the fault
}

// Fault is how an answer goes wrong.
type Fault string

// The faults of an answer.
const (
	None  Fault = ""      // not at all
	Cut   Fault = "cut"   // the connection breaks
	End   Fault = "end"   // the answer ends, as if that were all of it
	Stall Fault = "stall" // nothing more comes until the client gives up
	Drop  Fault = "drop"  // the connection is closed without an answer; takes no number
)

// maxRecording bounds a recording's file.
const maxRecording = 16 * boundedfile.MiB

// ReadRecording reads a recording's file.
func ReadRecording(path string) (*Recording, error) {
	data, err := boundedfile.Read(path, maxRecording)
	if err != nil {
		return nil, err
	}
	recording, err := ParseRecording(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return recording, nil
}

// ParseRecording reads a recording from the text of its file.
func ParseRecording(data []byte) (*Recording, error) {
	var r Recording
	for _, s := range sections(string(data)) {
		answer, err := parseAnswer(s.name, s.content)
		if err != nil {
			return nil, fmt.Errorf("answer %q: %w", s.name, err)
		}
		r.Answers = append(r.Answers, answer)
	}
	if len(r.Answers) == 0 {
		return nil, errors.New("the recording has no answer")
	}
	return &r, nil
}

type section struct{ name, content string }

// sections splits a txtar archive at its "-- name --" lines.
func sections(archive string) []section {
	var found []section
	for line := range strings.Lines(archive) {
		name, marker := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "-- ")
		if marker {
			name, marker = strings.CutSuffix(name, " --")
		}
		switch {
		case marker:
			found = append(found, section{name: strings.TrimSpace(name)})
		case len(found) > 0:
			found[len(found)-1].content += line
		}
	}
	return found
}

func parseAnswer(name, content string) (Answer, error) {
	a := Answer{Name: name, Header: http.Header{}}
	head, body, _ := strings.Cut(content, "\n\n")
	a.Body = body
	lines := strings.Split(strings.TrimSpace(head), "\n")
	status, ok := strings.CutPrefix(lines[0], "HTTP ")
	var err error
	if a.Status, err = strconv.Atoi(status); !ok || err != nil || a.Status < 200 || a.Status > 599 {
		return Answer{}, errors.New("its first line is not HTTP and a status from 200 to 599")
	}
	for _, line := range lines[1:] {
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			return Answer{}, errors.New("the head has a line without a colon")
		}
		value = strings.TrimSpace(value)
		if key == "Fault" {
			if a.Fault, a.After, err = parseFault(value, len(body)); err != nil {
				return Answer{}, err
			}
			continue
		}
		a.Header.Add(key, value)
	}
	return a, nil
}

func parseFault(value string, size int) (Fault, int, error) {
	kind, number, _ := strings.Cut(value, " ")
	switch fault := Fault(kind); fault {
	case Drop:
		if number == "" {
			return fault, 0, nil
		}
	case Cut, End, Stall:
		if n, err := strconv.Atoi(number); err == nil && n >= 0 && n <= size {
			return fault, n, nil
		}
	}
	return None, 0, errors.New("the Fault is neither drop, nor cut, end or stall with a number of bytes of the body")
}

//go:embed recordings/*.txtar
var recorded embed.FS

// Recorded gives a recording of this package by its name without ".txtar": clock, unsure,
// outside-registry, malformed-confidence, two-calls, text-only, check, tide-review.
func Recorded(t testing.TB, name string) *Recording {
	t.Helper()
	data, err := recorded.ReadFile("recordings/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	r, err := ParseRecording(data)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// RecordedNames lists the recordings of this package.
func RecordedNames() []string {
	entries, err := recorded.ReadDir("recordings")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = strings.TrimSuffix(entry.Name(), ".txtar")
	}
	return names
}

// The aliases and the model of [CatalogTOML].
const (
	AgentAlias      = "demo-agent"
	ClassifierAlias = "demo-classifier"
	ModelName       = "demo-model"
)

// CatalogTOML gives the text of a catalog file whose aliases demo-agent and demo-classifier both
// lead to the model demo-model at a base URL, by an anonymous account.
func CatalogTOML(baseURL string) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, `# Two aliases for one server that replays a recording.
format = "llm.catalog/1"

[[providers]]
id = "demo"
category = "self-hosted"

[[accounts]]
id = "demo-anonymous"
provider_id = "demo"
auth_kind = "anonymous"
billing_kind = "self-hosted"

[[endpoints]]
id = "demo-http"
account_id = "demo-anonymous"
base_url = %s

[[models]]
id = "demo-model"
upstream_name = "%s"

[[serving_models]]
id = "demo-chat"
endpoint_id = "demo-http"
model_id = "demo-model"
protocol = "chat-completions"
[serving_models.capabilities]
tools = true
tool_choice = true
temperature = false
top_p = false
reasoning_efforts = []
context_window = 32768
max_output_tokens = 4096
`, canonjson.AppendString(nil, baseURL), ModelName) // a JSON string is a TOML string too
	for i, alias := range []string{AgentAlias, ClassifierAlias} {
		fmt.Fprintf(&b, `
[[routes]]
id = "route-%[1]d"
alias = "%[2]s"

[[targets]]
id = "target-%[1]d"
route_id = "route-%[1]d"
serving_model_id = "demo-chat"
position = 0
`, i+1, alias)
	}
	return b.String()
}
