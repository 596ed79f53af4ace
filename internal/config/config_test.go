package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vigil/internal/config"
)

func write(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "vigil.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTheEnvironmentWinsOverTheFile(t *testing.T) {
	t.Parallel()
	path := write(t, "data_dir: /from/file\nposture:\n  listen: 1.2.3.4:1\n  workers: 3\n")
	s, err := config.Read(path, []string{"VIGIL_POSTURE_LISTEN=5.6.7.8:2", "HOME=/root"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ flag, want string }{
		{"data-dir", "/from/file"}, {"posture-workers", "3"}, {"posture-listen", "5.6.7.8:2"},
	} {
		if got, _, _ := s.Lookup(tt.flag); got != tt.want {
			t.Errorf("Lookup(%s) = %q, want %q", tt.flag, got, tt.want)
		}
	}
	if _, _, ok := s.Lookup("log-level"); ok {
		t.Error("a setting that is not set was found")
	}
}

// TestTheFileIsReadAsYAML reads values that YAML and the command line spell differently,
// and text that looks like a number or a time.
func TestTheFileIsReadAsYAML(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ file, flag, want string }{
		{"audit: {max_records: 5e6}", "audit-max-records", "5000000"},
		{"audit: {max_records: 5_000_000}", "audit-max-records", "5000000"},
		{"audit: {max_records: 0x10}", "audit-max-records", "16"},
		{"telemetry: {sample: 1e-6}", "telemetry-sample", "1e-06"},
		{"posture: {enabled: off}", "posture-enabled", "false"},
		{"posture: {sso: {client_id: 0123456}}", "posture-sso-client-id", "0123456"},
		{"posture: {sso: {client_id: 2026-01-31}}", "posture-sso-client-id", "2026-01-31"},
		{"posture: {sso: {client_id: true}}", "posture-sso-client-id", "true"},
		{`audit: {checkpoint: ""}`, "audit-checkpoint", ""},
	} {
		s, err := config.Read(write(t, tt.file), nil)
		if err != nil {
			t.Errorf("%s: %v", tt.file, err)
			continue
		}
		if got, _, ok := s.Lookup(tt.flag); got != tt.want || !ok {
			t.Errorf("%s: %s is %q, %t; want %q", tt.file, tt.flag, got, ok, tt.want)
		}
	}
}

