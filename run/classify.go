package run

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/reference"
	"github.com/loomrun/loom/run/workingcontext"
)

// pickTool is the one tool of a classification (3.2).
const pickTool = "pick_protocol"

// pickMembers are the members of a pick, each required.
var pickMembers = []string{"protocol", "confidence", "reasons"}

// maxNameBytes bounds what messages quote of a name that a model made up.
const maxNameBytes = 100

// pick is a proposal of a protocol. It gives nothing by itself: the protocol's own rules still hold.
type pick struct {
	protocol   string
	confidence Decimal
	reasons    []string
}

// pick finds the protocol of the run. A nil entry means that the run has stopped.
func (r *runner) pick(ctx context.Context) (*catalog.Entry, error) {
	if r.Protocol != "" {
		entry, _ := r.Catalog.Get(r.Protocol) // it is there: that was checked first of all
		return entry, r.emit(event.Picked{Protocol: entry.Name, By: event.ByFlag})
	}
	var p pick
	var err error
	by, who := event.ByModel, "the model"
	if r.Classifier == nil {
		by, who = event.ByMatcher, "the matcher"
		p = matched(words(r.Intent), r.Catalog)
	} else if p, err = r.classify(ctx); err != nil {
		return nil, fmt.Errorf("classify the intent: %w", err)
	}
	entry, ok := r.Catalog.Get(p.protocol)
	switch {
	case by == event.ByMatcher && !ok:
		return nil, r.refusePick(p, "unsure", "no definition of the catalog shares a telling word with the intent")
	case !ok:
		return nil, r.refusePick(p, "outside registry", fmt.Sprintf("the model picked %s, which the registry does not hold", p.protocol))
	case p.confidence.Below(r.Threshold):
		return nil, r.refusePick(p, "unsure", fmt.Sprintf("%s picked %s with confidence %s, below the threshold %s", who, p.protocol, p.confidence, r.Threshold))
	}
	return entry, r.emit(event.Picked{Protocol: entry.Name, By: by, Confidence: p.confidence.String(), Reasons: p.reasons})
}

// refusePick stops a run whose pick the router does not accept.
func (r *runner) refusePick(p pick, detail, why string) error {
	if err := r.emit(event.PickRefused{Why: why}, event.Routed{Protocol: p.protocol}); err != nil {
		return err
	}
	return r.stop(event.Refused, detail)
}

// words gives an intent without its references: a key or a link says where something is, not what
// is to be done.
func words(intent string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(intent), func(field string) bool {
		return strings.Contains(field, "://") || reference.Extract(field) != nil
	}), " ")
}

// matched is the pick of the built-in matcher: by words, without a model (D11). A pick without a
// protocol means that nothing matches.
func matched(intent string, c catalog.Catalog) pick {
	m, ok := c.Match(intent)
	if !ok {
		return pick{}
	}
	return pick{
		protocol:   m.Name,
		confidence: shownConfidence(m.Confidence),
		reasons:    []string{"the intent shares words with this definition: " + strings.Join(m.Shared, ", ")},
	}
}

// shownConfidence gives a confidence between 0 and 1 with two digits, rounded down: rounded up, a
// pick could pass a threshold that it does not reach.
func shownConfidence(confidence float64) Decimal {
	const digits = len("0.00")
	return MustDecimal(strconv.FormatFloat(confidence, 'f', 20, 64)[:digits])
}

// classify asks the classification model, once.
func (r *runner) classify(ctx context.Context) (pick, error) {
	request := classification(r.Intent, r.Catalog)
	if r.ContextPolicy == ContextBounded {
		if err := workingcontext.CheckSize(request); err != nil {
			return pick{}, err
		}
	}
	reply, err := r.ask(ctx, event.Classification, r.Classifier, request, nil)
	if err != nil {
		return pick{}, err
	}
	if len(reply.Calls) != 1 || reply.Calls[0].Name != pickTool {
		return pick{}, fmt.Errorf("the model must answer with one call of %s; it made %s", pickTool, callsMade(reply.Calls))
	}
	return readPick(reply.Calls[0].Arguments, r.Catalog.Names())
}

