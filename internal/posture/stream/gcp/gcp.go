// Package gcp verifies and parses the messages that Pub/Sub pushes: entries of audit
// logs, sent with an identity token of the service account that the set-up script
// created.
package gcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/stream/change"
	"vigil/internal/posture/stream/refusal"
)

// Prefixes of the names that the set-up script gives; the stream's handle follows.
const (
	AccountPrefix      = "vigil-push-" // of the service account that pushes
	SubscriptionPrefix = "vigil-push-"
	TopicPrefix        = "vigil-events-"
)

// StatusAttribute is the message attribute that announces that the stream is
// connected or disconnected.
const StatusAttribute = "eventStreamStatus"

// BeatAttribute is the attribute of a heartbeat.
const BeatAttribute = "heartbeat"

// ServiceAccount returns the service account that pushes the messages of a
// project's stream.
func ServiceAccount(s posture.Stream) string {
	return AccountPrefix + s.Handle + "@" + string(s.Account) + ".iam.gserviceaccount.com"
}

// Streams finds the stream of a message.
type Streams interface {
	StreamOf(ctx context.Context, handle string) (posture.Stream, error)
}

// Verifier verifies messages. It is safe for concurrent use.
type Verifier struct {
	streams  Streams
	index    *change.Index
	keys     *Keys
	audience func() string
	now      func() time.Time
}

// NewVerifier returns a verifier of tokens for an audience, which is the URL that
// Pub/Sub pushes to. The client must be restricted to the addresses of the clouds.
func NewVerifier(s Streams, x *change.Index, client *http.Client, audience func() string, now func() time.Time) *Verifier {
	return &Verifier{streams: s, index: x, keys: NewKeys(client, now), audience: audience, now: now}
}

// A push is the body of a push request.
type push struct {
	Message struct {
		Data        []byte            `json:"data"`
		Attributes  map[string]string `json:"attributes"`
		MessageID   string            `json:"messageId"`
		PublishTime time.Time         `json:"publishTime"`
	} `json:"message"`
	Subscription string `json:"subscription"`
}

// maxAhead is the permitted difference between clocks.
const maxAhead = 5 * time.Minute

// Verify verifies the token of a request and parses it.
func (v *Verifier) Verify(ctx context.Context, h http.Header, body []byte) (posture.Delivery, error) {
	token, ok := bearer(h.Get("Authorization"))
	if !ok {
		return posture.Delivery{}, refusal.New(refusal.Unsigned, "there is no token")
	}
	// Find the stream by the unverified claims first: that is cheap, and requests for
	// unknown streams cause no fetch of keys. The signature is verified below.
	claims, err := unverifiedClaims(token)
	if err != nil {
		return posture.Delivery{}, err
	}
	stream, err := v.stream(ctx, claims.Email)
	if err != nil {
		return posture.Delivery{}, err
	}
	if err := v.keys.verify(ctx, token, v.audience(), ServiceAccount(stream)); err != nil {
		return posture.Delivery{}, err
	}
	var p push
	if err := json.Unmarshal(body, &p); err != nil {
		return posture.Delivery{}, refusal.New(refusal.Malformed, "read push: %w", err)
	}
	subscription := "projects/" + string(stream.Account) + "/subscriptions/" + SubscriptionPrefix + stream.Handle
	switch {
	case p.Subscription != subscription:
		return posture.Delivery{}, refusal.New(refusal.Foreign, "it is of another subscription")
	case p.Message.MessageID == "" || len(p.Message.MessageID) > 128:
		return posture.Delivery{}, refusal.New(refusal.Malformed, "a message without a valid id")
	case p.Message.PublishTime.IsZero(), p.Message.PublishTime.After(v.now().Add(maxAhead)):
		return posture.Delivery{}, refusal.New(refusal.Stale, "the message is from the future, or of no time")
	}
	m, err := v.message(p, stream)
	return posture.Delivery{Stream: stream, Messages: []posture.StreamMessage{m}}, err
}

