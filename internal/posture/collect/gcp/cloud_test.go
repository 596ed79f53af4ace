package gcp_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/collecttest"
	"vigil/internal/posture/collect/gcp"
	"vigil/internal/sim/gateway"
	"vigil/internal/sim/gateway/gatewaytest"
	simgcp "vigil/internal/sim/gcp"
)

// cloud is a simulated Google Cloud, with the options of a source that reads it through real TLS.
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
	if o.Shares.Default == 0 { // a test that wants no flaws sets -1
		o.Shares.Default = 0.3
	}
	c := &cloud{Cloud: simgcp.New(o, g.Faults), faults: g.Faults}
	transport := collecttest.Serve(t, g, simgcp.Hosts, c.Cloud)
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

// property returns a property of an entity, or false when it has none.
func property(e posture.Entity, name string) (posture.Property, bool) {
	i := slices.IndexFunc(e.Properties, func(p posture.Property) bool { return p.Name == name })
	if i < 0 {
		return posture.Property{}, false
	}
	return e.Properties[i], true
}

func isGone(err error) bool { return errors.Is(err, collect.ErrGone) }
