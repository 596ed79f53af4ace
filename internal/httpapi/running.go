package httpapi

import (
	"net/http"
	"sync"
	"time"
)

// runningHandlers counts the requests whose handlers run. [http.Server] does not:
// its Close waits for nothing, and its Shutdown does not wait for the handlers of
// HTTP/2 streams that the client has reset.
type runningHandlers struct {
	next http.Handler

	mu      sync.Mutex
	count   int
	stopped bool
	idle    chan struct{} // closed when the server has stopped and no handler runs
}

func newRunningHandlers(next http.Handler) *runningHandlers {
	return &runningHandlers{next: next, idle: make(chan struct{})}
}

// ServeHTTP implements [http.Handler]. After stop it calls no handler.
func (h *runningHandlers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.add(1) {
		panic(http.ErrAbortHandler) // closes the connection without a response
	}
	defer h.add(-1)
	h.next.ServeHTTP(w, r)
}

// add changes the number of running handlers. It refuses new ones after stop.
func (h *runningHandlers) add(n int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n > 0 && h.stopped {
		return false
	}
	h.count += n
	if h.stopped && h.count == 0 {
		close(h.idle)
	}
	return true
}

// stop refuses new requests and waits until no handler runs, for a limited time. It
// returns the number of those that still run. It may be called again.
func (h *runningHandlers) stop(limit time.Duration) int {
	h.mu.Lock()
	if !h.stopped && h.count == 0 {
		close(h.idle)
	}
	h.stopped = true
	h.mu.Unlock()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-h.idle:
	case <-timer.C:
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.count
}
