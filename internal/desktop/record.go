package desktop

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// A Record is a monitor record: the API's description of one component's state.
type Record interface {
	// Ref identifies the component.
	Ref() Ref

	// Fresh returns the age of the record and the reasons of its status.
	Fresh() Freshness

	// Statuses returns the record's own status, which is the first, and those of its parts.
	Statuses() []PartStatus

	// Certificates returns the certificates that the record depends on.
	Certificates() []PartCertificate
}

// Freshness is embedded in every monitor record. It is an extension of the API.
type Freshness struct {
	Reasons     []string `json:"reasons"`                          // what is wrong and why; empty when healthy
	LastUpdated Millis   `json:"last_updated_timestamp,omitempty"` // time of the last reading; absent if never read
	unlisted    []string // parts that are not listed, because they were not checked since the start
	*Condition           // a pointer, because the board completes it when it stores the record
}

// fresh returns a Freshness whose reasons are never null in JSON.
func fresh(at Millis, h Health, reasons ...string) Freshness {
	f := Freshness{Reasons: []string{}, LastUpdated: at, Condition: &Condition{Health: h, Parts: []Part{}}}
	for _, r := range reasons {
		if r != "" {
			f.Reasons = append(f.Reasons, r)
		}
	}
	return f
}

// Fresh implements [Record] for the records that embed it.
func (f Freshness) Fresh() Freshness { return f }

// A PartStatus is one status of a record. Part is empty for the component
// itself, else it names the part: a connection server, a host.
type PartStatus struct {
	Part      string
	Status    string
	Unchecked bool // not checked since the start: the status is meaningless
	Disabled  bool // it is disabled and will not be checked
	BlamedOn  Ref  // the other component that causes the status; zero for the record's own
}

// Cause returns the component that causes the status; component is the record's
// component.
func (s PartStatus) Cause(component Ref) Ref {
	if s.BlamedOn.Kind != "" {
		return s.BlamedOn
	}
	return component
}

// Unconfirmed reports whether the status is an error that no check has confirmed. Single sign-on connectors and pod endpoints
// have no status for "not checked yet": they are in error until their first check. The history must not begin with that error.
//
// The history does not test Unchecked instead, because the history of other kinds begins with their status before the first
// check, such as NOT_CONTACTED or CONNECTING. If it began with UNKNOWN, a gateway that never reports would get a change to
// NOT_CONTACTED. Alerts do test Unchecked: a farm in WARNING before its servers have reported must not raise an alert.
func (s PartStatus) Unconfirmed(k Kind) bool {
	return s.Unchecked && HealthOf(k, s.Part, s.Status) == HealthError
}

// Unchecked reports whether a component, or the part of it with the given name, will be checked but was not checked
// since the start. For a part that is not listed, it reports whether any check is missing, because that check may list the part.
func Unchecked(r Record, part string) bool {
	incomplete := slices.Contains(r.Fresh().unlisted, part)
	for _, s := range r.Statuses() {
		waits := s.Unchecked && !s.Disabled
		if s.Part == part {
			return waits
		}
		incomplete = incomplete || waits
	}
	return incomplete
}

// CertificateUnknown reports whether a record lacks the certificate of a part because that part was not checked or is not in
// order: a component that does not answer presents no certificate. It returns false for a part that was removed.
func CertificateUnknown(r Record, part string) bool {
	if slices.ContainsFunc(r.Certificates(), func(c PartCertificate) bool { return c.Part == part }) {
		return false
	}
	owner, ok := certificateOwner(r, part)
	health := HealthOf(r.Ref().Kind, owner.Part, owner.Status)
	return ok && !owner.Disabled && (owner.Unchecked || health != HealthOK && health != HealthDisabled)
}

// certificateOwner returns the status of what presents the certificate of the given part. It returns false if the component
// has no such part.
func certificateOwner(r Record, part string) (PartStatus, bool) {
	statuses, names := r.Statuses(), []string{part}
	switch r := r.(type) {
	case SAMLAuthenticatorMonitor:
		return statuses[0], part == "" || part == signingPart
	case SSOConnectorMonitor:
		// part is the name of a server alone; the part with the status of that server has one of these names.
		names = []string{enrollmentPart(part), certificateServerPart(part)}
		if r.DomainStatus == SSOError {
			names = append(names, "") // it may be a certificate server that only the directory lists
		}
	}
	for _, name := range names {
		if i := slices.IndexFunc(statuses, func(s PartStatus) bool { return s.Part == name }); i >= 0 {
			return statuses[i], true
		}
	}
	return PartStatus{}, false
}

// A PartCertificate is a certificate of a record or of one of its parts.
type PartCertificate struct {
	Part        string
	Certificate Certificate
}

// Certificate describes a TLS or signing certificate.
type Certificate struct {
	Valid      bool   `json:"valid"`
	ValidFrom  Millis `json:"valid_from"`
	ValidTo    Millis `json:"valid_to"`
	Thumbprint string `json:"thumbprint,omitempty"` // SHA-256, lower-case hex
	SelfSigned bool   `json:"-"`                    // self-signed, as on a new installation
	Accepted   bool   `json:"-"`                    // does not verify, but is accepted by its thumbprint
}

// certificates returns c under the given part, or nothing when c is nil or empty.
func certificates(part string, c *Certificate) []PartCertificate {
	if c == nil || c.ValidTo == 0 {
		return nil
	}
	return []PartCertificate{{part, *c}}
}

// Count clamps n to the API's type of counts: 32 bits, not negative.
func Count(n int64) int32 {
	return int32(min(max(n, 0), math.MaxInt32))
}

// expiringCertificates returns the reasons about certificates that expire soon or have
// expired.
func (p Policy) expiringCertificates(now time.Time, list ...PartCertificate) []string {
	var out []string
	for _, c := range list {
		if reason := p.expiryReason(now, c.Certificate); reason != "" {
			if c.Part != "" {
				reason = c.Part + ": " + reason
			}
			out = append(out, reason)
		}
	}
	return out
}

// expiryReason returns when a certificate expires if that is soon or past, else
// "".
func (p Policy) expiryReason(now time.Time, c Certificate) string {
	expiry := c.ValidTo.Time()
	if c.ValidTo == 0 || expiry.After(now.Add(p.CertificateWarning)) {
		return ""
	}
	day := expiry.Format(time.DateOnly)
	if !expiry.After(now) {
		return "its certificate expired on " + day
	}
	return "its certificate expires on " + day + ", " + RemainingDays(expiry.Sub(now))
}

// RemainingDays formats a remaining time in whole days: "in 5 days".
func RemainingDays(d time.Duration) string {
	switch days := int(d.Hours() / 24); days {
	case 0:
		return "within a day"
	case 1:
		return "in 1 day"
	default:
		return fmt.Sprintf("in %d days", days)
	}
}
