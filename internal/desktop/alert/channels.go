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
