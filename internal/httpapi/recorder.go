package httpapi

import (
	"fmt"
	"io"
	"net/http"
	"strconv"

	"vigil/internal/fault"
)

// A recorder sends a response and records its status and size.
type recorder struct {
	http.ResponseWriter
	// before is called before the first byte is sent. If it fails, the response is not
	// sent.
	before      func(status int) error
	head        bool // the request is a HEAD: no body is sent
	acceptsGzip bool // the caller accepts gzip
	status      int
	bytes       int64
	auditErr    error // the error of before
	broken      bool  // the response is incomplete: the connection must be closed
}

// WriteHeader sends the status, unless the audit record could not be written.
func (r *recorder) WriteHeader(status int) {
	if status < 200 {
		r.ResponseWriter.WriteHeader(status)
		return
	}
	if r.status != 0 || r.auditErr != nil {
		return
	}
	r.auditErr = r.before(status)
	if r.auditErr != nil {
		return
	}
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(p []byte) (int, error) {
	if r.status == 0 && r.auditErr == nil {
		r.WriteHeader(http.StatusOK)
	}
	if r.auditErr != nil {
		return 0, r.auditErr
	}
	if r.head {
		return len(p), nil
	}
	n, err := r.ResponseWriter.Write(p)
	r.bytes += int64(n)
	return n, err
}

// FlushError sends the bytes written so far.
func (r *recorder) FlushError() error {
	if r.status == 0 {
		r.WriteHeader(http.StatusOK)
	}
	if r.auditErr != nil {
		return r.auditErr
	}
	return http.NewResponseController(r.ResponseWriter).Flush()
}

// Unwrap lets [http.ResponseController] reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// reply sends the value that a handler returned.
func (m *Mux) reply(rec *recorder, body any) error {
	if _, ok := body.(written); ok {
		if rec.status == 0 {
			rec.WriteHeader(http.StatusOK)
		}
		return m.deny(rec)
	}
	p, ok := body.(Reply)
	if !ok {
		p = OK(body)
	}
	if p.Sent != nil {
		defer p.Sent()
	}
	pieces, long := p.Body.(Pieces)
	var data []byte
	kind := "application/json"
	if !long {
		var err error
		if data, kind, err = encode(p.Body); err != nil {
			return m.fail(rec, fmt.Errorf("encode answer: %w", err))
		}
	}
	h := rec.Header()
	if h.Get("Vary") == "" && kind == "application/json" {
		h.Set("Vary", "Accept-Encoding")
	}
	compressed := rec.acceptsGzip && isCompressible(p, pieces, data)
	switch {
	case compressed: // its length is not known yet
		h.Set("Content-Type", kind)
		h.Set("Content-Encoding", "gzip")
	case long:
		h.Set("Content-Type", kind)
		h.Set("Content-Length", strconv.FormatInt(pieces.Len(), 10))
	case kind != "":
		h.Set("Content-Type", kind)
		h.Set("Content-Length", strconv.Itoa(len(data)))
	}
	for name, values := range p.Header {
		h[name] = values
	}
	if p.Status == 0 {
		p.Status = http.StatusOK
	}
	rec.WriteHeader(p.Status)
	switch { // errors of writes are ignored: they mean that the caller has closed the connection
	case rec.auditErr != nil:
	case compressed && !rec.head:
		rec.writeCompressed(pieces, data)
	case compressed: // HEAD
	case long:
		_, _ = pieces.WriteTo(rec)
	case len(data) > 0:
		_, _ = rec.Write(data)
	}
	return m.deny(rec)
}

// deny answers 503 instead of the response if the audit record of the response
// could not be written.
func (m *Mux) deny(rec *recorder) error {
	if rec.auditErr == nil {
		return nil
	}
	err := fault.Wrap(fault.Unavailable, rec.auditErr, "the request could not be written to the audit log")
	rec.auditErr = nil
	rec.before = func(int) error { return nil } // the 503 has no audit record
	for _, name := range []string{"Location", "ETag", "Content-Length", "Content-Encoding"} {
		rec.Header().Del(name)
	}
	return m.fail(rec, err)
}

// fail sends an error response, unless another response has begun. It returns
// err.
func (m *Mux) fail(rec *recorder, err error) error {
	if rec.status != 0 {
		rec.broken = true
		return err
	}
	m.problem(rec, problemOf(err))
	if rec.auditErr != nil { // the handler wrote a response whose audit record could not be written
		return m.deny(rec)
	}
	return err
}

func (m *Mux) problem(rec *recorder, p Problem) {
	p.Time = m.o.Now()
	data, kind, err := encode(m.o.Errors(p))
	if err != nil {
		panic(err) // cannot happen: an error body is strings and numbers
	}
	h := rec.Header()
	p.header(h)
	h.Set("Content-Type", kind)
	h.Set("Content-Length", strconv.Itoa(len(data)))
	rec.WriteHeader(p.Status)
	if rec.auditErr == nil {
		_, _ = rec.Write(data)
	}
}

// setHeaders sets the headers that every response has.
func setHeaders(h http.Header, r *http.Request, id string) {
	h.Set("X-Request-Id", id)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if r.TLS != nil {
		h.Set("Strict-Transport-Security", "max-age=31536000; includeSubDomains")
	}
}

// drain reads a body that is too large, unless it has more than twice as many
// bytes as allowed. Most callers then finish sending and read the response,
// instead of failing on a closed connection.
func drain(r *http.Request, limit int64) {
	if r.ContentLength <= 2*limit {
		_, _ = io.CopyN(io.Discard, r.Body, r.ContentLength)
	}
}
