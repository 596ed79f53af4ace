package alert

import (
	"fmt"
	"net/mail"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"vigil/internal/desktop"
	"vigil/internal/desktop/meter"
	"vigil/internal/fault"
)

// The limits of a rule.
const (
	maxDays     = 3650
	maxChannels = 10
	minRepeat   = time.Minute
	maxRepeat   = 365 * 24 * time.Hour
)

// Validate returns an error that names every invalid field by its path in the API.
func (r Rule) Validate() error {
	var c checks
	c.require("name", r.Name != "" && utf8.RuneCountInString(r.Name) <= 100, "must have 1 to 100 characters")
	c.require("for_seconds", r.For >= 0 && r.For <= 24*time.Hour, "must be from 0 to 86400")
	c.require("repeat_seconds", r.Repeat == 0 || r.Repeat >= minRepeat && r.Repeat <= maxRepeat, "must be 0 or from 60 to 31536000")
	r.Condition.check(&c)
	c.require("channels", len(r.Channels) > 0 && len(r.Channels) <= maxChannels, "must have 1 to 10 elements")
	for i, ch := range r.Channels[:min(len(r.Channels), maxChannels)] {
		ch.check(&c, fmt.Sprintf("channels[%d]", i))
	}
	return c.fault()
}

func (n Condition) check(c *checks) {
	c.require("condition.kind", n.Kind == "" || slices.Contains(desktop.Kinds(), n.Kind), "is not a kind of component")
	c.require("condition.component_id", n.Component == "" || n.Kind != "", "needs a kind beside it")
	switch n.Type {
	case CertificateExpires:
		c.require("condition.days", n.Days >= 0 && n.Days <= maxDays, "must be from 0 to 3650")
	case StatusIs:
		c.require("condition.statuses", len(n.Statuses) > 0 && len(n.Statuses) <= 50, "must have 1 to 50 elements")
	case CountIs:
		c.require("condition.operator", n.Operator == Above || n.Operator == Below, "must be ABOVE or BELOW")
		known := slices.Contains(meter.Names(), n.Measure)
		c.require("condition.measure", known, "must be one of "+strings.Join(meter.Names(), ", "))
		c.require("condition.kind", !known || n.Kind == "" || meter.Has(n.Kind, n.Measure), "has no such measure")
	default:
		c.require("condition.type", false, "must be one of CERTIFICATE, STATUS, COUNT")
	}
}

func (ch Channel) check(c *checks, path string) {
	switch ch.Type {
	case Webhook:
		u, err := url.Parse(ch.URL)
		c.require(path+".url", err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http") && u.User == nil,
			"must be an http or https address without a password")
	case Mail:
		c.require(path+".to", len(ch.To) > 0 && len(ch.To) <= 20, "must have 1 to 20 elements")
		for i, to := range ch.To {
			a, err := mail.ParseAddress(to)
			c.require(fmt.Sprintf("%s.to[%d]", path, i), err == nil && a.Address == to, "must be a plain mail address")
		}
	default:
		c.require(path+".type", false, "must be WEBHOOK or MAIL")
	}
}

// checks collects validation errors.
type checks []fault.Detail

func (c *checks) require(path string, ok bool, message string) {
	if !ok {
		*c = append(*c, fault.Detail{Path: path, Message: message})
	}
}

func (c checks) fault() error {
	if len(c) == 0 {
		return nil
	}
	return fault.Fields(c...)
}
