package directory

import (
	"testing"
	"testing/synctest"
	"time"

	"vigil/internal/desktop"
)

// TestBindsOfAnAcceptedPasswordDoNotWaitForEachOther simulates the start of a server with many logins at a slow directory:
// they wait until the password of the service account is accepted, and not for each other after that.
func TestBindsOfAnAcceptedPasswordDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := New(Options{})
		c.Configure(desktop.Inventory{Domains: []desktop.Domain{{ID: "d1", DNSName: "corp.example"}}})
		d, err := c.domain("d1")
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		ended := make(chan error, 20)
		for range cap(ended) {
			go func() {
				// The hash of the password must not be zero, which would count as accepted.
				ended <- c.bindService(t.Context(), d, [32]byte{1}, func() error { time.Sleep(time.Second); return nil })
			}()
		}
		for range cap(ended) {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("the binds took %s, want 2s: one, and then all others", took)
		}
	})
}
