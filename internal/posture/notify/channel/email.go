package channel

import (
	"context"
	"errors"
	"net/textproto"
	"strings"

	"vigil/internal/mail"
	"vigil/internal/posture/notify"
	"vigil/internal/secret"
	"vigil/internal/webhook"
)

// email sends a plain text mail. Its id is the message's, so that mail programs
// show a repetition once.
func (s *Senders) email(ctx context.Context, c notify.Channel, m notify.Message) error {
	var to []string
	for each := range strings.SplitSeq(c.Value("to"), ",") {
		to = append(to, strings.TrimSpace(each))
	}
	text := strings.Join(m.Lines(100), "\n") + "\n"
	if m.Link != "" {
		text += "\n" + m.Link + "\n"
	}
	server := mail.Server{
		Address: c.Value("server"), Security: mail.Security(c.Value("security")), Username: c.Value("username"), Password: secret.NewText(c.Value("password")),
		TLS: s.o.TLS, Dialer: s.dialer,
	}
	return mailFault(server.Send(ctx, mail.Message{ID: m.ID, From: c.Value("from"), To: to, Subject: cut(m.Title(), 200), Date: m.At, Text: text}))
}

// mailFault tells answers of a mail server, which are shown, from failures to
// reach one. Codes of the 500s are final.
func mailFault(err error) error {
	if err == nil {
		return nil
	}
	answer, ok := errors.AsType[*textproto.Error](err)
	if !ok {
		return webhook.Unreachable{Cause: err}
	}
	if answer.Code >= 500 && answer.Code != 535 { // 535: the password is wrong, which can be mended
		return refused{err}
	}
	return err
}
