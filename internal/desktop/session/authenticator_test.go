package session

import (
	"context"
	"testing"
	"time"

	"vigil/internal/auth"
)

// tidyStore records from when on records are kept.
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
