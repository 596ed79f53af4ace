// Package aws opens what AWS sends: notifications of SNS, which are signed, and
// calls of EventBridge API destinations, which carry the account's token.
package aws

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/stream/change"
	"vigil/internal/posture/stream/refusal"
)

// TokenHeader is where an API destination carries the account's token.
const TokenHeader = "X-Event-Token"

// Streams knows whose messages these are.
type Streams interface {
	StreamOf(ctx context.Context, handle string) (posture.Stream, error)
	StreamWith(ctx context.Context, d posture.StreamDigest) (posture.Stream, error)
}

// Gate opens messages. It is safe for concurrent use.
type Gate struct {
	streams Streams
	index   *change.Index
	keys    *Certificates
	now     func() time.Time
}

// NewGate returns a gate. The client must reach nothing but the clouds.
func NewGate(s Streams, x *change.Index, client *http.Client, now func() time.Time) *Gate {
	return &Gate{streams: s, index: x, keys: NewCertificates(client, now), now: now}
}

// Opened is a request that was believed.
type Opened struct {
	posture.Delivery
	confirm string // the address that confirms a subscription
}

// Open believes a request or refuses it.
func (g *Gate) Open(ctx context.Context, h http.Header, body []byte) (Opened, error) {
	if token := h.Get(TokenHeader); token != "" {
		return g.openEvent(ctx, token, body)
	}
	if h.Get("X-Amz-Sns-Rawdelivery") != "" {
		return Opened{}, refusal.New(refusal.Unsigned, "raw delivery is not signed")
	}
	if !json.Valid(body) {
		return Opened{}, refusal.New(refusal.Malformed, "it is not JSON")
	}
	var form struct{ Type, TopicArn *string }
	if err := json.Unmarshal(body, &form); err != nil || form.Type == nil || form.TopicArn == nil {
		return Opened{}, refusal.New(refusal.Unsigned, "neither a message of SNS nor a token")
	}
	return g.openNotification(ctx, h, body)
}

// openEvent opens a call of an API destination.
func (g *Gate) openEvent(ctx context.Context, token string, body []byte) (Opened, error) {
	stream, err := g.streams.StreamWith(ctx, posture.StreamSecret(token).Digest())
	if err := check(stream, err); err != nil {
		return Opened{}, err
	}
	e, err := parseEvent(body)
	if err != nil {
		return Opened{}, refusal.New(refusal.Malformed, "read event: %w", err)
	}
	if age := g.now().Sub(e.Time); age > maxAge || age < -maxAhead {
		return Opened{}, refusal.New(refusal.Stale, "the event is %s old", age.Round(time.Second))
	}
	m := posture.StreamMessage{ID: "event " + e.ID, Time: e.Time}
	return g.deliver(stream, m, e)
}

// openNotification opens a message of SNS. What is cheap is checked first, so
// that strangers cannot make us fetch certificates.
func (g *Gate) openNotification(ctx context.Context, h http.Header, body []byte) (Opened, error) {
	env, err := parseEnvelope(h, body)
	if err != nil {
		return Opened{}, err
	}
	t, ok := parseTopic(env.TopicArn)
	if !ok {
		return Opened{}, refusal.New(refusal.Unknown, "topic %.200q is none of ours", env.TopicArn)
	}
	stream, err := g.streams.StreamOf(ctx, t.handle)
	if err := check(stream, err); err != nil {
		return Opened{}, err
	}
	if t.account != string(stream.Account) {
		return Opened{}, refusal.New(refusal.Foreign, "the topic belongs to another account")
	}
	sent, err := env.fresh(g.now())
	if err != nil {
		return Opened{}, err
	}
	if err := env.verify(ctx, t, g.keys); err != nil {
		return Opened{}, err
	}
	m := posture.StreamMessage{ID: "sns " + env.MessageID, Time: sent}
	switch env.Type {
	case confirmation:
		m.Sign = posture.SignUp
		confirm, err := env.confirmURL(t)
		return Opened{posture.Delivery{Stream: stream, Messages: []posture.StreamMessage{m}}, confirm}, err
	case farewell:
		m.Sign = posture.SignDown
		return Opened{Delivery: posture.Delivery{Stream: stream, Messages: []posture.StreamMessage{m}}}, nil
	}
	e, err := parseEvent([]byte(env.Message))
	if err != nil { // a test, or something somebody wrote by hand: it is signed, and names nothing
		return Opened{Delivery: posture.Delivery{Stream: stream, Messages: []posture.StreamMessage{m}}}, nil
	}
	return g.deliver(stream, m, e)
}

