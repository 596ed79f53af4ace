// Package channel sends messages to receivers. Each type of channel has a file.
//
// The user who configures a channel chooses its address, and the server can reach
// addresses that the user cannot (SSRF). So every connection goes through package
// outbound, and the error of an attempt without a response has the same text for every
// cause. Responses are reported with their status, without their body, except those of
// mail servers and of AWS.
package channel

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"vigil/internal/outbound"
	"vigil/internal/posture"
	"vigil/internal/posture/notify"
	"vigil/internal/webhook"
)

// Options configure the connections to receivers.
type Options struct {
	Policy outbound.Policy
	TLS    *tls.Config // trusted certificate authorities; those of the system if nil
	Now    func() time.Time

	// SecurityHub imports findings into AWS Security Hub; nil if AWS is not available.
	SecurityHub SecurityHub
	// Findings formats the findings of an organisation for Security Hub of an account
	// and region. It omits those that the format cannot represent.
	Findings func(ctx context.Context, org posture.OrgID, all []posture.Finding, account, region string) ([]json.RawMessage, error)
	// TestFinding returns a finding that tests a Security Hub channel.
	TestFinding func(id, account, region string) json.RawMessage
}

// Senders sends messages to every type of channel.
type Senders struct {
	o      Options
	dialer *net.Dialer
	client *http.Client
}

// New returns senders for all types.
func New(o Options) *Senders {
	if o.TLS == nil {
		o.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return &Senders{o: o, dialer: o.Policy.Dialer(5 * time.Second), client: webhook.NewClient(o.Policy, o.TLS)}
}

// Send sends a message. If Refused reports true for its error, retrying is useless.
func (s *Senders) Send(ctx context.Context, c notify.Channel, m notify.Message) error {
	ctx, cancel := context.WithTimeout(ctx, webhook.Timeout)
	defer cancel()
	switch c.Type {
	case notify.Webhook:
		return s.webhook(ctx, c, m)
	case notify.Slack:
		return s.slack(ctx, c, m)
	case notify.Teams:
		return s.teams(ctx, c, m)
	case notify.PagerDuty:
		return s.pagerDuty(ctx, c, m)
	case notify.Splunk:
		return s.splunk(ctx, c, m)
	case notify.Jira:
		return s.jira(ctx, c, m)
	case notify.Email:
		return s.email(ctx, c, m)
	case notify.Syslog:
		return s.syslog(ctx, c, m)
	case notify.SecurityHub:
		return s.securityHub(ctx, c, m)
	}
	return fmt.Errorf("unknown channel type %q", c.Type)
}

// refused is a response that a retry would not change.
type refused struct{ error }

func (r refused) Unwrap() error { return r.error }

// busy is a response that asks the sender to wait.
type busy struct {
	error
	pause time.Duration
}

func (b busy) Unwrap() error { return b.error }

// maxRetryAfter limits the Retry-After of receivers.
const maxRetryAfter = time.Hour

// retryAfter returns the pause of a Retry-After header, which has seconds or a date. The
// result is 0 or negative if the header is missing or the date has passed.
func retryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(header); err == nil {
		return time.Duration(min(max(seconds, 0), int(maxRetryAfter/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return min(at.Sub(now), maxRetryAfter)
	}
	return 0
}

// unexpectedStatus is the status of a response that is no success.
type unexpectedStatus int

func (s unexpectedStatus) Error() string { return fmt.Sprintf("the receiver answered %d", int(s)) }

// RetryAfter returns how long the receiver asked to wait, or 0.
func RetryAfter(err error) time.Duration {
	var b busy
	if errors.As(err, &b) {
		return b.pause
	}
	return 0
}

// Cause returns the underlying error for the log. Outer errors hide it from the user
// who configured the channel.
func Cause(err error) error {
	if u, ok := errors.AsType[webhook.Unreachable](err); ok {
		return u.Cause
	}
	return err
}

// Refused reports whether the receiver will never accept the message.
func Refused(err error) bool {
	var r refused
	return errors.As(err, &r)
}

// post sends a JSON body and decodes the response into out if that is not nil.
func (s *Senders) post(ctx context.Context, address string, header map[string]string, body []byte, out any) error {
	return s.call(ctx, http.MethodPost, address, header, body, out)
}

func (s *Senders) call(ctx context.Context, method, address string, header map[string]string, body []byte, out any) error {
	r, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return refused{errors.New("the URL of the channel is invalid")}
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "vigil-notify/1")
	for name, value := range header {
		r.Header.Set(name, value)
	}
	res, err := s.client.Do(r)
	if err != nil {
		return webhook.Unreachable{Cause: err}
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return webhook.Unreachable{Cause: err}
	}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		err := unexpectedStatus(res.StatusCode)
		if webhook.RefusesBody(res.StatusCode) {
			return refused{err}
		}
		if pause := retryAfter(res.Header.Get("Retry-After"), s.o.Now()); pause > 0 {
			return busy{err, pause}
		}
		return err
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("the receiver's response is not the expected JSON")
	}
	return nil
}

// encode encodes a value of this package, which cannot fail.
func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("notify/channel: encode %T: %v", v, err))
	}
	return text
}
