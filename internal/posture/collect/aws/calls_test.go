package aws_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/posture"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/collecttest"
	simaws "vigil/internal/sim/aws"
)

// TestIAMTypesShareCalls checks that the types of IAM share the responses with all users,
// groups, roles and policies, the credential report and the account summary: each of these
// calls is made once in a run.
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

// TestUnchangedWebACLsAreNotReadAgain checks that the next run of an account does not make
// calls for resources that have not changed, and reads the same.
func TestUnchangedWebACLsAreNotReadAgain(t *testing.T) {
	t.Parallel()
	c := start(t, simaws.Options{Seed: 3, Size: 20})
	source := aws.New(c.options)
	run := func() (read collecttest.Read, calls int) {
		c.gateway.Faults.ResetCounts()
		read = collecttest.All(t, source, c.access(0), "AWS.WAF.WebACL")
		for call, n := range c.gateway.Faults.Calls() {
			if call.Action == "GetWebACL" {
				calls += n
			}
		}
		return read, calls
	}
	first, calls := run()
	if calls == 0 || calls != len(first.Entities) {
		t.Fatalf("%d calls for %d web ACLs", calls, len(first.Entities))
	}
	second, calls := run()
	if calls != 0 {
		t.Errorf("%d calls for web ACLs that did not change", calls)
	}
	if diff := cmp.Diff(first.Entities, second.Entities); diff != "" {
		t.Errorf("the second run (-first +second)\n%s", diff)
	}
}
