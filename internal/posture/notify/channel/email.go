package channel

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

	"vigil/internal/posture/notify"
)

// email sends a plain text mail. Its Message-ID is the message's, so that mail
// programs show a repetition once.
func (s *Senders) email(ctx context.Context, c notify.Channel, m notify.Message) error {
	client, err := s.smtpClient(ctx, c)
	if err != nil {
		return mailFault(err)
	}
	defer client.Close()
	host, _, _ := net.SplitHostPort(c.Value("server"))
	if user := c.Value("username"); user != "" {
		// PlainAuth itself refuses to send a password in the clear.
		if err := client.Auth(smtp.PlainAuth("", user, c.Value("password"), host)); err != nil {
			return mailFault(err)
		}
	}
	if err := client.Mail(c.Value("from")); err != nil {
		return mailFault(err)
	}
	for to := range strings.SplitSeq(c.Value("to"), ",") {
		if err := client.Rcpt(strings.TrimSpace(to)); err != nil {
			return mailFault(err)
		}
	}
	w, err := client.Data()
	if err != nil {
		return mailFault(err)
	}
	if _, err := w.Write(mailText(c, m)); err != nil {
		return mailFault(err)
	}
	if err := w.Close(); err != nil {
		return mailFault(err)
	}
	_ = client.Quit() // the mail is taken; the goodbye is a courtesy
	return nil
}

func (s *Senders) smtpClient(ctx context.Context, c notify.Channel) (*smtp.Client, error) {
	conn, err := s.dialer.DialContext(ctx, "tcp", c.Value("server"))
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(2 * sendTime)) // of a socket, which the real clock rules
	host, _, _ := net.SplitHostPort(c.Value("server"))
	config := s.o.TLS.Clone()
	config.ServerName = cmp.Or(config.ServerName, host)
	security := cmp.Or(c.Value("security"), "starttls")
	if security == "tls" {
		conn = tls.Client(conn, config)
	}
	client, err := smtp.NewClient(conn, host)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	if security == "starttls" {
		if err := client.StartTLS(config); err != nil {
			_ = client.Close()
			return nil, err
		}
	}
	return client, nil
}

// mailFault tells answers of a mail server, which are shown, from failures to
// reach one. Codes of the 500s are final.
func mailFault(err error) error {
	var answer *textproto.Error
	if !errors.As(err, &answer) {
		return unreachable{err}
	}
	if answer.Code >= 500 && answer.Code != 535 { // 535: the password is wrong, which can be mended
		return refused{err}
	}
	return err
}

func mailText(c notify.Channel, m notify.Message) []byte {
	_, domain, _ := strings.Cut(c.Value("from"), "@")
	var b strings.Builder
	header := func(name, value string) {
		b.WriteString(name + ": " + strings.NewReplacer("\r", " ", "\n", " ").Replace(value) + "\r\n")
	}
	header("From", c.Value("from"))
	header("To", c.Value("to"))
	header("Subject", mime.QEncoding.Encode("utf-8", cut(m.Title(), 200)))
	header("Date", m.At.Format(time.RFC1123Z))
	header("Message-ID", "<"+m.ID+"@"+cmp.Or(domain, "vigil")+">")
	header("Auto-Submitted", "auto-generated")
	header("MIME-Version", "1.0")
	header("Content-Type", "text/plain; charset=utf-8")
	header("Content-Transfer-Encoding", "quoted-printable")
	b.WriteString("\r\n")
	body := quotedprintable.NewWriter(&b)
	text := strings.Join(m.Lines(100), "\r\n")
	if m.Link != "" {
		text += "\r\n\r\n" + m.Link
	}
	_, _ = body.Write([]byte(text + "\r\n")) // a strings.Builder does not fail
	_ = body.Close()
	return []byte(b.String())
}
