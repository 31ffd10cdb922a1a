package governor_test

import (
	"fmt"
	"testing"

	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/protocol"
)

// Shapes that have been slow somewhere (4.10, cases 92 and 93). A test of one asserts what comes out;
// how long it takes is for the benchmarks, but none would end if it cost more than it should.

func match(kind string) *protocol.Predicate {
	return &protocol.Predicate{Form: protocol.Evidence, Kind: kind}
}

func tests(claim int, is protocol.Truth) *protocol.Predicate {
	return &protocol.Predicate{Form: protocol.OfClaim, Claim: number("c", claim), Is: is}
}

func allOf(members ...*protocol.Predicate) *protocol.Predicate {
	return &protocol.Predicate{Form: protocol.All, Members: members}
}

// number gives names whose order is that of their numbers.
func number(prefix string, i int) string { return fmt.Sprintf("%s%06d", prefix, i) }

// shape is a protocol with claims c000000 and so on, artifacts a and u000000 and so on, and a request.
type shape struct {
	protocol.Protocol
	governor.Request
}

func newShape(claims int, rule func(i int) *protocol.Predicate) *shape {
	s := &shape{Protocol: protocol.Protocol{ID: "p"}}
	s.Snapshot = governor.Snapshot{ID: "CASE-1", Protocol: "p"}
	s.artifact("a")
	for i := range claims {
		s.Claims = append(s.Claims, protocol.Claim{ID: number("c", i), TrueWhen: rule(i)})
	}
	return s
}

func (s *shape) artifact(id string) {
	s.Artifacts = append(s.Artifacts, protocol.Artifact{ID: id})
	s.Snapshot.Artifacts = append(s.Snapshot.Artifacts, governor.ArtifactRevision{Artifact: id, Revision: "v1"})
}

func (s *shape) kind(id string) {
	s.EvidenceKinds = append(s.EvidenceKinds, protocol.EvidenceKind{ID: id})
}

// record adds a record of a kind about a, made against another revision of each of the artifacts.
func (s *shape) record(kind, revision string, against ...string) {
	r := governor.Record{ID: number("e", len(s.Evidence)), Kind: kind, Subject: "a", SubjectRevision: revision}
	for _, artifact := range against {
		r.UpstreamRevisions = append(r.UpstreamRevisions, governor.ArtifactRevision{Artifact: artifact, Revision: "v0"})
	}
	s.Evidence = append(s.Evidence, r)
}

func (s *shape) invalidates(upstream string, claims ...string) {
	s.Protocol.Invalidation = append(s.Protocol.Invalidation, protocol.InvalidationRule{
		ID: number("r", len(s.Protocol.Invalidation)), Upstream: upstream, Invalidates: claims,
	})
}

func (s *shape) decide(t testing.TB) *governor.Decision {
	t.Helper()
	d, refused := governor.Prepare(&s.Protocol).Evaluate(s.Request)
	if refused != nil {
		t.Fatal(refused)
	}
	return d
}

func checkClaim(t *testing.T, d *governor.Decision, i int, want protocol.Truth, excluded int) {
	t.Helper()
	if c := d.Claims[i]; c.Value != want || len(c.Excluded) != excluded {
		t.Errorf("%s is %s without %d records, want %s without %d", c.Claim, c.Value, len(c.Excluded), want, excluded)
	}
}

// doubled chains claims each of which tests the next twice: by all, of both values, and of both again
// as one claim. The last rests on a record against u000000.
func doubled(length int) *shape {
	s := newShape(length, func(i int) *protocol.Predicate {
		if i == length-1 {
			return match("k")
		}
		next := allOf(tests(i+1, protocol.True), tests(i+1, protocol.True))
		unknown := &protocol.Predicate{Form: protocol.Not, Members: []*protocol.Predicate{allOf(tests(i+1, protocol.Unknown), tests(i+1, protocol.False))}}
		return allOf(next, unknown)
	})
	s.kind("k")
	s.artifact(number("u", 0))
	s.record("k", "v1", number("u", 0))
	return s
}

func TestChainOfClaimsTestedTwice(t *testing.T) { // 92
	s := doubled(60)
	d := s.decide(t)
	checkClaim(t, d, 0, protocol.True, 0)
	if len(d.Bytes()) == 0 {
		t.Error("no bytes")
	}
}

func TestChainOfClaimsTestedTwiceUnderInvalidation(t *testing.T) { // 92
	s := doubled(60)
	for i := range 60 {
		s.invalidates(number("u", 0), number("c", i))
	}
	d := s.decide(t)
	checkClaim(t, d, 59, protocol.Unknown, 1)
	checkClaim(t, d, 0, protocol.Unknown, 1)
}

