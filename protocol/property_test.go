package protocol_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/protocol"
)

// Case 78: the order of keys and members, the style of YAML and written-out defaults do not count.
func TestNormalFormDoesNotDependOnHowADocumentIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := validProtocol(t)
		pick := choice(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "style"), 0)).IntN)
		one, other := pick.yaml(pick.tree(p)), pick.yaml(pick.tree(p))
		first, second := mustCompile(t, one), mustCompile(t, other)
		normal := first.NormalForm()
		if got := second.NormalForm(); !bytes.Equal(normal, got) {
			t.Fatalf("the normal form of\n%s\nis\n%s\nand of\n%s\nis\n%s", one, normal, other, got)
		}
		if !reflect.DeepEqual(first, second) {
			t.Fatalf("the protocols of\n%s\nand\n%s\nare not equal", one, other)
		}
		if !first.SameRules(second) {
			t.Fatalf("the rules of\n%s\nand\n%s\nare not the same", one, other)
		}
		if got := mustCompile(t, pick.yaml(readBack(t, normal))).NormalForm(); !bytes.Equal(normal, got) {
			t.Fatalf("the normal form\n%s\nreads back as\n%s", normal, got)
		}
	})
}

func mustCompile(t *rapid.T, doc string) *protocol.Protocol {
	p, err := protocol.Compile([]byte(doc))
	if err != nil {
		t.Fatalf("%v in\n%s", err, doc)
	}
	return p
}

// readBack writes a normal form as a protocol/1 document. The two differ in three ways: what is not
// declared is null, and a test of a claim or of an input is a map under its form.
func readBack(t interface{ Fatal(...any) }, normal []byte) document.Value {
	const unbounded = 3 * protocol.MaxPredicateDepth
	root, err := strictjson.Parse(normal, unbounded)
	if err != nil {
		t.Fatal(err)
	}
	root = members(root, func(name string, v document.Value) document.Value {
		switch name {
		case "format":
			return document.TextOf(protocol.Format)
		case "protocol":
			return declared(v)
		case "case":
			return members(v, entries)
		}
		return entries(name, v)
	})
	return root
}

// members applies change to each member of a map.
func members(v document.Value, change func(string, document.Value) document.Value) document.Value {
	changed := document.MapOf()
	for _, m := range v.Members {
		changed.Members = append(changed.Members, document.M(m.Name, change(m.Name, m.Value)))
	}
	return changed
}

func entries(_ string, section document.Value) document.Value {
	return members(section, func(_ string, entry document.Value) document.Value {
		return members(declared(entry), func(name string, v document.Value) document.Value {
			_, decision := v.Get("decision")
			switch name {
			case "true_when", "applicable_when", "discharged_when", "precondition", "requires":
				if v.Kind == document.Map && !decision {
					return rewritten(v)
				}
			}
			return v
		})
	})
}

// declared leaves out the members that are null.
func declared(v document.Value) document.Value {
	return document.MapOf(slices.DeleteFunc(slices.Clone(v.Members), func(m document.Member) bool { return m.Value.Kind == document.Null })...)
}

func rewritten(p document.Value) document.Value {
	form, body := p.Members[0].Name, p.Members[0].Value
	switch form {
	case "claim", "input":
		id, _ := body.Get("id")
		other := slices.DeleteFunc(slices.Clone(body.Members), func(m document.Member) bool { return m.Name == "id" })
		return document.MapOf(append(other, document.M(form, id))...)
	case "evidence":
		return document.MapOf(document.M(form, declared(body)))
	case "not":
		return document.MapOf(document.M(form, rewritten(body)))
	default:
		list := document.ListOf()
		for _, item := range body.Items {
			list.Items = append(list.Items, rewritten(item))
		}
		return document.MapOf(document.M(form, list))
	}
}

