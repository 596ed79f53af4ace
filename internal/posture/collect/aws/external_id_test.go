package aws_test

import (
	"errors"
	"strings"
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/aws"
	simaws "vigil/internal/sim/aws"
)

// TestRolesWithoutExternalIDAreRefused validates roles whose trust policies do
// not require one specific external id.
func TestRolesWithoutExternalIDAreRefused(t *testing.T) {
	t.Parallel()
	c := start(t, simaws.Options{Seed: 7, Size: 20, Regions: []string{"us-east-1"}})
	account := c.Account(0).ID
	source := aws.New(c.options)
	role := func(name, requiredID string) string {
		c.PutRole(simaws.Role{Account: account, Name: name, Trusts: simaws.Collector, ExternalID: requiredID, Actions: []string{"ec2:DescribeRegions"}})
		return "arn:aws:iam::" + account + ":role/" + name
	}
	issued := posture.NewExternalID()
	for _, tt := range []struct {
		name       string
		requiredID string // by the trust policy of the role
		externalID string // of the credential
		want       posture.AccountStatus
		reason     string
	}{
		{"exact", issued, issued, posture.AccountActive, ""},
		{"no condition", "", issued, posture.AccountValidationFailed, "without an external id"},
		{"neither has one", "", "", posture.AccountValidationFailed, "without an external id"},
		{"any", "*", issued, posture.AccountValidationFailed, "without an external id"},
		{"all that Vigil issues", "vigil-*", issued, posture.AccountValidationFailed, "with another external id"},
		{"another", "other", issued, posture.AccountValidationFailed, "does not let us assume"},
	} {
		access := accessTo(account, role(strings.ReplaceAll(tt.name, " ", "-"), tt.requiredID), tt.externalID)
		status, reason, err := source.Validate(t.Context(), access)
		if err != nil || status != tt.want || !strings.Contains(reason, tt.reason) {
			t.Errorf("%s: %s, %q, %v; want %s, %q", tt.name, status, reason, err, tt.want, tt.reason)
		}
		session, err := source.Open(t.Context(), access)
		if (err == nil) != (tt.want == posture.AccountActive) || err != nil && !errors.Is(err, collect.ErrIdentity) {
			t.Errorf("%s: Open returned the error %v for an account that should be %s", tt.name, err, tt.want)
		}
		if err == nil {
			session.Close()
		}
	}

	// A change of the trust policy takes effect at the next validation.
	access := accessTo(account, role("exact", ""), issued)
	if status, _, err := source.Validate(t.Context(), access); err != nil || status != posture.AccountValidationFailed {
		t.Errorf("after the condition was removed: %s, %v", status, err)
	}
	role("exact", issued)
	if status, _, err := source.Validate(t.Context(), access); err != nil || status != posture.AccountActive {
		t.Errorf("after it was put back: %s, %v", status, err)
	}
}
