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
			}, 2)
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
