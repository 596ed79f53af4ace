package directory

import (
	"context"
	"strings"
	"sync"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/fault"
)

// Secrets resolves references to secrets.
type Secrets interface {
	Secret(ctx context.Context, ref desktop.SecretRef) (string, error)
}

// Resolver finds the controllers of a domain in DNS. *net.Resolver implements
// it.
type Resolver interface {
	LookupSRV(ctx context.Context, service, proto, name string) (string, []*SRV, error)
}

// Options configure a Client.
type Options struct {
	Secrets  Secrets
	Resolver Resolver         // net.DefaultResolver when nil
	Now      func() time.Time // time.Now when nil

	// Connections limits the open connections to one domain; 32 when 0.
	Connections int
}

// Client queries the directories of all domains of the inventory. It is safe
// for concurrent use.
type Client struct {
	options Options

	mu             sync.RWMutex
	domains        map[desktop.ID]*domain
	administrators []desktop.AdministratorGroup
}

// domain is a domain with cached state of its controllers.
type domain struct {
	spec    desktop.Domain
	slots   chan struct{} // semaphore of open connections
	service *serviceAccount

	mu      sync.Mutex
	failed  map[string]time.Time // controller -> time of its last failure to answer
	netbios string               // read from the directory, if the spec has none
	groups  map[string]groupSID  // cached SIDs of administrator groups by name
	lockout *desktop.LockoutPolicy
}

type groupSID struct {
	sid    string
	readAt time.Time // the SID is used for groupLife
}

// New returns a client without domains.
func New(o Options) *Client {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Resolver == nil {
		o.Resolver = systemResolver{}
	}
	if o.Connections <= 0 {
		o.Connections = 32
	}
	return &Client{options: o}
}

// Configure replaces the domains and administrator groups. For a domain with the
// same id and DNS name it keeps the NetBIOS name and lockout policy that were
// read, and for the same service account what is known about its password.
func (c *Client) Configure(inv desktop.Inventory) {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := make(map[desktop.ID]*domain, len(inv.Domains))
	for _, spec := range inv.Domains {
		next[spec.ID] = &domain{
			spec:    spec,
			slots:   make(chan struct{}, c.options.Connections),
			service: newServiceAccount(),
			failed:  make(map[string]time.Time),
			groups:  make(map[string]groupSID),
		}
		if old := c.domains[spec.ID]; old != nil && strings.EqualFold(old.spec.DNSName, spec.DNSName) {
			old.mu.Lock()
			next[spec.ID].netbios, next[spec.ID].lockout = old.netbios, old.lockout
			if spec.BindUser == old.spec.BindUser {
				next[spec.ID].service = old.service
			}
			old.mu.Unlock()
		}
	}
	c.domains, c.administrators = next, inv.Administrators
}

// Find returns the domain with a DNS or NetBIOS name, ignoring case.
func (c *Client) Find(name string) (desktop.Domain, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, d := range c.domains {
		if name != "" && (strings.EqualFold(d.spec.DNSName, name) || strings.EqualFold(d.netbiosName(), name)) {
			return d.spec, true
		}
	}
	return desktop.Domain{}, false
}

// netbiosName returns the domain's NetBIOS name, or "" if unknown.
func (d *domain) netbiosName() string {
	if d.spec.NetBIOSName != "" {
		return d.spec.NetBIOSName
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.netbios
}

func (d *domain) learn(r desktop.DomainReading) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.netbios, d.lockout = r.NetBIOSName, &r.Lockout
}

func (c *Client) domain(id desktop.ID) (*domain, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	d := c.domains[id]
	if d == nil {
		return nil, fault.New(fault.NotFound, "no such domain")
	}
	return d, nil
}
