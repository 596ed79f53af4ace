package azure

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/tidwall/gjson"

	"vigil/internal/posture/collect"
)

// signInReasons are the sign-in error codes of the directory with what to do about them.
var signInReasons = map[string]string{
	"AADSTS7000215": "the ApplicationKey is wrong: it must be the secret's value, not its identifier",
	"AADSTS7000222": "the ApplicationKey has expired: make a new client secret for the application",
	"AADSTS700016":  "the directory has no application with this ApplicationId: check it and the DirectoryId",
	"AADSTS7000112": "the application is disabled in the directory",
	"AADSTS7000229": "the application has no service principal in the directory: make one, or check the DirectoryId",
	"AADSTS90002":   "there is no directory with this DirectoryId, or it is not in this cloud: check it and the AccountType",
	"AADSTS900023":  "the DirectoryId is not a valid identifier",
	"AADSTS900382":  "the directory is not in this cloud: check the AccountType",
	"AADSTS50034":   "the application does not exist in the directory",
	"AADSTS53003":   "a conditional access policy prevents the application from signing in",
}

// Error codes of Resource Manager and Graph by meaning.
var (
	// The subscription does not use the service; see [collect.ErrOff].
	offCodes = []string{
		"MissingSubscriptionRegistration", "SubscriptionNotRegistered", "NoRegisteredProviderFound", "InvalidResourceNamespace",
		"InvalidResourceType", "FeatureNotSupportedForAccount", "ResourceTypeNotSupported", "Subscription Not Registered",
	}
	// The token is of another directory or for another audience.
	tenantCodes = []string{"InvalidAuthenticationTokenTenant", "InvalidAuthenticationTokenAudience"}
)

// unauthorizedAction extracts the permission from an error message of Resource Manager.
var unauthorizedAction = regexp.MustCompile(`perform action '([A-Za-z0-9./_-]{1,200})'`)

// classify wraps an error in the collect error that it stands for. The permission is the
// one that the call needs.
func classify(ctx context.Context, err error, permission string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if refused, ok := errors.AsType[*azidentity.AuthenticationFailedError](err); ok {
		return signIn(refused)
	}
	answer, ok := errors.AsType[*azcore.ResponseError](err)
	if !ok {
		if errors.Is(err, context.DeadlineExceeded) { // the attempt timed out, not the run
			return errors.New("Azure did not answer in time") //nolint:staticcheck // begins with a name
		}
		return err
	}
	switch {
	case slices.Contains(offCodes, answer.ErrorCode):
		return &classError{collect.ErrOff, answer.ErrorCode, err}
	case answer.StatusCode == http.StatusUnauthorized && slices.Contains(tenantCodes, answer.ErrorCode):
		return &identityError{"the subscription belongs to another directory than the application: check the DirectoryId", err}
	case answer.StatusCode == http.StatusUnauthorized:
		return &identityError{"Azure does not accept the token (" + answer.ErrorCode + ")", err}
	case answer.StatusCode == http.StatusForbidden:
		if match := unauthorizedAction.FindStringSubmatch(message(answer)); match != nil {
			permission = match[1]
		}
		return &collect.DeniedError{Permission: permission, Err: err}
	case answer.StatusCode == http.StatusTooManyRequests:
		return &classError{collect.ErrThrottled, answer.ErrorCode, err}
	case answer.StatusCode == http.StatusNotFound:
		return &classError{collect.ErrGone, answer.ErrorCode, err}
	}
	return fmt.Errorf("Azure answers %d %s: %.200s", answer.StatusCode, answer.ErrorCode, message(answer)) //nolint:staticcheck // a name
}

// message returns the message of an error response.
func message(e *azcore.ResponseError) string {
	body, err := runtime.Payload(e.RawResponse)
	if err != nil {
		return ""
	}
	return gjson.GetBytes(body, "error.message").String()
}

// transientCodes are transient sign-in error codes, which say nothing about the application.
var transientCodes = []string{"AADSTS90033", "AADSTS90036", "AADSTS90006", "AADSTS50196"}

// signInCode matches the error code in a message of the directory.
var signInCode = regexp.MustCompile(`AADSTS[0-9]{4,8}`)

// signIn explains why the directory refuses the application. When the directory does not
// respond, or not as expected, the error says nothing about the credential.
func signIn(refused *azidentity.AuthenticationFailedError) error {
	if refused.RawResponse == nil { // the text of the error may still contain a code
		if code := signInCode.FindString(refused.Error()); code != "" {
			return withCode(code, refused)
		}
		return fmt.Errorf("sign in: %s", firstLine(refused.Error()))
	}
	body, err := runtime.Payload(refused.RawResponse)
	if err != nil {
		return fmt.Errorf("sign in: %w", err)
	}
	code := signInCode.FindString(gjson.GetBytes(body, "error_description").String())
	switch {
	case refused.RawResponse.StatusCode == http.StatusTooManyRequests:
		return &classError{collect.ErrThrottled, "sign in", refused}
	case refused.RawResponse.StatusCode >= http.StatusInternalServerError, slices.Contains(transientCodes, code):
		return fmt.Errorf("sign in: the directory answers %d %s", refused.RawResponse.StatusCode, code)
	case code == "": // the directory explains every refusal by a code: the response may come from a proxy
		return fmt.Errorf("sign in: the directory answers %d without an error code", refused.RawResponse.StatusCode)
	}
	return withCode(code, refused)
}

func withCode(code string, err error) error {
	if reason, ok := signInReasons[code]; ok {
		return &identityError{reason + " (" + code + ")", err}
	}
	return &identityError{"the directory refuses the application (" + code + ")", err}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// isExpired reports whether Azure refused the token of a call because the token has expired. Every
// refusal of a token counts as that, unless its code is one of tenantCodes.
func isExpired(err error) bool {
	answer, ok := errors.AsType[*azcore.ResponseError](err)
	return ok && answer.StatusCode == http.StatusUnauthorized && !slices.Contains(tenantCodes, answer.ErrorCode)
}

// identityError is an ErrIdentity whose text says what the customer must change.
type identityError struct {
	reason string
	err    error
}

func (e *identityError) Error() string   { return e.reason }
func (e *identityError) Unwrap() []error { return []error{collect.ErrIdentity, e.err} }

// classError is an Azure error together with the collect error that it stands for.
type classError struct {
	class error
	code  string
	err   error
}

func (e *classError) Error() string     { return fmt.Sprintf("%v (%s)", e.class, e.code) }
func (e *classError) ErrorCode() string { return e.code }
func (e *classError) Unwrap() []error   { return []error{e.class, e.err} }
