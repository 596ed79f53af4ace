package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vigil/internal/config"
	"vigil/internal/desktop/app"
	"vigil/internal/mail"
	"vigil/internal/sim/pki"
)

func TestSettingsComeFromTheConfiguration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ca, err := pki.New("Mail CA", pki.Around(time.Now(), time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"ca.pem": string(ca.PEM()), "password": "hunter2\n", "empty": "", "text": "no certificate"}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	inDir := func(name string) string { return filepath.Join(dir, name) }
	s, err := app.SettingsOf(t.Context(), config.Desktop{
		AccessLife: time.Minute, RefreshLife: time.Hour, HistoryKept: 2 * time.Hour,
		Login:   config.DesktopLogin{FailuresPerUser: 3, FailuresPerAddress: 4, Window: 5 * time.Minute, MaxWait: 6 * time.Second},
		Probe:   config.Probe{Interval: 7 * time.Second, Timeout: 8 * time.Second, MaxBackoff: 9 * time.Second, RefusedPause: 10 * time.Second},
		Mail:    config.Mail{Server: "mail:25", Security: "tls", From: "a@b.example", Username: "u", Password: "file:" + inDir("password"), CAFile: inDir("ca.pem")},
		Webhook: config.Webhook{AllowPlain: true, Deny: "10.0.0.0/8,fd00::/8"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.AccessLife != time.Minute || s.RefreshLife != time.Hour || s.HistoryKept != 2*time.Hour ||
		s.Throttle.PerUser != 3 || s.Throttle.PerAddress != 4 || s.Throttle.Window != 5*time.Minute || s.Throttle.MaxWait != 6*time.Second ||
		s.Probe.Interval != 7*time.Second || s.Probe.Timeout != 8*time.Second || s.Probe.MaxBackoff != 9*time.Second || s.Probe.RefusedPause != 10*time.Second {
		t.Errorf("settings = %+v, want those of the configuration", s)
	}
	if m := s.Mail; m.Server.Address != "mail:25" || m.Server.Security != mail.ImplicitTLS || m.From != "a@b.example" || m.Server.Username != "u" || m.Server.Password.Reveal() != "hunter2" || m.Server.TLS == nil {
		t.Errorf("mail: %+v", m)
	}
	if h := s.Webhook; !h.AllowPlain || h.AllowLoopback || len(h.Deny) != 2 || h.TLS != nil {
		t.Errorf("webhook: %+v", h)
	}
	for want, c := range map[string]config.Desktop{
		"desktop.mail.password":   {Mail: config.Mail{Password: "file:" + inDir("empty")}},
		"desktop.mail.ca_file":    {Mail: config.Mail{CAFile: inDir("none")}},
		"desktop.webhook.ca_file": {Webhook: config.Webhook{CAFile: inDir("text")}},
		"desktop.webhook.deny":    {Webhook: config.Webhook{Deny: "here"}},
	} {
		if _, err := app.SettingsOf(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error that names %s", err, want)
		}
	}
}
