package retrieval

import (
	"slices"
	"strconv"

	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/lazyregexp"
)

// messages are the fixed texts of the codes (5.6). They say nothing of the host.
var messages = map[Code]string{
	NotConfigured:         "this run reads no data",
	Cancelled:             "the read was cancelled",
	CeilingUnavailable:    "the ceiling of this run cannot be read, so nothing is shown",
	CommandFailed:         "the read failed",
	HostRefused:           "the read was refused",
	NotFound:              "nobody is known by this identifier",
	Contested:             "several people have this identifier",
	SchemaVersionMismatch: "the payload has a version that is not read here",
	MalformedPayload:      malformed,
}

func failed(code Code) *Failure { return &Failure{Code: code, Message: messages[code]} }

// hostCode is the form of a code that is passed on: one short word, so that no text of the host comes with it (W3).
var hostCode = lazyregexp.New(`^[a-z][a-z0-9_]{0,31}$`)

// outcome maps how a call ended (5.6, D36). Of the argv it counts whether a person was asked for.
func outcome(tool Tool, argv []string, e Exit) (Payload, *Failure) {
	payload, err := parsePayload(e.Stdout)
	people := tool.Kind == "people"
	person := people || slices.Contains(argv, "--person")
	switch {
	case err == nil && refused(payload.Value):
		f := failed(HostRefused)
		if code, _ := payload.Value.Get("code"); code.Kind == document.Text && hostCode().MatchString(code.Text) {
			f.HostCode = code.Text
		}
		return Payload{}, f
	case person && (err == errNotJSON || people) && e.Status == 1:
		return Payload{}, failed(NotFound)
	case person && (err == errNotJSON || people) && e.Status == 3:
		return Payload{}, failed(Contested)
	case err == errNotJSON:
		return Payload{}, failed(CommandFailed)
	case err != nil:
		return Payload{}, failed(MalformedPayload)
	}
	fallback, _ := payload.Value.Get("hasProfile")
	switch {
	case tool.Kind == "profile" && e.Status == 1 && fallback.Kind == document.Bool && fallback.Text == "false":
	case e.Status != 0:
		return Payload{}, failed(CommandFailed)
	}
	if version, given := payload.Value.Get("schemaVersion"); tool.Kind == "search" && given && !isOne(version) {
		return Payload{}, failed(SchemaVersionMismatch)
	}
	return payload, nil
}

// refused tells whether a payload says that it is none: also where it says both.
func refused(v document.Value) bool {
	for i := range v.Members {
		if m := &v.Members[i]; m.Name == "ok" && m.Value.Kind == document.Bool && m.Value.Text == "false" {
			return true
		}
	}
	return false
}

// isOne tells the number 1, however it is written.
func isOne(v document.Value) bool {
	n, err := strconv.ParseFloat(v.Text, 64)
	return v.Kind == document.Number && err == nil && n == 1
}
