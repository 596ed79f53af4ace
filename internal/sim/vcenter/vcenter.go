// Package vcenter simulates a virtual center: govmomi's simulator behind a site
// whose connections can be cut, with the faults that monitoring must
// distinguish.
package vcenter

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"

	"vigil/internal/sim/site"
)

// Fault is a fault of a virtual center. Its Site simulates that it is down or
// has a bad certificate.
type Fault int

// The faults of a virtual center.
const (
	Healthy      Fault = iota
	NoPermission       // sessions may not read
	Unhelpful          // it answers every request with a server error
)

// Options configure a virtual center.
type Options struct {
	User, Password string
	Certificate    tls.Certificate
	Hosts          int // in one cluster; 3 when zero
	Desktops       int // virtual machines; 2 per cluster when zero
}

// Center is one simulated virtual center.
type Center struct {
	*site.Site
	model  *simulator.Model
	server *simulator.Server

	mu    sync.Mutex
	fault Fault
}

// creating serialises Model.Create, which writes package variables of the
// simulator.
var creating sync.Mutex

// create creates the inventory of a model with its own settings. The simulator
// shares the values of vpx.Setting between all models of a process, and
// NewServer writes the server's address into them.
func create(m *simulator.Model) error {
	creating.Lock()
	defer creating.Unlock()
	if err := m.Create(); err != nil {
		return err
	}
	options := m.Map().OptionManager()
	settings := make([]types.BaseOptionValue, len(options.Setting))
	for i, setting := range options.Setting {
		value := *setting.GetOptionValue()
		settings[i] = &value
	}
	options.Setting = settings
	return nil
}

// New returns a virtual center with its inventory.
func New(o Options) (*Center, error) {
	m := simulator.VPX()
	m.Host = 0 // no hosts outside the cluster
	m.Cluster = 1
	m.ClusterHost = 3
	if o.Hosts > 0 {
		m.ClusterHost = o.Hosts
	}
	if o.Desktops > 0 {
		m.Machine = o.Desktops
	}
	m.Datastore = 2
	if err := create(m); err != nil {
		return nil, err
	}
	// The simulator requires its own listener; the site serves the same handler.
	m.Service.Listen = &url.URL{User: url.UserPassword(o.User, o.Password), Host: "127.0.0.1:0"}
	c := &Center{model: m, server: m.Service.NewServer()}
	c.Site = site.New(o.Certificate, http.HandlerFunc(c.serve))
	return c, nil
}

// Stop stops the virtual center and waits for it.
func (c *Center) Stop() error {
	err := c.Site.Stop()
	c.server.Close()
	c.model.Remove()
	return errors.Join(err)
}

// Start starts the virtual center.
func (c *Center) Start(ctx context.Context) error { return c.Site.Start(ctx) }

func (c *Center) serve(w http.ResponseWriter, r *http.Request) {
	if c.broken() == Unhelpful {
		http.Error(w, "the service is starting", http.StatusServiceUnavailable)
		return
	}
	c.model.Service.ServeMux.ServeHTTP(w, r)
}

func (c *Center) broken() Fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.fault
}

// Break sets the virtual center's fault; Healthy removes it.
func (c *Center) Break(f Fault) {
	c.mu.Lock()
	c.fault = f
	c.mu.Unlock()
	c.model.Service.ClearFaultRules()
	if f == NoPermission {
		c.model.Service.AddFaultRule(&simulator.FaultInjectionRule{
			MethodName: "*", ObjectType: "*", ObjectName: "*", Probability: 1,
			FaultType: simulator.FaultTypeNoPermission, Enabled: true,
		})
	}
}

// SetHost changes the connection state of the n-th host: connected,
// disconnected or notResponding.
func (c *Center) SetHost(n int, state types.HostSystemConnectionState) {
	ctx := c.model.Service.Context
	host := c.all("HostSystem")[n].(*simulator.HostSystem)
	ctx.WithLock(host, func() { host.Runtime.ConnectionState = state })
}

// SetDatastore sets whether the n-th datastore is accessible.
func (c *Center) SetDatastore(n int, accessible bool) {
	c.changeDatastore(n, func(s *types.DatastoreSummary) { s.Accessible = accessible })
}

// SetStorage sets the type of the n-th datastore: "VMFS" or "vsan".
func (c *Center) SetStorage(n int, kind string) {
	c.changeDatastore(n, func(s *types.DatastoreSummary) { s.Type = kind })
}

func (c *Center) changeDatastore(n int, change func(*types.DatastoreSummary)) {
	store := c.all("Datastore")[n].(*simulator.Datastore)
	c.model.Service.Context.WithLock(store, func() {
		summary := store.Summary
		change(&summary)
		store.Summary = summary
	})
}

// Hosts returns the number of hosts.
func (c *Center) Hosts() int { return len(c.all("HostSystem")) }

// all returns the objects of a kind in a stable order.
func (c *Center) all(kind string) []mo.Entity {
	found := c.model.Service.Context.Map.All(kind)
	slices.SortFunc(found, func(a, b mo.Entity) int { return strings.Compare(a.Reference().Value, b.Reference().Value) })
	return found
}
