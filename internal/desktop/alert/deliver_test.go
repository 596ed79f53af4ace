package alert_test

import (
	"context"
	"testing"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/alert"
)

// TestSlowReceiverDelaysOnlyItsOwnNotices has a receiver that does not answer while many alerts fire and end. The other
// receiver of the rule gets all notices meanwhile.
func TestSlowReceiverDelaysOnlyItsOwnNotices(t *testing.T) {
	t.Parallel()
	for name, others := range map[string]int{"one notice": 0, "more notices than are sent concurrently": 40} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, e, s := newEngine(t)
			o.others = others
			changeChannels(t, s, mailTo("slow@corp.example"), mailTo("fast@corp.example"))
			answer := make(chan struct{})
			o.receive = func(_ context.Context, ch alert.Channel) error {
				if ch.To[0] == "slow@corp.example" {
					<-answer
				}
				return nil
			}
			e.Start(t.Context())
			defer e.Stop()
			defer close(answer)
			for _, step := range []struct {
				status desktop.GatewayStatus
				want   string
			}{{desktop.GatewayStale, "FIRING"}, {desktop.GatewayOK, "RESOLVED"}} {
				o.set(step.status, time.Second)
				waitForSent(t, o, e, step.want, others+1)
			}
		})
	}
}

// waitForSent waits until so many notices were sent, which must have the state.
func waitForSent(t *testing.T, o *fixture, e *alert.Engine, state string, want int) {
	t.Helper()
	got := 0
	for deadline := time.Now().Add(2 * time.Minute); got < want; time.Sleep(5 * time.Millisecond) {
		e.Wake()
		for _, s := range o.take() {
			if s != state {
				t.Fatalf("a notice %s was sent, want %s", s, state)
			}
			got++
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d notices %s were sent, want %d", got, state, want)
		}
	}
}
