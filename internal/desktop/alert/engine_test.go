package alert_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/alert"
	"vigil/internal/desktop/store"
	"vigil/internal/secret/secrettest"
	"vigil/internal/sqldb/dbtest"
)

// fixture implements both a board and a sender.
type fixture struct {
	mu     sync.Mutex
	clock  time.Time
	status desktop.GatewayStatus
	broken bool
	sent   []string
}

func (f *fixture) now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.clock
}

func (f *fixture) set(s desktop.GatewayStatus, later time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.status, f.clock = s, f.clock.Add(later)
}

// Records implements [alert.Board].
func (f *fixture) Records(k desktop.Kind) []desktop.Record {
	f.mu.Lock()
	defer f.mu.Unlock()
	if k != desktop.KindGateway {
		return nil
	}
	return []desktop.Record{desktop.GatewayMonitor{ID: "g1", Name: "edge", Status: f.status}}
}

// Send implements [alert.Sender].
func (f *fixture) Send(_ context.Context, _ alert.Channel, d alert.Delivery) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.broken {
		return errors.New("the receiver is down")
	}
	f.sent = append(f.sent, string(d.Notice.Alert.State))
	return nil
}

func (f *fixture) take() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	sent := f.sent
	f.sent = nil
	return sent
}

func newEngine(t *testing.T) (*fixture, *alert.Engine, *store.Store) {
	t.Helper()
	db := dbtest.Open(t, dbtest.SQLite(t))
	if err := store.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	o := &fixture{clock: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), status: desktop.GatewayOK}
	s := store.New(db, secrettest.NewBox(t), o.now)
	e := alert.NewEngine(alert.Options{Store: s, Board: o, Send: o, Now: o.now, Log: slog.New(slog.DiscardHandler)})
	err := s.AddRule(t.Context(), alert.Rule{
		ID: "r1", Name: "stale", Enabled: true, Version: 1,
		Condition: alert.Condition{Type: alert.StatusIs, Statuses: []string{"STALE"}},
		Channels:  []alert.Channel{{Type: alert.Mail, To: []string{"ops@corp.example"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return o, e, s
}

func round(t *testing.T, e *alert.Engine) {
	t.Helper()
	if err := errors.Join(e.Evaluate(t.Context()), e.Deliver(t.Context())); err != nil {
		t.Fatal(err)
	}
}

func wantSent(t *testing.T, o *fixture, want ...string) {
	t.Helper()
	got := o.take()
	if len(got) != len(want) {
		t.Fatalf("sent %q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("sent %q, want %q", got, want)
		}
	}
}

func TestAlertSendsOneNoticeAtItsStartAndOneAtItsEnd(t *testing.T) {
	t.Parallel()
	o, e, _ := newEngine(t)
	round(t, e)
	wantSent(t, o)
	o.set(desktop.GatewayStale, time.Second)
	for range 3 {
		round(t, e)
	}
	wantSent(t, o, "FIRING")
	o.set(desktop.GatewayOK, time.Second)
	for range 3 {
		round(t, e)
	}
	wantSent(t, o, "RESOLVED")
}

func TestNoticesAreRetriedUntilDeliveredOrExpired(t *testing.T) {
	t.Parallel()
	o, e, _ := newEngine(t)
	o.broken = true
	o.set(desktop.GatewayStale, time.Second)
	round(t, e)
	wantSent(t, o)
	o.broken = false
	round(t, e) // the retry is not due yet
	wantSent(t, o)
	o.set(desktop.GatewayStale, time.Minute)
	round(t, e)
	wantSent(t, o, "FIRING")

	o.broken = true
	o.set(desktop.GatewayOK, time.Second)
	round(t, e)
	o.set(desktop.GatewayOK, 25*time.Hour)
	o.broken = false
	round(t, e)
	wantSent(t, o)
}

func TestDisablingARuleEndsItsAlerts(t *testing.T) {
	t.Parallel()
	o, e, s := newEngine(t)
	o.set(desktop.GatewayStale, time.Second)
	round(t, e)
	wantSent(t, o, "FIRING")
	r, err := s.Rule(t.Context(), "r1")
	if err != nil {
		t.Fatal(err)
	}
	r.Enabled, r.Version = false, 2
	if err := s.ReplaceRule(t.Context(), r, 1); err != nil {
		t.Fatal(err)
	}
	round(t, e)
	wantSent(t, o, "RESOLVED")
}

func TestTwoEnginesOnOneStoreSendOneNotice(t *testing.T) {
	t.Parallel()
	o, e, s := newEngine(t)
	other := alert.NewEngine(alert.Options{Store: s, Board: o, Send: o, Now: o.now, Log: slog.New(slog.DiscardHandler)})
	o.set(desktop.GatewayStale, time.Second)
	var wait sync.WaitGroup
	for _, each := range []*alert.Engine{e, other, e, other} {
		wait.Go(func() {
			if err := errors.Join(each.Evaluate(t.Context()), each.Deliver(t.Context())); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	round(t, e)
	wantSent(t, o, "FIRING")
}

func TestEngineWakesAndStops(t *testing.T) {
	t.Parallel()
	o, e, _ := newEngine(t)
	e.Start(t.Context())
	defer e.Stop()
	o.set(desktop.GatewayStale, time.Second)
	e.Wake()
	deadline := time.Now().Add(2 * time.Minute)
	for {
		if got := o.take(); len(got) == 1 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("a woken engine sent no notice")
		}
		time.Sleep(5 * time.Millisecond)
		e.Wake()
	}
}
