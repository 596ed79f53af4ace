package azure

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/stream/change"
)

// The types of events about the Event Grid subscription itself.
const (
	typeValidation = "Microsoft.EventGrid.SubscriptionValidationEvent"
	typeDeleted    = "Microsoft.EventGrid.SubscriptionDeletedEvent"
)

// gridData is the data of an event about an operation on a resource.
type gridData struct {
	Authorization struct {
		Scope  string `json:"scope"`
		Action string `json:"action"`
	} `json:"authorization"`
	ResourceURI    string `json:"resourceUri"`
	OperationName  string `json:"operationName"`
	Status         string `json:"status"`
	SubscriptionID string `json:"subscriptionId"`

	Claims gridClaims `json:"claims"`

	ValidationCode string `json:"validationCode"`
}

// gridClaims are the claims of the token that an operation was called with. Claims that are
// not strings are empty.
type gridClaims map[string]change.Name

// UnmarshalJSON implements [json.Unmarshaler]. Claims that are not an object are ignored.
func (c *gridClaims) UnmarshalJSON(b []byte) error {
	var all map[string]change.Name
	if json.Unmarshal(b, &all) == nil {
		*c = all
	}
	return nil
}

// actor returns the user, or the id of the application.
func (c gridClaims) actor() string {
	const schema = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/"
	return change.Printable(c[schema+"upn"], c[schema+"name"], c["name"], c["appid"])
}

// gridEvent is an event in the Event Grid schema or the CloudEvents schema.
type gridEvent struct {
	ID      string    `json:"id"`
	Subject string    `json:"subject"`
	Topic   string    `json:"topic"`  // only in the Event Grid schema
	Source  string    `json:"source"` // only in the CloudEvents schema
	Type    string    `json:"eventType"`
	CEType  string    `json:"type"`
	Time    time.Time `json:"eventTime"`
	CETime  time.Time `json:"time"`
	Data    gridData  `json:"data"`
}

// parseGrid parses an event in Event Grid's own schema.
func parseGrid(body []byte) (record, error) {
	var e gridEvent
	if err := json.Unmarshal(body, &e); err != nil {
		return record{}, err
	}
	return e.record(e.Type, e.Time, e.Topic)
}

// parseCloudEvent parses an event in the CloudEvents schema.
func parseCloudEvent(body []byte) (record, error) {
	var e gridEvent
	if err := json.Unmarshal(body, &e); err != nil {
		return record{}, err
	}
	return e.record(e.CEType, e.CETime, e.Source)
}

// parseBinary parses a CloudEvent in binary mode, whose attributes are headers.
func parseBinary(h http.Header, body []byte) (record, error) {
	e := gridEvent{ID: h.Get("Ce-Id"), Subject: h.Get("Ce-Subject")}
	if err := json.Unmarshal(body, &e.Data); err != nil {
		return record{}, err
	}
	at, err := time.Parse(time.RFC3339, h.Get("Ce-Time"))
	if err != nil {
		return record{}, err
	}
	return e.record(h.Get("Ce-Type"), at, h.Get("Ce-Source"))
}

// record converts the event to a record. Events without a status are about operations that
// succeeded.
func (e gridEvent) record(kind string, at time.Time, topic string) (record, error) {
	d := e.Data
	r := record{
		id: e.ID, time: at, operation: cmp.Or(d.OperationName, d.Authorization.Action), status: cmp.Or(d.Status, "Succeeded"),
		resource: cmp.Or(d.ResourceURI, d.Authorization.Scope), subscriptionID: d.SubscriptionID, topic: topic,
		actor: d.Claims.actor(),
	}
	if r.resource == "" && strings.HasPrefix(strings.ToLower(e.Subject), "/subscriptions/") {
		r.resource = e.Subject
	}
	switch {
	case strings.EqualFold(kind, typeValidation):
		if d.ValidationCode == "" {
			return r, errors.New("it is a validation event without a validation code")
		}
		r.signal, r.validation = posture.SignalConnected, d.ValidationCode
	case strings.EqualFold(kind, typeDeleted):
		r.signal = posture.SignalDisconnected
	case strings.EqualFold(d.OperationName, OperationReady):
		r.signal = posture.SignalConnected
	case strings.EqualFold(d.OperationName, OperationNotReady):
		r.signal = posture.SignalDisconnected
	case !strings.HasPrefix(strings.ToLower(kind), "microsoft.resources.resource"):
		r.status = "" // not about a resource: a record without the status Succeeded has no targets
	case !strings.HasSuffix(strings.ToLower(kind), "success"):
		r.status = "Failed"
	}
	return r, nil
}
