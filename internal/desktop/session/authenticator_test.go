package session

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/auth"
	"vigil/internal/desktop"
	"vigil/internal/secret"
)

// tidyStore keeps the time before which failures were deleted.
type tidyStore struct {
	Store
	failures time.Time
}

func (*tidyStore) ForgetSessions(context.Context, time.Time) error      { return nil }
func (*tidyStore) ForgetLoginNetworks(context.Context, time.Time) error { return nil }
func (*tidyStore) LoginNetworks(context.Context) ([]auth.LoginNetwork, error) {
	return nil, nil
}

func (s *tidyStore) ForgetFailures(_ context.Context, before time.Time) error {
	s.failures = before
	return nil
}

// windowDirectory is a directory with the given longest window.
type windowDirectory struct {
	Directory
	window time.Duration
}

func (d windowDirectory) LongestWindow() time.Duration { return d.window }

func TestFailuresAreKeptAsLongAsADirectoryCountsThem(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct{ window, want time.Duration }{
		{0, day}, {30 * time.Minute, day}, {30 * day, 30 * day},
	} {
		s := &tidyStore{}
		a := NewAuthenticator(Options{Store: s, Directory: windowDirectory{window: tt.window}, Now: func() time.Time { return now }})
		if err := a.Tidy(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := now.Sub(s.failures); got != tt.want {
			t.Errorf("window %s: failures are kept for %s, want %s", tt.window, got, tt.want)
		}
	}
}

// fullStore cannot store sessions.
type fullStore struct{ memoryStore }

var errFull = errors.New("the disk is full")

func (*fullStore) AddSession(context.Context, Session) error { return errFull }

// openDirectory accepts every password.
type openDirectory struct{ Directory }

func (openDirectory) Find(name string) (desktop.Domain, bool) {
	return desktop.Domain{ID: "d", DNSName: name}, true
}
func (openDirectory) Lockout(desktop.ID) desktop.LockoutPolicy { return policy }
func (openDirectory) Login(_ context.Context, d desktop.Domain, name string, _ secret.Text) (User, error) {
	return User{SID: "S-1-5-21-1", Domain: "CORP", Name: name}, nil
}

func TestLoginWhoseSessionIsNotStoredIsReported(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	var reported []Event
	a := NewAuthenticator(Options{
		Store: &fullStore{memoryStore{all: map[string]Failures{}}}, Directory: openDirectory{}, Now: func() time.Time { return now },
		Report: func(_ context.Context, e Event) { reported = append(reported, e) },
	})
	if _, err := a.Login(t.Context(), Credentials{Domain: "corp.example", Username: "ada", Source: "192.0.2.1"}); !errors.Is(err, errFull) {
		t.Errorf("login: %v", err)
	}
	want := []Event{{
		At: now, Action: "login", Domain: "CORP", Username: "ada", SID: "S-1-5-21-1", Source: "192.0.2.1", Refused: "the session could not be stored",
	}}
	if diff := cmp.Diff(want, reported); diff != "" {
		t.Errorf("reported (-want +got):\n%s", diff)
	}
}
