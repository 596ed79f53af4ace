package azure_test

import (
	"sync"
	"testing"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/azure"
	"vigil/internal/posture/collect/collecttest"
	"vigil/internal/posture/collect/egress"
	"vigil/internal/sim/gateway"
	"vigil/internal/sim/gateway/gatewaytest"
	"vigil/internal/sim/world"

	simazure "vigil/internal/sim/azure"
)

// today is the date of all simulations.
var today = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// A fixture is a simulated Azure and a source that reads it over TLS through package egress.
type fixture struct {
	*simazure.Cloud
	faults *gateway.Faults
	source *azure.Source
	out    *egress.Transport // to the simulation
}

// newFixture starts a simulated Azure.
func newFixture(t testing.TB, o simazure.Options, more ...func(*azure.Options)) *fixture {
	t.Helper()
	g := gatewaytest.Listen(t)
	if o.Seed == 0 {
		o.Seed = 7
	}
	if o.Today.IsZero() {
		o.Today = today
	}
	cloud := simazure.New(o, g.Faults)
	out := collecttest.Serve(t, g, simazure.Hosts, cloud)
	options := azure.Options{HTTP: out.Client(), Attempts: 3, RetryDelay: time.Millisecond}
	for _, f := range more {
		f(&options)
	}
	return &fixture{Cloud: cloud, faults: g.Faults, source: azure.New(options), out: out}
}

// access returns the credential of the i-th subscription.
func (r *fixture) access(i int) posture.Access {
	s := r.Subscriptions()[i]
	return s.Access("org", r.Reader(s.Government))
}

// fault injects a fault.
func (r *fixture) fault(t testing.TB, f gateway.Fault) {
	t.Helper()
	if _, err := r.faults.Add(f); err != nil {
		t.Fatal(err)
	}
}

// open opens a subscription.
func (r *fixture) open(t testing.TB, a posture.Access) collect.Session {
	t.Helper()
	s, err := r.source.Open(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// list reads all entities of a type.
func list(t testing.TB, s collect.Session, typ posture.EntityType) (map[posture.EntityID]*collect.Resource, error) {
	t.Helper()
	u, ok := s.Unit(typ, posture.Global)
	if !ok {
		t.Fatalf("no collector of %s", typ)
	}
	got := map[posture.EntityID]*collect.Resource{}
	var mu sync.Mutex
	err := u.List(t.Context(), func(r *collect.Resource) error {
		mu.Lock()
		defer mu.Unlock()
		if got[r.ID] != nil {
			t.Errorf("%s was emitted twice", r.ID)
		}
		r.Normalize()
		got[r.ID] = r
		return nil
	})
	return got, err
}

// listAll reads a whole subscription.
func listAll(t testing.TB, s collect.Session) map[posture.EntityID]*collect.Resource {
	t.Helper()
	units, err := s.Units(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := map[posture.EntityID]*collect.Resource{}
	for _, u := range units {
		got, err := list(t, s, u.Type)
		if err != nil {
			t.Errorf("%s: %v", u.Type, err)
		}
		for id, r := range got {
			all[id] = r
			for _, problem := range r.Problems() {
				t.Errorf("%s: %v", id, problem)
			}
		}
	}
	return all
}

// property returns the values of a property.
func property(r *collect.Resource, name string) []posture.Property {
	var all []posture.Property
	for _, p := range r.Properties {
		if p.Name == name {
			all = append(all, p)
		}
	}
	return all
}

// half makes half of the resources violate each rule.
var half = world.Shares{Default: 0.5}
