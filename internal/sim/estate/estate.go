// Package estate simulates a whole virtual-desktop infrastructure over the real
// protocols: directory domains, connection servers, gateways, RDS servers, a
// SAML provider, pods, single sign-on, a composer, virtual centers and an event database. It
// writes an inventory for the product, and injects faults on request.
package estate

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/inventory"
	"vigil/internal/sim/directory"
	"vigil/internal/sim/eventdatabase"
	"vigil/internal/sim/pki"
	"vigil/internal/sim/saml"
	"vigil/internal/sim/site"
	"vigil/internal/sim/vcenter"
)

// Size is the number of components of each kind.
type Size struct {
	ConnectionServers int // one of them is the product itself
	Farms             int
	RDSServers        int
	Gateways          int
	Pods              int
	VirtualCenters    int // at most two
}

// Demo is the size of the demo.
func Demo() Size {
	return Size{ConnectionServers: 20, Farms: 50, RDSServers: 500, Gateways: 6, Pods: 3, VirtualCenters: 2}
}

// Small is a size for tests.
func Small() Size {
	return Size{ConnectionServers: 3, Farms: 3, RDSServers: 9, Gateways: 2, Pods: 1, VirtualCenters: 1}
}

// Database is a real event database.
type Database struct {
	Host     string
	Port     int
	Name     string
	User     string
	Password string
	Plain    bool   // without TLS
	Prefix   string // of the event tables; vigil_demo_ when empty
	CAFile   string // certificate of the only trusted authority; when empty, the system's authorities are trusted
}

// Options configure the simulated environment.
type Options struct {
	Dir             string // folder of the inventory, certificates and secrets; created if missing
	Size            Size   // Demo when zero
	EventDatabase   *Database
	Events          int64         // number of events in the simulated event database; there is none if this is 0 or EventDatabase is set
	GatewayInterval time.Duration // how often gateways report; 10 s when zero
	AgentInterval   time.Duration // how often RDS agents report; 20 s when zero
	Failures        int           // failures in succession before a component counts as down; the product's default when zero
	ThisMachine     bool          // add an RDS server that reports the real load of this machine
	Now             func() time.Time
	Log             *slog.Logger
}

// Administrator is a user who may log in.
type Administrator struct{ Domain, Username, Password string }

// Estate is a simulated environment. Its components are exported so that tests
// can inject faults one by one; [Estate.Begin] injects them by name.
type Estate struct {
	Domains     []*directory.Server // the first is the primary one
	Peers       []*Peer             // connection servers other than the product itself
	SAML        *saml.Provider
	Pods        []*Peer      // endpoints of remote pods
	Enrollment  []*site.Site // enrollment servers for single sign-on
	Composer    *site.Site
	Centers     []*vcenter.Center
	Gateways    []*Gateway
	RDSServers  []*RDSServer
	SecurePorts []*Port               // secure gateways of the connection servers
	Events      *eventdatabase.Server // nil if there is no simulated event database

	Admin Administrator

	options  Options
	ca       *pki.Authority
	secrets  map[string]string // file name -> secret
	follower *follower         // copies the product's replication state and views to the peers
	machines *machines         // send heartbeats for gateways and RDS servers
	control  *control          // serves ControlURL
	running  []component

	mu     sync.Mutex
	active []string // names of active incidents, in the order in which they began
}

// component is a part that is started and stopped.
type component interface {
	Start(ctx context.Context) error
	Stop() error
}