func callsMade(calls []model.Call) string {
	if len(calls) == 0 {
		return "none"
	}
	const shown = 4 // it may have made any number
	var names []string
	for _, c := range calls[:min(len(calls), shown)] {
		names = append(names, fmt.Sprintf("%q", cut(c.Name, maxNameBytes)))
	}
	if len(calls) > shown {
		names = append(names, fmt.Sprintf("%d more", len(calls)-shown))
	}
	return "calls of " + strings.Join(names, ", ")
}

// classification is the request: the registry in the instructions, the intent the only item.
func classification(intent string, c catalog.Catalog) model.Request {
	var text strings.Builder
	text.WriteString("Pick the one protocol of the registry under which the user's intent is carried out. " +
		"State how sure you are as a number from 0 to 1, and why in a few short reasons. " +
		"If none fits, pick the nearest with a low confidence.\n\nRegistry:\n")
	for _, e := range c.Entries() {
		p := e.Protocol()
		fmt.Fprintf(&text, "\n%s: %s\n", e.Name, describe(p.Description))
		for _, a := range p.Artifacts {
			fmt.Fprintf(&text, "- about %s: %s\n", a.ID, describe(a.Description))
		}
	}
	schema := document.MapOf(
		document.M("type", document.TextOf("object")),
		document.M("properties", document.MapOf(
			document.M("protocol", document.MapOf(
				document.M("type", document.TextOf("string")), document.M("enum", document.TextsOf(c.Names())))),
			document.M("confidence", document.MapOf(
				document.M("type", document.TextOf("number")), document.M("minimum", document.IntOf(0)), document.M("maximum", document.IntOf(1)))),
			document.M("reasons", document.MapOf(
				document.M("type", document.TextOf("array")),
				document.M("items", document.MapOf(document.M("type", document.TextOf("string")))))))),
		document.M("required", document.TextsOf(pickMembers)),
		document.M("additionalProperties", document.BoolOf(false)))
	return model.Request{
		Instructions: text.String(),
		Input:        []string{intent},
		Tools:        []model.Tool{{Name: pickTool, Description: "Pick a protocol of the registry.", Parameters: canonjson.Compact(schema)}},
	}
}

func describe(text *string) string {
	if text == nil {
		return "(no description)"
	}
	return strings.TrimSpace(*text)
}

// readPick reads the arguments of a pick in the order of 3.2. What the schema asked for is checked
// again, since a server need not have enforced it. A protocol outside the registry is a pick like any
// other here, without the rest: it is refused by the router, not malformed.
func readPick(arguments string, registry []string) (pick, error) {
	v, err := strictjson.Parse([]byte(arguments), strictjson.MaxDepth)
	if err != nil {
		return pick{}, fmt.Errorf("the pick is malformed: %w", err)
	}
	if v.Kind != document.Map {
		return pick{}, fmt.Errorf("the pick is malformed: it is %s, not an object", v.Kind)
	}
	name, _ := v.Get("protocol")
	if name.Kind != document.Text {
		return pick{}, fmt.Errorf("the pick is malformed: protocol is %s, not text", name.Kind)
	}
	p := pick{protocol: name.Text}
	if !slices.Contains(registry, p.protocol) {
		return p, nil
	}
	confidence, _ := v.Get("confidence")
	if confidence.Kind != document.Number {
		return pick{}, fmt.Errorf("the pick is malformed: confidence is %s, not a number", confidence.Kind)
	}
	if p.confidence, err = ParseDecimal(confidence.Text); err != nil {
		return pick{}, fmt.Errorf("the pick is malformed: confidence %w", err)
	}
	reasons, _ := v.Get("reasons")
	if reasons.Kind != document.List {
		return pick{}, fmt.Errorf("the pick is malformed: reasons is %s, not a list", reasons.Kind)
	}
	for _, reason := range reasons.Items {
		if reason.Kind != document.Text {
			return pick{}, fmt.Errorf("the pick is malformed: a reason is %s, not text", reason.Kind)
		}
		p.reasons = append(p.reasons, reason.Text)
	}
	for _, m := range v.Members {
		if !slices.Contains(pickMembers, m.Name) {
			return pick{}, fmt.Errorf("the pick is malformed: it has the member %q besides protocol, confidence and reasons", cut(m.Name, maxNameBytes))
		}
	}
	return p, nil
}
