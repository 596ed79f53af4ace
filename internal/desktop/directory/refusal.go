package directory

import (
	"errors"
	"regexp"

	"github.com/go-ldap/ldap/v3"
)

// A Reason is the actual reason of a refusal, for the audit log.
type Reason string

// The reasons to refuse a user.
const (
	WrongCredentials   Reason = "wrong password or unknown user"
	UnknownUser        Reason = "unknown user"
	NotAtThisTime      Reason = "not allowed to log in at this time"
	NotFromHere        Reason = "not allowed to log in from here"
	PasswordExpired    Reason = "password has expired"
	Disabled           Reason = "account is disabled"
	NotGranted         Reason = "not granted this type of login"
	AccountExpired     Reason = "account has expired"
	MustChangePassword Reason = "password must be changed first"
	Locked             Reason = "account is locked"
	NotAdministrator   Reason = "not a member of the root administrators group"
	EmptyPassword      Reason = "empty password"
	BadName            Reason = "not a user name"
	NoAdministrators   Reason = "no administrators' group of the inventory exists in the directory"
	CannotJoin         Reason = "may not create computer accounts where clones are made"
)

// reasons maps the error codes in a directory's diagnostic messages.
var reasons = map[string]Reason{
	"525": UnknownUser,
	"52e": WrongCredentials,
	"530": NotAtThisTime,
	"531": NotFromHere,
	"532": PasswordExpired,
	"533": Disabled,
	"534": NotGranted,
	"701": AccountExpired,
	"773": MustChangePassword,
	"775": Locked,
}

// A Refusal is the error that the directory refused a user.
type Refusal struct {
	Reason  Reason
	Counted bool // the directory counts it towards its lockout
	Err     error
}

func (r *Refusal) Error() string { return string(r.Reason) }

// Unwrap returns the directory's own error.
func (r *Refusal) Unwrap() error { return r.Err }

var dataCode = regexp.MustCompile(`\bdata ([0-9a-fA-F]{1,8})\b`)

// refusalOf returns the refusal in a bind's error, or nil for any other error.
// A refusal without a known code counts as a wrong password: counting one
// failure too many is safe, one too few is not.
func refusalOf(err error) *Refusal {
	var e *ldap.Error
	if !errors.As(err, &e) || e.ResultCode != ldap.LDAPResultInvalidCredentials {
		return nil
	}
	reason := WrongCredentials
	if m := dataCode.FindStringSubmatch(e.Err.Error()); m != nil {
		if known, ok := reasons[m[1]]; ok {
			reason = known
		}
	}
	return &Refusal{Reason: reason, Counted: reason == WrongCredentials, Err: err}
}
