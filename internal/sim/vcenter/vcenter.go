// Package vcenter simulates a virtual center: the methods of the vSphere Web
// Services API that monitoring calls, behind a site whose connections can be
// cut, with the faults that monitoring must distinguish. Its tests read it with
// VMware's client library.
package vcenter

import (
	"crypto/tls"
	"net/http"
	"sync"

	"github.com/google/uuid"

	"vigil/internal/sim/site"
)

// Fault is a fault of a virtual center that can be reached. Its Site simulates the
// others: that it is down, or has a bad certificate.
type Fault int

// The faults of a virtual center.
const (
	Healthy      Fault = iota
	NoPermission       // sessions may not read
	Unhelpful          // it answers every request with a server error
)

// HostState is the connection state of a host.
type HostState string

// The connection states of hosts.
const (
	Connected     HostState = "connected"
	Disconnected  HostState = "disconnected"
	NotResponding HostState = "notResponding"
)

// Options configure a virtual center.
type Options struct {
	User, Password string
	Certificate    tls.Certificate
	Hosts          int // in one cluster; 3 when zero
	Desktops       int // virtual machines; 2 when zero
}

// Center is one simulated virtual center.
type Center struct {
	*site.Site
	options  Options
	instance string // the instance's UUID

	mu        sync.Mutex
	fault     Fault
	inventory *inventory
	sessions  map[string]bool
	views     map[string][]*object // by the id of the view
	pages     map[string][]objectContent
	lastID    int
}

// New returns a virtual center with its inventory.
func New(o Options) *Center {
	if o.Hosts == 0 {
		o.Hosts = 3
	}
	if o.Desktops == 0 {
		o.Desktops = 2
	}
	c := &Center{
		options: o, instance: uuid.NewString(), inventory: newInventory(o.Hosts, o.Desktops),
		sessions: make(map[string]bool), views: make(map[string][]*object), pages: make(map[string][]objectContent),
	}
	c.Site = site.New(o.Certificate, http.HandlerFunc(c.serve))
	return c
}

// Break sets the virtual center's fault; Healthy removes it.
func (c *Center) Break(f Fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fault = f
}

// SetHost changes the connection state of the n-th host.
func (c *Center) SetHost(n int, state HostState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inventory.hosts[n].properties["runtime.connectionState"] = typed{Type: "HostSystemConnectionState", Text: string(state)}
}

// SetDatastore sets whether the n-th datastore is accessible.
func (c *Center) SetDatastore(n int, accessible bool) {
	c.changeDatastore(n, func(s *datastoreSummary) { s.Accessible = accessible })
}

// SetStorage sets the type of the n-th datastore: "VMFS" or "vsan".
func (c *Center) SetStorage(n int, kind string) {
	c.changeDatastore(n, func(s *datastoreSummary) { s.Type = kind })
}

func (c *Center) changeDatastore(n int, change func(*datastoreSummary)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	properties := c.inventory.datastores[n].properties
	summary := properties["summary"].(datastoreSummary)
	change(&summary)
	properties["summary"] = summary
}

// Hosts returns the number of hosts.
func (c *Center) Hosts() int { return c.options.Hosts }