// A normal form that is read as JSON and written in canonical form (2.11) is the same bytes.
func TestNormalFormIsCanonicalJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pick := choice(plainly)
		normal := mustCompile(t, pick.yaml(pick.tree(validProtocol(t)))).NormalForm()
		v, err := strictjson.Parse(normal, 100)
		if err != nil {
			t.Fatalf("%v in\n%s", err, normal)
		}
		if got := canonjson.Append(nil, v); !bytes.Equal(normal, got) {
			t.Fatalf("%s\nis written again as\n%s", normal, got)
		}
	})
}

var (
	names = []string{
		"a", "b", "zz", "recipe.cook", "claim", "is", "in", "all", "evidence", "decision", "true", "Null", "123", "1.0", "0x1f",
		"~", "<<", "größe", "日本語", "🧵", "a:b", "a/b", "#x", "-", "-x", "?", ":", "'q'", `"q"`, `b\n`, "{x}", "[y]", "&a", "*a", "!t",
		"%d", "@at", "`t", "x,y", "|", ">", "=", "yes", "\ufffd",
	}
	sentences = []string{
		"", "one line", "two\nlines", "trailing ", " leading", "tab\tand\rreturn", "quotes \" ' \\", "separators \u2028 \u2029 \u0085",
		"zero\u200bwidth", "nul\x00 bell\a delete\x7f", "x: y", "# no comment", "null", "~", "5", "- a", "<&>", "größe 日本語 🧵",
	}
	ages = []string{"0s", "90s", "60m", "1h", "36h", "7d", "18446744073709551615s"}
)

func someNames(t *rapid.T, what string, least, most int) []string {
	return rapid.SliceOfNDistinct(rapid.SampledFrom(names), least, most, rapid.ID[string]).Draw(t, what)
}

func maybeText(t *rapid.T) *string {
	return rapid.Ptr(rapid.SampledFrom(sentences), true).Draw(t, "text")
}

// scope is what a predicate may name.
type scope struct {
	artifacts, kinds, claims []string
	inputs                   []protocol.Input
}

// validProtocol draws a protocol that Compile could have given, but for the order.
func validProtocol(t *rapid.T) *protocol.Protocol {
	p := &protocol.Protocol{
		ID:          rapid.SampledFrom(names).Draw(t, "id"),
		Revision:    rapid.Uint64().Draw(t, "revision"),
		Description: maybeText(t),
	}
	var known scope
	for _, id := range someNames(t, "inputs", 0, 2) {
		values := rapid.SliceOfNDistinct(rapid.SampledFrom(sentences), 1, 3, rapid.ID[string]).Draw(t, "values")
		p.Inputs = append(p.Inputs, protocol.Input{ID: id, Description: maybeText(t), Values: values})
	}
	known.inputs = p.Inputs
	known.artifacts = someNames(t, "artifacts", 0, 3)
	for _, id := range known.artifacts {
		p.Artifacts = append(p.Artifacts, protocol.Artifact{ID: id, Description: maybeText(t)})
	}
	known.kinds = someNames(t, "kinds", 0, 3)
	for _, id := range known.kinds {
		k := protocol.EvidenceKind{ID: id, Description: maybeText(t)}
		if rapid.Bool().Draw(t, "ages") {
			k.MaxAge = &protocol.MaxAge{Text: rapid.SampledFrom(ages).Draw(t, "age")}
		}
		p.EvidenceKinds = append(p.EvidenceKinds, k)
	}
	resting := map[string]bool{} // claims that rest on evidence
	for _, id := range someNames(t, "claims", 0, 4) {
		rule := somePredicate(t, known, 3)
		if restsOnEvidence(rule, resting) {
			resting[id] = true
		}
		p.Claims = append(p.Claims, protocol.Claim{ID: id, Description: maybeText(t), TrueWhen: rule})
		known.claims = append(known.claims, id) // later claims may test it, so that there is no cycle
	}
	for _, id := range someNames(t, "obligations", 0, 2) {
		o := protocol.Obligation{ID: id, Description: maybeText(t)}
		if rapid.Bool().Draw(t, "applicable_when") {
			o.ApplicableWhen = somePredicate(t, known, 2)
		}
		noEvidence := known
		noEvidence.kinds = nil
		o.DischargedWhen = somePredicate(t, noEvidence, 2)
		p.Obligations = append(p.Obligations, o)
	}
	for _, id := range someNames(t, "actions", 0, 3) {
		a := protocol.Action{ID: id, Description: maybeText(t), Precondition: &protocol.Predicate{Form: protocol.All}}
		if rapid.Bool().Draw(t, "precondition") {
			a.Precondition = somePredicate(t, known, 2)
		}
		a.Effect = rapid.Ptr(rapid.SampledFrom(names), true).Draw(t, "effect")
		a.Requires = someNames(t, "requires", 0, 2)
		a.MayProduce = someOf(t, known.kinds)
		p.Actions = append(p.Actions, a)
	}
	for _, id := range someNames(t, "outcomes", 0, 3) {
		o := protocol.Outcome{ID: id, Description: maybeText(t)}
		if rapid.Bool().Draw(t, "decided") {
			o.Decision = rapid.SampledFrom(names).Draw(t, "decision")
		} else {
			o.Requires = somePredicate(t, known, 2)
		}
		p.Outcomes = append(p.Outcomes, o)
	}
	if len(known.artifacts) > 0 && len(resting) > 0 {
		for _, id := range someNames(t, "rules", 0, 2) {
			r := protocol.InvalidationRule{ID: id, Description: maybeText(t), Upstream: rapid.SampledFrom(known.artifacts).Draw(t, "upstream")}
			r.Invalidates = someOf(t, known.claims)
			if !slices.ContainsFunc(r.Invalidates, func(id string) bool { return resting[id] }) {
				continue // it would be inert
			}
			p.Invalidation = append(p.Invalidation, r)
		}
	}
	return p
}

