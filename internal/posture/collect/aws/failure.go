package aws

import (
	"errors"
	"fmt"
	"slices"

	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/awsapi"
)

// Error codes by meaning. Services spell them differently.
var (
	deniedCodes = []string{
		"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AuthorizationError", "Forbidden", "ForbiddenException",
		"NotAuthorized", "NotAuthorizedException", "AllAccessDisabled", "UnauthorizedException", "KMSAccessDeniedException", "CloudHsmAccessDeniedException",
	}
	identityCodes = []string{
		"ExpiredToken", "ExpiredTokenException", "RequestExpired", "InvalidClientTokenId", "UnrecognizedClientException", "AuthFailure",
		"SignatureDoesNotMatch", "InvalidAccessKeyId", "InvalidToken", "IncompleteSignature", "MissingAuthenticationToken",
	}
	notEnabledCodes = []string{
		"OptInRequired", "SubscriptionRequiredException", "InvalidAccessException", "AWSOrganizationsNotInUseException",
		"UnsupportedOperation", "UnsupportedOperationException", "RegionDisabledException", "ServiceNotActiveException",
		"UserPoolAddOnNotEnabledException",
	}
)

// classify wraps an error in the collect error that it stands for. The permission is
// the one that the call needs.
func classify(err error, permission string) error {
	if e, ok := errors.AsType[*identityError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*ownError](err); ok {
		return e
	}
	if errors.Is(err, awsapi.ErrSlow) {
		return awsapi.ErrSlow
	}
	refused, ok := errors.AsType[*awsapi.Error](err)
	if !ok {
		return err
	}
	switch code := refused.Code; {
	case slices.Contains(deniedCodes, code):
		return &collect.DeniedError{Permission: permission, Err: err}
	case slices.Contains(identityCodes, code):
		return &identityError{"AWS no longer accepts the session (" + code + ")", err}
	case refused.Throttled():
		return &kindError{collect.ErrThrottled, code, err}
	case slices.Contains(notEnabledCodes, code):
		return &kindError{collect.ErrOff, code, err}
	case refused.Gone():
		return &kindError{collect.ErrGone, code, err}
	}
	return err
}

// kindError is an AWS error together with the collect error that it stands for.
type kindError struct {
	kind error
	code string
	err  error
}

func (e *kindError) Error() string     { return fmt.Sprintf("%v (%s)", e.kind, e.code) }
func (e *kindError) ErrorCode() string { return e.code }
func (e *kindError) Unwrap() []error   { return []error{e.kind, e.err} }
