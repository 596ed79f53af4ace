package eventdb

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"vigil/internal/desktop"
)

// store is a writer that can be unavailable.
type store struct {
	mu          sync.Mutex
	unavailable bool
	tried       int
	events      []string
}

func (s *store) Write(_ context.Context, events []desktop.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tried++
	if s.unavailable {
		return errors.New("the database is unavailable")
	}
	for _, e := range events {
		s.events = append(s.events, e.Type)
	}
	return nil
}

func (s *store) set(unavailable bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unavailable = unavailable
}

func event(n int) desktop.Event { return desktop.Event{Type: strconv.Itoa(n)} }

func TestLogQueuesEventsWhileTheDatabaseIsUnavailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{}
		l := NewLog()
		var dropped atomic.Int64
		l.Failed = func(_ error, n int) { dropped.Store(int64(n)) }
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); l.Run(ctx) }()
		l.Record(event(-1)) // discarded, and not counted as dropped: there is no database yet
		l.Use(s)
		s.set(true)
		for n := range maxWaiting + 500 {
			l.Record(event(n))
		}
		time.Sleep(10 * time.Minute)
		s.mu.Lock()
		if s.tried < 8 || s.tried > 20 {
			t.Errorf("an unavailable database was tried %d times in 10 minutes, want 8 to 20 times", s.tried)
		}
		s.mu.Unlock()
		if n := dropped.Load(); n != 500 {
			t.Errorf("%d events are lost, want the 500 oldest", n)
		}
		s.set(false)
		time.Sleep(2 * time.Minute)
		s.mu.Lock()
		if n := len(s.events); n != maxWaiting || s.events[0] != "500" || s.events[n-1] != strconv.Itoa(maxWaiting+499) {
			t.Errorf("%d events were written, first %q; want %d, from 500 on", n, s.events[:min(n, 3)], maxWaiting)
		}
		s.mu.Unlock()
		stop()
		<-done
	})
}

func TestLogWritesTheQueueBeforeItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{}
		l := NewLog()
		l.Use(s)
		l.Record(event(1), event(2))
		ctx, stop := context.WithCancel(t.Context())
		stop()
		l.Run(ctx)
		if len(s.events) != 2 {
			t.Errorf("%d events were written, want 2", len(s.events))
		}
	})
}

// slowStore is a writer whose writes take a minute and fail.
type slowStore struct{}

func (slowStore) Write(context.Context, []desktop.Event) error {
	time.Sleep(time.Minute)
	return errors.New("the database is closed")
}

// TestEventsOfARemovedDatabaseAreDiscarded replaces the database while a batch is written.
func TestEventsOfARemovedDatabaseAreDiscarded(t *testing.T) {
	type change string
	const (
		remove  change = "remove"
		replace change = "replace"
	)
	for _, tt := range []struct {
		name   string
		during []change // the changes of the database during the write
		want   int      // events that the last database gets
	}{
		{"removed", []change{remove}, 0},
		{"removed and configured again", []change{remove, replace}, 0},
		{"replaced", []change{replace}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, last := NewLog(), &store{}
				l.Use(slowStore{})
				ctx, stop := context.WithCancel(t.Context())
				done := make(chan struct{})
				go func() { defer close(done); l.Run(ctx) }()
				l.Record(event(1), event(2))
				synctest.Wait()
				for _, c := range tt.during {
					if c == remove {
						l.Use(nil)
					} else {
						l.Use(last)
					}
				}
				time.Sleep(5 * time.Minute)
				l.Use(last)
				time.Sleep(5 * time.Minute)
				stop()
				<-done
				if n := len(last.events); n != tt.want {
					t.Errorf("%d events were written, want %d", n, tt.want)
				}
			})
		})
	}
}

func TestLogTriesAnotherDatabaseAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken, available := &store{unavailable: true}, &store{}
		l := NewLog()
		l.Use(broken)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); l.Run(ctx) }()
		l.Record(event(1))
		time.Sleep(30 * time.Second)
		l.Use(available)
		synctest.Wait()
		available.mu.Lock()
		defer available.mu.Unlock()
		if len(available.events) != 1 {
			t.Errorf("%d events were written, want 1", len(available.events))
		}
		stop()
		<-done
	})
}
