// Package aws verifies and parses the messages that AWS sends: notifications of SNS,
// which are signed, and requests of EventBridge API destinations, which carry the
// account's token.
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

// TokenHeader is the header in which an API destination sends the account's token.
const TokenHeader = "X-Event-Token"

// Streams finds the stream of a message.
type Streams interface {
	// StreamOf returns the stream with a handle, which is part of its topic's name.
	StreamOf(ctx context.Context, handle string) (posture.Stream, error)

	// StreamWith returns the stream whose token has the digest d.
	StreamWith(ctx context.Context, d posture.StreamDigest) (posture.Stream, error)
}

// Verifier verifies messages. It is safe for concurrent use.
type Verifier struct {
	streams Streams
	index   *change.Index
	keys    *Certificates
	now     func() time.Time
}

// NewVerifier returns a verifier. The client must be restricted to the addresses of
// the clouds.
func NewVerifier(s Streams, x *change.Index, client *http.Client, now func() time.Time) *Verifier {
	return &Verifier{streams: s, index: x, keys: NewCertificates(client, now), now: now}
}

// Verified is a request that passed verification.
type Verified struct {
	posture.Delivery
	confirm string // the address that confirms a subscription
}

// Verify checks the origin of a request and parses it.
func (v *Verifier) Verify(ctx context.Context, h http.Header, body []byte) (Verified, error) {
	if token := h.Get(TokenHeader); token != "" {
		return v.verifyEvent(ctx, token, body)
	}
	if h.Get("X-Amz-Sns-Rawdelivery") != "" {
		return Verified{}, refusal.New(refusal.Unsigned, "raw delivery is not signed")
	}
	if !json.Valid(body) {
		return Verified{}, refusal.New(refusal.Malformed, "it is not JSON")
	}
	var form struct{ Type, TopicArn *string }
	if err := json.Unmarshal(body, &form); err != nil || form.Type == nil || form.TopicArn == nil {
		return Verified{}, refusal.New(refusal.Unsigned, "neither a message of SNS nor a token")
	}
	return v.verifyNotification(ctx, h, body)
}

// verifyEvent verifies a request of an API destination.
func (v *Verifier) verifyEvent(ctx context.Context, token string, body []byte) (Verified, error) {
	stream, err := v.streams.StreamWith(ctx, posture.StreamSecret(token).Digest())
	if err := checkStream(stream, err); err != nil {
		return Verified{}, err
	}
	e, err := parseEvent(body)
	if err != nil {
		return Verified{}, refusal.New(refusal.Malformed, "read event: %w", err)
	}
	if err := checkRecent("event", e.Time, v.now()); err != nil {
		return Verified{}, err
	}
	m := posture.StreamMessage{ID: "event " + e.ID, Time: e.Time}
	return v.deliver(stream, m, e)
}

// verifyNotification verifies a message of SNS. It makes the cheap checks first, so
// that a sender without a stream cannot make the server fetch certificates.
func (v *Verifier) verifyNotification(ctx context.Context, h http.Header, body []byte) (Verified, error) {
	env, err := parseEnvelope(h, body)
	if err != nil {
		return Verified{}, err
	}
	t, ok := parseTopic(env.TopicArn)
	if !ok {
		return Verified{}, refusal.New(refusal.Unknown, "topic %.200q belongs to no stream", env.TopicArn)
	}
	stream, err := v.streams.StreamOf(ctx, t.handle)
	if err := checkStream(stream, err); err != nil {
		return Verified{}, err
	}
	if t.account != string(stream.Account) {
		return Verified{}, refusal.New(refusal.Foreign, "the topic belongs to another account")
	}
	sent, err := env.sentTime(v.now())
	if err != nil {
		return Verified{}, err
	}
	if err := env.verify(ctx, t, v.keys); err != nil {
		return Verified{}, err
	}
	m := posture.StreamMessage{ID: "sns " + env.MessageID, Time: sent}
	switch env.Type {
	case confirmation:
		m.Signal = posture.SignalConnected
		confirm, err := env.confirmURL(t)
		return Verified{posture.Delivery{Stream: stream, Messages: []posture.StreamMessage{m}}, confirm}, err
	case unsubscription:
		m.Signal = posture.SignalDisconnected
		return Verified{Delivery: posture.Delivery{Stream: stream, Messages: []posture.StreamMessage{m}}}, nil
	}
	e, err := parseEvent([]byte(env.Message))
	if err != nil { // a signed message that is not an event, such as one published by hand: it is delivered without targets
		return Verified{Delivery: posture.Delivery{Stream: stream, Messages: []posture.StreamMessage{m}}}, nil
	}
	return v.deliver(stream, m, e)
}

// checkStream fails unless a stream of AWS was found.
func checkStream(s posture.Stream, err error) error {
	switch {
	case fault.Is(err, fault.NotFound):
		return refusal.New(refusal.Unknown, "no stream has this topic or token")
	case err != nil:
		return fmt.Errorf("look up stream: %w", err)
	case s.Provider != posture.AWS:
		return refusal.New(refusal.Unknown, "the stream is of %s", s.Provider)
	}
	return nil
}

// deliver returns the delivery of a message that carries an event.
func (v *Verifier) deliver(stream posture.Stream, m posture.StreamMessage, e event) (Verified, error) {
	if !e.concerns(stream.Account) {
		return Verified{}, refusal.New(refusal.Foreign, "the event is about another account")
	}
	if e.DetailType == "Scheduled Event" {
		m.Signal = posture.SignalHeartbeat
	} else {
		m.Target = e.targets(v.index)
		who := e.Detail.UserIdentity
		m.Actor = change.Printable(who.ARN, who.UserName, who.InvokedBy, who.PrincipalID)
		m.Operation = change.Printable(change.Name(e.Detail.EventName))
	}
	return Verified{Delivery: posture.Delivery{Stream: stream, Messages: []posture.StreamMessage{m}}}, nil
}

// Confirm confirms the subscription if the request is a SubscriptionConfirmation.
// Call it before acknowledging the request, so that SNS retries when it fails.
func (v *Verifier) Confirm(ctx context.Context, o Verified) error {
	if o.confirm == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, o.confirm, nil)
	if err != nil {
		return fmt.Errorf("confirm subscription: %w", err)
	}
	res, err := v.keys.http.Do(r) // the client of the certificates follows no redirects
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

// detail is the CloudTrail record of an API call.
type detail struct {
	EventSource        string `json:"eventSource"`
	EventName          string `json:"eventName"`
	AWSRegion          string `json:"awsRegion"`
	ErrorCode          string `json:"errorCode"`
	ReadOnly           bool   `json:"readOnly"`
	RecipientAccountID string `json:"recipientAccountId"`
	UserIdentity       struct {
		Type        string      `json:"type"`
		ARN         change.Name `json:"arn"`
		UserName    change.Name `json:"userName"`
		PrincipalID change.Name `json:"principalId"`
		InvokedBy   change.Name `json:"invokedBy"`
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
	if e.ID == "" || e.Account == "" || e.Time.IsZero() {
		return e, fmt.Errorf("required fields of an EventBridge event are missing")
	}
	if len(e.ID) > 128 {
		return e, fmt.Errorf("its id is longer than 128 characters")
	}
	return e, nil
}

// concerns reports whether the event belongs to an account.
func (e event) concerns(account posture.AccountID) bool {
	return e.Account == string(account) && (e.Detail.RecipientAccountID == "" || e.Detail.RecipientAccountID == string(account))
}
