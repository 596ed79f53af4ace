package vcenter_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/types"

	"vigil/internal/desktop"
	"vigil/internal/desktop/probe/vcenter"
	"vigil/internal/sim/flakylistener"
	"vigil/internal/sim/pki"
)

// fixture is a simulated virtual center whose connections can be cut.
type fixture struct {
	t        *testing.T
	model    *simulator.Model
	listener *flakylistener.Listener
	board    *desktop.Board
	spec     desktop.VirtualCenter
	center   *vcenter.Center
	password atomic.Value
}

func (f *fixture) Secret(context.Context, desktop.SecretRef) (string, error) {
	return f.password.Load().(string), nil
}

// start starts a simulated virtual center. The simulator writes to package
// variables at its start; therefore the tests here do not run in parallel.
func start(t *testing.T) *fixture {
	t.Helper()
	validity := pki.Around(time.Now(), time.Hour)
	ca, err := pki.New("Test CA", validity)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := ca.Leaf(validity, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, model: simulator.VPX(), board: desktop.NewBoard(time.Now)}
	f.password.Store("right")
	if err := f.model.Create(); err != nil {
		t.Fatal(err)
	}
	f.model.Service.TLS = &tls.Config{Certificates: []tls.Certificate{leaf}}
	f.model.Service.Listen = &url.URL{User: url.UserPassword("svc", "right"), Host: "127.0.0.1:0"}
	server := f.model.Service.NewServer()
	if f.listener, err = flakylistener.Listen("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	go forward(f.listener, server.URL.Host)
	t.Cleanup(func() { _ = f.listener.Close(); server.Close(); f.model.Remove() })
	f.spec = desktop.VirtualCenter{
		ID: "v", Name: "vc", ServerName: "127.0.0.1", Port: f.listener.Port(), UseSSL: true, UserName: "svc", Enabled: true,
		Trust: desktop.Trust{CAPEM: string(ca.PEM())},
	}
	f.configure(f.spec)
	return f
}

// forward forwards connections to the simulator.
func forward(from net.Listener, to string) {
	for {
		in, err := from.Accept()
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
			go func() { _, _ = io.Copy(out, in); _ = out.Close() }()
			_, _ = io.Copy(in, out)
		}()
	}
}

func (f *fixture) configure(spec desktop.VirtualCenter) {
	if f.center != nil {
		f.center.Close()
	}
	f.center = vcenter.New(spec, f, time.Now)
	f.t.Cleanup(f.center.Close)
	f.board.Configure(desktop.Inventory{
		Policy:            desktop.DefaultPolicy(),
		ConnectionServers: []desktop.ConnectionServer{{ID: "c", Name: "cs1", Self: true}},
		VirtualCenters:    []desktop.VirtualCenter{spec},
	})
}

// probe probes a number of times and returns the record.
func (f *fixture) probe(times int) desktop.VirtualCenterMonitor {
	f.t.Helper()
	for range times {
		// No timeout: a test machine that stalls for minutes must not look like a
		// failing center.
		reading, certificate, err := f.center.Probe(f.t.Context())
		o := desktop.Observation{Kind: desktop.KindVirtualCenter, ID: "v", At: time.Now(), Reading: reading, Certificate: certificate}
		if err != nil {
			o.Reading, o.Failure = nil, desktop.FailureOf(err)
		}
		f.board.Observe(o)
	}
	return f.board.Records(desktop.KindVirtualCenter)[0].(desktop.VirtualCenterMonitor)
}

func requireStatus(t *testing.T, what string, m desktop.VirtualCenterMonitor, want desktop.VirtualCenterStatus) {
	t.Helper()
	if got := m.Servers[0].Status; got != want {
		t.Errorf("%s: status = %s, want %s (%q)", what, got, want, m.Reasons)
	}
	if want != desktop.VirtualCenterOK && len(m.Reasons) == 0 {
		t.Errorf("%s: status %s has no reason", what, want)
	}
}

func TestVirtualCenterProbe(t *testing.T) {
	f := start(t)
	requireStatus(t, "before the first probe", f.probe(0), desktop.VirtualCenterNotYetConnected)
	m := f.probe(1)
	requireStatus(t, "no problems", m, desktop.VirtualCenterOK)
	if len(m.Hosts) != 4 || len(m.Datastores) != 1 || m.DesktopsCount != 4 || m.Details.Version == "" || m.Details.APIVersion == "" {
		t.Errorf("record = %+v", m)
	}
	h := m.Hosts[0]
	if h.Details.Name != "DC0_C0_H0" || h.Details.ClusterName != "DC0_C0" || h.Status != desktop.HostConnected ||
		*h.CPUCoreCount == 0 || *h.CPUMHz == 0 || *h.MemorySizeMB == 0 || h.Details.Version == "" {
		t.Errorf("host = %+v", h)
	}
	d := m.Datastores[0]
	if d.Details.Path != "/DC0/datastore/LocalDS_0" || d.Status != desktop.DatastoreAccessible || d.CapacityMB == 0 {
		t.Errorf("datastore = %+v", d)
	}
	if s := m.Servers[0]; s.ThumbprintAccepted || !s.Certificate.Valid {
		t.Errorf("certificate = %+v, accepted %v", s.Certificate, s.ThumbprintAccepted)
	}

	f.listener.Set(flakylistener.Down)
	requireStatus(t, "one failure is tolerated", f.probe(1), desktop.VirtualCenterOK)
	unreachable := f.probe(1)
	requireStatus(t, "it is lost", unreachable, desktop.VirtualCenterReconnecting)
	if len(unreachable.Hosts) != 4 {
		t.Error("the hosts of a lost virtual center are not listed")
	}
	requireStatus(t, "it stays lost", f.probe(3), desktop.VirtualCenterDown)
	f.listener.Set(flakylistener.Up)
	requireStatus(t, "it is back", f.probe(1), desktop.VirtualCenterOK)
}

