package stream

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// closeRecorder is a session that records that it was closed.
type closeRecorder struct {
	collect.Session
	closed atomic.Bool
}

func (s *closeRecorder) Close() { s.closed.Store(true) }

// An open session keeps the credentials of the account in memory.
func TestSessionIsClosedWithoutAnotherEvent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pool := sessionPool{now: time.Now}
		opened := new(closeRecorder)
		s := pool.put(posture.AccountRef{Org: "acme", Account: "123456789012"}, "c 1", opened)
		s.release()
		time.Sleep(sessionTTL - time.Second)
		synctest.Wait()
		if opened.closed.Load() {
			t.Error("the session was closed before it expired")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if !opened.closed.Load() {
			t.Error("the session was not closed after it expired")
		}
	})
}

func TestSessionInUseIsClosedAfterItsLastUser(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pool := sessionPool{now: time.Now}
		opened := new(closeRecorder)
		s := pool.put(posture.AccountRef{Org: "acme", Account: "123456789012"}, "c 1", opened)
		time.Sleep(sessionTTL)
		synctest.Wait()
		if opened.closed.Load() {
			t.Error("the session was closed although it has a user")
		}
		s.release()
		if !opened.closed.Load() {
			t.Error("the session was not closed after its last user")
		}
	})
}
