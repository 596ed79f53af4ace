// Package mail sends plain text mails by SMTP.
package mail

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/smtp"
	"net/textproto"
	"strings"
	"time"

	"vigil/internal/secret"
)

// Security is the encryption of the connection to the mail server.
type Security string

// The values of Security.
const (
	StartTLS    Security = "starttls" // the default
	ImplicitTLS Security = "tls"
	NoTLS       Security = "none"
)

// A Server is a mail server with login data.
type Server struct {
	Address  string // host:port
	Security Security
	Username string // empty for no login
	Password secret.Text
	TLS      *tls.Config // authorities of the server; the system's when nil
	Dialer   *net.Dialer
}

// A Message is a mail. Mail programs show messages with the same id once.
type Message struct {
	ID      string // unique in the domain of the sender
	From    string // a plain address
	To      []string
	Subject string
	Date    time.Time
	Text    string // lines end with "\n"
}

// Rejected is the error of a mail that the server will not accept in later
// attempts either, although it accepts the login, the sender and the recipients.
type Rejected struct{ Answer *textproto.Error }

func (r Rejected) Error() string { return r.Answer.Error() }
func (r Rejected) Unwrap() error { return r.Answer }

// sessionTimeout limits the duration of the whole SMTP session.
const sessionTimeout = 20 * time.Second

// Send sends a mail. It returns after the server has accepted the mail. A
// refusal of the server is a *textproto.Error. If the server refuses the text of
// the mail permanently (SMTP code 5xx), it is a [Rejected] error too.
func (s Server) Send(ctx context.Context, m Message) error {
	host, _, err := net.SplitHostPort(s.Address)
	if err != nil {
		return err
	}
	c, err := s.dial(ctx, host)
	if err != nil {
		return err
	}
	defer c.Close()
	if s.Username != "" {
		// PlainAuth refuses to send a password unencrypted.
		if err := c.Auth(smtp.PlainAuth("", s.Username, s.Password.Reveal(), host)); err != nil {
			return err
		}
	}
	if err := c.Mail(m.From); err != nil {
		return err
	}
	for _, to := range m.To {
		if err := c.Rcpt(to); err != nil {
			return err
		}
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write(m.bytes()); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		if answer, ok := errors.AsType[*textproto.Error](err); ok && answer.Code >= 500 {
			return Rejected{answer}
		}
		return err
	}
	_ = c.Quit() // the server has already accepted the mail
	return nil
}

func (s Server) dial(ctx context.Context, host string) (*smtp.Client, error) {
	conn, err := s.Dialer.DialContext(ctx, "tcp", s.Address)
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(sessionTimeout)) // deadlines of sockets use the real clock
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if s.TLS != nil {
		config = s.TLS.Clone()
	}
	config.ServerName = cmp.Or(config.ServerName, host)
	security := cmp.Or(s.Security, StartTLS)
	if security == ImplicitTLS {
		conn = tls.Client(conn, config)
	}
	c, err := smtp.NewClient(conn, host)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	if security == StartTLS {
		if err := c.StartTLS(config); err != nil {
			_ = c.Close()
			return nil, err
		}
	}
	return c, nil
}

// bytes returns the message in the format of RFC 5322. Line breaks in headers
// are replaced by spaces, because they would start another header.
func (m Message) bytes() []byte {
	_, domain, _ := strings.Cut(m.From, "@")
	var b strings.Builder
	header := func(name, value string) {
		b.WriteString(name + ": " + strings.NewReplacer("\r", " ", "\n", " ").Replace(value) + "\r\n")
	}
	header("From", m.From)
	header("To", strings.Join(m.To, ", "))
	header("Subject", mime.QEncoding.Encode("utf-8", m.Subject))
	header("Date", m.Date.Format(time.RFC1123Z))
	header("Message-ID", "<"+m.ID+"@"+cmp.Or(domain, "vigil")+">")
	header("Auto-Submitted", "auto-generated")
	header("MIME-Version", "1.0")
	header("Content-Type", "text/plain; charset=utf-8")
	header("Content-Transfer-Encoding", "quoted-printable")
	b.WriteString("\r\n")
	body := quotedprintable.NewWriter(&b)
	_, _ = body.Write([]byte(strings.ReplaceAll(m.Text, "\n", "\r\n"))) // a strings.Builder never fails
	_ = body.Close()
	return []byte(b.String())
}
