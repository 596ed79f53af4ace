package vcenter_test

import (
	"context"
	"net/url"
	"sync"
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
	leaf, err := pki.SelfSigned(pki.Around(time.Now(), time.Hour), "localhost")
	if err != nil {
		t.Fatal(err)
	}
	c, err := vcenter.New(vcenter.Options{User: "svc", Password: "right", Certificate: leaf, Hosts: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer c.Stop()

	c.SetHost(0, types.HostSystemConnectionStateNotResponding)
	c.SetDatastore(0, false)
	states, accessible, err := read(t.Context(), c, "right")
	if err != nil {
		t.Fatal(err)
	}
	if states[types.HostSystemConnectionStateNotResponding] != 1 || states[types.HostSystemConnectionStateConnected] != 1 || accessible != 1 {
		t.Errorf("hosts %v, %d datastores accessible", states, accessible)
	}
	if _, _, err := read(t.Context(), c, "wrong"); !isLogin(err) {
		t.Errorf("a wrong password: %v", err)
	}
	c.Break(vcenter.NoPermission)
	if _, _, err := read(t.Context(), c, "right"); err == nil || isLogin(err) {
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

func isLogin(err error) bool {
	if !soap.IsSoapFault(err) {
		return false
	}
	_, ok := soap.ToSoapFault(err).VimFault().(types.InvalidLogin)
	return ok
}

func login(ctx context.Context, c *vcenter.Center, password string) (*govmomi.Client, error) {
	u, err := url.Parse(c.URL() + "/sdk")
	if err != nil {
		return nil, err
	}
	u.User = url.UserPassword("svc", password)
	return govmomi.NewClient(ctx, u, true)
}

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

// TestSeveralAreMadeAtOnce creates centers concurrently and checks that each
// has its own settings, into which the simulator writes the server's address.
func TestSeveralAreMadeAtOnce(t *testing.T) {
	t.Parallel()
	leaf, err := pki.SelfSigned(pki.Around(time.Now(), time.Hour), "localhost")
	if err != nil {
		t.Fatal(err)
	}
	centers := make([]*vcenter.Center, 3)
	var wait sync.WaitGroup
	for i := range centers {
		wait.Go(func() {
			c, err := vcenter.New(vcenter.Options{User: "svc", Password: "right", Certificate: leaf})
			if err != nil {
				t.Error(err)
				return
			}
			centers[i] = c
		})
	}
	wait.Wait()
	if t.Failed() {
		return
	}
	issuers := map[any]bool{}
	for _, c := range centers {
		if err := c.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer c.Stop()
		issuers[setting(t, c, "config.vpxd.sso.sts.uri")] = true
	}
	if len(issuers) != len(centers) {
		t.Errorf("the %d servers share the addresses of %d: %v", len(centers), len(issuers), issuers)
	}
}

// setting returns one of a server's settings.
func setting(t *testing.T, c *vcenter.Center, key string) any {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	client, err := login(ctx, c, "right")
	if err != nil {
		t.Fatal(err)
	}
	values, err := object.NewOptionManager(client.Client, *client.ServiceContent.Setting).Query(ctx, key)
	if err != nil || len(values) != 1 {
		t.Fatalf("%s: %v, %v", key, values, err)
	}
	return values[0].GetOptionValue().Value
}
