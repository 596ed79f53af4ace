package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"vigil/internal/config"
	"vigil/internal/desktop"
	"vigil/internal/desktop/alert"
	"vigil/internal/desktop/inventory"
	"vigil/internal/desktop/probe"
	"vigil/internal/desktop/session"
	"vigil/internal/mail"
	"vigil/internal/secret"
)

// SettingsOf converts a configuration to settings. It reads the files that the
// configuration names, so that a missing one fails at the start.
func SettingsOf(ctx context.Context, c config.Desktop) (Settings, error) {
	networks, err := c.Webhook.Networks()
	if err != nil {
		return Settings{}, fmt.Errorf("read desktop.webhook.deny: %w", err)
	}
	receivers, err := tlsConfigTrusting(c.Webhook.CAFile)
	if err != nil {
		return Settings{}, fmt.Errorf("read desktop.webhook.ca_file: %w", err)
	}
	mailOptions, err := mailOf(ctx, c.Mail)
	if err != nil {
		return Settings{}, err
	}
	return Settings{
		AccessLife: c.AccessLife, RefreshLife: c.RefreshLife, HistoryKept: c.HistoryKept, Mail: mailOptions,
		Throttle: session.ThrottleOptions{
			PerUser: c.Login.FailuresPerUser, PerAddress: c.Login.FailuresPerAddress,
			Window: c.Login.Window, MaxWait: c.Login.MaxWait,
		},
		Probe: probe.Options{
			Interval: c.Probe.Interval, Timeout: c.Probe.Timeout,
			MaxBackoff: c.Probe.MaxBackoff, RefusedPause: c.Probe.RefusedPause,
		},
		Webhook: alert.WebhookOptions{
			AllowPlain: c.Webhook.AllowPlain, AllowLoopback: c.Webhook.AllowLoopback, Deny: networks, TLS: receivers,
		},
	}, nil
}

func mailOf(ctx context.Context, c config.Mail) (alert.MailOptions, error) {
	o := alert.MailOptions{Server: mail.Server{Address: c.Server, Security: mail.Security(c.Security), Username: c.Username}, From: c.From}
	var err error
	if o.Server.TLS, err = tlsConfigTrusting(c.CAFile); err != nil {
		return o, fmt.Errorf("read desktop.mail.ca_file: %w", err)
	}
	if c.Password == "" {
		return o, nil
	}
	password, err := inventory.Secrets{}.Secret(ctx, desktop.SecretRef(c.Password))
	if err != nil {
		return o, fmt.Errorf("read desktop.mail.password: %w", err)
	}
	o.Server.Password = secret.NewText(password)
	return o, nil
}

// tlsConfigTrusting returns a TLS configuration that trusts the authorities in a file,
// or nil for those of the system.
func tlsConfigTrusting(file string) (*tls.Config, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, errors.New("the file contains no PEM certificate")
	}
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, nil
}
