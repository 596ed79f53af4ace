package app_test

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/sim/directory"
	"vigil/internal/sim/estate"
	"vigil/internal/sim/flakylistener"
	"vigil/internal/sim/pki"
)

// The tests of this file cover states that no incident causes: states before
// the first probe, transient states, and states that depend on the inventory.

func TestStatesBeforeTheFirstProbe(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: estate.Small(), join: true, beforeProbes: func(w *fixture) {
		w.status(desktop.KindDomain, "lab.example", self, "UNKNOWN")
		w.status(desktop.KindConnectionServer, peer, "", "UNKNOWN")
		w.status(desktop.KindSAMLAuthenticator, "Corporate sign-on", self, "UNKNOWN")
		w.status(desktop.KindVirtualCenter, "vc1.corp.example", self, "NOT_YET_CONNECTED")
		w.status(desktop.KindEventDatabase, "", "", "NOT_CONFIGURED")
	}})
	w.status(desktop.KindDomain, "lab.example", self, "FULLY_ACCESSIBLE")
	w.status(desktop.KindConnectionServer, peer, "", "OK")
	w.status(desktop.KindSAMLAuthenticator, "Corporate sign-on", self, "OK")
	w.status(desktop.KindVirtualCenter, "vc1.corp.example", self, "OK")
}

func TestStatesDuringRecovery(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: estate.Small()})
	center, pod := w.estate.Centers[0], w.estate.Pods[0]
	w.status(desktop.KindVirtualCenter, "vc1.corp.example", self, "OK")
	w.passesThrough(func() { center.Listener().Set(flakylistener.Down) }, desktop.KindVirtualCenter, "vc1.corp.example", self, "RECONNECTING")
	w.status(desktop.KindVirtualCenter, "vc1.corp.example", self, "DOWN")

	w.status(desktop.KindPod, "pod-1", "cs1.pod1.example", "ONLINE")
	pod.Listener().Set(flakylistener.Down)
	w.status(desktop.KindPod, "pod-1", "cs1.pod1.example", "OFFLINE")
	w.passesThrough(func() { pod.Listener().Set(flakylistener.Up) }, desktop.KindPod, "pod-1", "cs1.pod1.example", "UNCHECKED")
	w.status(desktop.KindPod, "pod-1", "cs1.pod1.example", "ONLINE")
}

func TestEveryTrustRelationship(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny()})
	primary := w.estate.Domains[0]
	trust := func(name string, want desktop.TrustRelationship) {
		t.Helper()
		w.until(fmt.Sprintf("%s is %s", name, want), func() bool {
			return w.record(desktop.KindDomain, name).(desktop.DomainMonitor).Servers[0].Trust == want
		})
	}
	trust("corp.example", desktop.TrustPrimaryDomain)
	trust("emea.corp.example", desktop.TrustTwoWayForest)
	trust("lab.example", desktop.TrustTwoWay)
	trust("partner.example", desktop.TrustFromBroker)
	change := func(f func(*directory.Trust)) { // of partner.example
		primary.Change(func(d *directory.Domain) { f(&d.Trusts[2]) })
	}
	change(func(t *directory.Trust) { t.Direction = 1 }) // inbound
	trust("partner.example", desktop.TrustToBroker)
	change(func(t *directory.Trust) { t.Direction = 0 }) // a disabled trust
	trust("partner.example", desktop.TrustUnknown)
	primary.Change(func(d *directory.Domain) { d.Trusts = d.Trusts[:2] })
	w.edit("  - dns_name: partner.example\n", "  - dns_name: partner.example\n    manual: true\n")
	trust("partner.example", desktop.TrustManual)
}

func TestServerIsDisabledWhileItHasSessions(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny(), join: true})
	server := w.estate.RDSServers[0]
	w.status(desktop.KindRDSServer, server.Name, "state", "AVAILABLE")
	server.SetSessions(3)
	w.edit("{name: "+server.Name+", max_sessions: 40, enabled: true}", "{name: "+server.Name+", max_sessions: 40, enabled: false}")
	w.status(desktop.KindRDSServer, server.Name, "state", "DISABLE_IN_PROGRESS")
	server.SetSessions(0)
	w.status(desktop.KindRDSServer, server.Name, "state", "DISABLED")
	w.edit("max_sessions: 40, enabled: false}", "max_sessions: 40, enabled: true}")
	w.status(desktop.KindRDSServer, server.Name, "state", "AVAILABLE")
}

