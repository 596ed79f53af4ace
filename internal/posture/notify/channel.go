package notify

import (
	"net"
	"net/mail"
	"net/url"
	"strings"
	"time"

	"vigil/internal/fault"
)

// A Type is a kind of receiver.
type Type string

// The types of channels.
const (
	Webhook   Type = "webhook"
	Slack     Type = "slack"
	Teams     Type = "teams"
	PagerDuty Type = "pagerduty"
	Splunk    Type = "splunk"
	Jira      Type = "jira"
	Email     Type = "email"
	Syslog    Type = "syslog"
)

// Types lists them.
var Types = []Type{Webhook, Slack, Teams, PagerDuty, Splunk, Jira, Email, Syslog}

// A Channel is a receiver of messages. Its secrets are never shown: addresses of
// webhooks, Slack and Teams count among them, because who knows them may post.
type Channel struct {
	ID        string
	Name      string
	Type      Type
	Enabled   bool
	PerMinute int // messages a minute at most
	Settings  map[string]string
	Secrets   map[string]string `json:"-"`
	ETag      string
	Updated   time.Time

	Failures int       `json:"-"` // attempts that failed since the last one that did not
	Resume   time.Time `json:"-"` // nothing is sent before
}

// Value returns a setting or a secret.
func (c Channel) Value(name string) string {
	if v, ok := c.Secrets[name]; ok {
		return v
	}
	return c.Settings[name]
}

// A field is a setting of a type of channel.
type field struct {
	name     string
	secret   bool
	optional bool
	check    func(string) bool // nil for any text
	must     string            // what check wants
}

var fields = map[Type][]field{
	Webhook:   {{name: "url", secret: true, check: isHTTPS, must: "be an address that begins with https://"}, {name: "signingKey", secret: true, optional: true, check: long, must: "have at least 16 bytes"}},
	Slack:     {{name: "url", secret: true, check: isHTTPS, must: "be an address that begins with https://"}},
	Teams:     {{name: "url", secret: true, check: isHTTPS, must: "be an address that begins with https://"}},
	PagerDuty: {{name: "routingKey", secret: true}, {name: "url", optional: true, check: isHTTPS, must: "be an address that begins with https://"}},
	Splunk:    {{name: "url", check: isHTTPS, must: "be an address that begins with https://"}, {name: "token", secret: true}, {name: "index", optional: true}},
	Jira: {
		{name: "url", check: isHTTPS, must: "be an address that begins with https://"}, {name: "project"}, {name: "username"}, {name: "apiToken", secret: true},
		{name: "issueType", optional: true},
	},
	Email: {
		{name: "server", check: isHostPort, must: "be host:port"}, {name: "from", check: isMail, must: "be a mail address"},
		{name: "to", check: areMails, must: "be mail addresses separated by commas"},
		{name: "security", optional: true, check: oneOf("starttls", "tls", "none"), must: "be starttls, tls or none"},
		{name: "username", optional: true}, {name: "password", secret: true, optional: true},
	},
	Syslog: {{name: "server", check: isHostPort, must: "be host:port"}, {name: "transport", optional: true, check: oneOf("udp", "tcp", "tls"), must: "be udp, tcp or tls"}},
}

// SetValues checks the settings of a channel and separates the secret ones from
// the others. With kept, secrets may be left out: KeepSecrets fills them in.
func (c *Channel) SetValues(values map[string]string, kept bool) error {
	c.Settings, c.Secrets = map[string]string{}, map[string]string{}
	var bad []fault.Detail
	known := map[string]bool{}
	for _, f := range fields[c.Type] {
		known[f.name] = true
		v := strings.TrimSpace(values[f.name])
		path := "settings." + f.name
		switch {
		case v == "" && !f.optional && !(kept && f.secret):
			bad = append(bad, fault.Detail{Path: path, Message: "is missing"})
		case v == "":
		case len(v) > 2000 || strings.ContainsAny(v, "\r\n\x00"):
			bad = append(bad, fault.Detail{Path: path, Message: "must be one line of at most 2000 bytes"})
		case f.check != nil && !f.check(v):
			bad = append(bad, fault.Detail{Path: path, Message: "must " + f.must})
		case f.secret:
			c.Secrets[f.name] = v
		default:
			c.Settings[f.name] = v
		}
	}
	for name := range values {
		if !known[name] {
			bad = append(bad, fault.Detail{Path: "settings." + name, Message: "is not a setting of a " + string(c.Type) + " channel"})
		}
	}
	if len(bad) > 0 {
		return fault.Fields(bad...)
	}
	return nil
}

// KeepSecrets takes over the secrets of the channel as it was that c leaves out.
// They are not taken to another server: whoever may change the address must not
// get a secret sent there that they do not know.
func (c *Channel) KeepSecrets(was Channel) error {
	moved := c.Settings["url"] != was.Settings["url"] || c.Settings["server"] != was.Settings["server"]
	var bad []fault.Detail
	for _, f := range fields[c.Type] {
		value, kept := was.Secrets[f.name]
		if _, given := c.Secrets[f.name]; given || !kept {
			continue
		}
		if moved {
			bad = append(bad, fault.Detail{Path: "settings." + f.name, Message: "must be given again when the address changes"})
		}
		c.Secrets[f.name] = value
	}
	if len(bad) > 0 {
		return fault.Fields(bad...)
	}
	return nil
}

func isHTTPS(v string) bool {
	u, err := url.Parse(v)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname())) && u.Host != "" && u.User == nil
}

// isLoopback allows plain HTTP to the machine itself, where nobody listens in on
// the way. Whether connections to it are allowed is decided when they are made.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func isHostPort(v string) bool {
	host, port, err := net.SplitHostPort(v)
	return err == nil && host != "" && port != ""
}

func isMail(v string) bool {
	a, err := mail.ParseAddress(v)
	return err == nil && a.Address == v
}

func areMails(v string) bool {
	for part := range strings.SplitSeq(v, ",") {
		if !isMail(strings.TrimSpace(part)) {
			return false
		}
	}
	return true
}

func long(v string) bool { return len(v) >= 16 }

func oneOf(words ...string) func(string) bool {
	return func(v string) bool {
		for _, w := range words {
			if v == w {
				return true
			}
		}
		return false
	}
}
