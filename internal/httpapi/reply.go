package httpapi

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"
)

// A Reply is a response with its own status, headers or callback.
type Reply struct {
	Status int // 200 when zero
	Header http.Header
	Body   any    // nil for none
	Sent   func() // called after the body was sent or failed to be sent; may be nil
}

// Pieces is a JSON body that is written in pieces, because it is large.
type Pieces interface {
	io.WriterTo
	Len() int64
}

// With returns the reply with one more header.
func (p Reply) With(name, value string) Reply {
	h := p.Header.Clone()
	if h == nil {
		h = make(http.Header)
	}
	h.Set(name, value)
	p.Header = h
	return p
}

// OK answers 200 with a body.
func OK(body any) Reply { return Reply{Status: http.StatusOK, Body: body} }

// Tagged answers 200 with a body and its version as the ETag.
func Tagged(etag string, body any) Reply { return OK(body).With("ETag", quoteTag(etag)) }

// Created answers 201 with the new record, its address and its version, if any.
func Created(location, etag string, body any) Reply {
	p := Reply{Status: http.StatusCreated, Body: body}.With("Location", location)
	if etag != "" {
		p = p.With("ETag", quoteTag(etag))
	}
	return p
}

// Accepted answers 202: the work has started.
func Accepted(body any) Reply { return Reply{Status: http.StatusAccepted, Body: body} }

// NoContent answers 204.
func NoContent() Reply { return Reply{Status: http.StatusNoContent} }

// Text answers 200 with plain text.
func Text(text string) Reply {
	return OK([]byte(text)).With("Content-Type", "text/plain; charset=utf-8")
}

// Redirect answers 303 with another address.
func Redirect(location string) Reply {
	return Reply{Status: http.StatusSeeOther}.With("Location", location)
}

// Each converts items to their wire form. An empty list is [] in JSON, never
// null.
func Each[T, Wire any](items []T, wire func(T) Wire) []Wire {
	list := make([]Wire, len(items))
	for i, v := range items {
		list[i] = wire(v)
	}
	return list
}

// encode returns the bytes and the content type of a body. A []byte is sent
// unchanged, everything else as JSON.
func encode(body any) ([]byte, string, error) {
	switch b := body.(type) {
	case nil:
		return nil, "", nil
	case []byte:
		return b, "application/octet-stream", nil
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(body)
	return buf.Bytes(), "application/json", err
}

// A Time is a point in time as our APIs write it: RFC 3339, UTC, milliseconds.
type Time struct{ time.Time }

const timeLayout = "2006-01-02T15:04:05.000Z07:00"

// MarshalText writes the time.
func (t Time) MarshalText() ([]byte, error) {
	return t.UTC().AppendFormat(nil, timeLayout), nil
}

// MarshalJSON writes the time.
func (t Time) MarshalJSON() ([]byte, error) {
	return t.UTC().AppendFormat(nil, `"`+timeLayout+`"`), nil
}

// quoteTag returns a version as an entity tag.
func quoteTag(tag string) string {
	if strings.HasPrefix(tag, `"`) || strings.HasPrefix(tag, `W/"`) {
		return tag
	}
	return `"` + tag + `"`
}