func TestEveryOperatingSystem(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny(), join: true})
	server := w.estate.RDSServers[0]
	for _, system := range []desktop.OperatingSystem{
		desktop.OSWindows2003, desktop.OSWindows2008, desktop.OSWindows2008R2, desktop.OSWindows2012, desktop.OSWindows2012R2,
		desktop.OSWindows2016, desktop.OSLinuxOther, desktop.OSUnknown,
	} {
		server.SetSystem(system)
		w.until("the server runs "+string(system), func() bool {
			return w.record(desktop.KindRDSServer, server.Name).(desktop.RDSServerMonitor).Details.OperatingSystem == system
		})
	}
}

func TestStatesThatDependOnTheInventory(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: estate.Small(), join: true})
	w.status(desktop.KindFarm, "farm-01", "", "OK") // made of instant clones
	w.status(desktop.KindFarm, "farm-02", "", "OK") // manual
	w.status(desktop.KindFarm, "farm-03", "", "OK") // made of linked clones
	w.status(desktop.KindComposer, "composer1.corp.example", self, "OK")
	w.edit("    url: "+w.estate.Composer.URL()+"\n", "    url: composer1:18443\n")
	w.status(desktop.KindComposer, "composer1.corp.example", self, "MALFORMED_URL")
	w.edit("type: UAG}", "type: UNKNOWN}")
	w.until("a gateway of unknown make", func() bool {
		return w.record(desktop.KindGateway, "gw1.corp.example").(desktop.GatewayMonitor).Details.Type == desktop.GatewayUnknown
	})
	w.status(desktop.KindGateway, "gw2.corp.example", "", "OK")
	address := w.estate.SecurePorts[0].Addr().String()
	w.edit(fmt.Sprintf("      - {service: BLAST_SECURE_GATEWAY, address: %q}\n", address), fmt.Sprintf(
		"      - {service: PCOIP_SECURE_GATEWAY, address: %[1]q}\n      - {service: SECURITY_GATEWAY_COMPONENT, address: %[1]q}\n", address))
	w.status(desktop.KindConnectionServer, peer, "service PCOIP_SECURE_GATEWAY", "UP")
	w.status(desktop.KindConnectionServer, peer, "service SECURITY_GATEWAY_COMPONENT", "UP")
	for kind, want := range map[string]desktop.DatastoreType{"vsan": desktop.DatastoreVSAN, "VMFS": desktop.DatastoreVMFS} {
		w.estate.Centers[0].SetStorage(0, kind)
		w.until("a datastore is "+string(want), func() bool {
			return w.record(desktop.KindVirtualCenter, "vc1.corp.example").(desktop.VirtualCenterMonitor).Datastores[0].Type == want
		})
	}
}

func TestEveryPartOfSingleSignOn(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny()})
	const name, issuer = "Corporate logon", "CORP-Issuing-CA"
	part := func(part, want string) { t.Helper(); w.status(desktop.KindSSOConnector, name, part, want) }
	corp := w.estate.Domains[0]
	expireIn := func(remaining time.Duration) {
		t.Helper()
		authority, err := pki.New(issuer, pki.Validity{From: time.Now().Add(-48 * time.Hour), To: time.Now().Add(remaining)})
		if err != nil {
			t.Fatal(err)
		}
		corp.Change(func(d *directory.Domain) { d.Issuers[0].Certificate = authority.Certificate().Raw })
	}
	part("certificates "+issuer, "OK")
	expireIn(5 * 24 * time.Hour)
	part("certificates "+issuer, "WARN")
	expireIn(-time.Hour)
	part("certificates "+issuer, "ERROR")
	expireIn(365 * 24 * time.Hour)
	part("", "OK")
	w.estate.Enrollment[0].Listener().Set(flakylistener.Down)
	part("enrollment localhost", "ERROR")
	w.estate.Enrollment[0].Listener().Set(flakylistener.Up)
	part("enrollment localhost", "OK")

	corp.Break(directory.Down)
	part("domain", "ERROR")
	corp.Break(directory.Healthy)
	part("domain", "OK")
	// One of several controllers being down is a warning.
	controller := net.JoinHostPort("127.0.0.1", strconv.Itoa(corp.SecurePort()))
	w.edit(fmt.Sprintf("controllers: [%q]", controller), fmt.Sprintf("controllers: [%q, %q]", "127.0.0.1:9", controller))
	part("domain", "WARN")
}

