package cli

import (
	"strings"
	"testing"

	"vigil/internal/sim/aws"
	"vigil/internal/sim/gateway"
)

// newServer returns a server without programs.
func newServer() *Server {
	return &Server{o: Options{AWS: aws.New(aws.Options{Seed: 1, Accounts: 2}, gateway.NewFaults())}, objects: map[string]map[string]string{}}
}

// run executes a command line of aws. Words that are separated by spaces must not contain any.
func run(t *testing.T, s *Server, line string) (string, error) {
	t.Helper()
	return s.run(t.Context(), parse("aws", strings.Fields(line)))
}

func mustRun(t *testing.T, s *Server, line string) string {
	t.Helper()
	text, err := run(t, s, line)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return text
}

// TestPolicyVersionsHaveAnyNumber replaces a managed policy more than ten times.
func TestPolicyVersionsHaveAnyNumber(t *testing.T) {
	t.Parallel()
	s := newServer()
	const policy = "--policy-arn arn:aws:iam::1:policy/p "
	const others = "iam list-policy-versions " + policy + "--query Versions[?!IsDefaultVersion].VersionId"
	mustRun(t, s, "iam create-policy --policy-name p --policy-document {}")
	for range 11 {
		if old := strings.Fields(mustRun(t, s, others)); len(old) == maxVersions-1 {
			mustRun(t, s, "iam delete-policy-version "+policy+"--version-id "+old[len(old)-1])
		}
		mustRun(t, s, "iam create-policy-version "+policy+"--policy-document {} --set-as-default")
	}
	if got := mustRun(t, s, "iam get-policy "+policy+"--query Policy.DefaultVersionId"); got != "v12" {
		t.Errorf("the default version is %s, want v12", got)
	}
	if got := mustRun(t, s, others); got != "v11\tv10\tv9\tv8" {
		t.Errorf("the other versions are %q, want v11 to v8", got)
	}
	if _, err := run(t, s, "iam create-policy-version "+policy+"--policy-document {} --set-as-default"); err == nil {
		t.Errorf("a policy has more than %d versions", maxVersions)
	}
	if _, err := run(t, s, "iam delete-policy "+policy); err == nil {
		t.Error("a policy with several versions was deleted")
	}
}

// TestTrustPoliciesAreReplaced updates the trust policy of a role by one without an external id.
func TestTrustPoliciesAreReplaced(t *testing.T) {
	t.Parallel()
	s := newServer()
	account := s.o.AWS.Account(0).ID
	mustRun(t, s, `iam create-role --role-name r --assume-role-policy-document {"AWS":"arn:aws:iam::1:root","sts:ExternalId":"secret"}`)
	if r, _ := s.o.AWS.Role(account, "r"); r.ExternalID != "secret" || r.Trusts != "arn:aws:iam::1:root" {
		t.Errorf("a role that requires an external id: %+v", r)
	}
	mustRun(t, s, `iam update-assume-role-policy --role-name r --policy-document {"AWS":"arn:aws:iam::2:root"}`)
	if r, _ := s.o.AWS.Role(account, "r"); r.ExternalID != "" || r.Trusts != "arn:aws:iam::2:root" {
		t.Errorf("a role that requires no external id: %+v", r)
	}
	mustRun(t, s, `iam update-assume-role-policy --role-name r --policy-document {}`)
	if r, _ := s.o.AWS.Role(account, "r"); r.ExternalID != "" || r.Trusts != "" {
		t.Errorf("a role that trusts nobody: %+v", r)
	}
}
