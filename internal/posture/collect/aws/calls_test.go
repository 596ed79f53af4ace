package aws_test

import (
	"strings"
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/collecttest"
	simaws "vigil/internal/sim/aws"
)

// TestIAMTypesShareCalls checks that the types of IAM share the response with all users,
// groups, roles and policies, and the credential report: it is read once in a run.
func TestIAMTypesShareCalls(t *testing.T) {
	t.Parallel()
	c := start(t, simaws.Options{Seed: 3, Size: 20})
	source := aws.New(c.options)
	var types []posture.EntityType
	for _, d := range source.Declarations() {
		if strings.HasPrefix(string(d.Type), "AWS.IAM.") {
			types = append(types, d.Type)
		}
	}
	c.gateway.Faults.ResetCounts()
	if got := collecttest.All(t, source, c.access(0), types...); len(got.Entities) == 0 || len(got.Failures) > 0 {
		t.Fatalf("%d entities, %v", len(got.Entities), got.Failures)
	}
	calls := map[string]int{}
	for call, n := range c.gateway.Faults.Calls() {
		if call.Service == "iam" {
			calls[call.Action] += n
		}
	}
	for _, call := range []string{"GetAccountAuthorizationDetails", "GenerateCredentialReport", "GetCredentialReport", "GetAccountSummary"} {
		if calls[call] != 1 {
			t.Errorf("%s was called %d times for %d types, want once", call, calls[call], len(types))
		}
	}
}
