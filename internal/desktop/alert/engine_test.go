package alert_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
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
	others int // further gateways with the same status
	broken bool
	sent   []string

	hold    chan struct{}                                     // receivers answer when it is closed; may be nil
	receive func(ctx context.Context, ch alert.Channel) error // called with every notice; may be nil
}

func (f *fixture) now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.clock
}

// set sets the status of the gateway and advances the clock.
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
	all := []desktop.Record{desktop.GatewayMonitor{ID: "g1", Name: "edge", Status: f.status}}
	for n := range f.others {
		all = append(all, desktop.GatewayMonitor{ID: desktop.ID(fmt.Sprint("other", n)), Name: "other", Status: f.status})
	}
	return all
}

// Send implements [alert.Sender].
func (f *fixture) Send(ctx context.Context, ch alert.Channel, d alert.Delivery) error {
	if f.hold != nil {
		<-f.hold
	}
	if f.receive != nil {
		if err := f.receive(ctx, ch); err != nil {
			return err
		}
	}
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

// TestEvaluationContinuesWhileAReceiverHangs sends to a receiver that does not answer.
func TestEvaluationContinuesWhileAReceiverHangs(t *testing.T) {
	t.Parallel()
	o, e, s := newEngine(t)
	o.hold = make(chan struct{})
	o.set(desktop.GatewayStale, time.Second)
	e.Start(t.Context())
	defer e.Stop()
	defer close(o.hold)
	waitForState(t, s, e, alert.Firing)
	o.set(desktop.GatewayOK, time.Second)
	waitForState(t, s, e, alert.Resolved)
}

func waitForState(t *testing.T, s *store.Store, e *alert.Engine, want alert.State) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		all, err := s.Alerts(t.Context(), time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if len(all) == 1 && all[0].State == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("alerts %+v, want one that is %s", all, want)
		}
		e.Wake()
	}
}

// TestReceiversDoNotWaitForEachOther has two channels, and the first answers only after the
// second has received its notice.
func TestReceiversDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	o, e, s := newEngine(t)
	changeChannels(t, s, mailTo("slow@corp.example"), mailTo("fast@corp.example"))
	received := make(chan struct{})
	o.receive = func(_ context.Context, ch alert.Channel) error {
		if ch.To[0] == "fast@corp.example" {
			close(received)
			return nil
		}
		select {
		case <-received:
			return nil
		case <-time.After(time.Minute):
			return errors.New("the other receiver got no notice meanwhile")
		}
	}
	o.set(desktop.GatewayStale, time.Second)
	round(t, e)
	wantSent(t, o, "FIRING", "FIRING")
}

