// Package azure opens what Azure sends: activity log alerts in both of their
// schemas, and events of Event Grid in both of theirs.
//
// None of them is signed. What says whose they are is a secret in the address
// that they are sent to, of which we keep a hash.
package azure

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/stream/change"
	"vigil/internal/posture/stream/refusal"
)

// Operations by which a stream says of itself that it was set up or torn down.
const (
	OperationReady    = "AzureStreamReady"
	OperationNotReady = "AzureStreamNotReady"
)

// maxDrift is how old a message may be, or how far ahead.
const maxDrift = time.Hour

// maxBatch is how many events one request may bring.
const maxBatch = 5000

// Streams knows whose messages these are.
type Streams interface {
	StreamWith(ctx context.Context, d posture.StreamDigest) (posture.Stream, error)
}

// Gate opens messages. It is safe for concurrent use.
type Gate struct {
	streams Streams
	index   *change.Index
	now     func() time.Time
}

// NewGate returns a gate.
func NewGate(s Streams, x *change.Index, now func() time.Time) *Gate { return &Gate{s, x, now} }

// Opened is a request that was believed.
type Opened struct {
	posture.Delivery
	Validation string // the code that Event Grid wants to hear; "" for none
}

// Know returns the stream whose secret it is, or refuses.
func (g *Gate) Know(ctx context.Context, secret posture.StreamSecret) (posture.Stream, error) {
	if secret == "" {
		return posture.Stream{}, refusal.New(refusal.Unsigned, "there is no secret in the address")
	}
	stream, err := g.streams.StreamWith(ctx, secret.Digest())
	switch {
	case fault.Is(err, fault.NotFound):
		return stream, refusal.New(refusal.Unknown, "no stream has this secret")
	case err != nil:
		return stream, fmt.Errorf("look up stream: %w", err)
	case stream.Provider != posture.Azure:
		return stream, refusal.New(refusal.Unknown, "the stream is of %s", stream.Provider)
	}
	return stream, nil
}

// Open believes a request or refuses it.
func (g *Gate) Open(ctx context.Context, secret posture.StreamSecret, h http.Header, body []byte) (Opened, error) {
	stream, err := g.Know(ctx, secret)
	if err != nil {
		return Opened{}, err
	}
	records, err := parse(h, body)
	if err != nil {
		return Opened{}, refusal.New(refusal.Malformed, "read message: %w", err)
	}
	o := Opened{Delivery: posture.Delivery{Stream: stream}}
	for _, r := range records {
		if !strings.EqualFold(r.subscription(), string(stream.Account)) {
			return Opened{}, refusal.New(refusal.Foreign, "the message is about another subscription")
		}
		if drift := g.now().Sub(r.time).Abs(); drift > maxDrift {
			return Opened{}, refusal.New(refusal.Stale, "the message is of %s ago", g.now().Sub(r.time).Round(time.Second))
		}
		if r.id == "" || len(r.id) > 512 {
			return Opened{}, refusal.New(refusal.Malformed, "a message without an id")
		}
		m := posture.StreamMessage{ID: "azure " + r.id, Time: r.time, Sign: r.sign}
		if r.validation != "" {
			o.Validation = r.validation
		}
		if r.sign == posture.SignEvent {
			m.Target = r.targets(g.index)
		}
		o.Messages = append(o.Messages, m)
	}
	return o, nil
}

// A record is one event in whatever form it came.
type record struct {
	id         string
	time       time.Time
	operation  string // Microsoft.Network/networkSecurityGroups/write
	status     string // Succeeded
	resource   string // the id of what it was done to
	subscribed string // the subscription, where the form says it by itself
	topic      string // what sent it, which is in the subscription too
	sign       posture.StreamSign
	validation string
}

// subscription returns the subscription that the record is about, or "" when it
// contradicts itself.
func (r record) subscription() string {
	var found string
	for _, text := range []string{r.subscribed, subscriptionOf(r.resource), subscriptionOf(r.topic)} {
		switch {
		case text == "":
		case found == "":
			found = text
		case !strings.EqualFold(found, text):
			return ""
		}
	}
	return found
}

// subscriptionOf returns the subscription that an id begins with.
func subscriptionOf(id string) string {
	part := strings.Split(strings.TrimPrefix(id, "/"), "/")
	if len(part) < 2 || !strings.EqualFold(part[0], "subscriptions") {
		return ""
	}
	return part[1]
}

var errForm = errors.New("it has none of the known forms")

// parse reads a request's body in whichever of the forms it is.
func parse(h http.Header, body []byte) ([]record, error) {
	body = bytes.TrimSpace(body)
	switch {
	case h.Get("Ce-Specversion") != "": // a CloudEvent whose attributes are headers
		r, err := parseBinary(h, body)
		return []record{r}, err
	case bytes.HasPrefix(body, []byte("[")):
		var raw []json.RawMessage
		if err := json.Unmarshal(body, &raw); err != nil {
			return nil, err
		}
		if len(raw) == 0 || len(raw) > maxBatch {
			return nil, fmt.Errorf("it has %d events", len(raw))
		}
		all := make([]record, len(raw))
		for i, each := range raw {
			var err error
			if all[i], err = parseOne(each); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
	r, err := parseOne(body)
	return []record{r}, err
}

func parseOne(body []byte) (record, error) {
	var form struct {
		SchemaID    string `json:"schemaId"`
		SpecVersion string `json:"specversion"`
		EventType   string `json:"eventType"`
	}
	if err := json.Unmarshal(body, &form); err != nil {
		return record{}, err
	}
	switch {
	case strings.EqualFold(form.SchemaID, "azureMonitorCommonAlertSchema"):
		return parseCommon(body)
	case form.SchemaID != "":
		return parseClassic(body)
	case form.SpecVersion != "":
		return parseCloudEvent(body)
	case form.EventType != "":
		return parseGrid(body)
	}
	return record{}, errForm
}
