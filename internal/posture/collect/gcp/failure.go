package gcp

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"google.golang.org/api/googleapi"

	"vigil/internal/posture/collect"
)

// permissionSaid finds the permission in what Google says: Required
// 'compute.instances.list' permission for 'projects/p', Permission
// 'iam.roles.list' denied on resource, x does not have storage.buckets.list
// access, Permission bigquery.datasets.get denied on dataset.
var permissionSaid = regexp.MustCompile(`(?:[Pp]ermission '?|Required '|Required "|does not have )([a-z][a-zA-Z0-9]+(?:\.[a-zA-Z0-9]+)+)`)

// consumerSaid finds the project in what Google says of an API that is off.
var consumerSaid = regexp.MustCompile(`has not been used in project ([a-z0-9:.-]+) before`)

// sorted puts what went wrong into the classes of package collect. The permission
// is what the call takes.
func sorted(err error, permission string) error {
	if done := classified(err); done != nil {
		return done
	}
	if call, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("ask Google: %w", call.Err) // without the address, which is long and tells nothing
	}
	answer, ok := errors.AsType[*googleapi.Error](err)
	if !ok {
		return err
	}
	about := reasonOf(answer)
	switch {
	case about.reason == "SERVICE_DISABLED" || about.reason == "accessNotConfigured":
		return &offError{about.service, about.consumer, err}
	case throttling(answer.Code, []byte(answer.Body)):
		return &classError{collect.ErrThrottled, about.reason, err}
	case answer.Code == http.StatusUnauthorized:
		return &identityError{"Google no longer accepts the key (" + about.reason + ")", err}
	case answer.Code == http.StatusForbidden && about.reason == "BILLING_DISABLED", about.reason == "accountDisabled":
		return fmt.Errorf("billing is disabled for the project: %s", clip(answer.Message))
	case answer.Code == http.StatusForbidden:
		if about.permission != "" {
			permission = about.permission
		} else if said := permissionSaid.FindStringSubmatch(answer.Message); said != nil {
			permission = said[1]
		}
		return &collect.DeniedError{Permission: permission, Err: err}
	case answer.Code == http.StatusNotFound:
		return &classError{collect.ErrGone, about.reason, err}
	}
	return fmt.Errorf("Google answers %d %s: %s", answer.Code, about.reason, clip(answer.Message)) //nolint:staticcheck // a name
}

// classified returns the error whose class says it all without its wrapping, or
// nil when there is none yet.
func classified(err error) error {
	if e, ok := errors.AsType[*identityError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*collect.DeniedError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*accessError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*offError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*homeOffError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*classError](err); ok {
		return e
	}
	return nil
}

// about is what an error answer says beyond its status.
type about struct {
	reason, permission, service, consumer string
}

// reasonOf reads the two ways in which Google's services say why.
func reasonOf(e *googleapi.Error) about {
	var a about
	if len(e.Errors) > 0 {
		a.reason = e.Errors[0].Reason
	}
	for _, d := range e.Details {
		info, ok := d.(map[string]any)
		if !ok || !strings.HasSuffix(member(info, "@type"), "google.rpc.ErrorInfo") {
			continue
		}
		if reason := member(info, "reason"); reason != "" {
			a.reason = reason
		}
		more, _ := info["metadata"].(map[string]any)
		a.permission, a.service, a.consumer = member(more, "permission"), member(more, "service"), member(more, "consumer")
	}
	if named := consumerSaid.FindStringSubmatch(e.Message); named != nil && a.consumer == "" {
		a.consumer = "projects/" + named[1]
	}
	if a.reason == "" {
		a.reason = http.StatusText(e.Code)
	}
	return a
}

func member(m map[string]any, name string) string {
	s, _ := m[name].(string)
	return s
}

// identityError is an ErrIdentity that says what to mend.
type identityError struct {
	why string
	err error
}

func (e *identityError) Error() string   { return e.why }
func (e *identityError) Unwrap() []error { return wrapped(collect.ErrIdentity, e.err) }

// accessError is an ErrDenied that is not about one permission.
type accessError struct {
	why string
	err error
}

func (e *accessError) Error() string   { return e.why }
func (e *accessError) Unwrap() []error { return wrapped(collect.ErrDenied, e.err) }

// classError is an error of a class.
type classError struct {
	class error
	code  string
	err   error
}

func (e *classError) Error() string   { return fmt.Sprintf("%v (%s)", e.class, e.code) }
func (e *classError) Unwrap() []error { return wrapped(e.class, e.err) }

func wrapped(class, err error) []error {
	if err == nil {
		return []error{class}
	}
	return []error{class, err}
}

// offError says that a service is not enabled. Google looks at the project that
// the service account belongs to. Where that is not the project that is read,
// it says nothing about what there is.
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

// homeOffError is an offError of another project than the one that is read: a
// failure, because there may be something to read.
type homeOffError struct{ off *offError }

func (e *homeOffError) Error() string {
	return e.off.Error() + ", which the service account belongs to: enable it there"
}

func isHomeOff(err error) bool {
	_, ok := errors.AsType[*homeOffError](err)
	return ok
}

// isOff reports whether a service is not in use, which means that it has nothing.
func isOff(err error) bool { return errors.Is(err, collect.ErrOff) }

// isGone reports whether something does not exist.
func isGone(err error) bool { return errors.Is(err, collect.ErrGone) }
