// Package azure verifies and parses the messages that Azure sends: activity log
// alerts (classic and common schema) and Event Grid events (Event Grid and
// CloudEvents schema).
//
// None of them is signed. A secret in the URL that they are sent to authenticates
// them; the store keeps its hash.
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

// Operations that announce that the stream was set up or removed.
const (
	OperationReady    = "AzureStreamReady"
	OperationNotReady = "AzureStreamNotReady"
)

// maxDrift bounds the difference between a message's time and the server's.
const maxDrift = time.Hour

// maxBatch is how many events one request may contain.
const maxBatch = 5000

// Streams finds the stream of a message.
type Streams interface {
	StreamWith(ctx context.Context, d posture.StreamDigest) (posture.Stream, error)
}

// Verifier verifies messages. It is safe for concurrent use.
type Verifier struct {
	streams Streams
	index   *change.Index
	now     func() time.Time
}

// NewVerifier returns a verifier.
func NewVerifier(s Streams, x *change.Index, now func() time.Time) *Verifier {
	return &Verifier{s, x, now}
}

// Verified is a request that passed verification.
type Verified struct {
	posture.Delivery
	Validation string // the code to return to Event Grid, which validates the endpoint; "" for none
	Stale      int    // how many events were skipped as too old or from the future; if all are, one less, because callers also count the error
}

// Authenticate returns the stream that has the secret.
func (v *Verifier) Authenticate(ctx context.Context, secret posture.StreamSecret) (posture.Stream, error) {
	if secret == "" {
		return posture.Stream{}, refusal.New(refusal.Unsigned, "there is no secret in the address")
	}
	stream, err := v.streams.StreamWith(ctx, secret.Digest())
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

// Verify authenticates a request and parses it.
func (v *Verifier) Verify(ctx context.Context, secret posture.StreamSecret, h http.Header, body []byte) (Verified, error) {
	stream, err := v.Authenticate(ctx, secret)
	if err != nil {
		return Verified{}, err
	}
	records, err := parse(h, body)
	if err != nil {
		return Verified{}, refusal.New(refusal.Malformed, "read message: %w", err)
	}
	o := Verified{Delivery: posture.Delivery{Stream: stream}}
	var stale error
	for _, r := range records {
		if !strings.EqualFold(r.subscription(), string(stream.Account)) {
			return Verified{}, refusal.New(refusal.Foreign, "the message is about another subscription")
		}
		if age := v.now().Sub(r.time); age.Abs() > maxDrift {
			// Old events must have no effect, so that a recorded request cannot be
			// replayed. They are skipped and not refused, because Event Grid retries them
			// in one batch with fresh ones.
			o.Stale++
			stale = refusal.New(refusal.Stale, "the time of the message, %s, is more than %s ago or ahead", r.time.Format(time.RFC3339), maxDrift)
			continue
		}
		if r.id == "" || len(r.id) > 512 {
			return Verified{}, refusal.New(refusal.Malformed, "a message without a valid id")
		}
		m := posture.StreamMessage{ID: "azure " + r.id, Time: r.time, Signal: r.signal, ChangeOrigin: posture.ChangeOrigin{Actor: r.actor, Operation: change.Printable(change.Name(r.operation))}}
		if r.validation != "" {
			o.Validation = r.validation
		}
		if r.signal == posture.SignalEvent {
			m.Target = r.targets(v.index)
		}
		o.Messages = append(o.Messages, m)
	}
	if len(o.Messages) == 0 {
		return Verified{Stale: o.Stale - 1}, stale // callers count the error as one of them
	}
	return o, nil
}

// A record is one event, independent of its schema.
type record struct {
	id             string
	time           time.Time
	operation      string // Microsoft.Network/networkSecurityGroups/write
	status         string // Succeeded
	resource       string // the id of the resource that the operation changed
	subscriptionID string // empty if the schema has no member for it
	topic          string // the id of the sender, which is in the subscription too
	signal         posture.StreamSignal
	validation     string
	actor          string
}

// subscription returns the subscription that the record is about, or "" when it
// contradicts itself.
func (r record) subscription() string {
	var found string
	for _, text := range []string{r.subscriptionID, subscriptionOf(r.resource), subscriptionOf(r.topic)} {
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

var errUnknownSchema = errors.New("it is in none of the known schemas")

// parse parses the body of a request in any of the four schemas.
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
	return record{}, errUnknownSchema
}
