package azure

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/stream/change"
)

// activity is an entry of the activity log in an alert.
type activity struct {
	Authorization struct {
		Action string `json:"action"`
		Scope  string `json:"scope"`
	} `json:"authorization"`
	EventDataID    string      `json:"eventDataId"`
	EventTimestamp time.Time   `json:"eventTimestamp"`
	OperationName  string      `json:"operationName"`
	OperationID    string      `json:"operationId"`
	CorrelationID  string      `json:"correlationId"`
	ResourceID     string      `json:"resourceId"`
	Status         string      `json:"status"`
	Caller         change.Name `json:"caller"`
	SubscriptionID string      `json:"subscriptionId"`
}

// record returns the entry as a record.
func (a activity) record() record {
	r := record{
		id: a.EventDataID, time: a.EventTimestamp, operation: cmp.Or(a.Authorization.Action, a.OperationName), status: a.Status,
		resource: cmp.Or(a.ResourceID, a.Authorization.Scope), subscriptionID: a.SubscriptionID,
		actor: change.Printable(a.Caller),
	}
	switch {
	case strings.EqualFold(a.OperationName, OperationReady):
		r.signal = posture.SignalConnected
	case strings.EqualFold(a.OperationName, OperationNotReady):
		r.signal = posture.SignalDisconnected
	}
	return r
}

// parseClassic parses an activity log alert in the classic schema.
func parseClassic(body []byte) (record, error) {
	var alert struct {
		SchemaID string `json:"schemaId"`
		Data     struct {
			Context struct {
				ActivityLog *activity `json:"activityLog"`
			} `json:"context"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &alert); err != nil {
		return record{}, err
	}
	if !strings.EqualFold(alert.SchemaID, "Microsoft.Insights/activityLogs") || alert.Data.Context.ActivityLog == nil {
		return record{}, errUnknownSchema
	}
	return alert.Data.Context.ActivityLog.record(), nil
}

// parseCommon parses an activity log alert in the common schema.
func parseCommon(body []byte) (record, error) {
	var alert struct {
		Data struct {
			Essentials struct {
				AlertID          string    `json:"alertId"`
				AlertTargetIDs   []string  `json:"alertTargetIDs"`
				FiredDateTime    time.Time `json:"firedDateTime"`
				MonitorCondition string    `json:"monitorCondition"`
				OriginAlertID    string    `json:"originAlertId"`
			} `json:"essentials"`
			Context activity `json:"alertContext"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &alert); err != nil {
		return record{}, err
	}
	e, r := alert.Data.Essentials, alert.Data.Context.record()
	r.id = cmp.Or(r.id, e.OriginAlertID, e.AlertID)
	if r.time.IsZero() {
		r.time = e.FiredDateTime
	}
	if r.resource == "" && len(e.AlertTargetIDs) > 0 {
		r.resource = e.AlertTargetIDs[0]
	}
	if subscriptionOf(e.AlertID) != "" {
		r.topic = e.AlertID
	}
	return r, nil
}
