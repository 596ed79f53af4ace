package desktop

import (
	"fmt"
	"math"
	"time"
)

// A Record is a monitor record: what the API serves of one component.
type Record interface {
	// Ref names the component.
	Ref() Ref

	// Fresh tells how old the record is and why it says what it says.
	Fresh() Freshness

	// Statuses lists the record's statuses: its own, and those of its parts.
	Statuses() []PartStatus

	// Certificates lists the certificates the record depends on.
	Certificates() []PartCertificate
}

// Freshness is what every monitor record carries beyond the API document.
type Freshness struct {
	Reasons     []string `json:"reasons"`                          // what is not as it should be, and why; empty when all is well
	LastUpdated Millis   `json:"last_updated_timestamp,omitempty"` // when the component was last looked at; absent: never
	*Standing            // a pointer, because the board completes it when it takes the record
}

// fresh returns a freshness whose reasons are never null on the wire.
func fresh(at Millis, h Health, reasons ...string) Freshness {
	f := Freshness{Reasons: []string{}, LastUpdated: at, Standing: &Standing{Health: h, Parts: []Part{}}}
	for _, r := range reasons {
		if r != "" {
			f.Reasons = append(f.Reasons, r)
		}
	}
	return f
}

// Fresh implements [Record] for the records that embed it.
func (f Freshness) Fresh() Freshness { return f }

// A PartStatus is one status of a record. Part is empty for the status of the
// component itself, else it names the part: a connection server, a host.
type PartStatus struct {
	Part   string
	Status string
	Unseen bool // nobody has looked yet, so the status says nothing
	Blame  Ref  // the other component that the status is due to; zero: the record's own
}

// Cause returns what the status is due to; own is the record's component.
func (s PartStatus) Cause(own Ref) Ref {
	if s.Blame.Kind != "" {
		return s.Blame
	}
	return own
}

// A PartCertificate is a certificate that a record, or a part of it, shows.
type PartCertificate struct {
	Part        string
	Certificate Certificate
}

// Certificate is what the API tells of a TLS or signing certificate.
type Certificate struct {
	Valid      bool   `json:"valid"`
	ValidFrom  Millis `json:"valid_from"`
	ValidTo    Millis `json:"valid_to"`
	Thumbprint string `json:"thumbprint,omitempty"` // SHA-256, lower-case hex
	SelfMade   bool   `json:"-"`                    // signed by itself, as on a fresh installation
	Accepted   bool   `json:"-"`                    // does not verify, and is accepted by its thumbprint
}

// certificates lists c under the given part, or nothing when there is none.
func certificates(part string, c *Certificate) []PartCertificate {
	if c == nil || c.ValidTo == 0 {
		return nil
	}
	return []PartCertificate{{part, *c}}
}

// Count returns n as the API's counts are: 32 bits, never negative.
func Count(n int64) int32 {
	return int32(min(max(n, 0), math.MaxInt32))
}

// ending describes the certificates that end soon or have ended.
func (p Policy) ending(now time.Time, list ...PartCertificate) []string {
	var out []string
	for _, c := range list {
		if why := p.endingReason(now, c.Certificate); why != "" {
			if c.Part != "" {
				why = c.Part + ": " + why
			}
			out = append(out, why)
		}
	}
	return out
}

// endingReason says when a certificate ends if that is soon, else nothing.
func (p Policy) endingReason(now time.Time, c Certificate) string {
	ends := c.ValidTo.Time()
	if c.ValidTo == 0 || ends.After(now.Add(p.CertificateWarning)) {
		return ""
	}
	day := ends.Format(time.DateOnly)
	if !ends.After(now) {
		return "its certificate ended on " + day
	}
	switch days := int(ends.Sub(now).Hours() / 24); days {
	case 0:
		return "its certificate ends on " + day + ", within a day"
	case 1:
		return "its certificate ends on " + day + ", in 1 day"
	default:
		return fmt.Sprintf("its certificate ends on %s, in %d days", day, days)
	}
}
