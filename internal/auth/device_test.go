package auth_test

import (
	"testing"
	"time"

	"vigil/internal/auth"
	"vigil/internal/auth/authdb"
	"vigil/internal/fault"
)

func TestOnlyPendingDeviceLoginsAreLimited(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, h *fixture) {
		store := authdb.NewStore(h.db)
		add := func(n byte) error {
			at := h.clock.now()
			return store.AddDevice(t.Context(), auth.DeviceLogin{
				Code: "BCDF-GHJ" + string('A'+n), Hash: auth.TokenHash{n}, CreatedAt: at, ExpiresAt: at.Add(time.Minute), State: auth.DevicePending,
			}, auth.DeviceLimits{Total: 2, PerNetwork: 2})
		}
		for n := range byte(2) {
			if err := add(n); err != nil {
				t.Fatal(err)
			}
		}
		wantKind(t, "a third pending login", add(2), fault.Limited)
		first, err := store.DeviceByHash(t.Context(), auth.TokenHash{0})
		if err != nil {
			t.Fatal(err)
		}
		first.State = auth.DeviceDenied
		if err := store.DecideDevice(t.Context(), first, nil); err != nil {
			t.Fatal(err)
		}
		if err := add(2); err != nil {
			t.Errorf("after one was denied: %v", err)
		}
	})
}

// TestOneNetworkCannotBlockDeviceLogins starts logins from networks until these may not start more. An IPv4
// address is a network by itself; the first 64 bits of an IPv6 address are its network.
func TestOneNetworkCannotBlockDeviceLogins(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, h *fixture) {
		store, n := authdb.NewStore(h.db), byte(0)
		add := func(source string) error {
			n++
			at := h.clock.now()
			return store.AddDevice(t.Context(), auth.DeviceLogin{
				Code: "BCDF-GHJ" + string('A'+n), Hash: auth.TokenHash{n}, Source: source, CreatedAt: at, ExpiresAt: at.Add(time.Minute), State: auth.DevicePending,
			}, auth.DeviceLimits{Total: 6, PerNetwork: 2})
		}
		for _, source := range []string{"192.0.2.1", "192.0.2.1", "2001:db8::1", "2001:db8::2", "192.0.2.2"} {
			if err := add(source); err != nil {
				t.Fatalf("from %s: %v", source, err)
			}
		}
		wantKind(t, "a third login of an address", add("192.0.2.1"), fault.Limited)
		wantKind(t, "a third login of an IPv6 network", add("2001:db8::3"), fault.Limited)
		if err := add("2001:db8:1::1"); err != nil {
			t.Errorf("from another network: %v", err)
		}
		wantKind(t, "more logins than the limit of all", add("192.0.2.3"), fault.Limited)
	})
}

func TestDeviceLoginsOfOneAddressAreLimited(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, h *fixture) {
		store := authdb.NewStore(h.db)
		devices := &auth.Devices{Registry: auth.NewRegistry(store, h.clock.now), Store: store}
		var err error
		for n := 0; err == nil && n < 1000; n++ {
			_, _, err = devices.Start(t.Context(), "vigil", "192.0.2.1")
		}
		wantKind(t, "many logins from one address", err, fault.Limited)
		if _, _, err := devices.Start(t.Context(), "vigil", "192.0.2.2"); err != nil {
			t.Errorf("from another address: %v", err)
		}
	})
}
