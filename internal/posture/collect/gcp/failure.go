package gcp

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/collect"
)

// permissionInMessage extracts the permission from error messages of Google, such as
//
//	Required 'compute.instances.list' permission for 'projects/p'
//	Permission 'iam.roles.list' denied on resource
//	x does not have storage.buckets.list access
//	Permission bigquery.datasets.get denied on dataset
var permissionInMessage = regexp.MustCompile(`(?:[Pp]ermission '?|Required '|Required "|does not have )([a-z][a-zA-Z0-9]+(?:\.[a-zA-Z0-9]+)+)`)

// projectInMessage extracts the project from the error message of an API that is not enabled.
var projectInMessage = regexp.MustCompile(`has not been used in project ([a-z0-9:.-]+) before`)

// refusal converts an error response to an error of package collect. permission is the one that the
// call needs; a permission that the response names takes precedence.
func refusal(status int, body []byte, permission string) error {
	answer := parseErrorResponse(status, body)
	switch {
	case answer.reason == "SERVICE_DISABLED" || answer.reason == "accessNotConfigured":
		return &offError{answer.service, answer.consumer, answer}
	case isThrottled(status, body):
		return &classError{collect.ErrThrottled, answer.reason, answer}
	case status == http.StatusUnauthorized:
		return &identityError{"Google no longer accepts the key (" + answer.reason + ")", answer}
	case status == http.StatusForbidden && answer.reason == "BILLING_DISABLED", answer.reason == "accountDisabled":
		return fmt.Errorf("billing is disabled for the project: %s", clip(answer.message))
	case status == http.StatusForbidden:
		if answer.permission != "" {
			permission = answer.permission
		} else if match := permissionInMessage.FindStringSubmatch(answer.message); match != nil {
			permission = match[1]
		}
		return &collect.DeniedError{Permission: permission, Err: answer}
	case status == http.StatusNotFound:
		return &classError{collect.ErrGone, answer.reason, answer}
	}
	return answer
}

// A responseError is a parsed error response.
type responseError struct {
	status                                         int
	message, reason, permission, service, consumer string
}

func (e *responseError) Error() string {
	return fmt.Sprintf("Google responded with %d %s: %s", e.status, e.reason, clip(e.message))
}

// parseErrorResponse parses the two formats of error responses.
func parseErrorResponse(status int, body []byte) *responseError {
	apiError := gjson.GetBytes(body, "error")
	e := &responseError{status: status, message: apiError.Get("message").String(), reason: apiError.Get("errors.0.reason").String()}
	for _, info := range apiError.Get("details").Array() {
		if !strings.HasSuffix(info.Get("@type").String(), "google.rpc.ErrorInfo") {
			continue
		}
		if reason := info.Get("reason").String(); reason != "" {
			e.reason = reason
		}
		metadata := info.Get("metadata")
		e.permission, e.service, e.consumer = metadata.Get("permission").String(), metadata.Get("service").String(), metadata.Get("consumer").String()
	}
	if match := projectInMessage.FindStringSubmatch(e.message); match != nil && e.consumer == "" {
		e.consumer = "projects/" + match[1]
	}
	if e.reason == "" {
		e.reason = http.StatusText(status)
	}
	return e
}

// identityError is an ErrIdentity whose text says what the customer must change.
type identityError struct {
	reason string
	err    error
}

func (e *identityError) Error() string   { return e.reason }
func (e *identityError) Unwrap() []error { return wrapped(collect.ErrIdentity, e.err) }

// accessError is an ErrDenied that does not concern a single permission.
type accessError struct {
	reason string
	err    error
}

func (e *accessError) Error() string   { return e.reason }
func (e *accessError) Unwrap() []error { return wrapped(collect.ErrDenied, e.err) }

// classError is a Google error together with the collect error that it stands for.
type classError struct {
	class error
	code  string
	err   error
}

func (e *classError) Error() string { return fmt.Sprintf("%v (%s)", e.class, e.code) }

// ErrorCode returns Google's reason code.
func (e *classError) ErrorCode() string { return e.code }

func (e *classError) Unwrap() []error { return wrapped(e.class, e.err) }

func wrapped(class, err error) []error {
	if err == nil {
		return []error{class}
	}
	return []error{class, err}
}

// offError means that a service is not enabled. Google checks whether it is enabled in the project of
// the service account. If another project is read, the error says nothing about the resources there.
type offError struct {
	service  string
	consumer string // "projects/123"
	err      error
}

func (e *offError) Error() string {
	name := e.service
	if name == "" {
		name = "the API"
	}
	if e.consumer == "" {
		return name + " is not enabled"
	}
	return name + " is not enabled in " + e.consumer
}

func (e *offError) Unwrap() []error { return wrapped(collect.ErrOff, e.err) }

// An undecidedOffError is an offError that does not say whether there are resources. It is a failure, not an
// ErrOff, because there may be some.
type undecidedOffError struct {
	off    *offError
	advice string
}

func (e *undecidedOffError) Error() string { return e.off.Error() + e.advice }

func isUndecidedOff(err error) bool {
	_, ok := errors.AsType[*undecidedOffError](err)
	return ok
}