// someOf draws a part of a list.
func someOf(t *rapid.T, all []string) []string {
	var some []string
	for _, s := range all {
		if rapid.Bool().Draw(t, "taken") {
			some = append(some, s)
		}
	}
	return some
}

// somePredicate draws a predicate of at most depth levels around its leaves.
func somePredicate(t *rapid.T, known scope, depth int) *protocol.Predicate {
	var forms []protocol.Form
	if len(known.kinds) > 0 {
		forms = append(forms, protocol.Evidence)
	}
	if len(known.claims) > 0 {
		forms = append(forms, protocol.OfClaim)
	}
	if len(known.inputs) > 0 {
		forms = append(forms, protocol.OfInput)
	}
	forms = append(forms, protocol.All, protocol.Any)
	if depth > 0 {
		forms = append(forms, protocol.Not)
	}
	p := &protocol.Predicate{Form: rapid.SampledFrom(forms).Draw(t, "form")}
	switch p.Form {
	case protocol.All, protocol.Any:
		for range rapid.IntRange(0, min(depth, 1)*3).Draw(t, "members") {
			p.Members = append(p.Members, somePredicate(t, known, depth-1))
		}
	case protocol.Not:
		p.Members = []*protocol.Predicate{somePredicate(t, known, depth-1)}
	case protocol.Evidence:
		p.Kind = rapid.SampledFrom(known.kinds).Draw(t, "kind")
		p.Result = maybeText(t)
		if len(known.artifacts) > 0 {
			p.Subject = rapid.Ptr(rapid.SampledFrom(known.artifacts), true).Draw(t, "subject")
		}
	case protocol.OfClaim:
		p.Claim = rapid.SampledFrom(known.claims).Draw(t, "claim")
		p.Is = rapid.SampledFrom([]protocol.Truth{protocol.True, protocol.False, protocol.Unknown}).Draw(t, "is")
	case protocol.OfInput:
		in := rapid.SampledFrom(known.inputs).Draw(t, "input")
		p.Input, p.In = in.ID, someOf(t, in.Values)
	default:
		panic(fmt.Sprintf("form %d", p.Form))
	}
	return p
}

func restsOnEvidence(p *protocol.Predicate, resting map[string]bool) bool {
	return p.Form == protocol.Evidence || p.Form == protocol.OfClaim && resting[p.Claim] ||
		slices.ContainsFunc(p.Members, func(m *protocol.Predicate) bool { return restsOnEvidence(m, resting) })
}
