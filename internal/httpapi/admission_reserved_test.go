package httpapi_test

import (
	"testing"
	"testing/synctest"
	"time"

	"vigil/internal/httpapi"
)

// requireAdministratorEnters fills a server so that two requests of the organisation a run, two of its requests wait, and a
// request of b runs. Then it calls steps, which must send a request of a's administrator for /now. That request must be answered
// while the others still run or wait.
func requireAdministratorEnters(t *testing.T, steps func(send func(path, token string))) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		m := mux(t, httpapi.Options{Guard: orgGuard, Timeout: time.Hour, Admit: httpapi.Admission{Total: 5, Reserved: 1, Reads: 4, Shared: 2, Wait: time.Hour}},
			blockingRoute("GET /x", "viewer", release),
			httpapi.Route{Pattern: "GET /now", Need: "viewer", Operation: "now", Handler: returns(1)})
		done := make(chan int, 20)
		send := func(path, token string) {
			go func() { done <- request(m, "GET", path, "", "Authorization", "Bearer "+token).StatusCode }()
			synctest.Wait()
		}
		send("/x", "b/viewer")
		for range 4 { // two run and two wait
			send("/x", "a/viewer")
		}
		steps(send)
		select {
		case status := <-done:
			if status != 200 {
				t.Errorf("status %d, want 200", status)
			}
		default:
			t.Error("the administrator waits")
		}
		close(release)
		synctest.Wait()
	})
}

// TestReservedSlotsAreFreeForAdministratorsOfAQueue has requests of an organisation that wait for room in the server, although
// the organisation's limit has grown. They may not use the reserved slot, so the organisation's administrator does not wait.
func TestReservedSlotsAreFreeForAdministratorsOfAQueue(t *testing.T) {
	t.Parallel()
	requireAdministratorEnters(t, func(send func(path, token string)) {
		time.Sleep(2 * time.Second)
		send("/now", "a/admin") // one of the two that wait may run now, the other has no room
	})
}

// TestReservedSlotsAreFreeForQueuedAdministrators has an administrator's request that waits behind two others of its organisation.
// When the organisation's limit grows, the server has room for the first of them and not for the second, but a reserved slot for the
// administrator.
func TestReservedSlotsAreFreeForQueuedAdministrators(t *testing.T) {
	t.Parallel()
	requireAdministratorEnters(t, func(send func(path, token string)) {
		send("/now", "a/admin") // waits too
		time.Sleep(2 * time.Second)
		send("/x", "a/viewer") // the limit of a has grown: the first that waits may run now, the second has no room
	})
}

// TestReservedSlotPassesToTheQueue has a request that waits behind one of its organisation's administrator, while other
// organisations use all other slots. When the administrator's request ends, the free slot is reserved. The waiting request gets
// it nevertheless, because no other request of its organisation would let it in later.
func TestReservedSlotPassesToTheQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first, others := make(chan struct{}), make(chan struct{})
		m := mux(t, httpapi.Options{Guard: orgGuard, Timeout: time.Hour, Admit: httpapi.Admission{Total: 3, Reserved: 1, Reads: 1, Wait: time.Hour}},
			blockingRoute("GET /first", "viewer", first), blockingRoute("GET /x", "viewer", others),
			httpapi.Route{Pattern: "GET /now", Need: "viewer", Operation: "now", Handler: returns(1)})
		send := func(path, token string) chan int {
			status := make(chan int, 1)
			go func() { status <- request(m, "GET", path, "", "Authorization", "Bearer "+token).StatusCode }()
			synctest.Wait()
			return status
		}
		send("/first", "a/admin")
		waiting := send("/now", "a/viewer")
		send("/x", "b/viewer")
		send("/x", "c/admin")
		close(first)
		synctest.Wait()
		select {
		case status := <-waiting:
			if status != 200 {
				t.Errorf("status %d, want 200", status)
			}
		default:
			t.Error("the queued request waits, although no request of its organisation runs")
		}
		close(others)
		synctest.Wait()
	})
}
