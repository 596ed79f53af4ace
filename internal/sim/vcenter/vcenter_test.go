package vcenter_test

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/vmware/govmomi"
	"github.com/vmware/govmomi/object"
	"github.com/vmware/govmomi/view"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"

	"vigil/internal/sim/flakylistener"
	"vigil/internal/sim/pki"
	"vigil/internal/sim/vcenter"
)

func TestCenterIsReadableUntilAFaultIsSet(t *testing.T) {
	t.Parallel()
	c := start(t, vcenter.Options{User: "svc", Password: "right", Hosts: 2})

	c.SetHost(0, vcenter.NotResponding)
	c.SetDatastore(0, false)
	states, accessible, err := read(t.Context(), c, "right")
	if err != nil {
		t.Fatal(err)
	}
	if states[types.HostSystemConnectionStateNotResponding] != 1 || states[types.HostSystemConnectionStateConnected] != 1 || accessible != 1 {
		t.Errorf("hosts %v, %d datastores accessible; want one host connected, one not responding, and one datastore accessible", states, accessible)
	}
	if _, _, err := read(t.Context(), c, "wrong"); !isFault[types.InvalidLogin](err) {
		t.Errorf("a wrong password: %v", err)
	}
	c.Break(vcenter.NoPermission)
	if _, _, err := read(t.Context(), c, "right"); !isFault[types.NoPermission](err) {
		t.Errorf("no permission: %v", err)
	}
	c.Break(vcenter.Healthy)
	c.Listener().Set(flakylistener.Down)
	if _, _, err := read(t.Context(), c, "right"); err == nil {
		t.Error("a center that is down answers")
	}
	c.Listener().Set(flakylistener.Up)
	if _, _, err := read(t.Context(), c, "right"); err != nil {
		t.Errorf("after the fault was removed: %v", err)
	}
}

// start starts a virtual center and stops it at the end of the test.
func start(t *testing.T, o vcenter.Options) *vcenter.Center {
	t.Helper()
	leaf, err := pki.SelfSigned(pki.Around(time.Now(), time.Hour), "localhost")
	if err != nil {
		t.Fatal(err)
	}
	o.Certificate = leaf
	c := vcenter.New(o)
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop() })
	return c
}

// isFault reports whether an error is a fault of the virtual center of type T.
func isFault[T any](err error) bool {
	if !soap.IsSoapFault(err) {
		return false
	}
	_, ok := soap.ToSoapFault(err).VimFault().(T)
	return ok
}

func login(ctx context.Context, c *vcenter.Center, password string) (*govmomi.Client, error) {
	u, err := url.Parse(c.URL() + "/sdk")
	if err != nil {
		return nil, err
	}
	u.User = url.UserPassword("svc", password)
	return govmomi.NewClient(ctx, u, true) // true: accept the self-signed certificate
}

// read logs in and returns the number of hosts by connection state and of accessible datastores.
func read(ctx context.Context, c *vcenter.Center, password string) (map[types.HostSystemConnectionState]int, int, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	client, err := login(ctx, c, password)
	if err != nil {
		return nil, 0, err
	}
	v, err := view.NewManager(client.Client).CreateContainerView(ctx, client.ServiceContent.RootFolder, []string{"HostSystem", "Datastore"}, true)
	if err != nil {
		return nil, 0, err
	}
	var hosts []mo.HostSystem
	if err := v.Retrieve(ctx, []string{"HostSystem"}, []string{"runtime.connectionState"}, &hosts); err != nil {
		return nil, 0, err
	}
	var stores []mo.Datastore
	if err := v.Retrieve(ctx, []string{"Datastore"}, []string{"summary"}, &stores); err != nil {
		return nil, 0, err
	}
	states, accessible := map[types.HostSystemConnectionState]int{}, 0
	for _, h := range hosts {
		states[h.Runtime.ConnectionState]++
	}
	for _, s := range stores {
		if s.Summary.Accessible {
			accessible++
		}
	}
	return states, accessible, nil
}

// TestClientsReadAllPages reads the 65 virtual machines of a folder; a response has at most 20.
func TestClientsReadAllPages(t *testing.T) {
	t.Parallel()
	c := start(t, vcenter.Options{User: "svc", Password: "right", Desktops: 65})
	client, err := login(t.Context(), c, "right")
	if err != nil {
		t.Fatal(err)
	}
	folder, err := object.NewSearchIndex(client.Client).FindByInventoryPath(t.Context(), "/DC0/vm")
	if err != nil || folder == nil {
		t.Fatal(folder, err)
	}
	if none, err := object.NewSearchIndex(client.Client).FindByInventoryPath(t.Context(), "/DC0/none"); err != nil || none != nil {
		t.Errorf("a folder that does not exist: %v, %v", none, err)
	}
	v, err := view.NewManager(client.Client).CreateContainerView(t.Context(), folder.Reference(), []string{"VirtualMachine"}, true)
	if err != nil {
		t.Fatal(err)
	}
	var machines []mo.VirtualMachine
	if err := v.Retrieve(t.Context(), []string{"VirtualMachine"}, []string{"name", "parent", "config.template"}, &machines); err != nil {
		t.Fatal(err)
	}
	if len(machines) != 65 {
		t.Fatalf("%d machines, want 65 in the folder", len(machines))
	}
	if machines[64].Name != "DC0_C0_RP0_VM64" || *machines[64].Parent != folder.Reference() || machines[64].Config.Template {
		t.Errorf("the last machine is %s in %v, template %t", machines[64].Name, machines[64].Parent, machines[64].Config.Template)
	}
	var hosts []mo.HostSystem
	all, err := view.NewManager(client.Client).CreateContainerView(t.Context(), client.ServiceContent.RootFolder, []string{"HostSystem"}, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := all.Retrieve(t.Context(), []string{"HostSystem"}, []string{"summary.hardware", "summary.config.product", "config.sharedPassthruGpuTypes"}, &hosts); err != nil {
		t.Fatal(err)
	}
	if len(hosts) != 3 || hosts[0].Summary.Hardware.NumCpuCores != 64 || hosts[0].Summary.Config.Product.ApiVersion != "8.0.3.0" {
		t.Errorf("hosts = %+v", hosts)
	}
	if err := client.Logout(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := all.Retrieve(t.Context(), []string{"HostSystem"}, []string{"name"}, &hosts); !isFault[types.NotAuthenticated](err) {
		t.Errorf("after a logout: %v", err)
	}
}
