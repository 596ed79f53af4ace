package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

const (
	// heartbeat is the interval of comments in a stream without events: proxies close
	// connections that are silent.
	heartbeat = 15 * time.Second

	// reconnectAfter is how long clients wait before they open an ended stream again.
	reconnectAfter = time.Second

	// feedKeys is how many values a Feed remembers.
	feedKeys = 1024
)

// StreamLimits are the limits of routes with a [Feed]. A stream ends within a
// minute, before the read timeout of the server would break it, and the client
// opens it again: thus the end of a session, a revoked token and a changed role
// take effect.
var StreamLimits = Limits{Timeout: 50 * time.Second}

// A Feed sends a value to clients by server-sent events: once at the start of a
// stream, and after each change. Each stream compares the value at an interval.
// Streams with the same key share one read per interval, so that many open
// streams do not load the database.
type Feed[K, V comparable] struct {
	event string
	every time.Duration
	read  func(ctx context.Context, key K) (V, error)

	mu     sync.Mutex
	values *simplelru.LRU[K, *reading[V]]
}

// reading is the last value of one key.
type reading[V any] struct {
	value   V
	at      time.Time // when the read began; zero before the first
	running bool
}

// NewFeed returns a feed whose events have a name. It reads the value of a key
// at most once per interval.
func NewFeed[K, V comparable](event string, every time.Duration, read func(ctx context.Context, key K) (V, error)) *Feed[K, V] {
	values, _ := simplelru.NewLRU[K, *reading[V]](feedKeys, nil) // fails only for a size below 1
	return &Feed[K, V]{event: event, every: every, read: read, values: values}
}

// Stream returns the handler of a route with Events. The key selects the value
// of the caller; show returns what this caller may see of it, encoded as JSON.
func (f *Feed[K, V]) Stream(key func(context.Context) K, show func(context.Context, V) any) Handler {
	return Stream(func(w http.ResponseWriter, r *http.Request) error {
		ctx := r.Context()
		k := key(ctx)
		value, err := f.value(ctx, k)
		if err != nil {
			return err
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("X-Accel-Buffering", "no") // nginx would hold events back
		out := &eventWriter{w: w, event: f.event}
		out.printf("retry: %d\n\n", reconnectAfter.Milliseconds())
		out.send(show(ctx, value))
		next, beat := time.NewTicker(f.every), time.NewTicker(heartbeat)
		defer next.Stop()
		defer beat.Stop()
		for out.flush() {
			select {
			case <-ctx.Done():
				return nil
			case <-stopping(ctx):
				return nil
			case <-beat.C:
				out.printf(": connected\n\n")
			case <-next.C:
				latest, err := f.value(ctx, k)
				if err != nil {
					return nil // the response has begun: the client learns the reason when it connects again
				}
				if latest != value {
					value = latest
					out.send(show(ctx, value))
				}
			}
		}
		return nil
	})
}

// value returns the value of a key, read at most an interval ago. While a read
// runs, other streams get the value before it.
func (f *Feed[K, V]) value(ctx context.Context, key K) (V, error) {
	f.mu.Lock()
	r, ok := f.values.Get(key)
	if !ok {
		r = new(reading[V])
		f.values.Add(key, r)
	}
	now := time.Now()
	if !r.at.IsZero() && (r.running || now.Sub(r.at) < f.every) {
		defer f.mu.Unlock()
		return r.value, nil
	}
	r.running = true
	f.mu.Unlock()

	value, err := f.read(ctx, key)
	f.mu.Lock()
	defer f.mu.Unlock()
	r.running = false
	if err == nil {
		r.value, r.at = value, now
	}
	return value, err
}

// An eventWriter writes server-sent events. After an error it writes nothing.
type eventWriter struct {
	w     http.ResponseWriter
	event string
	err   error
}

func (e *eventWriter) printf(format string, args ...any) {
	if e.err == nil {
		_, e.err = fmt.Fprintf(e.w, format, args...)
	}
}

// send writes an event with a value as JSON, which has no line breaks.
func (e *eventWriter) send(value any) {
	data, err := json.Marshal(value)
	if err != nil {
		e.err = err
		return
	}
	e.printf("event: %s\ndata: %s\n\n", e.event, data)
}

// flush sends the buffered events and reports whether the client is still connected.
func (e *eventWriter) flush() bool {
	if e.err == nil {
		e.err = http.NewResponseController(e.w).Flush()
	}
	return e.err == nil
}
