package collect

import (
	"context"
	"time"

	"vigil/internal/fault"
)

// Pauses between the attempts of RetryUnavailable; each pause is twice the previous one.
const (
	firstPause = 250 * time.Millisecond
	lastPause  = 5 * time.Second
)

// RetryUnavailable calls f until it no longer fails with [fault.Unavailable],
// the error of a database that restarts or fails over. It gives up when ctx
// ends.
func RetryUnavailable(ctx context.Context, f func() error) error {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := f()
		if !fault.Is(err, fault.Unavailable) {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}
