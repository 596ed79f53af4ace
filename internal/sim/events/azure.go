package events

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// An Operation is an operation on an Azure resource.
type Operation struct {
	Subscription string
	Resource     string // id of the resource
	Name         string // Microsoft.Network/networkSecurityGroups/write
	At           time.Time
	ID           string // of the event
}

// NewOperation returns an operation with a new event id.
func NewOperation(subscription, resource, name string, at time.Time) Operation {
	return Operation{subscription, resource, name, at.UTC(), uuid()}
}

func (o Operation) activity() map[string]any {
	return map[string]any{
		"authorization": map[string]string{"action": o.Name, "scope": o.Resource}, "channels": "Operation", "claims": "{}",
		"caller": "operator@example.com", "correlationId": uuid(), "eventSource": "Administrative", "eventTimestamp": o.At, "eventDataId": o.ID,
		"level": "Informational", "operationName": o.Name, "operationId": uuid(), "resourceId": o.Resource, "status": "Succeeded",
		"subStatus": "", "subscriptionId": o.Subscription, "submissionTimestamp": o.At,
	}
}

// Classic returns the operation as an activity log alert in the classic schema.
func (o Operation) Classic() []byte {
	return encode(map[string]any{"schemaId": "Microsoft.Insights/activityLogs", "data": map[string]any{
		"status": "Activated", "context": map[string]any{"activityLog": o.activity()}, "properties": map[string]any{},
	}})
}

// Common returns the operation as an activity log alert in the common schema.
func (o Operation) Common() []byte {
	context := o.activity()
	delete(context, "resourceId")
	delete(context, "subscriptionId")
	return encode(map[string]any{"schemaId": "azureMonitorCommonAlertSchema", "data": map[string]any{
		"essentials": map[string]any{
			"alertId":   "/subscriptions/" + o.Subscription + "/providers/Microsoft.AlertsManagement/alerts/" + uuid(),
			"alertRule": "vigil", "severity": "Sev4", "signalType": "Activity Log", "monitorCondition": "Fired",
			"monitoringService": "Activity Log - Administrative", "alertTargetIDs": []string{strings.ToLower(o.Resource)},
			"originAlertId": uuid(), "firedDateTime": o.At, "essentialsVersion": "1.0", "alertContextVersion": "1.0",
		},
		"alertContext": context,
	}})
}

// kind returns the type of the Event Grid event.
func (o Operation) kind() string {
	switch {
	case strings.HasSuffix(o.Name, "/delete"):
		return "Microsoft.Resources.ResourceDeleteSuccess"
	case strings.HasSuffix(o.Name, "/action"):
		return "Microsoft.Resources.ResourceActionSuccess"
	}
	return "Microsoft.Resources.ResourceWriteSuccess"
}

func (o Operation) data() map[string]any {
	return map[string]any{
		"authorization": map[string]string{"scope": o.Resource, "action": o.Name}, "correlationId": uuid(), "httpRequest": map[string]any{},
		"resourceProvider": "Microsoft.Resources", "resourceUri": o.Resource, "operationName": o.Name, "status": "Succeeded",
		"subscriptionId": o.Subscription, "tenantId": uuid(),
		"claims": map[string]string{"http://schemas.xmlsoap.org/ws/2005/05/identity/claims/upn": "operator@example.com", "appid": uuid()},
	}
}

// Grid returns the operation as an event in Event Grid's schema.
func (o Operation) Grid() map[string]any {
	return map[string]any{
		"subject": o.Resource, "eventType": o.kind(), "eventTime": o.At, "id": o.ID, "data": o.data(), "dataVersion": "2", "metadataVersion": "1",
		"topic": "/subscriptions/" + o.Subscription,
	}
}

// GridBatch returns operations as one request of Event Grid.
func GridBatch(operations ...Operation) []byte {
	all := make([]any, len(operations))
	for i, o := range operations {
		all[i] = o.Grid()
	}
	return encode(all)
}

// CloudEvent returns the operation as a CloudEvent.
func (o Operation) CloudEvent() []byte {
	return encode(map[string]any{
		"specversion": "1.0", "id": o.ID, "source": "/subscriptions/" + o.Subscription, "subject": o.Resource, "type": o.kind(), "time": o.At, "data": o.data(),
	})
}

// Binary returns the operation as a CloudEvent in binary mode, with attributes
// as headers.
func (o Operation) Binary() (http.Header, []byte) {
	return http.Header{
		"Ce-Specversion": {"1.0"}, "Ce-Id": {o.ID}, "Ce-Source": {"/subscriptions/" + o.Subscription}, "Ce-Subject": {o.Resource},
		"Ce-Type": {o.kind()}, "Ce-Time": {o.At.Format(time.RFC3339Nano)}, "Content-Type": {"application/json"},
	}, encode(o.data())
}

// Validation returns Event Grid's validation request for a new webhook.
func Validation(subscription, code string, at time.Time) (http.Header, []byte) {
	topic := "/subscriptions/" + subscription + "/resourceGroups/vigil-events/providers/Microsoft.EventGrid/systemTopics/vigil"
	return http.Header{"Aeg-Event-Type": {"SubscriptionValidation"}}, encode([]any{map[string]any{
		"id": uuid(), "topic": topic, "subject": "", "eventType": "Microsoft.EventGrid.SubscriptionValidationEvent", "eventTime": at.UTC(),
		"metadataVersion": "1", "dataVersion": "2",
		"data": map[string]string{"validationCode": code, "validationUrl": "https://rp-westeurope.eventgrid.azure.net/validate?id=" + code},
	}})
}

// Deleted returns the event that an Event Grid subscription was deleted.
func Deleted(subscription string, at time.Time) []byte {
	return encode([]any{map[string]any{
		"id": uuid(), "topic": "/subscriptions/" + subscription, "subject": "", "eventType": "Microsoft.EventGrid.SubscriptionDeletedEvent",
		"eventTime": at.UTC(), "metadataVersion": "1", "dataVersion": "1", "data": map[string]string{"eventSubscriptionId": uuid()},
	}})
}

func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // events have only values that JSON can encode
	}
	return text
}
