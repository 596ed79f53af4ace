package gcp

import (
	"context"
	"sync"

	"google.golang.org/api/cloudresourcemanager/v1"
	"google.golang.org/api/dns/v1"
	"google.golang.org/api/iam/v1"
	"google.golang.org/api/logging/v2"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// shared is what several collectors of one collection need and one of them
// reads: a project's policy says who its service accounts are bound to, and is
// its own.
type shared struct {
	policy       once[*cloudresourcemanager.Policy]
	dns          once[[]*dns.Policy]
	sinks        once[[]*logging.LogSink]
	metrics      once[[]*logging.LogMetric]
	alerts       once[map[string][]posture.EntityID] // by log metric
	keyLocations once[[]string]
	keys         many[[]*iam.ServiceAccountKey] // by service account
	rings        many[[]binding]                // by key ring
}

// A once reads something for the first who asks; the others wait for it. The
// zero value has not been read.
type once[T any] struct {
	mu      sync.Mutex
	reading chan struct{} // closed when it is read; nil before
	done    bool
	value   T
	err     error
}

// get returns what read returned to the first caller. When the first caller's
// run was over, the next one reads.
func (o *once[T]) get(ctx context.Context, read func() (T, error)) (T, error) {
	for {
		o.mu.Lock()
		if o.done {
			defer o.mu.Unlock()
			return o.value, o.err
		}
		wait := o.reading
		if wait == nil {
			o.reading = make(chan struct{})
			o.mu.Unlock()
			return o.fill(read)
		}
		o.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			var none T
			return none, ctx.Err()
		}
	}
}

func (o *once[T]) fill(read func() (T, error)) (T, error) {
	value, err := read()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.value, o.err, o.done = value, err, !collect.Over(err)
	close(o.reading)
	o.reading = nil
	return value, err
}

// A many is a once for each of several names. It remembers so many and no more.
type many[T any] struct {
	mu    sync.Mutex
	named map[string]*once[T]
}

const mostNamed = 4096

func (m *many[T]) get(ctx context.Context, name string, read func() (T, error)) (T, error) {
	m.mu.Lock()
	o, ok := m.named[name]
	if !ok {
		o = new(once[T])
		if m.named == nil {
			m.named = map[string]*once[T]{}
		}
		if len(m.named) < mostNamed {
			m.named[name] = o
		}
	}
	m.mu.Unlock()
	return o.get(ctx, read)
}
