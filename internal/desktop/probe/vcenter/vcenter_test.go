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
	l := &fixture{t: t, model: simulator.VPX(), board: desktop.NewBoard(time.Now)}
	l.password.Store("right")
	if err := l.model.Create(); err != nil {
		t.Fatal(err)
	}
	l.model.Service.TLS = &tls.Config{Certificates: []tls.Certificate{leaf}}
	l.model.Service.Listen = &url.URL{User: url.UserPassword("svc", "right"), Host: "127.0.0.1:0"}
	server := l.model.Service.NewServer()
	if l.listener, err = flakylistener.Listen("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	go forward(l.listener, server.URL.Host)
	t.Cleanup(func() { _ = l.listener.Close(); server.Close(); l.model.Remove() })
	l.spec = desktop.VirtualCenter{
		ID: "v", Name: "vc", ServerName: "127.0.0.1", Port: l.listener.Port(), UseSSL: true, UserName: "svc", Enabled: true,
		Trust: desktop.Trust{CAPEM: string(ca.PEM())},
	}
	l.configure(l.spec)
	return l
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
	l := start(t)
	requireStatus(t, "before the first probe", l.probe(0), desktop.VirtualCenterNotYetConnected)
	m := l.probe(1)
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

	l.listener.Set(flakylistener.Down)
	requireStatus(t, "one failure is tolerated", l.probe(1), desktop.VirtualCenterOK)
	unreachable := l.probe(1)
	requireStatus(t, "it is lost", unreachable, desktop.VirtualCenterReconnecting)
	if len(unreachable.Hosts) != 4 {
		t.Error("the hosts of a lost virtual center are not listed")
	}
	requireStatus(t, "it stays lost", l.probe(3), desktop.VirtualCenterDown)
	l.listener.Set(flakylistener.Up)
	requireStatus(t, "it is back", l.probe(1), desktop.VirtualCenterOK)
}

func TestHostsAndDatastoresOfAVirtualCenter(t *testing.T) {
	l := start(t)
	l.probe(1)
	ctx := l.model.Service.Context
	for state, want := range map[types.HostSystemConnectionState]desktop.HostStatus{
		types.HostSystemConnectionStateNotResponding: desktop.HostNotResponding,
		types.HostSystemConnectionStateDisconnected:  desktop.HostDisconnected,
		types.HostSystemConnectionStateConnected:     desktop.HostConnected,
	} {
		host := ctx.Map.Any("HostSystem").(*simulator.HostSystem)
		ctx.WithLock(host, func() { host.Runtime.ConnectionState = state })
		found := false
		for _, h := range l.probe(1).Hosts {
			found = found || h.Details.Name == host.Name && h.Status == want
		}
		if !found {
			t.Errorf("a host that is %s is not shown as %s", state, want)
		}
	}
	store := ctx.Map.Any("Datastore").(*simulator.Datastore)
	ctx.WithLock(store, func() { store.Summary.Accessible, store.Summary.Type = false, "vsan" })
	if d := l.probe(1).Datastores[0]; d.Status != desktop.DatastoreNotAccessible || d.Type != desktop.DatastoreVSAN {
		t.Errorf("datastore = %+v, want NOT_ACCESSIBLE VSAN", d)
	}
	machine := ctx.Map.Any("VirtualMachine").(*simulator.VirtualMachine)
	ctx.WithLock(machine, func() { machine.Config.Template = true })
	if n := l.probe(1).DesktopsCount; n != 3 {
		t.Errorf("desktops = %d, want no template counted", n)
	}
	l.spec.DesktopFolder = "/DC0/vm"
	l.configure(l.spec)
	requireStatus(t, "desktops in a folder", l.probe(1), desktop.VirtualCenterOK)
	l.spec.DesktopFolder = "/DC0/none"
	l.configure(l.spec)
	requireStatus(t, "the folder of desktops is missing", l.probe(2), desktop.VirtualCenterDown)
}

func TestCredentialsOfAVirtualCenter(t *testing.T) {
	l := start(t)
	l.password.Store("wrong")
	requireStatus(t, "the password is wrong", l.probe(1), desktop.VirtualCenterInvalidCredentials)
	l.password.Store("right")
	requireStatus(t, "the password is right", l.probe(1), desktop.VirtualCenterOK)

	// A session that ended is replaced without a failure.
	ended := &simulator.FaultInjectionRule{
		MethodName: "RetrievePropertiesEx", ObjectType: "*", ObjectName: "*", Probability: 1, MaxCount: 1,
		FaultType: simulator.FaultTypeNotAuthenticated, Enabled: true,
	}
	l.model.Service.AddFaultRule(ended)
	requireStatus(t, "the session ended", l.probe(1), desktop.VirtualCenterOK)

	permanent := *ended
	permanent.MaxCount = 0
	l.model.Service.AddFaultRule(&permanent)
	requireStatus(t, "every session ends", l.probe(2), desktop.VirtualCenterCannotLogin)
}

func TestCertificatesOfAVirtualCenter(t *testing.T) {
	l := start(t)
	peerCert := l.probe(1).Servers[0].Certificate
	l.spec.Trust = desktop.Trust{}
	l.configure(l.spec)
	m := l.probe(2)
	requireStatus(t, "its certificate is not trusted", m, desktop.VirtualCenterDown)
	if s := m.Servers[0]; s.Certificate == nil || s.Certificate.Valid || s.ThumbprintAccepted {
		t.Errorf("untrusted: %+v", s)
	}
	l.spec.Trust.Thumbprint = peerCert.Thumbprint
	l.configure(l.spec)
	m = l.probe(1)
	requireStatus(t, "it is pinned", m, desktop.VirtualCenterOK)
	if s := m.Servers[0]; s.Certificate.Valid || !s.ThumbprintAccepted {
		t.Errorf("pinned: %+v", s)
	}
}

func TestOneSessionServesManyProbes(t *testing.T) {
	l := start(t)
	l.model.Service.AddFaultRule(&simulator.FaultInjectionRule{
		MethodName: "Login", ObjectType: "*", ObjectName: "*", Probability: 1, SkipCount: 1,
		FaultType: simulator.FaultTypeGeneric, Enabled: true,
	})
	requireStatus(t, "a second login would fail", l.probe(20), desktop.VirtualCenterOK)
	l.center.Close()
	requireStatus(t, "the second login fails", l.probe(2), desktop.VirtualCenterCannotLogin)
}
