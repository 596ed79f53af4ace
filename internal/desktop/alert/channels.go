package alert

import (
	"context"
	"fmt"
	"time"
)

// Channels delivers notices by webhook and by mail.
type Channels struct {
	webhooks *webhooks
	mail     mailer
}

// NewChannels returns the channels.
func NewChannels(w WebhookOptions, m MailOptions) *Channels {
	if w.Now == nil {
		w.Now = time.Now
	}
	if m.Now == nil {
		m.Now = time.Now
	}
	return &Channels{webhooks: newWebhooks(w), mail: newMailer(m)}
}

// Refused is the error of a receiver that will not accept the notice in later attempts either.
type Refused struct{ Cause error }

func (r Refused) Error() string { return r.Cause.Error() }
func (r Refused) Unwrap() error { return r.Cause }

// Send implements [Sender].
func (c *Channels) Send(ctx context.Context, ch Channel, d Delivery) error {
	switch ch.Type {
	case Webhook:
		return c.webhooks.send(ctx, ch, d)
	case Mail:
		return c.mail.send(ctx, ch, d)
	}
	return fmt.Errorf("unknown channel type %q", ch.Type)
}