// stream returns the stream that a service account pushes for.
func (v *Verifier) stream(ctx context.Context, email string) (posture.Stream, error) {
	name, _, _ := strings.Cut(email, "@")
	handle, ok := strings.CutPrefix(name, AccountPrefix)
	if !ok || handle == "" {
		return posture.Stream{}, refusal.New(refusal.Unknown, "the service account is none of ours")
	}
	stream, err := v.streams.StreamOf(ctx, handle)
	switch {
	case fault.Is(err, fault.NotFound):
		return stream, refusal.New(refusal.Unknown, "no stream has this service account")
	case err != nil:
		return stream, fmt.Errorf("look up stream: %w", err)
	case stream.Provider != posture.GCP:
		return stream, refusal.New(refusal.Unknown, "the stream is of %s", stream.Provider)
	}
	return stream, nil
}

// message returns the message of a push.
func (v *Verifier) message(p push, stream posture.Stream) (posture.StreamMessage, error) {
	m := posture.StreamMessage{ID: "pubsub " + p.Message.MessageID, Time: p.Message.PublishTime}
	switch strings.ToLower(p.Message.Attributes[StatusAttribute]) {
	case string(posture.StreamConnected):
		m.Signal = posture.SignalConnected
		return m, nil
	case string(posture.StreamDisconnected):
		m.Signal = posture.SignalDisconnected
		return m, nil
	}
	if _, ok := p.Message.Attributes[BeatAttribute]; ok {
		m.Signal = posture.SignalHeartbeat
		return m, nil
	}
	var e entry
	if err := json.Unmarshal(p.Message.Data, &e); err != nil && !isWrongType(err) {
		return m, nil //nolint:nilerr // a message published by hand, which names no resource
	}
	if e.LogName != "" && !e.concerns(stream.Account) {
		return m, refusal.New(refusal.Foreign, "the entry is of another project's log")
	}
	m.Target = e.targets(v.index)
	m.Actor = change.Printable(e.Payload.Caller.Email, e.Payload.Caller.Subject)
	m.Operation = change.Printable(change.Name(e.Payload.MethodName))
	return m, nil
}

// isWrongType reports whether JSON was decoded except for members of another type than expected.
// Which types the members of requests and responses have depends on the service.
func isWrongType(err error) bool {
	var wrong *json.UnmarshalTypeError
	return errors.As(err, &wrong)
}

// entry is an entry of an audit log.
type entry struct {
	InsertID string `json:"insertId"`
	LogName  string `json:"logName"`
	Resource struct {
		Type   string            `json:"type"`
		Labels map[string]string `json:"labels"`
	} `json:"resource"`
	Operation *struct {
		First bool `json:"first"`
		Last  bool `json:"last"`
	} `json:"operation"`
	Payload struct {
		ServiceName  string `json:"serviceName"`
		MethodName   string `json:"methodName"`
		ResourceName string `json:"resourceName"`
		Caller       struct {
			Email   change.Name `json:"principalEmail"`
			Subject change.Name `json:"principalSubject"`
		} `json:"authenticationInfo"`
		Status *struct {
			Code int `json:"code"`
		} `json:"status"`
		Request struct {
			Name string `json:"name"`
		} `json:"request"`
		Response struct {
			Name       string `json:"name"`
			TargetLink string `json:"targetLink"`
		} `json:"response"`
	} `json:"protoPayload"`
}

// concerns reports whether the entry belongs to a project's log.
func (e entry) concerns(project posture.AccountID) bool {
	rest, ok := strings.CutPrefix(e.LogName, "projects/"+string(project)+"/logs/")
	if !ok || rest == "" {
		return false
	}
	label := e.Resource.Labels["project_id"]
	return label == "" || label == string(project)
}

// version matches the prefix of method names of Compute Engine.
var version = regexp.MustCompile(`^(v[0-9]+(alpha|beta)?[0-9]*|alpha|beta)\.`)

// isFinished reports whether the entry is about an operation that has finished without an
// error: long-running operations are logged when they begin and again when they end.
func (e entry) isFinished() bool {
	if e.Payload.Status != nil && e.Payload.Status.Code != 0 {
		return false
	}
	return e.Operation == nil || e.Operation.Last || !e.Operation.First
}