func TestHostsAndDatastoresOfAVirtualCenter(t *testing.T) {
	f := start(t)
	f.probe(1)
	ctx := f.model.Service.Context
	for state, want := range map[types.HostSystemConnectionState]desktop.HostStatus{
		types.HostSystemConnectionStateNotResponding: desktop.HostNotResponding,
		types.HostSystemConnectionStateDisconnected:  desktop.HostDisconnected,
		types.HostSystemConnectionStateConnected:     desktop.HostConnected,
	} {
		host := ctx.Map.Any("HostSystem").(*simulator.HostSystem)
		ctx.WithLock(host, func() { host.Runtime.ConnectionState = state })
		found := false
		for _, h := range f.probe(1).Hosts {
			found = found || h.Details.Name == host.Name && h.Status == want
		}
		if !found {
			t.Errorf("a host that is %s is not shown as %s", state, want)
		}
	}
	store := ctx.Map.Any("Datastore").(*simulator.Datastore)
	ctx.WithLock(store, func() { store.Summary.Accessible, store.Summary.Type = false, "vsan" })
	if d := f.probe(1).Datastores[0]; d.Status != desktop.DatastoreNotAccessible || d.Type != desktop.DatastoreVSAN {
		t.Errorf("datastore = %+v, want NOT_ACCESSIBLE VSAN", d)
	}
	machine := ctx.Map.Any("VirtualMachine").(*simulator.VirtualMachine)
	ctx.WithLock(machine, func() { machine.Config.Template = true })
	if n := f.probe(1).DesktopsCount; n != 3 {
		t.Errorf("desktops = %d, want 3, because a template does not count", n)
	}
	f.spec.DesktopFolder = "/DC0/vm"
	f.configure(f.spec)
	requireStatus(t, "desktops in a folder", f.probe(1), desktop.VirtualCenterOK)
	f.spec.DesktopFolder = "/DC0/none"
	f.configure(f.spec)
	requireStatus(t, "the folder of desktops is missing", f.probe(2), desktop.VirtualCenterDown)
}

func TestCredentialsOfAVirtualCenter(t *testing.T) {
	f := start(t)
	f.password.Store("wrong")
	requireStatus(t, "the password is wrong", f.probe(1), desktop.VirtualCenterInvalidCredentials)
	f.password.Store("right")
	requireStatus(t, "the password is right", f.probe(1), desktop.VirtualCenterOK)

	// A session that ended is replaced without a failure.
	ended := &simulator.FaultInjectionRule{
		MethodName: "RetrievePropertiesEx", ObjectType: "*", ObjectName: "*", Probability: 1, MaxCount: 1,
		FaultType: simulator.FaultTypeNotAuthenticated, Enabled: true,
	}
	f.model.Service.AddFaultRule(ended)
	requireStatus(t, "the session ended", f.probe(1), desktop.VirtualCenterOK)

	permanent := *ended
	permanent.MaxCount = 0 // no maximum
	f.model.Service.AddFaultRule(&permanent)
	requireStatus(t, "every session ends", f.probe(2), desktop.VirtualCenterCannotLogin)
}

func TestCertificatesOfAVirtualCenter(t *testing.T) {
	f := start(t)
	peerCert := f.probe(1).Servers[0].Certificate
	f.spec.Trust = desktop.Trust{}
	f.configure(f.spec)
	m := f.probe(2)
	requireStatus(t, "its certificate is not trusted", m, desktop.VirtualCenterDown)
	if s := m.Servers[0]; s.Certificate == nil || s.Certificate.Valid || s.ThumbprintAccepted {
		t.Errorf("untrusted: %+v", s)
	}
	f.spec.Trust.Thumbprint = peerCert.Thumbprint
	f.configure(f.spec)
	m = f.probe(1)
	requireStatus(t, "it is pinned", m, desktop.VirtualCenterOK)
	if s := m.Servers[0]; s.Certificate.Valid || !s.ThumbprintAccepted {
		t.Errorf("pinned: %+v", s)
	}
}

func TestOneSessionServesManyProbes(t *testing.T) {
	f := start(t)
	f.model.Service.AddFaultRule(&simulator.FaultInjectionRule{
		MethodName: "Login", ObjectType: "*", ObjectName: "*", Probability: 1, SkipCount: 1,
		FaultType: simulator.FaultTypeGeneric, Enabled: true,
	})
	requireStatus(t, "a second login would fail", f.probe(20), desktop.VirtualCenterOK)
	f.center.Close()
	requireStatus(t, "the second login fails", f.probe(2), desktop.VirtualCenterCannotLogin)
}
