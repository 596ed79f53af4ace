package alert

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/outbound"
	"vigil/internal/webhook"
)

// WebhookOptions configure how notices are posted.
type WebhookOptions struct {
	AllowPlain    bool           // allow http
	AllowLoopback bool           // allow addresses of this machine
	Deny          []netip.Prefix // forbidden networks, in addition to those of package outbound
	TLS           *tls.Config    // roots of the receivers; the system's when nil
	Now           func() time.Time
}

// webhooks posts notices. Administrators choose the addresses. The server can
// reach networks that administrators may not reach: package outbound forbids
// connections to these networks.
type webhooks struct {
	WebhookOptions
	client *http.Client
}

func newWebhooks(o WebhookOptions) *webhooks {
	return &webhooks{o, webhook.NewClient(outbound.Policy{AllowSelf: o.AllowLoopback, Deny: o.Deny}, o.TLS)}
}

// payload is the JSON body of a webhook.
type payload struct {
	ID        string         `json:"id"`   // of the delivery: the same for retries
	Type      string         `json:"type"` // alert.firing, alert.resolved
	Timestamp desktop.Millis `json:"timestamp"`
	Rule      payloadRule    `json:"rule"`
	Component desktop.Ref    `json:"component"`
	Part      string         `json:"part,omitempty"`
	Summary   string         `json:"summary"`
	Since     desktop.Millis `json:"since"`
	Resolved  desktop.Millis `json:"resolved_at,omitempty"`
	Group     string         `json:"group_id"`
	Cause     desktop.Ref    `json:"cause"`
	Related   int            `json:"related_count"` // other open alerts of the group
}

type payloadRule struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

func payloadOf(d Delivery) payload {
	a := d.Notice.Alert
	p := payload{
		ID: d.ID, Type: "alert.firing", Timestamp: desktop.MillisOf(d.Notice.At),
		Rule:      payloadRule{d.Notice.RuleID, d.Notice.RuleName},
		Component: a.Subject.Ref, Part: a.Subject.Part, Summary: a.Summary,
		Since: desktop.MillisOf(a.Since), Resolved: desktop.MillisOf(a.ResolvedAt),
		Group: a.Group(), Cause: a.Cause, Related: d.Notice.Related,
	}
	if a.State == Resolved {
		p.Type = "alert.resolved"
	}
	return p
}

// send posts one notice. Any 2xx status means success.
func (w *webhooks) send(ctx context.Context, ch Channel, d Delivery) error {
	body, err := json.Marshal(payloadOf(d))
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, ch.URL, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("post notice: %w", err)
	}
	if request.URL.Scheme != "https" && !w.AllowPlain {
		return errors.New("post notice: the address is not https")
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "vigil-alert/1")
	request.Header.Set("X-Vigil-Delivery", d.ID)
	if !ch.Secret.IsZero() {
		request.Header.Set("X-Vigil-Signature", webhook.Sign([]byte(ch.Secret.Reveal()), w.Now(), body))
	}
	response, err := w.client.Do(request)
	if err != nil {
		return webhook.Unreachable{Cause: err}
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, 64<<10) // lets the connection be reused; the body is ignored
	if response.StatusCode < 200 || response.StatusCode > 299 {
		err := fmt.Errorf("post notice: the receiver answered %d", response.StatusCode)
		if webhook.RefusesBody(response.StatusCode) {
			return Refused{err}
		}
		return err
	}
	return nil
}
