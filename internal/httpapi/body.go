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

// How long a body may take to arrive.
const (
	bodyTime      = 15 * time.Second
	largeBodyTime = 45 * time.Second // of more than DefaultBody
)

// What bodies may take of the memory, from when a request announces one until
// it is answered. The limits of one sender keep room for the others.
const (
	bodiesTotal     = 256 << 20
	bodiesAnonymous = 64 << 20 // of all senders who are not known
	bodiesOrg       = 64 << 20 // of one organisation
	bodiesAddress   = 16 << 20 // of one address whose sender is not known
	bodiesAtATime   = 256      // of one organisation or address
	smallestBody    = 4 << 10  // what the shortest body counts as
)

// bodies counts the bodies that are being read or in use.
type bodies struct {
	mu               sync.Mutex
	total, anonymous int64
	senders          map[string]*sender
}

type sender struct {
	bytes int64
	count int
}

// reserve takes room for a body of n bytes, or refuses it.
func (b *bodies) reserve(who string, known bool, n int64) (release func(), err error) {
	n = max(n, smallestBody)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.senders == nil {
		b.senders = make(map[string]*sender)
	}
	s := b.senders[who]
	if s == nil {
		s = &sender{}
	}
	own := int64(bodiesAddress)
	if known {
		own = bodiesOrg
	}
	switch {
	case s.count >= bodiesAtATime || s.bytes+n > own:
		return nil, fault.New(fault.Limited, "too many request bodies of the same sender are under way; try again later")
	case b.total+n > bodiesTotal, !known && b.anonymous+n > bodiesAnonymous:
		return nil, fault.New(fault.Unavailable, "the server has too many request bodies under way; try again later")
	}
	b.senders[who] = s
	b.add(s, known, n, 1)
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.add(s, known, -n, -1); s.count == 0 {
			delete(b.senders, who)
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

// readBody reads the body of a request into memory, so that handlers never wait
// for their callers. The room it takes is given back by release.
func (m *Mux) readBody(rec *recorder, r *http.Request, x *exchange) (release func(), err error) {
	limit := x.route.Limits.Body
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
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
	release, err = m.bodies.reserve(x.payer(), x.caller.ID != "", size)
	if err != nil {
		return nil, err
	}
	wait := bodyTime
	if limit > DefaultBody {
		wait = largeBodyTime
	}
	body, err := readWithin(rec, r, limit, wait)
	if err != nil {
		release()
		return nil, err
	}
	x.body = body
	r.Body = io.NopCloser(bytes.NewReader(body))
	return release, nil
}

// readWithin reads at most limit bytes, all of which must have come in time.
func readWithin(rec *recorder, r *http.Request, limit int64, wait time.Duration) ([]byte, error) {
	rc := http.NewResponseController(rec.ResponseWriter)
	timed := rc.SetReadDeadline(time.Now().Add(wait)) == nil // tests without a network have no deadlines
	body, err := io.ReadAll(http.MaxBytesReader(rec.ResponseWriter, r.Body, limit))
	tooLarge, large := errors.AsType[*http.MaxBytesError](err)
	switch {
	case err == nil:
		if timed {
			_ = rc.SetReadDeadline(time.Time{}) // it would end the request's context when it passes
		}
		return body, nil
	case large:
		return nil, fault.New(fault.TooLarge, "the body is larger than %d bytes", tooLarge.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		rec.Header().Set("Connection", "close")
		return nil, fault.Wrap(fault.TooSlow, err, "the body did not arrive within %d seconds", wait/time.Second)
	}
	return nil, fault.Wrap(fault.Invalid, err, "the body could not be read")
}
