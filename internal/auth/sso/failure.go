package sso

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/oauth2"
)

// A Reason is why a login failed, as the login page is told.
type Reason string

// The reasons.
const (
	Unavailable   Reason = "unavailable"   // the identity provider cannot be reached or reports a failure
	Misconfigured Reason = "misconfigured" // a setting, the client secret or the mapping of groups is wrong
	Expired       Reason = "expired"       // the login was not started in this browser, or took too long
	Denied        Reason = "denied"        // the user or the identity provider cancelled the login
	Invalid       Reason = "invalid"       // the response of the identity provider is not valid
	NoGroup       Reason = "no_group"      // no group of the user gives access
	Disabled      Reason = "disabled"      // the user or the organisation is disabled in Vigil
)

// A Failure is a login that failed. Err is for logs and audit records only.
type Failure struct {
	Reason Reason
	Err    error
}

func (f *Failure) Error() string { return "single sign-on: " + f.Err.Error() }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

func fail(r Reason, err error) error { return &Failure{r, err} }

// ReasonOf returns the reason of an error of this package; [Unavailable] for
// any other error.
func ReasonOf(err error) Reason {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f.Reason
	}
	return Unavailable
}

// reasonForCode returns the reason for an error code of the authorization endpoint
// (RFC 6749, OpenID Connect Core).
func reasonForCode(code string) Reason {
	switch code {
	case "access_denied", "login_required", "consent_required", "interaction_required", "account_selection_required":
		return Denied
	case "server_error", "temporarily_unavailable":
		return Unavailable
	}
	return Misconfigured
}

// exchangeFailure returns the failure for an error of the token endpoint.
func exchangeFailure(err error) error {
	if connection, ok := errors.AsType[*url.Error](err); ok {
		return fail(Unavailable, fmt.Errorf("the identity provider did not answer the exchange of the code: %w", connection))
	}
	answer, ok := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case !ok || answer.Response != nil && answer.Response.StatusCode >= http.StatusInternalServerError:
		return fail(Unavailable, errors.New("the identity provider did not answer the exchange of the code"))
	case answer.ErrorCode == "invalid_client" || answer.ErrorCode == "unauthorized_client":
		return fail(Misconfigured, errors.New("the identity provider refused the client: "+printable(answer.ErrorCode)))
	}
	// The body may contain tokens; only the error code is used.
	return fail(Invalid, errors.New("the identity provider refused the code: "+printable(answer.ErrorCode)))
}

// printable shortens a text of the provider for logs and audit records.
func printable(s string) string {
	s = strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return -1
		}
		return c
	}, strings.ToValidUTF8(s, ""))
	if len(s) > 100 {
		s = strings.ToValidUTF8(s[:100], "")
	}
	return s
}
