package api

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
	"vigil/internal/posture"
	"vigil/internal/posture/stream/aws"
	"vigil/internal/posture/stream/gcp"
)

// Receiver accepts the messages of clouds.
type Receiver interface {
	AWS(ctx context.Context, h http.Header, body []byte) error
	Azure(ctx context.Context, secret posture.StreamSecret, h http.Header, body []byte) (code string, err error)
	AuthenticateAzure(ctx context.Context, secret posture.StreamSecret) error
	GCP(ctx context.Context, h http.Header, body []byte) error
}

// Streams handles requests for event streams, and messages of clouds.
type Streams struct {
	Org      func(context.Context) posture.OrgID // the caller's organisation
	Accounts posture.OnboardingStore
	Store    posture.StreamStore
	Receiver Receiver
	URL      func() string // URL that clouds send to, without a path
}

// RateEvents is the name of the rate limit of messages from clouds.
const RateEvents = "events"

// eventBody is the size limit of a message: SNS sends up to 256 KiB, Event Grid batches
// of up to 1 MB.
const eventBody = 1 << 20

// Routes returns the routes of event streams.
func (a *Streams) Routes() []httpapi.Route {
	limits := httpapi.Limits{Body: eventBody, Timeout: 20 * time.Second, Rate: RateEvents}
	cloud := func(pattern, operation string, h httpapi.Handler) httpapi.Route {
		// Messages are not audited individually: there are many, and each is stored.
		return httpapi.Route{Pattern: pattern, Need: httpapi.Public, Operation: operation, Safe: true, Quiet: true, Deferrable: true, Limits: limits, Handler: h}
	}
	return []httpapi.Route{
		cloud("POST /events/aws", "receiveAWSEvent", a.receiveAWS),
		cloud("POST /events/azure", "receiveAzureEventWithCode", a.receiveAzure),
		cloud("POST /events/azure/{secret}", "receiveAzureEvent", a.receiveAzure),
		cloud("OPTIONS /events/azure/{secret}", "askForAzureEvents", a.validateAzure),
		cloud("POST /events/gcp", "receiveGCPEvent", a.receiveGCP),
		{Pattern: "POST /status", Need: admin, Operation: "reportEventStream", Handler: httpapi.JSON(a.reportStream)},
		{Pattern: "POST /v1/cloud-accounts/{cloud_account_id}/event-stream", Need: admin, Operation: "openEventStream", SecretAnswer: true, Handler: httpapi.JSON(a.openStream)},
		{Pattern: "GET /v1/cloud-accounts/{cloud_account_id}/event-stream", Need: viewer, Operation: "getEventStream", Handler: httpapi.JSON(a.getStream)},
		{Pattern: "DELETE /v1/cloud-accounts/{cloud_account_id}/event-stream", Need: admin, Operation: "closeEventStream", Handler: httpapi.JSON(a.closeStream)},
	}
}

type (
	// eventStream is the wire form of an event stream. Only the response to openStream,
	// which creates the secret, contains it.
	eventStream struct {
		Provider          string        `json:"provider"`
		CloudAccountID    string        `json:"cloudAccountId"`
		Handle            string        `json:"handle"`
		Endpoint          string        `json:"endpoint"`
		Secret            string        `json:"secret,omitempty"`
		TopicName         string        `json:"topicName,omitempty"`
		SubscriptionName  string        `json:"subscriptionName,omitempty"`
		ServiceAccount    string        `json:"serviceAccount,omitempty"`
		TokenHeader       string        `json:"tokenHeader,omitempty"`
		Status            status        `json:"status"`
		CreatedTime       httpapi.Time  `json:"createdTime"`
		RotatedTime       httpapi.Time  `json:"rotatedTime"`
		LastEventTime     *httpapi.Time `json:"lastEventTime,omitempty"`
		LastHeartbeatTime *httpapi.Time `json:"lastHeartbeatTime,omitempty"`
		Pending           int64         `json:"pendingCount"`
		Accepted          int64         `json:"acceptedCount"`
		Duplicates        int64         `json:"duplicateCount"`
		Unmapped          int64         `json:"unmappedCount"`
	}
	streamPath struct {
		AccountID string `path:"cloud_account_id"`
	}
	reportIn struct {
		Provider  string `json:"provider" required:"true" enum:"aws,azure,gcp"`
		AccountID string `json:"account_id" required:"true"`
		Active    bool   `json:"active" required:"true"`
	}
	wholeBody struct {
		Body []byte `body:"true"`
	}
)

// body returns the raw body of a request: signatures cover its bytes.
func body(r *http.Request) ([]byte, error) {
	var in wholeBody
	err := httpapi.Bind(r, &in)
	return in.Body, err
}

func (a *Streams) receiveAWS(_ http.ResponseWriter, r *http.Request) (any, error) {
	text, err := body(r)
	if err != nil {
		return nil, err
	}
	return httpapi.Text("Accepted"), a.Receiver.AWS(r.Context(), r.Header, text)
}

