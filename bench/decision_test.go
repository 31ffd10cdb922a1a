package bench

import (
	"fmt"
	"testing"

	"github.com/cedar-policy/cedar-go"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/governor"
)

// mergePolicies say for Cedar what software-change@1 says about its four actions, as far as a policy
// of attributes can.
const mergePolicies = `
permit (principal, action in [Action::"repository.inspect", Action::"repository.edit", Action::"tests.run"], resource);
permit (principal, action == Action::"repository.merge", resource)
  when { resource.test_result == "pass" && context.granted.contains("repository.merge") };
`

// BenchmarkDecision compares one decision of the governor, about every claim, action and outcome of
// a case with 20 records, with one decision of Cedar about one action.
func BenchmarkDecision(b *testing.B) {
	b.Run("loom/records=20", func(b *testing.B) { evaluate(b, softwareChange(20)) })
	b.Run("cedar", func(b *testing.B) {
		policies, err := cedar.NewPolicySetFromBytes("merge.cedar", []byte(mergePolicies))
		if err != nil {
			b.Fatal(err)
		}
		change := cedar.NewEntityUID("Change", "c1")
		entities := cedar.EntityMap{change: {
			UID:        change,
			Attributes: cedar.NewRecord(cedar.RecordMap{"test_result": cedar.String("pass")}),
		}}
		request := cedar.Request{
			Principal: cedar.NewEntityUID("Agent", "model"),
			Action:    cedar.NewEntityUID("Action", "repository.merge"),
			Resource:  change,
			Context:   cedar.NewRecord(cedar.RecordMap{"granted": cedar.NewSet(cedar.String("repository.merge"))}),
		}
		b.ReportAllocs()
		for b.Loop() {
			decision, diagnostic := cedar.Authorize(policies, entities, request)
			if decision != cedar.Allow || len(diagnostic.Errors) > 0 {
				b.Fatal(decision, diagnostic)
			}
		}
	})
}

func evaluate(b *testing.B, request governor.Request) {
	entry, ok := catalog.Bundled().Get("software-change@1")
	if !ok {
		b.Fatal("software-change@1 is not bundled")
	}
	rules := governor.Prepare(entry.Protocol())
	b.ReportAllocs()
	for b.Loop() {
		d, refused := rules.Evaluate(request)
		if refused != nil {
			b.Fatal(refused)
		}
		if outcome, ok := d.Legitimate(); outcome != "accepted" || !ok {
			b.Fatal(outcome)
		}
	}
}

// softwareChange is a finished case of software-change@1 with n records.
func softwareChange(n int) governor.Request {
	request := governor.Request{Snapshot: governor.Snapshot{ID: "case-1", Protocol: "software.change"}}
	for _, a := range []string{"intent", "system_specification", "plan", "implementation", "release", "deployment"} {
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
