package collect_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

var ec2 = collect.Key{Provider: posture.AWS, Account: "1", Region: "eu-west-1", Service: "ec2"}

// calls returns the number of calls per second that a limit allows.
func calls(t *testing.T, l *collect.Limits, k collect.Key) int {
	t.Helper()
	end := time.Now().Add(time.Second)
	for n := 0; ; n++ {
		if err := l.Wait(t.Context(), k); err != nil {
			t.Fatal(err)
		}
		if !time.Now().Before(end) {
			return n
		}
	}
}

func TestLimitSlowsDownAndRecovers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := collect.NewLimits(time.Now)
		calls(t, l, ec2) // spend the burst
		calls(t, l, ec2)
		before := calls(t, l, ec2)
		for range 20 { // calls that are throttled at the same time count as one slowdown
			l.Throttled(ec2, 0)
		}
		slowed := calls(t, l, ec2)
		if slowed >= before || slowed < before/3 {
			t.Errorf("%d calls a second after a throttle, %d before", slowed, before)
		}
		time.Sleep(time.Minute)
		calls(t, l, ec2)
		calls(t, l, ec2)
		if after := calls(t, l, ec2); after < before-1 {
			t.Errorf("%d calls a second a minute later, %d at first", after, before)
		}
	})
}

func TestCallWithOwnLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := collect.NewLimits(time.Now)
		own := ec2
		own.Call, own.Rate = "ec2.GetEbsEncryptionByDefault", 400
		for range 3 { // spend the burst
			calls(t, l, own)
		}
		if n := calls(t, l, own); n < 195 || n > 201 {
			t.Errorf("%d calls a second, want half of 400", n)
		}
		l.Throttled(own, time.Hour) // does not pause the other calls of the service
		if err := l.Wait(t.Context(), ec2); err != nil {
			t.Fatal(err)
		}
	})
}

func TestLimitHonoursRetryAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := collect.NewLimits(time.Now)
		l.Throttled(ec2, 7*time.Second)
		begin := time.Now()
		if err := l.Wait(t.Context(), ec2); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(begin); waited < 7*time.Second {
			t.Errorf("waited %v, want 7 s", waited)
		}
	})
}

// TestPauseAppliesToWaitingCalls starts a pause while calls wait: for the rate, or for the end of
// a first pause. When the pause ends, they must not all be made at once, but at the rate again.
func TestPauseAppliesToWaitingCalls(t *testing.T) {
	t.Parallel()
	for _, first := range []time.Duration{0, time.Second} { // 0: there is no first pause
		synctest.Test(t, func(t *testing.T) {
			l := collect.NewLimits(time.Now)
			calls(t, l, ec2) // spend the burst
			l.Throttled(ec2, first)
			begin := time.Now()
			made := make(chan time.Duration)
			const waiting, burst = 30, 20 // the burst is 2 s of 10 calls a second
			for range waiting {
				go func() {
					if err := l.Wait(t.Context(), ec2); err != nil {
						t.Error(err)
					}
					made <- time.Since(begin)
				}()
			}
			time.AfterFunc(500*time.Millisecond, func() { l.Throttled(ec2, 10*time.Second) })
			atEnd := 0
			for range waiting {
				at := <-made
				if at == 10500*time.Millisecond {
					atEnd++
				}
				if at > 500*time.Millisecond && at < 10500*time.Millisecond {
					t.Errorf("after a pause of %v: a call after %v, within the pause of 10 s that began after 500 ms", first, at)
				}
			}
			if atEnd > burst {
				t.Errorf("after a pause of %v: %d calls at the end of the pause, want at most the burst of %d", first, atEnd, burst)
			}
		})
	}
}

func TestUnusedLimitKeepsItsPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := collect.NewLimits(time.Now)
		l.Throttled(ec2, time.Hour)
		begin := time.Now()
		time.Sleep(30 * time.Minute)
		if err := l.Wait(t.Context(), ec2); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(begin); waited < time.Hour {
			t.Errorf("waited %v, want 1 h", waited)
		}
	})
}

func TestWaitBeyondDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := collect.NewLimits(time.Now)
		calls(t, l, ec2) // spend the burst
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := l.Wait(ctx, ec2); !errors.Is(err, context.DeadlineExceeded) || !collect.IsFatal(err) {
			t.Errorf("a call that cannot be made in time: %v", err)
		}
		cancel()
		if err := l.Wait(ctx, ec2); !errors.Is(err, context.Canceled) {
			t.Errorf("a call of a run that was stopped: %v", err)
		}
	})
}

func TestLimitsAreIndependent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := collect.NewLimits(time.Now)
		l.Throttled(ec2, time.Hour)
		other := ec2
		other.Account = "2"
		begin := time.Now()
		if err := l.Wait(t.Context(), other); err != nil || time.Since(begin) > time.Second {
			t.Errorf("another account waited %v (%v)", time.Since(begin), err)
		}
	})
}

func TestProcessesShareALimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := collect.NewLimits(time.Now)
		settled := func() int {
			for range 3 { // spend the burst
				calls(t, l, ec2)
			}
			return calls(t, l, ec2)
		}
		alone := settled()
		l.SetProcesses(5)
		if shared := settled(); shared != alone/5 {
			t.Errorf("one of five makes %d calls a second, want %d", shared, alone/5)
		}
		l.SetProcesses(1)
		if repeated := settled(); repeated != alone {
			t.Errorf("%d calls a second when the others are gone, want %d", repeated, alone)
		}
	})
}
