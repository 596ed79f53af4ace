package aws_test

import (
	"testing"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/collecttest"
	simaws "vigil/internal/sim/aws"
	"vigil/internal/sim/gateway"
	"vigil/internal/sim/gateway/gatewaytest"
)

// cloud is a simulated AWS, with the options of a source that reads it through real TLS.
type cloud struct {
	*simaws.Cloud
	gateway *gateway.Gateway
	options aws.Options
}

// today is a fixed date, so that the simulated accounts of all tests are the same.
var today = time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)

// start serves a simulated AWS. By default three in ten resources violate a rule.
func start(t testing.TB, o simaws.Options) *cloud {
	t.Helper()
	g := gatewaytest.Listen(t)
	if o.Today.IsZero() {
		o.Today = today
	}
	if o.Shares.Default == 0 {
		o.Shares.Default = 0.3
	}
	c := &cloud{Cloud: simaws.New(o, g.Faults), gateway: g}
	transport := collecttest.Serve(t, g, simaws.Hosts, c.Cloud)
	id, secret := c.Identity()
	c.options = aws.Options{HTTP: transport.Client(), Identity: aws.Identity{AccessKeyID: id, SecretAccessKey: secret}, Attempts: 3, Backoff: time.Millisecond}
	return c
}

// access returns the credential of the i-th account.
func (c *cloud) access(i int) posture.Access {
	a := c.Account(i)
	return accessTo(a.ID, a.RoleArn, a.ExternalID)
}

func accessTo(account, role, externalID string) posture.Access {
	return posture.Access{
		Org:     "org",
		Account: posture.Account{ID: posture.AccountID(account), Provider: posture.AWS},
		Credential: posture.Credential{Provider: posture.AWS, Properties: []posture.Property{
			posture.Text(posture.PropRoleArn, role), posture.Text(posture.PropExternalID, externalID),
		}},
	}
}
