package httpapi

import (
	"slices"
	"strings"

	"vigil/internal/fault"
)

// A Match is the value of an If-Match header: the versions of a record that the
// caller intends to change. The zero value means that the header was not sent,
// and allows any version.
type Match struct {
	tags []string
	any  bool
	sent bool
}

// UnmarshalText parses the header. It ignores quotes and the prefix of weak
// tags, so that a version from the record is accepted as well as one from the
// ETag header.
func (m *Match) UnmarshalText(text []byte) error {
	*m = Match{sent: true}
	for part := range strings.SplitSeq(string(text), ",") {
		// Only an unquoted asterisk means any version. A quoted one is an ordinary tag
		// that no version has, and so is the empty tag.
		if strings.TrimSpace(part) == "*" {
			m.any = true
			continue
		}
		m.tags = append(m.tags, bareTag(part))
	}
	return nil
}

// Versions returns the versions in the form that stores accept: separated by
// commas, "*" for any, and "" when the header was not sent.
func (m Match) Versions() string {
	switch {
	case !m.sent:
		return ""
	case m.any:
		return "*"
	}
	tags := slices.Clone(m.tags)
	for i, tag := range tags {
		if tag == "" || tag == "*" {
			tags[i] = `"` + tag + `"` // quoted, to differ from a missing header and from any version
		}
	}
	return strings.Join(tags, ",")
}

// Sent reports whether the If-Match header was sent.
func (m Match) Sent() bool { return m.sent }

// Allows reports whether a record with this version may be changed.
func (m Match) Allows(etag string) bool {
	return !m.sent || m.any || slices.Contains(m.tags, bareTag(etag))
}

// Check returns a fault unless a record with this version may be changed.
func (m Match) Check(etag string) error {
	if m.Allows(etag) {
		return nil
	}
	return fault.New(fault.Stale, "the record has changed: its version is not the one in If-Match")
}

// Require returns a fault unless the If-Match header was sent.
func (m Match) Require() error {
	if m.sent {
		return nil
	}
	return fault.New(fault.VersionRequired, "If-Match with the record's ETag is required")
}

func bareTag(tag string) string {
	tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
	return strings.Trim(tag, `"`)
}
