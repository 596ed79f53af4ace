package alert

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/smtp"
	"strings"
	"time"

	"vigil/internal/outbound"
	"vigil/internal/secret"
)

// MailSecurity says how the mail server is spoken to.
type MailSecurity string

// The ways to speak to a mail server.
const (
	StartTLS    MailSecurity = "starttls" // the default
	ImplicitTLS MailSecurity = "tls"
	NoTLS       MailSecurity = "none"
)

// MailOptions name the mail server. The zero value sends no mail.
type MailOptions struct {
	Address  string // host:port
	Security MailSecurity
	From     string // a plain address
	Username string // empty: no login
	Password secret.Text
	TLS      *tls.Config // roots of the server; the machine's own when nil
	Now      func() time.Time
}

type mailer struct{ MailOptions }

// send sends one notice as a mail to all recipients of the channel.
func (m mailer) send(ctx context.Context, ch Channel, d Delivery) error {
	if m.Address == "" {
		return errors.New("send mail: no mail server is configured")
	}
	if err := m.deliver(ctx, ch.To, m.message(ch.To, d)); err != nil {
		return fmt.Errorf("send mail: %w", err)
	}
	return nil
}

func (m mailer) deliver(ctx context.Context, to []string, message []byte) error {
	host, _, err := net.SplitHostPort(m.Address)
	if err != nil {
		return err
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if m.TLS != nil {
		config = m.TLS.Clone()
	}
	config.ServerName = cmp.Or(config.ServerName, host)
	c, err := m.dial(ctx, host, config)
	if err != nil {
		return err
	}
	defer c.Close()
	if m.Username != "" {
		// PlainAuth itself refuses to send a password in the clear.
		if err := c.Auth(smtp.PlainAuth("", m.Username, m.Password.Reveal(), host)); err != nil {
			return err
		}
	}
	if err := c.Mail(m.From); err != nil {
		return err
	}
	for _, each := range to {
		if err := c.Rcpt(each); err != nil {
			return err
		}
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write(message); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	_ = c.Quit() // the message is taken; the goodbye is a courtesy
	return nil
}

// dial connects with a deadline for the whole conversation.
func (m mailer) dial(ctx context.Context, host string, config *tls.Config) (*smtp.Client, error) {
	dialer := outbound.Policy{AllowSelf: true}.Dialer(5 * time.Second) // a mail server often runs on the same machine
	conn, err := dialer.DialContext(ctx, "tcp", m.Address)
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second)) // of a socket, which the real clock rules
	if m.Security == ImplicitTLS {
		conn = tls.Client(conn, config)
	}
	c, err := smtp.NewClient(conn, host)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	if m.Security == StartTLS || m.Security == "" {
		if err := c.StartTLS(config); err != nil {
			_ = c.Close()
			return nil, err
		}
	}
	return c, nil
}

// message writes a mail. The Message-ID is that of the delivery, so that one
// sent twice is shown once.
func (m mailer) message(to []string, d Delivery) []byte {
	p := payloadOf(d)
	word := "FIRING"
	if d.Notice.Alert.State == Resolved {
		word = "RESOLVED"
	}
	subject := fmt.Sprintf("[%s] %s: %s", word, p.Rule.Name, p.Component.Name)
	_, domain, _ := strings.Cut(m.From, "@")
	var b strings.Builder
	header := func(name, value string) {
		b.WriteString(name + ": " + strings.NewReplacer("\r", " ", "\n", " ").Replace(value) + "\r\n")
	}
	header("From", m.From)
	header("To", strings.Join(to, ", "))
	header("Subject", mime.QEncoding.Encode("utf-8", subject))
	header("Date", m.Now().Format(time.RFC1123Z))
	header("Message-ID", "<"+d.ID+"@"+cmp.Or(domain, "vigil")+">")
	header("Auto-Submitted", "auto-generated")
	header("MIME-Version", "1.0")
	header("Content-Type", "text/plain; charset=utf-8")
	header("Content-Transfer-Encoding", "8bit")
	b.WriteString("\r\n")
	line := func(format string, args ...any) {
		text := strings.NewReplacer("\r", " ", "\n", " ").Replace(fmt.Sprintf(format, args...))
		b.WriteString(text + "\r\n")
	}
	line("%s", p.Summary)
	b.WriteString("\r\n")
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
	return []byte(b.String())
}
