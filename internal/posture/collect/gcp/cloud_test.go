package gcp_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/egress"
	"vigil/internal/posture/collect/gcp"
	"vigil/internal/sim/gateway"
	"vigil/internal/sim/gateway/gatewaytest"
	simgcp "vigil/internal/sim/gcp"
)

// cloud is a simulated Google Cloud and a source that reads it through real TLS.
type cloud struct {
	*simgcp.Cloud
	faults  *gateway.Faults
	options gcp.Options
}

// today is a fixed date, so that the simulated projects of all tests are the same.
var today = time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)

// start serves a simulated Google Cloud.
func start(t testing.TB, o simgcp.Options) *cloud {
	t.Helper()
	g := gatewaytest.Listen(t)
	if o.Today.IsZero() {
		o.Today = today
	}
	if o.Shares.Default == 0 {
		o.Shares.Default = 0.3
	}
	c := &cloud{Cloud: simgcp.New(o, g.Faults), faults: g.Faults}
	for _, host := range simgcp.Hosts {
		g.Handle(host, c.Cloud)
	}
	gatewaytest.Serve(t, g)
	transport, err := egress.New(egress.Options{Gateway: &egress.Gateway{Address: g.Address(), CA: g.CA()}, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(transport.Close)
	c.options = gcp.Options{HTTP: transport.Client(), Attempts: 3, RetryDelay: time.Millisecond}
	return c
}

func (c *cloud) source() *gcp.Source { return gcp.New(c.options) }

// access returns the credential with full read access to the i-th project.
func (c *cloud) access(i int) posture.Access { return c.Projects()[i].Access("org", c.Reader()) }

// fault injects a fault into calls of a method, such as compute.instances.*.
func (c *cloud) fault(t testing.TB, method string, f gateway.Fault) {
	t.Helper()
	f.Match.Service, f.Match.Action, _ = strings.Cut(method, ".")
	if _, err := c.faults.Add(f); err != nil {
		t.Fatal(err)
	}
}

// read is the result of reading a project.
type read struct {
	entities map[posture.EntityID]posture.Entity
	problems map[posture.EntityType][]error // details that could not be read
	failures map[posture.EntityType]error   // lists that could not be read
}

func (r read) entitiesOf(t posture.EntityType) []posture.Entity {
	var found []posture.Entity
	for _, e := range r.entities {
		if e.Type == t {
			found = append(found, e)
		}
	}
	slices.SortFunc(found, func(a, b posture.Entity) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return found
}

// collectAll reads the given types of a project, or all types.
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
	got := read{entities: map[posture.EntityID]posture.Entity{}, problems: map[posture.EntityType][]error{}, failures: map[posture.EntityType]error{}}
	var mu sync.Mutex
	for _, u := range units {
		if len(types) > 0 && !slices.Contains(types, u.Type) {
			continue
		}
		err := u.List(t.Context(), func(r *collect.Resource) error {
			mu.Lock()
			defer mu.Unlock()
			r.Normalize()
			if _, exists := got.entities[r.ID]; exists {
				t.Errorf("%s was read twice", r.ID)
			}
			if r.Type != u.Type || r.Account != a.Account.ID || r.Provider != posture.GCP {
				t.Errorf("%s has type %s and account %s", r.ID, r.Type, r.Account)
			}
			got.entities[r.ID] = r.Entity
			if problems := r.Problems(); len(problems) > 0 {
				got.problems[u.Type] = append(got.problems[u.Type], problems...)
			}
			return nil
		})
		if err != nil {
			got.failures[u.Type] = err
		}
	}
	return got
}

// property returns a property of an entity, or false when it has none.
func property(e posture.Entity, name string) (posture.Property, bool) {
	i := slices.IndexFunc(e.Properties, func(p posture.Property) bool { return p.Name == name })
	if i < 0 {
		return posture.Property{}, false
	}
	return e.Properties[i], true
}

func isGone(err error) bool { return errors.Is(err, collect.ErrGone) }