// TestSlowDeliveriesAreNotSentAfterTheirLease has two notices about one alert, which are sent in
// order. The first takes so long that the lease of the second could expire while it is sent;
// the second is therefore left to a later Deliver, of this process or another.
func TestSlowDeliveriesAreNotSentAfterTheirLease(t *testing.T) {
	t.Parallel()
	o, e, _ := newEngine(t)
	o.receive = func(context.Context, alert.Channel) error {
		o.set(desktop.GatewayOK, 40*time.Second)
		return nil
	}
	for _, s := range []desktop.GatewayStatus{desktop.GatewayStale, desktop.GatewayOK} {
		o.set(s, time.Second)
		if err := e.Evaluate(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Deliver(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantSent(t, o, "FIRING")
	o.set(desktop.GatewayOK, time.Minute)
	if err := e.Deliver(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantSent(t, o, "RESOLVED")
}

func mailTo(address string) alert.Channel {
	return alert.Channel{Type: alert.Mail, To: []string{address}}
}

// changeChannels replaces the channels of the rule.
func changeChannels(t *testing.T, s *store.Store, channels ...alert.Channel) {
	t.Helper()
	r, err := s.Rule(t.Context(), "r1")
	if err != nil {
		t.Fatal(err)
	}
	old := r.Version
	r.Version, r.Channels = old+1, channels
	if err := s.ReplaceRule(t.Context(), r, old); err != nil {
		t.Fatal(err)
	}
}

// TestNoticesOfAGroupKeepTheirOrder has an alert that ends while its first notice is retried. A receiver that got
// the end first would show the alert as firing for ever.
func TestNoticesOfAGroupKeepTheirOrder(t *testing.T) {
	t.Parallel()
	o, e, _ := newEngine(t)
	o.broken = true
	o.set(desktop.GatewayStale, time.Second)
	round(t, e)
	o.broken = false
	o.set(desktop.GatewayOK, time.Second)
	round(t, e) // the retry is not due yet, and the end waits for it
	wantSent(t, o)
	o.set(desktop.GatewayOK, time.Minute)
	round(t, e)
	wantSent(t, o, "FIRING", "RESOLVED")

	o.broken = true
	for _, s := range []desktop.GatewayStatus{desktop.GatewayStale, desktop.GatewayOK} {
		o.set(s, time.Second)
		if err := e.Evaluate(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	calls := 0
	o.receive = func(context.Context, alert.Channel) error { calls++; return nil }
	round(t, e) // both are due: the end is not sent after the start has failed
	if calls != 1 {
		t.Errorf("%d notices were sent to a receiver that is down, want 1", calls)
	}
	o.broken = false
	o.set(desktop.GatewayOK, 2*time.Minute)
	round(t, e)
	wantSent(t, o, "FIRING", "RESOLVED")
}

// TestNewNoticeIsRetriedSoonBehindAnOldOne has an alert that ends while its receiver has been down for hours. The
// retries of the first notice are an hour apart then, and the end would wait as long after the receiver is up again.
func TestNewNoticeIsRetriedSoonBehindAnOldOne(t *testing.T) {
	t.Parallel()
	// The alert ends between two retries, or while a retry is being sent.
	for _, duringRetry := range []bool{false, true} {
		o, e, _ := newEngine(t)
		o.broken = true
		for range 16 {
			o.set(desktop.GatewayStale, time.Hour)
			round(t, e)
		}
		if duringRetry {
			o.receive = func(ctx context.Context, _ alert.Channel) error {
				o.set(desktop.GatewayOK, time.Second)
				return e.Evaluate(ctx)
			}
			o.set(desktop.GatewayStale, time.Hour)
		} else {
			o.set(desktop.GatewayOK, 10*time.Minute)
		}
		round(t, e)
		o.broken, o.receive = false, nil
		o.set(desktop.GatewayOK, time.Minute)
		round(t, e)
		wantSent(t, o, "FIRING", "RESOLVED")
	}
}

// TestRetriedNoticeGoesToItsOwnChannel removes the first channel of a rule while the notices for both are retried.
func TestRetriedNoticeGoesToItsOwnChannel(t *testing.T) {
	t.Parallel()
	o, e, s := newEngine(t)
	changeChannels(t, s, mailTo("first@corp.example"), mailTo("second@corp.example"))
	o.broken = true
	o.set(desktop.GatewayStale, time.Second)
	round(t, e)
	changeChannels(t, s, mailTo("second@corp.example"), mailTo("third@corp.example"))
	var mu sync.Mutex
	var got []string
	o.receive = func(_ context.Context, ch alert.Channel) error {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, ch.To...)
		return nil
	}
	o.broken = false
	o.set(desktop.GatewayStale, time.Minute)
	round(t, e)
	if want := []string{"second@corp.example"}; !slices.Equal(got, want) {
		t.Errorf("sent to %q, want %q", got, want)
	}
	if due, err := s.Claim(t.Context(), o.now().Add(time.Hour), time.Minute, alert.Capacity{Total: 10}); err != nil || len(due) != 0 {
		t.Errorf("still queued: %+v, %v", due, err)
	}
}

// TestNoticeSentDuringAStopIsNotSentAgain stops a delivery while the receiver takes the notice.
func TestNoticeSentDuringAStopIsNotSentAgain(t *testing.T) {
	t.Parallel()
	o, e, s := newEngine(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	o.receive = func(context.Context, alert.Channel) error { stop(); return nil }
	o.set(desktop.GatewayStale, time.Second)
	if err := errors.Join(e.Evaluate(t.Context()), e.Deliver(ctx)); err != nil {
		t.Error(err)
	}
	wantSent(t, o, "FIRING")
	if due, err := s.Claim(t.Context(), o.now().Add(time.Hour), time.Minute, alert.Capacity{Total: 10}); err != nil || len(due) != 0 {
		t.Errorf("still queued: %+v, %v", due, err)
	}
}

// TestAStoppedAttemptDoesNotCount stops a delivery before the receiver answers, which cancels the attempt.
func TestAStoppedAttemptDoesNotCount(t *testing.T) {
	t.Parallel()
	o, e, s := newEngine(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	o.receive = func(ctx context.Context, _ alert.Channel) error { stop(); <-ctx.Done(); return ctx.Err() }
	o.set(desktop.GatewayStale, time.Second)
	if err := errors.Join(e.Evaluate(t.Context()), e.Deliver(ctx)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	if due, err := s.Claim(t.Context(), o.now().Add(alert.Lease), time.Minute, alert.Capacity{Total: 10}); err != nil || len(due) != 1 || due[0].Attempts != 0 {
		t.Errorf("queued: %+v, %v; want one without attempts", due, err)
	}
}

// TestNoticesFollowACorrectedChannel has a notice that waits for its retry while an administrator corrects the address.
func TestNoticesFollowACorrectedChannel(t *testing.T) {
	t.Parallel()
	o, e, s := newEngine(t)
	var receivers []string
	o.receive = func(_ context.Context, ch alert.Channel) error {
		receivers = append(receivers, ch.To[0])
		if ch.To[0] == "ops@corp.example" {
			return errors.New("no such mailbox")
		}
		return nil
	}
	o.set(desktop.GatewayStale, time.Second)
	round(t, e)
	wantSent(t, o)
	changeChannels(t, s, mailTo("operations@corp.example"))
	o.set(desktop.GatewayStale, time.Minute)
	round(t, e)
	wantSent(t, o, "FIRING")
	if want := []string{"ops@corp.example", "operations@corp.example"}; !slices.Equal(receivers, want) {
		t.Errorf("sent to %q, want %q", receivers, want)
	}
}

func TestCorrectedChannels(t *testing.T) {
	t.Parallel()
	a, b, c := mailTo("a@corp.example"), mailTo("b@corp.example"), mailTo("c@corp.example")
	hook := alert.Channel{Type: alert.Webhook, URL: "https://hooks.example/x"}
	for name, test := range map[string]struct {
		old, next []alert.Channel
		want      map[string]int
	}{
		"unchanged":             {[]alert.Channel{a, b}, []alert.Channel{a, b}, nil},
		"other order":           {[]alert.Channel{a, b}, []alert.Channel{b, a}, nil},
		"corrected":             {[]alert.Channel{a, b}, []alert.Channel{a, c}, map[string]int{b.Target(): 1}},
		"removed":               {[]alert.Channel{a, b}, []alert.Channel{b}, nil},
		"all removed":           {[]alert.Channel{a}, nil, nil},
		"removed and added":     {[]alert.Channel{a, b}, []alert.Channel{b, c}, nil},
		"another type":          {[]alert.Channel{a}, []alert.Channel{hook}, nil},
		"added before the rest": {[]alert.Channel{a, b}, []alert.Channel{c, a, b}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := alert.Rule{Channels: test.next}.Corrected(test.old)
			if !maps.Equal(got, test.want) {
				t.Errorf("corrected %v, want %v", got, test.want)
			}
		})
	}
}
