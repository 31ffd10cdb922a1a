package governor

import (
	"errors"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/protocol"
)

// The inputs of an evaluation request that a refusal can be about, besides the parts of a [Refusal].
const (
	RequestPart  Part = "Request"
	ProtocolPart Part = "Protocol"
)

// Codes of refusals of a whole request (4.12).
const (
	Malformed       protocol.Code = "malformed"
	UnknownProtocol protocol.Code = "unknown-protocol"
	Unrepresentable protocol.Code = "unrepresentable-decision"
)

// MaxExplanationRecords bounds how often records stand in the explanation of an answer. Every claim
// that is explained lists every record it rests on, so that a hostile protocol could make gigabytes
// of a request of megabytes.
const MaxExplanationRecords = 1 << 22

// MaxAnswerRequestDepth bounds the nesting of an evaluation request.
const MaxAnswerRequestDepth = strictjson.MaxDepth

// Answer reads one evaluation request (4.12), looks its protocol up by registration name and gives
// the decision as one line of JSON with a line feed. A request that gets no decision is answered by
// a refusal, whose Line says the same as JSON.
//
// Records of a kind or subject that the protocol does not declare are set aside, as in case keeping.
func Answer(data []byte, lookup func(name string) (*Rules, bool)) ([]byte, *Refusal) {
	request, err := strictjson.Parse(data, MaxAnswerRequestDepth)
	if err != nil {
		return nil, refuse(RequestPart, Malformed, "%s", malformed(err))
	}
	f := fields{part: RequestPart}
	f.only(request, "the request", "protocol", "snapshot", "evidence", "at")
	name := f.text(request, "protocol")
	documents := Documents{
		Snapshot: f.member(request, "snapshot"),
		Evidence: f.list(f.member(request, "evidence"), "evidence"),
	}
	documents.At, _ = request.Get("at")
	if f.refusal != nil {
		return nil, refuse(RequestPart, Malformed, "%s", f.refusal.Message)
	}
	rules, known := lookup(name)
	if !known {
		return nil, refuse(ProtocolPart, UnknownProtocol, "the catalog holds no %q", name)
	}
	d, refused := rules.evaluate(untyped{&documents}, true)
	if refused != nil {
		return nil, refused
	}
	if n := d.explanationRecords(); n > MaxExplanationRecords {
		return nil, refuse(RequestPart, Unrepresentable, "the explanation of the decision would list records %d times, more than %d", n, MaxExplanationRecords)
	}
	return append(canonjson.AppendCompact(nil, d.answer(name)), '\n'), nil
}

func malformed(err error) string {
	if errors.Is(err, strictjson.ErrEmpty) {
		return "the request is empty"
	}
	return err.Error()
}

// answer gives the decision with the members of 4.12, in their order.
func (d *Decision) answer(registration string) document.Value {
	actions, claims, obligations := document.ListOf(), document.ListOf(), document.ListOf()
	for _, a := range d.Actions {
		reasons := document.ListOf()
		for _, r := range a.Reasons {
			reasons.Items = append(reasons.Items, r.document())
		}
		actions.Items = append(actions.Items, document.MapOf(
			document.M("action", document.TextOf(a.Action)),
			document.M("status", document.TextOf(statusName[a.Status])),
			document.M("requires", document.TextsOf(a.Requires)),
			document.M("reasons", reasons)))
	}
	for _, c := range d.Claims {
		claims.Items = append(claims.Items, document.MapOf(
			document.M("claim", document.TextOf(c.Claim)), document.M("value", document.TextOf(truthName[c.Value]))))
	}
	for _, o := range d.Obligations {
		obligations.Items = append(obligations.Items, document.MapOf(
			document.M("obligation", document.TextOf(o.Obligation)), document.M("open", document.BoolOf(o.Status == Open))))
	}
	v := document.MapOf(
		document.M("protocol", document.TextOf(registration)),
		document.M("case", document.TextOf(d.evaluation.request.Snapshot.ID)),
		document.M("actions", actions),
		document.M("claims", claims),
		document.M("obligations", obligations))
	if outcome, ok := d.Legitimate(); ok {
		v.Members = append(v.Members, document.M("outcome", document.TextOf(outcome)))
	}
	v.Members = append(v.Members, document.M("canon", d.Document()))
	return v
}

var (
	statusName = map[Status]string{Admissible: "Admissible", ApprovalRequired: "ApprovalRequired", Blocked: "Blocked"}
	truthName  = map[protocol.Truth]string{protocol.True: "True", protocol.False: "False", protocol.Unknown: "Unknown"}
)

// Line gives the refusal as one line of JSON with a line feed (4.12).
func (r *Refusal) Line() []byte {
	v := document.MapOf(document.M("input", document.TextOf(string(r.Part))))
	if r.Part == EvidencePart {
		v.Members = append(v.Members, document.M("evidence_index", document.IntOf(int64(r.Index))))
	}
	v.Members = append(v.Members, document.M("code", document.TextOf(string(r.Code))), document.M("message", document.TextOf(r.Message)))
	return append(canonjson.AppendCompact(nil, v), '\n')
}
