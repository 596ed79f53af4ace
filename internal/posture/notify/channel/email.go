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

// email sends a plain text mail. Its Message-Id is derived from the message, so that
// mail clients show duplicates once.
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

// mailFault classifies an error: responses of the mail server, which users see, and
// failures to reach it. Codes from 500 are permanent.
func mailFault(err error) error {
	if err == nil {
		return nil
	}
	answer, ok := errors.AsType[*textproto.Error](err)
	if !ok {
		return webhook.Unreachable{Cause: err}
	}
	if answer.Code >= 500 && answer.Code != 535 { // 535: wrong password, which can be corrected
		return refused{err}
	}
	return err
}
