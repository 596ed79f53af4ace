package aws

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"

	"vigil/internal/posture/collect"
)

// classified sorts what a call comes to into the classes of package collect.
func (src *Source) classified(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Classify", func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
		middleware.InitializeOutput, middleware.Metadata, error,
	) {
		out, metadata, err := next.HandleInitialize(ctx, in)
		if src.unoffered(ctx, err) {
			err = &classError{collect.ErrOff, "not in this region", err}
		} else if err != nil {
			err = sorted(err, permission(awsmiddleware.GetServiceID(ctx), awsmiddleware.GetOperationName(ctx)))
		}
		return out, metadata, err
	}), middleware.After)
}

// unoffered reports whether AWS does not offer a service in a region: the service
// has no host there, while EC2, which is everywhere, has. When neither has, it is
// our own resolver that does not know, and nothing may be concluded.
func (src *Source) unoffered(ctx context.Context, err error) bool {
	unknown, ok := errors.AsType[*net.DNSError](err)
	if !ok || !unknown.IsNotFound {
		return false
	}
	_, rest, ok := strings.Cut(unknown.Name, "."+awsmiddleware.GetRegion(ctx)+".")
	if !ok {
		return false
	}
	_, err = src.options.LookupHost(ctx, "ec2."+awsmiddleware.GetRegion(ctx)+"."+rest)
	return err == nil
}

// Codes by what they mean. Services spell them in their own ways.
var (
	deniedCodes = []string{
		"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AuthorizationError", "Forbidden", "ForbiddenException",
		"NotAuthorized", "AllAccessDisabled", "UnauthorizedException", "KMSAccessDeniedException",
	}
	identityCodes = []string{
		"ExpiredToken", "ExpiredTokenException", "RequestExpired", "InvalidClientTokenId", "UnrecognizedClientException", "AuthFailure",
		"SignatureDoesNotMatch", "InvalidAccessKeyId", "InvalidToken", "IncompleteSignature", "MissingAuthenticationToken",
	}
	offCodes = []string{
		"OptInRequired", "SubscriptionRequiredException", "InvalidAccessException", "AWSOrganizationsNotInUseException",
		"UnsupportedOperation", "UnsupportedOperationException", "RegionDisabledException", "ServiceNotActiveException",
	}
	// goneCodes are those that do not say so in their names.
	goneCodes = []string{"NoSuchEntity", "AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist", "WAFNonexistentItemException"}
)

// sorted puts an error into its class. The permission is what the call takes.
func sorted(err error, permission string) error {
	api, ok := errors.AsType[smithy.APIError](err)
	if _, own := errors.AsType[*ownError](err); own || !ok || errors.Is(err, collect.ErrIdentity) {
		return err
	}
	code := api.ErrorCode()
	switch {
	case slices.Contains(deniedCodes, code):
		return &collect.DeniedError{Permission: permission, Err: err}
	case slices.Contains(identityCodes, code):
		return &identityError{"AWS no longer accepts the session (" + code + ")", err}
	case throttled(err):
		return &classError{collect.ErrThrottled, code, err}
	case slices.Contains(offCodes, code):
		return &classError{collect.ErrOff, code, err}
	case gone(code):
		return &classError{collect.ErrGone, code, err}
	}
	return err
}

// gone reports whether a code says that something does not exist.
func gone(code string) bool {
	return slices.Contains(goneCodes, code) || strings.HasPrefix(code, "NoSuch") || strings.Contains(code, "NotFound") || strings.HasSuffix(code, "NotFoundError")
}

// classError is an error of a class.
type classError struct {
	class error
	code  string
	err   error
}

func (e *classError) Error() string   { return fmt.Sprintf("%v (%s)", e.class, e.code) }
func (e *classError) Unwrap() []error { return []error{e.class, e.err} }

// plain takes the SDK's wrapping off an error whose class says it all.
func plain(err error) error {
	if e, ok := errors.AsType[*collect.DeniedError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*identityError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*ownError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*classError](err); ok {
		return e
	}
	if e, ok := errors.AsType[slowError](err); ok {
		return e
	}
	return err
}

// classify sorts an error of the session itself.
func classify(err error) error { return plain(sorted(err, permission("STS", "AssumeRole"))) }
