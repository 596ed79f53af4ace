package httpapi

import (
	"slices"
	"strings"

	"vigil/internal/fault"
)

// A Match is the value of an If-Match header: the versions of a thing that the
// caller means to change. The zero value was not sent and allows any version.
type Match struct {
	tags []string
	any  bool
	sent bool
}

// UnmarshalText reads the header. Quotes and the mark of a weak tag do not
// matter, so that the version may be taken from the record as well as from the
// ETag header.
func (m *Match) UnmarshalText(text []byte) error {
	*m = Match{sent: true}
	for part := range strings.SplitSeq(string(text), ",") {
		// Only the bare asterisk stands for any version. In quotes it is a tag as
		// any other, which no version has; and no version has the empty tag.
		if strings.TrimSpace(part) == "*" {
			m.any = true
			continue
		}
		m.tags = append(m.tags, bareTag(part))
	}
	return nil
}

// Versions returns the versions as stores take them: separated by commas, "*"
// for any, and "" when the header was not sent.
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
			tags[i] = `"` + tag + `"` // it must not be taken for the header that was not sent, or for any version
		}
	}
	return strings.Join(tags, ",")
}

// Sent reports whether the caller named a version.
func (m Match) Sent() bool { return m.sent }

// Allows reports whether a thing of this version may be changed.
func (m Match) Allows(etag string) bool {
	return !m.sent || m.any || slices.Contains(m.tags, bareTag(etag))
}

// Check returns a fault unless a thing of this version may be changed.
func (m Match) Check(etag string) error {
	if m.Allows(etag) {
		return nil
	}
	return fault.New(fault.Stale, "the record has changed: its version is not the one in If-Match")
}

// Require returns a fault unless the caller named a version.
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