// check refuses what is of no stream of AWS.
func check(s posture.Stream, err error) error {
	switch {
	case fault.Is(err, fault.NotFound):
		return refusal.New(refusal.Unknown, "no stream has it")
	case err != nil:
		return fmt.Errorf("look up stream: %w", err)
	case s.Provider != posture.AWS:
		return refusal.New(refusal.Unknown, "the stream is of %s", s.Provider)
	}
	return nil
}

// deliver finishes a message with the event that it carries.
func (g *Gate) deliver(stream posture.Stream, m posture.StreamMessage, e event) (Opened, error) {
	if !e.about(stream.Account) {
		return Opened{}, refusal.New(refusal.Foreign, "the event is about another account")
	}
	if e.DetailType == "Scheduled Event" {
		m.Sign = posture.SignBeat
	} else {
		m.Target = e.targets(g.index)
	}
	return Opened{Delivery: posture.Delivery{Stream: stream, Messages: []posture.StreamMessage{m}}}, nil
}

// Confirm confirms the subscription that a request asks for, if it does. It is
// called before the request is acknowledged: SNS sends it again otherwise.
func (g *Gate) Confirm(ctx context.Context, o Opened) error {
	if o.confirm == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, o.confirm, nil)
	if err != nil {
		return fmt.Errorf("confirm subscription: %w", err)
	}
	res, err := g.keys.http.Do(r)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "the subscription could not be confirmed")
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fault.Wrap(fault.Unavailable, fmt.Errorf("status %d", res.StatusCode), "the subscription could not be confirmed")
	}
	return nil
}

// event is an event of EventBridge.
type event struct {
	ID         string    `json:"id"`
	DetailType string    `json:"detail-type"`
	Source     string    `json:"source"`
	Account    string    `json:"account"`
	Time       time.Time `json:"time"`
	Region     string    `json:"region"`
	Detail     detail    `json:"detail"`
}

// detail is what CloudTrail says of a call.
type detail struct {
	EventSource        string `json:"eventSource"`
	EventName          string `json:"eventName"`
	AWSRegion          string `json:"awsRegion"`
	ErrorCode          string `json:"errorCode"`
	ReadOnly           bool   `json:"readOnly"`
	RecipientAccountID string `json:"recipientAccountId"`
	UserIdentity       struct {
		Type string `json:"type"`
	} `json:"userIdentity"`
	RequestParameters any `json:"requestParameters"`
	ResponseElements  any `json:"responseElements"`
	Resources         []struct {
		ARN string `json:"ARN"`
	} `json:"resources"`
}

func parseEvent(body []byte) (event, error) {
	var e event
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) {
		return e, fmt.Errorf("it is not an object")
	}
	if err := json.Unmarshal(body, &e); err != nil {
		return e, err
	}
	if e.ID == "" || len(e.ID) > 128 || e.Account == "" || e.Time.IsZero() {
		return e, fmt.Errorf("it is not an event of EventBridge")
	}
	return e, nil
}

// about reports whether all that the event says of whose it is names an account.
func (e event) about(account posture.AccountID) bool {
	return e.Account == string(account) && (e.Detail.RecipientAccountID == "" || e.Detail.RecipientAccountID == string(account))
}