// New creates the environment. Nothing listens before Start.
func New(o Options) (*Estate, error) {
	o.Size = cmp.Or(o.Size, Demo())
	o.GatewayInterval = cmp.Or(o.GatewayInterval, 10*time.Second)
	o.AgentInterval = cmp.Or(o.AgentInterval, 20*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	ca, err := pki.New("Simulated Estate CA", pki.Around(o.Now(), 10*365*24*time.Hour))
	if err != nil {
		return nil, err
	}
	e := &Estate{
		options: o, ca: ca, secrets: map[string]string{"peer-token": rand.Text()},
		Admin: Administrator{Domain: "CORP", Username: "admin", Password: "Demo-" + rand.Text()[:12]},
	}
	if o.EventDatabase != nil {
		e.secrets["event-database"] = o.EventDatabase.Password
	}
	e.machines = newMachines(o)
	e.follower = newFollower(e.secrets["peer-token"], o.Now)
	if err := e.build(); err != nil {
		return nil, fmt.Errorf("create the simulated environment: %w", err)
	}
	e.control = newControl(e)
	return e, nil
}

// leaf issues a certificate for a server on this machine.
func (e *Estate) leaf() (tls.Certificate, error) {
	return e.ca.Leaf(pki.Around(e.options.Now(), 365*24*time.Hour), "localhost", "127.0.0.1")
}

// Authority returns the authority of the certificates.
func (e *Estate) Authority() *pki.Authority { return e.ca }

// Start starts every component except the gateways and RDS servers. [Estate.Join] starts
// these, because they need a running product.
func (e *Estate) Start(ctx context.Context) error {
	all := []component{e.SAML, e.Composer, e.control}
	for _, d := range e.Domains {
		all = append(all, d)
	}
	for _, p := range e.Peers {
		all = append(all, p)
	}
	for _, p := range e.Pods {
		all = append(all, p)
	}
	for _, s := range e.Enrollment {
		all = append(all, s)
	}
	for _, c := range e.Centers {
		all = append(all, c)
	}
	for _, p := range e.SecurePorts {
		all = append(all, p)
	}
	if e.Events != nil {
		all = append(all, e.Events)
	}
	for _, c := range all {
		if err := c.Start(ctx); err != nil {
			return errors.Join(fmt.Errorf("start the simulated environment: %w", err), e.Stop())
		}
		e.running = append(e.running, c)
	}
	// Without repeated reads, the peers would always report the views that they read first,
	// which are older than the product's first probes.
	e.follower.start(ctx)
	return nil
}

// Stop stops every component and waits until they have ended.
func (e *Estate) Stop() error {
	e.machines.stop()
	e.follower.stop()
	var errs []error
	for i := len(e.running) - 1; i >= 0; i-- {
		errs = append(errs, e.running[i].Stop())
	}
	e.running = nil
	return errors.Join(errs...)
}

// InventoryFile returns the path of the inventory.
func (e *Estate) InventoryFile() string { return filepath.Join(e.options.Dir, "inventory.yaml") }

// WriteInventory writes the inventory, with the product at the given https URL
// as one of its connection servers, and returns it parsed.
func (e *Estate) WriteInventory(self string) (desktop.Inventory, error) {
	if err := e.writeFiles(); err != nil {
		return desktop.Inventory{}, err
	}
	text, err := e.inventory(self)
	if err != nil {
		return desktop.Inventory{}, fmt.Errorf("write the inventory: %w", err)
	}
	inv, err := inventory.Parse(text, inventory.Options{})
	if err != nil {
		return desktop.Inventory{}, fmt.Errorf("write the inventory: %w", err)
	}
	if err := os.WriteFile(e.InventoryFile(), text, 0o600); err != nil {
		return desktop.Inventory{}, err
	}
	e.machines.setInventory(inv)
	e.follower.setServer(self)
	return inv, nil
}

// writeFiles writes the files that the inventory refers to.
func (e *Estate) writeFiles() error {
	if err := os.MkdirAll(e.options.Dir, 0o700); err != nil {
		return err
	}
	files := map[string][]byte{"ca.pem": e.ca.PEM(), "saml-signer.pem": e.SAML.SignerPEM()}
	for name, secret := range e.secrets {
		files[name] = []byte(secret)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(e.options.Dir, name), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// ControlURL returns the address of the server that starts and ends incidents.
func (e *Estate) ControlURL() string { return e.control.URL() }
