package broker

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/readverb"
)

// request is a question on its way to a broker:
//
//	{"broker":"ID of the broker","withinMilliseconds":30000,"argv":["search","tide tables"]}
type request struct {
	broker string
	within time.Duration // more than 0, at most MaxTime, in whole milliseconds
	argv   []string      // at most readverb.MaxArguments
}

func (r request) JSON() []byte {
	return append(canonjson.AppendCompact(nil, document.MapOf(
		document.M("broker", document.TextOf(r.broker)),
		document.M("withinMilliseconds", document.IntOf(r.within.Milliseconds())),
		document.M("argv", document.TextsOf(r.argv)),
	)), '\n')
}

// requestDepth is how deep a request is nested.
const requestDepth = 4

// readRequest reads a request, of which nothing is trusted. The texts of argv are within no limit but that of the whole.
func readRequest(data []byte) (request, error) {
	v, err := strictjson.Parse(data, requestDepth)
	if err != nil {
		return request{}, err
	}
	if v.Kind != document.Map || len(v.Members) != 3 {
		return request{}, errors.New("a request has exactly broker, withinMilliseconds and argv")
	}
	broker, _ := v.Get("broker")
	within, _ := v.Get("withinMilliseconds")
	argv, _ := v.Get("argv")
	ms, err := strconv.Atoi(within.Text)
	switch {
	case broker.Kind != document.Text || !isID(broker.Text):
		return request{}, errors.New("broker is not the id of a broker")
	case within.Kind != document.Number || err != nil || strconv.Itoa(ms) != within.Text || ms < 1 || ms > int(MaxTime.Milliseconds()):
		return request{}, fmt.Errorf("withinMilliseconds is not a whole number from 1 to %d", MaxTime.Milliseconds())
	case argv.Kind != document.List || len(argv.Items) == 0 || len(argv.Items) > readverb.MaxArguments:
		return request{}, fmt.Errorf("argv is not a list of 1 to %d texts", readverb.MaxArguments)
	}
	r := request{broker: broker.Text, within: time.Duration(ms) * time.Millisecond}
	for _, word := range argv.Items {
		if word.Kind != document.Text {
			return request{}, errors.New("argv has something that is not a text")
		}
		r.argv = append(r.argv, word.Text)
	}
	return r, nil
}

// served are the words of the eight verbs and the flags of each, as readverb.Parse has them.
var served = map[string][]string{
	"search":        {"--json", "--sources", "--since", "--until", "--tz", "--person", "--limit", "--rank"},
	"page discover": {"--json", "--concise", "--kind", "--limit"},
	"page inspect":  {"--json", "--concise"},
	"page read":     {"--json"},
	"people":        {"--json", "--shape"},
	"calendar list": {"--json", "--all", "--from", "--to", "--tz"},
	"context":       {"--json", "--at", "--since", "--until", "--tz"},
	"profile":       {"--json", "--fresh"},
}

// verbOf gives the words of the verb that a call is of, of the eight, and the words behind them.
func verbOf(argv []string) (verb string, rest []string, ok bool) {
	for words := 1; words <= min(2, len(argv)); words++ {
		verb = strings.Join(argv[:words], " ")
		// A word with a space in it is no two words.
		if _, ok := served[verb]; ok && !strings.Contains(argv[0], " ") {
			return verb, argv[words:], true
		}
	}
	return "", nil, false
}

// forbidden says why a call is none that the queue serves, or nothing. No value of a flag and no operand of the eight verbs begins with a hyphen,
// so every word that does is a flag.
func forbidden(argv []string) string {
	verb, rest, ok := verbOf(argv)
	if !ok {
		return "the queue serves search, page discover, page inspect, page read, people, calendar list, context and profile, and nothing else"
	}
	for _, word := range rest {
		name, _, _ := strings.Cut(word, "=")
		switch {
		case !strings.HasPrefix(word, "-") || slices.Contains(served[verb], word):
		case name == "--facets" || name == "--instance":
			return name + " is the broker's to say, which was started for some facets of one instance"
		default:
			return "the queue serves no such flag of " + verb
		}
	}
	return ""
}
