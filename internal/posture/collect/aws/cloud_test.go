package aws_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/egress"
	simaws "vigil/internal/sim/aws"
	"vigil/internal/sim/gateway"
	"vigil/internal/sim/gateway/gatewaytest"
)

// cloud is a simulated AWS and a source that reads it through real TLS.
type cloud struct {
	*simaws.Cloud
	gateway *gateway.Gateway
	options aws.Options
}

// today is a fixed date, so that the simulated accounts of all tests are the same.
var today = time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)

// start serves a simulated AWS.
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
	for _, host := range simaws.Hosts {
		g.Handle(host, c.Cloud)
	}
	gatewaytest.Serve(t, g)
	transport, err := egress.New(egress.Options{Gateway: &egress.Gateway{Address: g.Address(), CA: g.CA()}, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(transport.Close)
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

// read is the result of reading an account.
type read struct {
	entities map[posture.EntityID]posture.Entity
	problems map[posture.EntityType][]error // details that could not be read
	failures map[posture.EntityType][]error // lists that could not be read
	units    int
}

func (r read) entitiesOf(t posture.EntityType) []posture.Entity {
	var found []posture.Entity
	for _, e := range r.entities {
		if e.Type == t {
			found = append(found, e)
		}
	}
	slices.SortFunc(found, func(a, b posture.Entity) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return found
}

// collectAll reads the given types of an account, or all types.
func collectAll(t testing.TB, source collect.Source, a posture.Access, types ...posture.EntityType) read {
	t.Helper()
	session, err := source.Open(t.Context(), a)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	defer session.Close()
	units, err := session.Units(t.Context())
	if err != nil {
		t.Fatalf("units: %v", err)
	}
	got := read{entities: map[posture.EntityID]posture.Entity{}, problems: map[posture.EntityType][]error{}, failures: map[posture.EntityType][]error{}}
	var mu sync.Mutex
	for _, u := range units {
		if len(types) > 0 && !slices.Contains(types, u.Type) {
			continue
		}
		got.units++
		err := u.List(t.Context(), func(r *collect.Resource) error {
			mu.Lock()
			defer mu.Unlock()
			r.Normalize()
			if _, exists := got.entities[r.ID]; exists {
				t.Errorf("%s was read twice", r.ID)
			}
			if r.Region != u.Region || r.Type != u.Type {
				t.Errorf("%s has type %s and region %s in the unit of %s in %s", r.ID, r.Type, r.Region, u.Type, u.Region)
			}
			got.entities[r.ID] = r.Entity
			got.problems[u.Type] = append(got.problems[u.Type], r.Problems()...)
			return nil
		})
		if err != nil {
			got.failures[u.Type] = append(got.failures[u.Type], err)
		}
	}
	return got
}
