package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"

	"vigil/internal/fault"
)

// Idempotency stores requests that were sent with an Idempotency-Key header, so
// that a client can repeat a request whose response was lost without executing
// it twice.
type Idempotency interface {
	// Find returns the request that was executed with a key, if there was one.
	Find(ctx context.Context, owner, key string) (PastRequest, bool, error)

	// Attach returns a context in which the first transaction that commits also
	// commits the key. If another request committed the key meanwhile, the
	// transaction fails with fault.Conflict.
	Attach(ctx context.Context, k RequestKey) context.Context

	// StoreAnswer stores the response to an executed request.
	StoreAnswer(ctx context.Context, owner, key string, a Answer) error
}

// RequestKey identifies a request that must be executed at most once.
type RequestKey struct {
	Owner       string // the caller who chose the key
	Key         string
	Fingerprint string // of method, address and body
	RequestID   string
}

// PastRequest is a request that was executed.
type PastRequest struct {
	Fingerprint string
	RequestID   string
	Answer      *Answer // nil if it was not stored
}

// Answer is a stored response.
type Answer struct {
	Status      int
	Location    string
	ETag        string
	ContentType string
	Body        []byte
}

// Headers of idempotent requests and of responses that report the outcome of a
// change.
const (
	headerKey      = "Idempotency-Key"
	headerReplayed = "Idempotency-Replayed"
	headerOutcome  = "Vigil-Change" // "made" or "unknown", in responses with a 5xx status
)

// maxAnswer limits the size of stored responses.
const maxAnswer = 256 << 10

// idempotencyKey returns the idempotency key of a request, or the stored response if the
// request was executed before. Both are nil without the header, and for routes
// that ignore it.
func (m *Mux) idempotencyKey(ctx context.Context, r *http.Request, x *exchange) (*RequestKey, any, error) {
	values := r.Header.Values(headerKey)
	if m.o.Idempotency == nil || len(values) == 0 || !x.route.mutates() || x.route.Need == Public || x.route.Login {
		return nil, nil, nil
	}
	if !validKey(values) {
		return nil, nil, fault.Field(headerKey, "must be one header of 1 to 255 visible ASCII characters")
	}
	// The name identifies the owner, not the ID: a client may repeat the request with a
	// new token or session.
	k := &RequestKey{Owner: x.caller.Org + "/" + x.caller.Name, Key: values[0], Fingerprint: fingerprint(r, x.body), RequestID: x.id}
	past, found, err := m.o.Idempotency.Find(ctx, k.Owner, k.Key)
	switch {
	case err != nil:
		return nil, nil, err
	case !found:
		return k, nil, nil
	case past.Fingerprint != k.Fingerprint:
		return nil, nil, fault.New(fault.Conflict, "the Idempotency-Key was used for another request")
	case past.Answer == nil:
		return nil, nil, fault.New(fault.Conflict, "the request with this Idempotency-Key was executed (request %s); its response was not stored", past.RequestID)
	}
	x.note("replay_of", past.RequestID)
	return nil, past.Answer.reply(), nil
}

func validKey(values []string) bool {
	if len(values) != 1 || values[0] == "" || len(values[0]) > 255 {
		return false
	}
	for _, c := range []byte(values[0]) {
		if c <= ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}

func fingerprint(r *http.Request, body []byte) string {
	h := sha256.New()
	_, _ = io.WriteString(h, r.Method+"\x00"+r.URL.RequestURI()+"\x00")
	_, _ = h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

func (a *Answer) reply() Reply {
	p := Reply{Status: a.Status}.With(headerReplayed, "true")
	if len(a.Body) > 0 {
		p.Body = a.Body
		p = p.With("Content-Type", a.ContentType)
	}
	if a.Location != "" {
		p = p.With("Location", a.Location)
	}
	if a.ETag != "" {
		p = p.With("ETag", a.ETag)
	}
	return p
}

// storeAnswer stores the response to an executed request. Responses with a
// secret are not stored.
func (m *Mux) storeAnswer(ctx context.Context, x *exchange, k *RequestKey, body any) {
	if _, ok := body.(written); ok || x.route.SecretAnswer {
		return
	}
	p, ok := body.(Reply)
	if !ok {
		p = OK(body)
	}
	data, kind, err := encode(p.Body)
	if err != nil || len(data) > maxAnswer {
		return
	}
	if contentType := p.Header.Get("Content-Type"); contentType != "" {
		kind = contentType
	}
	if p.Status == 0 {
		p.Status = http.StatusOK
	}
	err = m.o.Idempotency.StoreAnswer(context.WithoutCancel(ctx), k.Owner, k.Key, Answer{
		Status: p.Status, Location: p.Header.Get("Location"), ETag: p.Header.Get("ETag"), ContentType: kind, Body: data,
	})
	if err != nil {
		m.o.Log.WarnContext(ctx, "response could not be stored for its Idempotency-Key", "request_id", x.id, "err", err)
	}
}

// reportOutcome returns the error that the response reports. If the change was made,
// or may have been made, before the server failed, a header of the response says so
// too.
func (m *Mux) reportOutcome(rec *recorder, x *exchange, err error) error {
	if err == nil || !x.route.mutates() || problemOf(err).Status < 500 {
		return err
	}
	x.mu.Lock()
	recorded := x.recorded
	x.mu.Unlock()
	switch {
	case recorded:
		rec.Header().Set(headerOutcome, "made")
		if fault.KindOf(err) == fault.Internal {
			return err // an internal error stays a 500
		}
		return fault.Wrap(fault.Unavailable, err, "the change was made, but the request could not be answered in full")
	case errors.Is(err, fault.ErrOutcomeUnknown):
		rec.Header().Set(headerOutcome, "unknown")
		return fault.Wrap(fault.Unavailable, err, "the database failed while the change was committed: it may have been made. "+
			"Send the request again with the same Idempotency-Key, or look whether it was made")
	}
	return err
}
