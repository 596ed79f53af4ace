package httpapi

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"vigil/internal/fault"
)

// Time limits for receiving a body.
const (
	bodyTime      = 15 * time.Second
	largeBodyTime = 45 * time.Second // bodies of more than DefaultBody
)

// Memory limits of request bodies. A body counts from its announcement until
// the request is answered. Limits per sender keep memory free for other
// senders.
const (
	bodiesTotal     = 256 << 20
	bodiesAnonymous = 64 << 20 // all unauthenticated senders together
	bodiesOrg       = 64 << 20 // one organisation
	bodiesAddress   = 16 << 20 // one unauthenticated address
	bodiesCount     = 256      // number of bodies of one organisation or address
	smallestBody    = 4 << 10  // a shorter body counts as this size
)

// bodies counts the bodies that are being received or handled.
type bodies struct {
	mu               sync.Mutex
	total, anonymous int64
	senders          map[string]*sender
}

type sender struct {
	bytes int64
	count int
}

// reserve reserves memory for a body of n bytes. It fails when a limit would be
// exceeded. known means that the caller is authenticated.
func (b *bodies) reserve(caller string, known bool, n int64) (release func(), err error) {
	n = max(n, smallestBody)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.senders == nil {
		b.senders = make(map[string]*sender)
	}
	s := b.senders[caller]
	if s == nil {
		s = &sender{}
	}
	limit := int64(bodiesAddress)
	if known {
		limit = bodiesOrg
	}
	switch {
	case s.count >= bodiesCount || s.bytes+n > limit:
		return nil, fault.New(fault.Limited, "too many request bodies from the same sender at the same time; try again later")
	case b.total+n > bodiesTotal, !known && b.anonymous+n > bodiesAnonymous:
		return nil, fault.New(fault.Unavailable, "the server receives too many request bodies at the moment; try again later")
	}
	b.senders[caller] = s
	b.add(s, known, n, 1)
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.add(s, known, -n, -1)
		if s.count == 0 {
			delete(b.senders, caller)
		}
	}, nil
}

func (b *bodies) add(s *sender, known bool, n int64, count int) {
	s.bytes += n
	s.count += count
	b.total += n
	if !known {
		b.anonymous += n
	}
}

func hasBody(r *http.Request) bool {
	return r.Body != nil && r.Body != http.NoBody && r.ContentLength != 0
}

// bodyTimeOf returns how long the body of a request may take to arrive.
func bodyTimeOf(r *http.Request, rt *Route) time.Duration {
	switch {
	case !hasBody(r):
		return 0
	case rt.Limits.Body > DefaultBody:
		return largeBodyTime
	}
	return bodyTime
}

// readBody reads the request's body into memory, so that handlers never wait
// for a slow caller. release frees the reserved memory.
func (m *Mux) readBody(rec *recorder, r *http.Request, x *exchange) (release func(), err error) {
	limit := x.route.Limits.Body
	if !hasBody(r) {
		return func() {}, nil
	}
	size := r.ContentLength
	if size > limit {
		drain(r, limit)
		return nil, fault.New(fault.TooLarge, "the body is larger than %d bytes", limit)
	}
	if size < 0 {
		size = limit
	}
	release, err = m.bodies.reserve(x.concurrencyKey(), x.caller.ID != "", size)
	if err != nil {
		return nil, err
	}
	body, err := readWithin(rec, r, limit, bodyTimeOf(r, x.route))
	if err != nil {
		release()
		return nil, err
	}
	x.body = body
	r.Body = io.NopCloser(bytes.NewReader(body))
	return release, nil
}

// readWithin reads at most limit bytes. It fails if they do not arrive within
// wait.
func readWithin(rec *recorder, r *http.Request, limit int64, wait time.Duration) ([]byte, error) {
	rc := http.NewResponseController(rec.ResponseWriter)
	timed := rc.SetReadDeadline(time.Now().Add(wait)) == nil // response writers of tests have no deadlines
	body, err := io.ReadAll(http.MaxBytesReader(rec.ResponseWriter, r.Body, limit))
	maxErr, tooLarge := errors.AsType[*http.MaxBytesError](err)
	switch {
	case err == nil:
		if timed {
			_ = rc.SetReadDeadline(time.Time{}) // a deadline that passes would cancel the request's context
		}
		return body, nil
	case tooLarge:
		return nil, fault.New(fault.TooLarge, "the body is larger than %d bytes", maxErr.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		rec.Header().Set("Connection", "close")
		return nil, fault.Wrap(fault.TooSlow, err, "the body did not arrive within %d seconds", wait/time.Second)
	}
	return nil, fault.Wrap(fault.Invalid, err, "the body could not be read")
}
