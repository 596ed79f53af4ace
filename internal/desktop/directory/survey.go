package directory

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/go-ldap/ldap/v3"

	"vigil/internal/desktop"
)

// Survey binds to a domain as the service account and reads its settings. The
// cause of its failure is Unreachable when no controller answers, and another
// cause when a controller answers but refuses access.
func (c *Client) Survey(ctx context.Context, id desktop.ID) (desktop.DomainReading, error) {
	d, err := c.domain(id)
	if err != nil {
		return desktop.DomainReading{}, err
	}
	var reading desktop.DomainReading
	err = c.asService(ctx, d, func(conn *conn, r root) error {
		reading, err = survey(conn, r)
		return err
	})
	if err == nil {
		d.learn(reading)
		return reading, nil
	}
	failure := desktop.FailureOf(err)
	if failure.Cause == desktop.Unreachable && ctx.Err() == nil {
		if _, controller, pingErr := c.pingAny(ctx, d); pingErr == nil {
			failure = &desktop.Failure{
				Cause: desktop.Denied, Reason: controller + " answers pings only: " + failure.Reason, Err: err,
			}
		}
	}
	return desktop.DomainReading{}, failure
}

func survey(conn *conn, r root) (desktop.DomainReading, error) {
	reading := desktop.DomainReading{Controller: conn.controller}
	base, err := conn.one(r.base, ldap.ScopeBaseObject, "(objectClass=*)", "objectSid", "lockoutThreshold", "lockOutObservationWindow")
	if err != nil {
		return reading, fmt.Errorf("read domain: %w", err)
	}
	if base == nil {
		return reading, &desktop.Failure{Cause: desktop.Denied, Reason: conn.controller + " does not show its domain to the service account"}
	}
	if reading.SID, err = decodeSID(base.GetRawAttributeValue("objectSid")); err != nil {
		return reading, err
	}
	reading.Lockout = lockout(base)
	filter := fmt.Sprintf("(&(objectClass=crossRef)(nCName=%s))", ldap.EscapeFilter(r.base))
	names, err := conn.one("CN=Partitions,"+r.config, ldap.ScopeSingleLevel, filter, "nETBIOSName", "dnsRoot")
	if err != nil {
		return reading, fmt.Errorf("read names: %w", err)
	}
	if names != nil {
		reading.NetBIOSName, reading.DNSName = names.GetAttributeValue("nETBIOSName"), names.GetAttributeValue("dnsRoot")
	}
	reading.Trusts, err = trusts(conn, r)
	return reading, err
}

// trusts reads the trusts of the domain.
func trusts(conn *conn, r root) ([]desktop.TrustedDomain, error) {
	entries, err := conn.search("CN=System,"+r.base, ldap.ScopeSingleLevel, "(objectClass=trustedDomain)",
		"trustPartner", "flatName", "securityIdentifier", "trustDirection", "trustType", "trustAttributes")
	if ldap.IsErrorWithCode(err, ldap.LDAPResultNoSuchObject) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read trusts: %w", err)
	}
	var out []desktop.TrustedDomain
	for _, e := range entries {
		t := desktop.TrustedDomain{
			Partner:    e.GetAttributeValue("trustPartner"),
			FlatName:   e.GetAttributeValue("flatName"),
			Direction:  number(e, "trustDirection"),
			Type:       number(e, "trustType"),
			Attributes: number(e, "trustAttributes"),
		}
		// A trust with a Kerberos realm, which is not a domain, has no SID.
		t.SID, _ = decodeSID(e.GetRawAttributeValue("securityIdentifier"))
		out = append(out, t)
	}
	return out, nil
}

// number returns a numeric attribute, or 0 if it is missing or malformed.
func number(e *ldap.Entry, attribute string) int {
	n, _ := strconv.Atoi(e.GetAttributeValue(attribute))
	return n
}

// lockout reads the domain's lockout policy. Durations are negative multiples
// of 100 ns.
func lockout(base *ldap.Entry) desktop.LockoutPolicy {
	window, _ := strconv.ParseInt(base.GetAttributeValue("lockOutObservationWindow"), 10, 64)
	const longest = math.MaxInt64 / 100 // the longest time.Duration, in units of 100 ns
	return desktop.LockoutPolicy{
		Threshold: max(number(base, "lockoutThreshold"), 0),
		Window:    time.Duration(min(max(-window, 0), longest) * 100),
	}
}
