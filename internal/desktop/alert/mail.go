package alert

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"vigil/internal/mail"
	"vigil/internal/outbound"
)

// MailOptions configure the mail server and the sender. The zero value sends no
// mail.
type MailOptions struct {
	Server mail.Server
	From   string // a plain address
	Now    func() time.Time
}

type mailer struct{ MailOptions }

func newMailer(o MailOptions) mailer {
	o.Server.Dialer = outbound.Policy{AllowSelf: true}.Dialer(5 * time.Second) // the mail server often runs on the same machine
	return mailer{o}
}

// send sends one notice as a mail to all recipients of the channel.
func (m mailer) send(ctx context.Context, ch Channel, d Delivery) error {
	if m.Server.Address == "" {
		return errors.New("send mail: no mail server is configured")
	}
	if err := m.Server.Send(ctx, m.message(ch.To, d)); err != nil {
		err = fmt.Errorf("send mail: %w", err)
		if _, ok := errors.AsType[mail.Rejected](err); ok {
			return Refused{err}
		}
		return err
	}
	return nil
}

// message returns the mail of a delivery. Its Message-ID is derived from the
// delivery's id, so that mail programs show a retried mail once.
func (m mailer) message(to []string, d Delivery) mail.Message {
	p := payloadOf(d)
	word := "FIRING"
	if d.Notice.Alert.State == Resolved {
		word = "RESOLVED"
	}
	var b strings.Builder
	line := func(format string, args ...any) {
		text := strings.NewReplacer("\r", " ", "\n", " ").Replace(fmt.Sprintf(format, args...))
		b.WriteString(text + "\n")
	}
	line("%s", p.Summary)
	line("")
	line("Rule:      %s", p.Rule.Name)
	line("Component: %s %s (%s)", p.Component.Kind, p.Component.Name, p.Component.ID)
	if p.Part != "" {
		line("Part:      %s", p.Part)
	}
	if p.Cause.Kind != "" && p.Cause != p.Component {
		line("Cause:     %s %s", p.Cause.Kind, p.Cause.Name)
	}
	if p.Related > 0 {
		line("Related:   %d more alerts of the same cause", p.Related)
	}
	line("Since:     %s", p.Since.Time().Format(time.RFC3339))
	if p.Resolved != 0 {
		line("Over at:   %s", p.Resolved.Time().Format(time.RFC3339))
	}
	return mail.Message{
		ID: d.ID, From: m.From, To: to, Date: m.Now(), Text: b.String(),
		Subject: fmt.Sprintf("[%s] %s: %s", word, p.Rule.Name, p.Component.Name),
	}
}
