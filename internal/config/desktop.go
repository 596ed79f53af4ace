package config

import (
	"cmp"
	"net"
	"net/mail"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Desktop contains the settings of the desktop server. 0 means the default.
type Desktop struct {
	Enabled     bool `yaml:"enabled" help:"Run the desktop server."`
	Listener    `yaml:",inline" embed:""`
	Inventory   string        `yaml:"inventory" help:"File (YAML) that describes the desktop environment."`
	AccessLife  time.Duration `yaml:"access_life" default:"30m" help:"Lifetime of access tokens."`
	RefreshLife time.Duration `yaml:"refresh_life" default:"8h" help:"Lifetime of sessions."`
	HistoryKept time.Duration `yaml:"history_kept" default:"2160h" help:"How long changes of statuses are kept."`
	Login       DesktopLogin  `yaml:"login" embed:"" prefix:"login-"`
	Probe       Probe         `yaml:"probe" embed:"" prefix:"probe-"`
	Mail        Mail          `yaml:"mail" embed:"" prefix:"mail-"`
	Webhook     Webhook       `yaml:"webhook" embed:"" prefix:"webhook-"`
}

// DesktopLogin limits failed logins. Whatever the settings, the server sends the
// directory fewer wrong passwords than lock an account, except where a single one
// locks it.
type DesktopLogin struct {
	FailuresPerUser    int           `yaml:"failures_per_user" default:"5" help:"Wrong passwords of one user from one address before the next login must wait: a second, then twice as long each time. If the directory locks accounts after fewer, fewer are passed on to it."`
	FailuresPerAddress int           `yaml:"failures_per_address" default:"200" help:"Refused logins from one address before further ones must wait, longer each time."`
	Window             time.Duration `yaml:"window" default:"15m" help:"Time after which failures are forgotten, if the directory has no such setting."`
	MaxWait            time.Duration `yaml:"max_wait" default:"1m" help:"How long a login waits for concurrent logins of the same user."`
}

// Probe contains the intervals of probes.
type Probe struct {
	Interval     time.Duration `yaml:"interval" default:"30s" help:"Interval between probes of a component."`
	Timeout      time.Duration `yaml:"timeout" default:"10s" help:"Timeout of one probe."`
	MaxBackoff   time.Duration `yaml:"max_backoff" default:"5m" help:"Longest interval between probes of a failing component."`
	RefusedPause time.Duration `yaml:"refused_pause" default:"15m" help:"Time before refused credentials are tried again."`
}

// Mail contains the settings of the mail server for alerts.
type Mail struct {
	Server   string `yaml:"server" help:"Mail server (host:port) for alerts. Without it no mail is sent."`
	Security string `yaml:"security" default:"starttls" help:"Encryption of the connection to the mail server: starttls, tls or none."`
	From     string `yaml:"from" help:"Address that alerts are sent from."`
	Username string `yaml:"username" help:"User name for the mail server, if it requires a login."`
	Password string `yaml:"password" secret:"reference" help:"Reference to that user's password (file:PATH or env:NAME)."`
	CAFile   string `yaml:"ca_file" name:"ca-file" help:"Certificate authorities (PEM) of the mail server, instead of the system's."`
}

// Webhook contains the settings of webhooks for alerts.
type Webhook struct {
	AllowPlain    bool   `yaml:"allow_plain" help:"Post alerts also over plain http."`
	AllowLoopback bool   `yaml:"allow_loopback" help:"Post alerts also to this machine."`
	Deny          string `yaml:"deny" help:"Networks that alerts are never posted to, separated by commas."`
	CAFile        string `yaml:"ca_file" name:"ca-file" help:"Certificate authorities (PEM) of the receivers, instead of the system's."`
}

// Networks returns the networks that alerts are never posted to.
func (w Webhook) Networks() ([]netip.Prefix, error) {
	return networks(w.Deny)
}

// problems returns the errors of the desktop server's settings, as pairs of
// setting and message.
func (d Desktop) problems() [][2]string {
	var bad [][2]string
	wrong := func(name, complaint string) { bad = append(bad, [2]string{name, complaint}) }
	if cmp.Or(d.RefreshLife, 8*time.Hour) < cmp.Or(d.AccessLife, 30*time.Minute) {
		wrong("refresh_life", "must not be shorter than access_life")
	}
	if _, err := d.Webhook.Networks(); err != nil {
		wrong("webhook.deny", "must be networks such as 10.0.0.0/8, separated by commas")
	}
	for _, problem := range d.Mail.problems() {
		wrong("mail."+problem[0], problem[1])
	}
	slices.SortFunc(bad, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return bad
}

func (m Mail) problems() [][2]string {
	var bad [][2]string
	wrong := func(name, complaint string) { bad = append(bad, [2]string{name, complaint}) }
	if m.Password != "" && !isReference(m.Password) {
		wrong("password", notReference("password"))
	}
	if !slices.Contains([]string{"", "starttls", "tls", "none"}, m.Security) {
		wrong("security", "must be starttls, tls or none")
	}
	if m.Server == "" {
		return bad
	}
	if host, port, err := net.SplitHostPort(m.Server); err != nil || host == "" || port == "" {
		wrong("server", "must be host:port")
	}
	if a, err := mail.ParseAddress(m.From); err != nil || a.Name != "" {
		wrong("from", "must be an address to send mail from")
	}
	if (m.Username == "") != (m.Password == "") {
		wrong("username", "and password must be set together")
	}
	if m.Username != "" && m.Security == "none" {
		wrong("security", "must not be none with a password")
	}
	return bad
}
