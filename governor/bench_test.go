package governor_test

import (
	"fmt"
	"testing"

	"github.com/loomrun/loom/governor"
)

// softwareChange is a case of software-change@1 with n records of all its kinds.
func softwareChange(n int) governor.Request {
	request := governor.Request{Snapshot: governor.Snapshot{ID: "case-1", Protocol: "software.change"}}
	artifacts := []string{"intent", "system_specification", "plan", "implementation", "release", "deployment"}
	for _, a := range artifacts {
		request.Snapshot.Artifacts = append(request.Snapshot.Artifacts, governor.ArtifactRevision{Artifact: a, Revision: "r1"})
	}
	kinds := []struct{ kind, result, subject string }{
		{"test_result", "pass", "implementation"},
		{"code_review", "approved", "implementation"},
		{"build_provenance", "", "release"},
		{"operational_observation", "healthy", "deployment"},
		{"objective_observation", "satisfied", "intent"},
	}
	for i := range n {
		k := kinds[i%len(kinds)]
		record := governor.Record{ID: fmt.Sprintf("record-%d", i), Kind: k.kind, Subject: k.subject, SubjectRevision: "r1"}
		if k.result != "" {
			record.Result = new(k.result)
		}
		request.Evidence = append(request.Evidence, record)
	}
	return request
}

func BenchmarkEvaluate(b *testing.B) {
	rules := prepare(b, readFile(b, "../catalog/bundled/software-change-1.yaml"))
	for _, n := range []int{20, 100, 1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("records=%d", n), func(b *testing.B) {
			request := softwareChange(n)
			b.ReportAllocs()
			for b.Loop() {
				if _, refused := rules.Evaluate(request); refused != nil {
					b.Fatal(refused)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/record")
		})
	}
}

func BenchmarkDecisionBytes(b *testing.B) {
	rules := prepare(b, readFile(b, "../catalog/bundled/software-change-1.yaml"))
	d, refused := rules.Evaluate(softwareChange(20))
	if refused != nil {
		b.Fatal(refused)
	}
	for b.Loop() {
		d.Bytes()
	}
}
