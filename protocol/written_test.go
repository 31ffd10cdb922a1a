package protocol_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/protocol"
)

// choice picks a number from 0 to n-1. Where a document may be written in several ways it is asked
// which one; plainly always takes the first.
type choice func(n int) int

func plainly(int) int { return 0 }

func (pick choice) maybe() bool { return pick(2) == 1 }

// shuffled gives the items in another order.
func shuffled[T any](pick choice, items []T) []T {
	other := slices.Clone(items)
	for i := range other {
		j := i + pick(len(other)-i)
		other[i], other[j] = other[j], other[i]
	}
	return other
}

// shuffledSet gives the items in another order, and perhaps one of them twice.
func shuffledSet[T any](pick choice, items []T) []T {
	if len(items) > 0 && pick.maybe() {
		items = append(slices.Clone(items), items[pick(len(items))])
	}
	return shuffled(pick, items)
}

// tree writes a protocol as a protocol/1 document: members in any order, members of sets perhaps
// twice, what is the default perhaps left out.
func (pick choice) tree(p *protocol.Protocol) document.Value {
	header := pick.entry(p.Description, document.M("id", document.TextOf(p.ID)), document.M("revision", document.UintOf(p.Revision)))
	members := []document.Member{document.M("format", document.TextOf(protocol.Format)), document.M("protocol", header)}
	add := func(name string, entries []document.Member) {
		if len(entries) > 0 || pick.maybe() {
			members = append(members, document.M(name, document.MapOf(shuffled(pick, entries)...)))
		}
	}
	var inputs, artifacts, kinds, claims, obligations, actions, outcomes, rules []document.Member
	for _, in := range p.Inputs {
		inputs = append(inputs, document.M(in.ID, pick.entry(in.Description, document.M("values", document.TextsOf(shuffled(pick, in.Values))))))
	}
	for _, a := range p.Artifacts {
		artifacts = append(artifacts, document.M(a.ID, pick.entry(a.Description)))
	}
	for _, k := range p.EvidenceKinds {
		entry := pick.entry(k.Description)
		if k.MaxAge != nil {
			entry = pick.entry(k.Description, document.M("max_age", document.TextOf(k.MaxAge.Text)))
		}
		kinds = append(kinds, document.M(k.ID, entry))
	}
	for _, c := range p.Claims {
		claims = append(claims, document.M(c.ID, pick.entry(c.Description, document.M("true_when", pick.predicate(c.TrueWhen)))))
	}
	for _, o := range p.Obligations {
		parts := []document.Member{document.M("discharged_when", pick.predicate(o.DischargedWhen))}
		if o.ApplicableWhen != nil {
			parts = append(parts, document.M("applicable_when", pick.predicate(o.ApplicableWhen)))
		}
		obligations = append(obligations, document.M(o.ID, pick.entry(o.Description, parts...)))
	}
	for _, a := range p.Actions {
		var parts []document.Member
		if a.Effect != nil {
			parts = append(parts, document.M("effect", document.TextOf(*a.Effect)))
		}
		if a.Precondition.Form != protocol.All || len(a.Precondition.Members) > 0 || pick.maybe() {
			parts = append(parts, document.M("precondition", pick.predicate(a.Precondition)))
		}
		if len(a.Requires) > 0 || pick.maybe() {
			parts = append(parts, document.M("requires", pick.wrapped("capability", a.Requires)))
		}
		if len(a.MayProduce) > 0 || pick.maybe() {
			parts = append(parts, document.M("may_produce", pick.wrapped("evidence", a.MayProduce)))
		}
		actions = append(actions, document.M(a.ID, pick.entry(a.Description, parts...)))
	}
	for _, o := range p.Outcomes {
		requires := document.MapOf(document.M("decision", document.TextOf(o.Decision)))
		if !o.DecisionOutcome() {
			requires = pick.predicate(o.Requires)
		}
		outcomes = append(outcomes, document.M(o.ID, pick.entry(o.Description, document.M("requires", requires))))
	}
	for _, r := range p.Invalidation {
		rules = append(rules, document.M(r.ID, pick.entry(r.Description,
			document.M("upstream", document.TextOf(r.Upstream)),
			document.M("invalidates", document.TextsOf(shuffledSet(pick, r.Invalidates))))))
	}
	if len(inputs) > 0 || pick.maybe() {
		members = append(members, document.M("case", document.MapOf(document.M("inputs", document.MapOf(shuffled(pick, inputs)...)))))
	}
	add("artifacts", artifacts)
	add("evidence_kinds", kinds)
	add("claims", claims)
	add("obligations", obligations)
	add("actions", actions)
	add("outcomes", outcomes)
	add("invalidation", rules)
	return document.MapOf(shuffled(pick, members)...)
}

func (pick choice) entry(description *string, parts ...document.Member) document.Value {
	if description != nil {
		parts = append(parts, document.M("description", document.TextOf(*description)))
	}
	return document.MapOf(shuffled(pick, parts)...)
}

func (pick choice) wrapped(member string, names []string) document.Value {
	list := document.ListOf()
	for _, name := range shuffledSet(pick, names) {
		list.Items = append(list.Items, document.MapOf(document.M(member, document.TextOf(name))))
	}
	return list
}

