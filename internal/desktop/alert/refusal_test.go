package alert_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/alert"
)

// picky is a sender that fails to send the notices about the start of an alert.
type picky struct {
	err  error
	sent []alert.State
}

// Send implements [alert.Sender].
func (p *picky) Send(_ context.Context, _ alert.Channel, d alert.Delivery) error {
	p.sent = append(p.sent, d.Notice.Alert.State)
	if d.Notice.Alert.State == alert.Firing {
		return p.err
	}
	return nil
}

// TestRefusedNoticeDoesNotHoldUpLaterOnes has a receiver that fails to take the notice about the start of an alert. Only if
// the receiver refuses this notice, it is given up, and the notice about the end is sent.
func TestRefusedNoticeDoesNotHoldUpLaterOnes(t *testing.T) {
	t.Parallel()
	const rounds = 12
	for name, tt := range map[string]struct {
		err  error
		want []alert.State
	}{
		"refused": {alert.Refused{Cause: errors.New("too large")}, append(slices.Repeat([]alert.State{alert.Firing}, alert.ShortRetries), alert.Resolved)},
		"failed":  {errors.New("not found"), slices.Repeat([]alert.State{alert.Firing}, rounds)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, _, s := newEngine(t)
			receiver := &picky{err: tt.err}
			e := alert.NewEngine(alert.Options{Store: s, Board: o, Send: receiver, Now: o.now, Log: slog.New(slog.DiscardHandler)})
			o.set(desktop.GatewayStale, time.Second)
			round(t, e)
			for range rounds - 1 {
				o.set(desktop.GatewayOK, time.Hour) // the longest time until the next attempt
				round(t, e)
			}
			if !slices.Equal(receiver.sent, tt.want) {
				t.Errorf("the receiver got %q, want %q", receiver.sent, tt.want)
			}
		})
	}
}

// TestRefusedNoticeFollowsACorrectedChannel corrects the address while the last attempt to the old one is refused.
func TestRefusedNoticeFollowsACorrectedChannel(t *testing.T) {
	t.Parallel()
	o, e, s := newEngine(t)
	attempts := 0
	o.receive = func(_ context.Context, ch alert.Channel) error {
		if ch.To[0] == "operations@corp.example" {
			return nil
		}
		if attempts++; attempts == alert.ShortRetries {
			changeChannels(t, s, mailTo("operations@corp.example"))
		}
		return alert.Refused{Cause: errors.New("too large")}
	}
	for range alert.ShortRetries + 1 {
		o.set(desktop.GatewayStale, 2*alert.Lease)
		round(t, e)
	}
	wantSent(t, o, "FIRING")
}
