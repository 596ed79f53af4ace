package directory_test

import (
	"sync"
	"testing"
	"time"

	"vigil/internal/desktop"
	sim "vigil/internal/sim/directory"
)

func TestWrongServicePasswordDoesNotLockTheServiceAccount(t *testing.T) {
	t.Parallel()
	s := start(t, 1, nil)
	if _, err := s.client.Survey(t.Context(), "d1"); err != nil { // reads the lockout window
		t.Fatal(err)
	}
	s.password.Store("outdated")
	for range 100 {
		if _, err := s.client.Survey(t.Context(), "d1"); err == nil || desktop.FailureOf(err).Cause != desktop.Refused {
			t.Fatalf("Survey = %v, want it refused", err)
		}
	}
	if n := s.controllers[0].BadPasswords("svc"); n != 1 {
		t.Errorf("the directory counted %d wrong passwords, want 1", n)
	}
	for range 10 { // the password is retried, but too rarely to lock the account
		s.clock.Add(int64(32 * time.Minute))
		_, _ = s.client.Survey(t.Context(), "d1")
	}
	if s.controllers[0].Locked("svc") {
		t.Error("the service account is locked")
	}
	s.password.Store("service") // a changed secret is tried at once
	if _, err := s.client.Survey(t.Context(), "d1"); err != nil {
		t.Errorf("Survey with the right password = %v", err)
	}
}

// TestWrongServicePasswordIsTriedOnceByConcurrentUsers simulates the start of a server: the survey, the
// probe of the certificate authorities and logins bind as the service account together.
func TestWrongServicePasswordIsTriedOnceByConcurrentUsers(t *testing.T) {
	t.Parallel()
	s := start(t, 1, nil)
	s.password.Store("outdated")
	wantRefused := func(err error) {
		if err == nil || desktop.FailureOf(err).Cause != desktop.Refused {
			t.Errorf("%v, want it refused", err)
		}
	}
	use := func() {
		var wait sync.WaitGroup
		for range 4 {
			wait.Go(func() {
				_, err := s.client.Survey(t.Context(), "d1")
				wantRefused(err)
			})
			wait.Go(func() {
				_, err := s.client.PublicKeyServices(t.Context(), "d1")
				wantRefused(err)
			})
			wait.Go(func() {
				_, err := s.client.Login(t.Context(), "d1", "alice", "right")
				wantRefused(err)
			})
		}
		wait.Wait()
	}
	use()
	// A reload of the inventory does not change the account, so the client still knows that the password was refused.
	s.client.Configure(desktop.Inventory{Domains: []desktop.Domain{s.spec}, Administrators: []desktop.AdministratorGroup{{DomainID: "d1", Name: "root admins"}}})
	use()
	if n := s.controllers[0].BadPasswords("svc"); n != 1 {
		t.Errorf("the directory counted %d wrong passwords, want 1", n)
	}
	s.password.Store("service")
	if _, err := s.client.Survey(t.Context(), "d1"); err != nil {
		t.Errorf("Survey with the right password = %v", err)
	}
}

// TestAcceptedServicePasswordIsNotRefusedAgain changes the password in the directory to the configured one, which was
// refused before. The first survey that succeeds then reads an observation window that is longer than the time since
// that refusal.
func TestAcceptedServicePasswordIsNotRefusedAgain(t *testing.T) {
	t.Parallel()
	s := start(t, 1, nil)
	s.password.Store("outdated")
	if _, err := s.client.Survey(t.Context(), "d1"); err == nil {
		t.Fatal("a wrong password is accepted")
	}
	s.controllers[0].Change(func(d *sim.Domain) {
		d.LockoutWindow = 4 * time.Hour
		for i := range d.Users {
			if d.Users[i].Name == "svc" {
				d.Users[i].Password = "outdated"
			}
		}
	})
	s.clock.Add(int64(32 * time.Minute))
	for range 2 {
		if _, err := s.client.Survey(t.Context(), "d1"); err != nil {
			t.Errorf("Survey with the accepted password = %v", err)
		}
	}
}