func (pick choice) predicate(p *protocol.Predicate) document.Value {
	members := func() document.Value {
		list := document.ListOf()
		for _, m := range shuffledSet(pick, p.Members) {
			list.Items = append(list.Items, pick.predicate(m))
		}
		return list
	}
	switch p.Form {
	case protocol.All:
		return document.MapOf(document.M("all", members()))
	case protocol.Any:
		return document.MapOf(document.M("any", members()))
	case protocol.Not:
		return document.MapOf(document.M("not", pick.predicate(p.Members[0])))
	case protocol.OfInput:
		return document.MapOf(shuffled(pick, []document.Member{
			document.M("input", document.TextOf(p.Input)), document.M("in", document.TextsOf(shuffledSet(pick, p.In))),
		})...)
	case protocol.OfClaim:
		parts := []document.Member{document.M("claim", document.TextOf(p.Claim))}
		is := document.TextOf(string(p.Is))
		if p.Is != protocol.Unknown && pick.maybe() {
			is = document.BoolOf(p.Is == protocol.True)
		}
		if p.Is != protocol.True || !pick.maybe() {
			parts = append(parts, document.M("is", is))
		}
		return document.MapOf(shuffled(pick, parts)...)
	default:
		parts := []document.Member{document.M("kind", document.TextOf(p.Kind))}
		if p.Result != nil {
			parts = append(parts, document.M("result", document.TextOf(*p.Result)))
		}
		if p.Subject != nil {
			parts = append(parts, document.M("subject", document.TextOf(*p.Subject)))
		}
		return document.MapOf(document.M("evidence", document.MapOf(shuffled(pick, parts)...)))
	}
}

// yaml writes a tree in one of the styles of YAML.
func (pick choice) yaml(v document.Value) string {
	text := pick.block(v, 0)
	if pick.maybe() {
		text = "---\n" + text
	}
	if pick.maybe() {
		text += "...\n"
	}
	if pick.maybe() {
		text = "# first\n\n" + text + "# last"
	}
	if pick.maybe() {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// block writes a value as lines that are indented by so much, the last one ended.
func (pick choice) block(v document.Value, indent int) string {
	margin := strings.Repeat(" ", indent)
	if len(v.Items)+len(v.Members) == 0 {
		return margin + pick.flow(v) + pick.lineEnd(margin)
	}
	var text strings.Builder
	for _, m := range v.Members {
		key := pick.scalar(m.Name)
		if pick(8) == 1 {
			text.WriteString(margin + "? " + key + "\n" + margin + ": " + pick.flow(m.Value) + pick.lineEnd(margin))
			continue
		}
		text.WriteString(margin + key + ":")
		switch {
		case len(m.Value.Members) > 0 && !pick.maybe():
			text.WriteString(pick.lineEnd(margin) + pick.block(m.Value, indent+1+pick(4)))
		case len(m.Value.Items) > 0 && !pick.maybe():
			text.WriteString(pick.lineEnd(margin) + pick.block(m.Value, indent+pick(3)))
		case m.Value.Kind == document.Text && literalText.MatchString(m.Value.Text) && pick.maybe():
			text.WriteString(" |-\n" + margin + "  " + strings.ReplaceAll(m.Value.Text, "\n", "\n"+margin+"  ") + "\n")
		default:
			text.WriteString(" " + pick.flow(m.Value) + pick.lineEnd(margin))
		}
	}
	for _, item := range v.Items {
		text.WriteString(margin + "- ")
		if pick.maybe() {
			text.WriteString(pick.flow(item) + pick.lineEnd(margin))
			continue
		}
		text.WriteString(strings.TrimLeft(pick.block(item, indent+2), " "))
	}
	return text.String()
}

// lineEnd ends a line, perhaps with a comment or with empty lines after it.
func (pick choice) lineEnd(margin string) string {
	return []string{"\n", " # so: [be it\n", "\n\n", "\n" + margin + "# - a: b\n"}[pick(4)]
}

// flow writes a value on one line.
func (pick choice) flow(v document.Value) string {
	var parts []string
	switch v.Kind {
	case document.Map:
		for _, m := range v.Members {
			parts = append(parts, pick.scalar(m.Name)+": "+pick.flow(m.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case document.List:
		for _, item := range v.Items {
			parts = append(parts, pick.flow(item))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case document.Bool:
		return []string{v.Text, strings.ToUpper(v.Text), strings.ToUpper(v.Text[:1]) + v.Text[1:]}[pick(3)]
	case document.Text:
		return pick.scalar(v.Text)
	default:
		return v.Text
	}
}

var (
	plainText   = regexp.MustCompile(`^[\pL/][\pL\pN_./-]*$`)
	reserved    = regexp.MustCompile(`(?i)^(true|false|null)$`)
	singleText  = regexp.MustCompile(`^[\pL\pN\pP\pS ]*$`)
	literalText = regexp.MustCompile(`^[\pL\pN][\pL\pN\pP ]*(\n[\pL\pN][\pL\pN\pP ]*)*$`)
)

// scalar writes a text plain or in one of the two quotes.
func (pick choice) scalar(s string) string {
	styles := []string{doublyQuoted(s, false), doublyQuoted(s, true)}
	if singleText.MatchString(s) {
		styles = append(styles, "'"+strings.ReplaceAll(s, "'", "''")+"'")
	}
	if plainText.MatchString(s) && !reserved.MatchString(s) {
		styles = append(styles, s)
	}
	return styles[len(styles)-1-pick(len(styles))]
}

func doublyQuoted(s string, everything bool) string {
	text := `"`
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			text += `\` + string(c)
		case everything || !strconv.IsPrint(c):
			text += fmt.Sprintf(`\U%08x`, c)
		default:
			text += string(c)
		}
	}
	return text + `"`
}
