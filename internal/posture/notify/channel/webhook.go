package channel

import (
	"context"
	"time"

	"vigil/internal/posture/notify"
	"vigil/internal/webhook"
)

// event is the JSON form of an event for webhooks and Splunk.
type event struct {
	ID             string    `json:"id"`
	Type           string    `json:"type"`
	Time           time.Time `json:"time"`
	CloudAccountID string    `json:"cloudAccountId"`
	Summary        string    `json:"summary"`
	Detail         string    `json:"detail,omitempty"`
	Finding        *finding  `json:"finding,omitempty"`
}

type finding struct {
	ID         string            `json:"id"`
	RuleID     string            `json:"ruleId"`
	EntityID   string            `json:"entityId"`
	ObjectName string            `json:"objectName"`
	ObjectXID  string            `json:"objectXid"`
	ObjectType string            `json:"objectType"`
	Provider   string            `json:"cloudProvider"`
	Service    string            `json:"service"`
	Region     string            `json:"region"`
	Level      string            `json:"level"`
	RiskScore  int               `json:"riskScore"`
	Status     string            `json:"status"`
	Tags       map[string]string `json:"cloudTags,omitempty"`
}

func eventOf(e notify.Event) event {
	w := event{e.ID, string(e.Kind), e.At.UTC(), string(e.Account), e.Summary(), e.Detail, nil}
	if f := e.Finding; f != nil {
		w.Finding = &finding{
			string(f.ID), string(f.Rule), string(f.Object), f.Name, f.XID, string(f.ObjectType()), string(f.Provider), f.Service, f.Region,
			string(f.Level), f.Risk.Score, string(f.Status), f.Tags,
		}
	}
	return w
}

// webhook posts the message as JSON. If there is a signing key, the header
// Vigil-Signature has the time and the HMAC-SHA256 of "time.body", so that receivers
// can reject forged and old messages. Vigil-Delivery is the same in every attempt.
func (s *Senders) webhook(ctx context.Context, c notify.Channel, m notify.Message) error {
	body := struct {
		ID     string    `json:"id"`
		Time   time.Time `json:"time"`
		Rule   string    `json:"rule,omitempty"`
		Title  string    `json:"title"`
		Test   bool      `json:"test,omitempty"`
		Link   string    `json:"link,omitempty"`
		Events []event   `json:"events"`
	}{m.ID, m.At.UTC(), m.RuleName, m.Title(), m.Test, m.Link, []event{}}
	for _, e := range m.Events {
		body.Events = append(body.Events, eventOf(e))
	}
	text := encode(body)
	header := map[string]string{"Vigil-Delivery": m.ID}
	if key := c.Value("signingKey"); key != "" {
		header["Vigil-Signature"] = webhook.Sign([]byte(key), s.o.Now(), text)
	}
	return s.post(ctx, c.Value("url"), header, text, nil)
}
