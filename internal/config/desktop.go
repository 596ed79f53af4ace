package config

import (
	"net"
	"net/mail"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Desktop is the desktop server. What is 0 has its default.
type Desktop struct {
	Enabled     bool `yaml:"enabled" help:"Run the desktop server."`
	Listener    `yaml:",inline" embed:""`
	Inventory   string        `yaml:"inventory" help:"File (YAML) that describes the desktop environment."`
	AccessLife  time.Duration `yaml:"access_life" default:"30m" help:"How long access tokens are good for."`
	RefreshLife time.Duration `yaml:"refresh_life" default:"8h" help:"How long a session lasts."`
	HistoryKept time.Duration `yaml:"history_kept" default:"2160h" help:"How long changes of statuses are kept."`
	Login       DesktopLogin  `yaml:"login" embed:"" prefix:"login-"`
	Probe       Probe         `yaml:"probe" embed:"" prefix:"probe-"`
	Mail        Mail          `yaml:"mail" embed:"" prefix:"mail-"`
	Webhook     Webhook       `yaml:"webhook" embed:"" prefix:"webhook-"`
}

// DesktopLogin bounds how many logins may fail. The limits stay below the
// lockout of the user's directory in any case.
type DesktopLogin struct {
	FailuresPerUser    int           `yaml:"failures_per_user" default:"5" help:"Wrong passwords of one user from one address before the next must wait: a second, then twice as long each time. Fewer are passed on where the directory locks accounts sooner."`
	FailuresPerAddress int           `yaml:"failures_per_address" default:"200" help:"Refused logins from one address before further ones must wait, longer each time."`
	Window             time.Duration `yaml:"window" default:"15m" help:"After which failures are forgotten, where the directory does not say."`
	MaxWait            time.Duration `yaml:"max_wait" default:"1m" help:"How long a login waits for others of the same user."`
}

// Probe says how often components are looked at.
type Probe struct {
	Interval     time.Duration `yaml:"interval" default:"30s" help:"Time between two looks at a component."`
	Timeout      time.Duration `yaml:"timeout" default:"10s" help:"Longest time of one look."`
	MaxBackoff   time.Duration `yaml:"max_backoff" default:"5m" help:"Longest time between two looks at a component that fails."`
	RefusedPause time.Duration `yaml:"refused_pause" default:"15m" help:"Time before credentials that were refused are tried again."`
}

// Mail is the server that sends alerts.
type Mail struct {
	Server   string `yaml:"server" help:"Mail server (host:port) for alerts. Without it no mail is sent."`
	Security string `yaml:"security" default:"starttls" help:"How the mail server is spoken to: starttls, tls or none."`
	From     string `yaml:"from" help:"Address that alerts are sent from."`
	Username string `yaml:"username" help:"User to log in to the mail server as, if it wants one."`
	Password string `yaml:"password" secret:"reference" help:"Where that user's password is kept (file:PATH or env:NAME)."`
	CAFile   string `yaml:"ca_file" name:"ca-file" help:"Authorities (PEM) of the mail server, instead of the machine's own."`
}

// Webhook says where alerts may be posted to.
type Webhook struct {
	AllowPlain    bool   `yaml:"allow_plain" help:"Post alerts also over plain http."`
	AllowLoopback bool   `yaml:"allow_loopback" help:"Post alerts also to this machine."`
	Deny          string `yaml:"deny" help:"Networks that alerts are never posted to, separated by commas."`
	CAFile        string `yaml:"ca_file" name:"ca-file" help:"Authorities (PEM) of the receivers, instead of the machine's own."`
}

// Networks returns the networks that alerts are never posted to.
func (w Webhook) Networks() ([]netip.Prefix, error) {
	return networks(w.Deny)
}

// problems returns what is wrong with the desktop server's own settings, as
// setting and complaint.
func (d Desktop) problems() [][2]string {
	var bad [][2]string
	wrong := func(name, complaint string) { bad = append(bad, [2]string{name, complaint}) }
	if d.RefreshLife > 0 && d.RefreshLife < d.AccessLife {
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
	if kind, where, ok := strings.Cut(m.Password, ":"); m.Password != "" && (!ok || where == "" || kind != "file" && kind != "env") {
		// The value is not repeated: it may be the secret itself.
		wrong("password", "must say where the password is kept (file: or env:), not what it is")
	}
	if !slices.Contains([]string{"", "starttls", "tls", "none"}, m.Security) {
		wrong("security", "must be starttls, tls or none")
	}
	if m.Server == "" {
		return bad
	}
	if host, _, err := net.SplitHostPort(m.Server); err != nil || host == "" {
		wrong("server", "must be host:port")
	}
	if a, err := mail.ParseAddress(m.From); err != nil || a.Name != "" {
		wrong("from", "must be an address to send mail from")
	}
	if (m.Username == "") != (m.Password == "") {
		wrong("username", "and password go together")
	}
	if m.Username != "" && m.Security == "none" {
		wrong("security", "must not be none where there is a password")
	}
	return bad
}
