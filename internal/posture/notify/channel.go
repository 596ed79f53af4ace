package notify

import (
	"net"
	"net/mail"
	"net/url"
	"regexp"
	"strings"
	"time"

	"vigil/internal/fault"
)

// A Type is the type of a channel.
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

	SecurityHub Type = "securityhub" // AWS Security Hub
)

// Types lists the types of channels.
var Types = []Type{Webhook, Slack, Teams, PagerDuty, Splunk, Jira, Email, Syslog, SecurityHub}

// A Channel is a receiver of messages. The API never returns its secrets. URLs of
// webhooks, Slack and Teams are secrets too, because anyone who knows them can post.
type Channel struct {
	ID        string
	Name      string
	Type      Type
	Enabled   bool
	PerMinute int // maximum number of messages per minute
	Settings  map[string]string
	Secrets   map[string]string `json:"-"`
	ETag      string
	Updated   time.Time

	Failures int       `json:"-"` // consecutive failed attempts
	Resume   time.Time `json:"-"` // no attempts before this time

	DeadCount int           `json:"-"` // number of dead letters
	LastState DeliveryState `json:"-"` // Delivered or Dead, of the delivery that ended last; empty if none did
}

// Value returns a setting or a secret.
func (c Channel) Value(name string) string {
	if v, ok := c.Secrets[name]; ok {
		return v
	}
	return c.Settings[name]
}

// A field is a setting of a channel type.
type field struct {
	name     string
	secret   bool
	optional bool
	check    func(string) bool // nil for any text
	message  string            // error message of check, after "must"
}

var fields = map[Type][]field{
	Webhook:   {{name: "url", secret: true, check: isHTTPS, message: "be an address that begins with https://"}, {name: "signingKey", secret: true, optional: true, check: isLong, message: "have at least 16 bytes"}},
	Slack:     {{name: "url", secret: true, check: isHTTPS, message: "be an address that begins with https://"}},
	Teams:     {{name: "url", secret: true, check: isHTTPS, message: "be an address that begins with https://"}},
	PagerDuty: {{name: "routingKey", secret: true}, {name: "url", optional: true, check: isHTTPS, message: "be an address that begins with https://"}},
	Splunk:    {{name: "url", check: isHTTPS, message: "be an address that begins with https://"}, {name: "token", secret: true}, {name: "index", optional: true}},
	Jira: {
		{name: "url", check: isHTTPS, message: "be an address that begins with https://"}, {name: "project"}, {name: "username"}, {name: "apiToken", secret: true},
		{name: "issueType", optional: true},
	},
	Email: {
		{name: "server", check: isHostPort, message: "be host:port"}, {name: "from", check: isMail, message: "be a mail address"},
		{name: "to", check: areMails, message: "be mail addresses separated by commas"},
		{name: "security", optional: true, check: oneOf("starttls", "tls", "none"), message: "be starttls, tls or none"},
		{name: "username", optional: true}, {name: "password", secret: true, optional: true},
	},
	Syslog: {{name: "server", check: isHostPort, message: "be host:port"}, {name: "transport", optional: true, check: oneOf("udp", "tcp", "tls"), message: "be udp, tcp or tls"}},
	SecurityHub: {
		{name: "roleArn", check: roleARN.MatchString, message: "be the ARN of an IAM role"}, {name: "region", check: awsRegion.MatchString, message: "be a region of AWS, such as eu-west-1"},
		{name: ExternalID, optional: true},
	},
}

// ExternalID is the setting with the external id that the role of a Security Hub channel
// must require. The server sets it to the organisation's own external id, so that no
// other organisation can use the role.
const ExternalID = "externalId"

var (
	roleARN   = regexp.MustCompile(`^arn:(aws|aws-us-gov|aws-cn):iam::[0-9]{12}:role/[\w+=,.@/-]{1,512}$`)
	awsRegion = regexp.MustCompile(`^[a-z]{2,}(-[a-z]+)+-[0-9]{1,2}$`)
)

// Values of the parameter exists of SetValues.
const (
	NewChannel      = false
	ExistingChannel = true
)

// SetValues validates the settings of a channel and separates secrets from other
// settings. Secrets of a channel that exists may be missing: KeepSecrets fills them in.
func (c *Channel) SetValues(values map[string]string, exists bool) error {
	c.Settings, c.Secrets = map[string]string{}, map[string]string{}
	var bad []fault.Detail
	known := map[string]bool{}
	for _, f := range fields[c.Type] {
		known[f.name] = true
		v := strings.TrimSpace(values[f.name])
		path := "settings." + f.name
		switch {
		case v == "" && !f.optional && !(exists && f.secret):
			bad = append(bad, fault.Detail{Path: path, Message: "is missing"})
		case v == "":
		case len(v) > 2000 || strings.ContainsAny(v, "\r\n\x00"):
			bad = append(bad, fault.Detail{Path: path, Message: "must be one line of at most 2000 bytes"})
		case f.check != nil && !f.check(v):
			bad = append(bad, fault.Detail{Path: path, Message: "must " + f.message})
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

// KeepSecrets copies the secrets that c does not set from its previous version. It
// fails if the address changed: otherwise a user who may change the address could have
// an unknown secret sent to their own server.
func (c *Channel) KeepSecrets(old Channel) error {
	moved := c.Settings["url"] != old.Settings["url"] || c.Settings["server"] != old.Settings["server"]
	var bad []fault.Detail
	for _, f := range fields[c.Type] {
		value, stored := old.Secrets[f.name]
		if _, isSet := c.Secrets[f.name]; isSet || !stored {
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

// isLoopback reports whether a host is the local machine, to which plain HTTP is
// allowed. Package outbound decides later whether the connection itself is allowed.
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

func isLong(v string) bool { return len(v) >= 16 }

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
