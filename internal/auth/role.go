package auth

import (
	"strings"

	"vigil/internal/fault"
)

// A Role determines what a user may do. Each role includes those before it.
type Role uint8

// The roles. The zero value permits nothing.
const (
	NoRole  Role = iota
	Viewer       // reads everything but tokens, sessions of others, external ids and the audit log
	Analyst      // also changes rules, frameworks and suppressions and starts collections
	Admin        // also manages accounts, credentials, links, notifications, tokens and users
)

// Roles lists the roles that can be granted, lowest first.
var Roles = []Role{Viewer, Analyst, Admin}

var roleNames = [...]string{"none", "viewer", "analyst", "admin"}

// ParseRole parses a role, ignoring case.
func ParseRole(s string) (Role, error) {
	for _, r := range Roles {
		if strings.EqualFold(s, r.String()) {
			return r, nil
		}
	}
	return NoRole, fault.New(fault.Invalid, "must be one of viewer, analyst, admin")
}

// String returns the role's name.
func (r Role) String() string {
	if int(r) < len(roleNames) {
		return roleNames[r]
	}
	return roleNames[NoRole]
}

// Includes reports whether r permits everything that need permits.
func (r Role) Includes(need Role) bool { return r <= Admin && r >= need }

// MarshalText writes the role's name.
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the role's name.
func (r *Role) UnmarshalText(text []byte) error {
	got, err := ParseRole(string(text))
	if err == nil {
		*r = got
	}
	return err
}