func TestEveryStatusOfTheEventDatabase(t *testing.T) {
	t.Parallel()
	text := os.Getenv("VIGIL_TEST_POSTGRES")
	if text == "" {
		t.Skip("VIGIL_TEST_POSTGRES is not set: start a server with scripts/postgres.sh and set it to the URL")
	}
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal("VIGIL_TEST_POSTGRES is not a URL")
	}
	wire := flakyProxy(t, u.Host)
	password, _ := u.User.Password()
	database := strings.TrimPrefix(u.Path, "/")
	w := start(t, options{
		size: tiny(),
		estate: func(o *estate.Options) {
			o.EventDatabase = &estate.Database{
				Host: "127.0.0.1", Port: wire.Port(), Name: database, User: u.User.Username(), Password: password,
				Plain: true, Prefix: fmt.Sprintf("app%d_", time.Now().UnixNano()),
			}
		},
		beforeProbes: func(w *fixture) {
			wire.Set(flakylistener.Hung)
			w.status(desktop.KindEventDatabase, "127.0.0.1", "", "CONNECTING")
		},
	})
	status := func(want string) { t.Helper(); w.status(desktop.KindEventDatabase, "127.0.0.1", "", want) }
	wire.Set(flakylistener.Up)
	status("CONNECTED")
	w.passesThrough(func() { wire.Set(flakylistener.Down) }, desktop.KindEventDatabase, "127.0.0.1", "", "RECONNECTING")
	status("DISCONNECTED")
	wire.Set(flakylistener.Up)
	status("CONNECTED")
	if err := os.WriteFile(filepath.Join(w.dir, "estate", "event-database"), []byte("wrong"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.edit("database: "+database, "database: no_such_database")
	status("ERROR")
	if err := os.WriteFile(filepath.Join(w.dir, "estate", "event-database"), []byte(password), 0o600); err != nil {
		t.Fatal(err)
	}
	w.edit("database: no_such_database", "database: "+database)
	status("CONNECTED")
	old := "POSTGRESQL"
	for _, kind := range []string{"SQL_SERVER", "ORACLE"} {
		w.edit("type: "+old, "type: "+kind)
		w.until("it is a database of type "+kind, func() bool {
			return w.record(desktop.KindEventDatabase, "127.0.0.1").(desktop.EventDatabaseMonitor).Details.Type == desktop.DatabaseType(kind)
		})
		old = kind
	}
}

// TestReloadKeepsTheEventDatabaseOpen changes another part of the inventory.
func TestReloadKeepsTheEventDatabaseOpen(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny(), estate: func(o *estate.Options) { o.Events = 100 }})
	status := func() { t.Helper(); w.status(desktop.KindEventDatabase, "127.0.0.1", "", "CONNECTED") }
	status()
	// The board has a new inventory before the scheduler has. Therefore there are two reloads: the second
	// begins when the first has ended.
	for failures := 2; failures <= 3; failures++ {
		w.edit(fmt.Sprintf("failures_before_down: %d", failures-1), fmt.Sprintf("failures_before_down: %d", failures))
		w.until("the inventory is reloaded", func() bool { return w.app.Board().Inventory().Policy.FailuresBeforeDown == failures })
	}
	before := w.estate.Events.Events()
	w.login()
	w.until("the login is an event", func() bool { return w.estate.Events.Events() > before })
	status()
}

// flakyProxy returns a proxy to a server whose connections can be cut.
func flakyProxy(t *testing.T, to string) *flakylistener.Listener {
	t.Helper()
	l, err := flakylistener.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer in.Close()
				out, err := net.Dial("tcp", to)
				if err != nil {
					return
				}
				defer out.Close()
				go func() {
					_, _ = io.Copy(out, in)
					_ = out.Close()
				}()
				_, _ = io.Copy(in, out)
			}()
		}
	}()
	return l
}