func TestManyRecords(t *testing.T) { // 93
	rules := prepare(t, readFile(t, "../catalog/bundled/software-change-1.yaml"))
	request := softwareChange(100_000)
	d, refused := rules.Evaluate(request)
	if refused != nil {
		t.Fatal(refused)
	}
	if outcome, ok := d.Legitimate(); !ok || outcome != "accepted" {
		t.Errorf("got %q, %v", outcome, ok)
	}
	if len(d.Bytes()) == 0 {
		t.Error("no bytes")
	}
	request.Evidence[99_999].ID = request.Evidence[49_999].ID
	if _, refused := rules.Evaluate(request); refused == nil || refused.Index != 99_999 {
		t.Errorf("got %v, want a refusal of record 99999", refused)
	}
}

// apart makes claims that each rest on a record of their own, and gives each an upstream of its own,
// so that no two have the same records taken away. One more claim is built on them all.
func apart(n int) *shape {
	s := newShape(n+1, func(i int) *protocol.Predicate {
		if i < n {
			return match(number("k", i))
		}
		all := allOf()
		for j := range n {
			all.Members = append(all.Members, tests(j, protocol.True))
		}
		return all
	})
	for i := range n {
		s.kind(number("k", i))
		s.artifact(number("u", i))
		s.record(number("k", i), "v1", number("u", i))
		s.invalidates(number("u", i), number("c", i))
	}
	return s
}

func TestManySetsOfInvalidatedRecords(t *testing.T) {
	d := apart(10_000).decide(t)
	checkClaim(t, d, 0, protocol.Unknown, 1)
	checkClaim(t, d, 9_999, protocol.Unknown, 1)
	checkClaim(t, d, 10_000, protocol.Unknown, 10_000)
}

// stairs chains claims, and gives each an upstream of its own: the sets grow along the chain.
func stairs(n int) *shape {
	s := newShape(n, func(i int) *protocol.Predicate {
		if i == 0 {
			return match("k")
		}
		return allOf(tests(i-1, protocol.True), match("k"))
	})
	s.kind("k")
	for i := range n {
		s.artifact(number("u", i))
		s.record("k", "v1", number("u", i))
		s.invalidates(number("u", i), number("c", i))
	}
	s.record("k", "v1")
	return s
}

func TestGrowingSetsOfInvalidatedRecords(t *testing.T) {
	d := stairs(1_000).decide(t)
	checkClaim(t, d, 0, protocol.True, 1)
	checkClaim(t, d, 999, protocol.True, 1_000)
}

// line chains claims over excluded records that all of them reach.
func line(claims, records int) *shape {
	s := newShape(claims, func(i int) *protocol.Predicate {
		if i == claims-1 {
			return match("k")
		}
		return tests(i+1, protocol.True)
	})
	s.kind("k")
	for range records {
		s.record("k", "v0")
	}
	return s
}

func TestLongChainOverExcludedRecords(t *testing.T) {
	d := line(100_000, 1_000).decide(t)
	checkClaim(t, d, 0, protocol.Unknown, 1_000)
	checkClaim(t, d, 99_999, protocol.Unknown, 1_000)
}

func TestManyDecisionsForManyOutcomes(t *testing.T) {
	const n = 20_000
	s := newShape(0, nil)
	s.Snapshot.Revision = new("r1")
	for i := range n {
		s.Outcomes = append(s.Outcomes, protocol.Outcome{ID: number("o", i), Decision: "end"})
		s.Decisions = append(s.Decisions, governor.ExplicitDecision{Decision: "end", Outcome: number("o", i), Principal: "ann", CaseRevision: "r1"})
	}
	for _, o := range s.decide(t).Outcomes[n-1:] {
		if o.Status != governor.Legitimate {
			t.Errorf("%s is %s", o.Outcome, o.Status)
		}
	}
}

func TestManyRecordsArrive(t *testing.T) {
	g, opening := house(t)
	id := open(t, g, opening)
	const n = 20_000
	for i := range n {
		r := governor.Record{ID: number("e", i), Kind: "k", Subject: "a", SubjectRevision: "v1"}
		if applies, err := g.Evidence(id, governor.Received{Kind: "k", Data: r.JSON()}); !applies || err != nil {
			t.Fatal(applies, err)
		}
	}
	if records, _, err := g.Kept(id); len(records) != n || err != nil {
		t.Errorf("%d records are kept, %v", len(records), err)
	}
}

func BenchmarkShapes(b *testing.B) {
	for _, s := range []struct {
		name  string
		shape *shape
	}{
		{"ChainTestedTwice", doubled(60)},
		{"SetsApart=1000", apart(1_000)},
		{"SetsApart=10000", apart(10_000)},
		{"SetsGrowing=1000", stairs(1_000)},
		{"Chain=10000", line(10_000, 1_000)},
		{"Chain=100000", line(100_000, 1_000)},
	} {
		rules := governor.Prepare(&s.shape.Protocol)
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, refused := rules.Evaluate(s.shape.Request); refused != nil {
					b.Fatal(refused)
				}
			}
		})
	}
}