func (a *Streams) receiveGCP(_ http.ResponseWriter, r *http.Request) (any, error) {
	text, err := body(r)
	if err != nil {
		return nil, err
	}
	return httpapi.Text("Accepted"), a.Receiver.GCP(r.Context(), r.Header, text)
}

// azureSecret returns the secret in a URL: its last path segment or, as Azure services
// send it, the query parameter "code".
func azureSecret(r *http.Request) posture.StreamSecret {
	return posture.StreamSecret(cmp.Or(r.PathValue("secret"), r.URL.Query().Get("code")))
}

func (a *Streams) receiveAzure(_ http.ResponseWriter, r *http.Request) (any, error) {
	text, err := body(r)
	if err != nil {
		return nil, err
	}
	code, err := a.Receiver.Azure(r.Context(), azureSecret(r), r.Header, text)
	if err != nil || code == "" {
		return httpapi.Text("Accepted"), err
	}
	return map[string]string{"validationResponse": code}, nil
}

// validateAzure responds to the validation request that Event Grid sends before
// CloudEvents.
func (a *Streams) validateAzure(_ http.ResponseWriter, r *http.Request) (any, error) {
	if err := a.Receiver.AuthenticateAzure(r.Context(), azureSecret(r)); err != nil {
		return nil, err
	}
	origin := r.Header.Get("WebHook-Request-Origin")
	if !strings.EqualFold(origin, "eventgrid.azure.net") {
		return nil, fault.New(fault.Forbidden, "only Event Grid may send to this address")
	}
	return httpapi.Text("").With("WebHook-Allowed-Origin", "eventgrid.azure.net").With("WebHook-Allowed-Rate", "1000"), nil
}

func (a *Streams) reportStream(ctx context.Context, in reportIn) (httpapi.Reply, error) {
	id, s := posture.AccountID(in.AccountID), posture.StreamDisconnected
	if in.Provider == string(posture.Azure) {
		id = posture.AccountID(strings.ToLower(in.AccountID))
	}
	if in.Active {
		s = posture.StreamConnected
	}
	httpapi.Note(ctx, "account", string(id))
	return httpapi.Text("Accepted"), a.Store.SetStream(ctx, a.Org(ctx), posture.Provider(in.Provider), id, s)
}

// show returns the wire form of a stream.
func (a *Streams) show(ctx context.Context, s posture.Stream) (eventStream, error) {
	account, err := a.Accounts.Account(ctx, s.Org, s.Account)
	if err != nil {
		return eventStream{}, err
	}
	w := eventStream{
		Provider: string(s.Provider), CloudAccountID: string(s.Account), Handle: s.Handle, Endpoint: a.URL() + "/events/" + string(s.Provider),
		Status: statusOf(account.Stream), CreatedTime: httpapi.Time{Time: s.Created}, RotatedTime: httpapi.Time{Time: s.Rotated},
		LastEventTime: optionalTime(s.LastEvent), LastHeartbeatTime: optionalTime(s.LastBeat),
		Pending: s.Pending, Accepted: s.Accepted, Duplicates: s.Duplicates, Unmapped: s.Unmapped,
	}
	switch s.Provider {
	case posture.AWS:
		w.TopicName, w.TokenHeader = aws.TopicPrefix+s.Handle, aws.TokenHeader
	case posture.GCP:
		w.TopicName, w.SubscriptionName, w.ServiceAccount = gcp.TopicPrefix+s.Handle, gcp.SubscriptionPrefix+s.Handle, gcp.ServiceAccount(s)
	}
	return w, nil
}

func (a *Streams) openStream(ctx context.Context, in streamPath) (httpapi.Reply, error) {
	secret := posture.NewStreamSecret()
	s, fresh, err := a.Store.OpenStream(ctx, a.Org(ctx), posture.AccountID(in.AccountID), secret.Digest())
	if err != nil {
		return httpapi.Reply{}, err
	}
	w, err := a.show(ctx, s)
	if err != nil {
		return httpapi.Reply{}, err
	}
	switch s.Provider {
	case posture.AWS:
		w.Secret = secret.Reveal()
	case posture.Azure:
		w.Secret = secret.Reveal()
		w.Endpoint += "/" + secret.Reveal()
	}
	if fresh {
		return httpapi.Created("/v1/cloud-accounts/"+string(s.Account)+"/event-stream", "", w), nil
	}
	return httpapi.OK(w), nil
}

func (a *Streams) getStream(ctx context.Context, in streamPath) (eventStream, error) {
	s, err := a.Store.Stream(ctx, a.Org(ctx), posture.AccountID(in.AccountID))
	if err != nil {
		return eventStream{}, err
	}
	return a.show(ctx, s)
}

func (a *Streams) closeStream(ctx context.Context, in streamPath) (eventStream, error) {
	w, err := a.getStream(ctx, in)
	if err != nil {
		return w, err
	}
	return w, a.Store.CloseStream(ctx, a.Org(ctx), posture.AccountID(in.AccountID))
}