func TestKeyWithoutValueIsNotSet(t *testing.T) {
	t.Parallel()
	s, err := config.Read(write(t, "master_key: ~\naudit:\n  checkpoint:\nlog:\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, flag := range []string{"master-key", "audit-checkpoint", "log"} {
		if got, _, ok := s.Lookup(flag); ok {
			t.Errorf("%s is %q", flag, got)
		}
	}
}

func TestUnknownNamesAreErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, file, env, want string }{
		{"in the file, with its line", "data_dir: /x\nposture:\n  lissten: x\n", "", "line 3: field lissten not found"},
		{"in the environment", "", "VIGIL_POSTURE_LISSTEN=x", "VIGIL_POSTURE_LISSTEN is not a setting"},
		{"a wrong type", "posture:\n  workers: many\n", "", "cannot unmarshal"},
	} {
		_, err := config.Read(write(t, tt.file), []string{tt.env})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestCheckNamesEverySetting(t *testing.T) {
	t.Parallel()
	valid := func() config.Config {
		c := config.Config{DataDir: "/var/lib/vigil", Posture: config.Posture{Enabled: true, Workers: 1, Rate: 1}}
		c.Complete()
		return c
	}
	for _, tt := range []struct {
		name   string
		change func(*config.Config)
		want   string
	}{
		{"nothing", func(*config.Config) {}, ""},
		{"relative data folder", func(c *config.Config) { c.DataDir = "x" }, "data_dir must be an absolute path"},
		{"nothing to run", func(c *config.Config) { c.Posture.Enabled = false }, "nothing to run"},
		{"foreign database", func(c *config.Config) { c.Database = "mysql://x" }, "database must begin"},
		{"plain HTTP for all", func(c *config.Config) { c.Posture.Listen = "0.0.0.0:80"; c.Posture.PlainHTTP = true }, "posture.plain_http is for loopback"},
		{"plain HTTP behind a proxy", func(c *config.Config) {
			c.Posture.Listen, c.Posture.PlainHTTP, c.Posture.InsecureHTTP = "0.0.0.0:80", true, true
		}, ""},
		{"a drain of half a minute", func(c *config.Config) { c.Posture.Drain = 30 * time.Second }, ""},
		{"a drain longer than a process may take to stop", func(c *config.Config) { c.Posture.Drain = time.Minute }, "posture.drain must be from 0s to 30s"},
		{"a certificate without a key", func(c *config.Config) { c.Desktop.TLSCert = "x" }, "desktop.tls_cert and tls_key must be set together"},
		{"a mail password instead of a reference", func(c *config.Config) { c.Desktop.Mail.Password = "hunter2" }, "desktop.mail.password must be a reference"},
		{"mail without a sender", func(c *config.Config) { c.Desktop.Mail.Server = "mail:25" }, "desktop.mail.from must be an address"},
		{"mail without a port", func(c *config.Config) { c.Desktop.Mail.Server, c.Desktop.Mail.From = "mail", "a@b.example" }, "desktop.mail.server must be host:port"},
		{"mail with an empty port", func(c *config.Config) { c.Desktop.Mail.Server, c.Desktop.Mail.From = "mail:", "a@b.example" }, "desktop.mail.server must be host:port"},
		{"mail with an unencrypted password", func(c *config.Config) {
			c.Desktop.Mail = config.Mail{Server: "mail:25", From: "a@b.example", Username: "u", Password: "env:P", Security: "none"}
		}, "desktop.mail.security must not be none"},
		{"valid mail settings", func(c *config.Config) {
			c.Desktop.Mail = config.Mail{Server: "mail:587", From: "a@b.example", Username: "u", Password: "file:/p", Security: "starttls"}
		}, ""},
		{"invalid networks", func(c *config.Config) { c.Desktop.Webhook.Deny = "10.0.0.0/8, x" }, "desktop.webhook.deny must be networks"},
		{"sessions shorter than tokens", func(c *config.Config) {
			c.Desktop.AccessLife, c.Desktop.RefreshLife = time.Hour, time.Minute
		}, "desktop.refresh_life must not be shorter"},
		{"sessions shorter than the default lifetime of tokens", func(c *config.Config) { c.Desktop.RefreshLife = 10 * time.Minute }, "desktop.refresh_life must not be shorter"},
		{"default lifetime of sessions shorter than that of tokens", func(c *config.Config) { c.Desktop.AccessLife = 9 * time.Hour }, "desktop.refresh_life must not be shorter"},
		{"a negative number", func(c *config.Config) { c.Desktop.Login.FailuresPerUser = -1 }, "desktop.login.failures_per_user must not be negative"},
		{"probes without a pause", func(c *config.Config) { c.Desktop.Probe.Interval = time.Millisecond }, "desktop.probe.interval must be at least 1s"},
		{"traces to an address without http", func(c *config.Config) { c.Telemetry.TracesURL = "collector:4318" }, "telemetry.traces_url must be an http"},
		{"a token instead of a reference", func(c *config.Config) { c.Telemetry.TracesToken = "hunter2" }, "telemetry.traces_token must be a reference"},
		{"a token in a file without a path", func(c *config.Config) { c.Telemetry.TracesToken = "file:" }, "telemetry.traces_token must be a reference to the token (file:PATH or env:NAME)"},
		{"a token in a variable without a name", func(c *config.Config) { c.Audit.CheckpointToken = "env:" }, "audit.checkpoint_token must be a reference to the token (file:PATH or env:NAME)"},
		{"a mail password in a file without a path", func(c *config.Config) { c.Desktop.Mail.Password = "file:" }, "desktop.mail.password must be a reference to the password (file:PATH or env:NAME)"},
		{"a client secret in a file without a path", func(c *config.Config) {
			c.Posture.SSO = config.SSO{Issuer: "https://login.example", ClientID: "vigil", ClientSecret: "file:", GroupsFile: "/groups.yaml"}
		}, "posture.sso.client_secret must be a reference to the secret (file:PATH or env:NAME)"},
		{"more than all traces", func(c *config.Config) { c.Telemetry.Sample = 2 }, "telemetry.sample must be from 0 to 1"},
		{"desktop without inventory", func(c *config.Config) { c.Desktop.Enabled = true }, "desktop.inventory is required"},
	} {
		c := valid()
		tt.change(&c)
		err := c.Check()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestPrintMasksSecrets(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{
		"postgres://vigil:hunter2@db/vigil",
		"postgres://db/vigil?password=hunter2&sslmode=require",
		"postgres://db/vigil?sslpassword=hunter2",
		"postgres://vigil:hunter2@[broken/vigil",
		"postgres:vigil:hunter2@db/vigil",
		"postgres:/vigil:hunter2@db/vigil",
	} {
		var out strings.Builder
		if err := config.Print(&out, config.Config{Database: secret}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "hunter2") {
			t.Errorf("the password of %s is printed:\n%s", secret, out.String())
		}
	}
}

func TestPrintShowsReferencesToSecretsOnly(t *testing.T) {
	t.Parallel()
	for password, want := range map[string]string{
		"file:/etc/vigil/mail": "password: file:/etc/vigil/mail", "env:MAIL": "password: env:MAIL", "hunter2": "password: xxxxx", "": `password: ""`,
	} {
		var out strings.Builder
		c := config.Config{}
		c.Desktop.Mail.Password = password
		if err := config.Print(&out, c); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) || strings.Contains(out.String(), "hunter2") {
			t.Errorf("%q is printed as:\n%s", password, out.String())
		}
	}
}

// TestEverySettingHasThreeSpellings looks every setting up by its flag after it was set in the
// file and in the environment.
func TestEverySettingHasThreeSpellings(t *testing.T) {
	t.Parallel()
	names := config.Names()
	if len(names) < 20 {
		t.Fatalf("only %d settings: %v", len(names), names)
	}
	var text strings.Builder
	if err := config.Print(&text, config.Config{}); err != nil {
		t.Fatal(err)
	}
	file, err := config.Read(write(t, text.String()), nil)
	if err != nil {
		t.Fatal(err)
	}
	var environ []string
	for _, name := range names {
		environ = append(environ, config.EnvName(config.Flag(name))+"="+name)
	}
	env, err := config.Read("", environ)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		flag := config.Flag(name)
		if strings.Trim(flag, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			t.Errorf("%s has the flag %s, want only letters, digits and hyphens", name, flag)
		}
		if _, _, ok := file.Lookup(flag); !ok {
			t.Errorf("%s is not found in the file:\n%s", name, text.String())
		}
		want := "VIGIL_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
		// The value of each variable is the name of its setting. Another name belongs to a second setting with the same spelling.
		if got, from, ok := env.Lookup(flag); !ok || got != name || from != want {
			t.Errorf("%s is %q from %q in the environment, want %s", name, got, from, want)
		}
	}
	if got := config.EnvName(config.Flag("posture.tls_cert")); got != "VIGIL_POSTURE_TLS_CERT" {
		t.Errorf("EnvName = %s, want VIGIL_POSTURE_TLS_CERT", got)
	}
}
