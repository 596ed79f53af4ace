package awsapi

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"

	"vigil/internal/posture/collect/awsapi/wire"
)

// An Error is the refusal of a call by AWS. It implements [smithy.APIError], which the
// SDK's retryer examines.
type Error struct {
	Service    string
	Operation  string
	Region     string
	Code       string // "AccessDenied"; the name of the HTTP status when the response has no code
	Message    string
	HTTPStatus int
	RequestID  string
	RetryAfter time.Duration // the pause that AWS requests, or zero

	bucketRegion string    // region of the bucket, if S3 returns it
	date         time.Time // time of the response by the clock of AWS, or zero
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%s %s in %s: %s", e.Service, e.Operation, e.Region, e.Code)
	if e.Message != "" {
		text += ": " + e.Message
	}
	if e.RequestID != "" {
		text += " (request " + e.RequestID + ")"
	}
	return text
}

// ErrorCode implements [smithy.APIError].
func (e *Error) ErrorCode() string { return e.Code }

// ErrorMessage implements [smithy.APIError].
func (e *Error) ErrorMessage() string { return e.Message }

// ErrorFault implements [smithy.APIError].
func (e *Error) ErrorFault() smithy.ErrorFault {
	switch {
	case e.HTTPStatus >= 500:
		return smithy.FaultServer
	case e.HTTPStatus >= 400:
		return smithy.FaultClient
	}
	return smithy.FaultUnknown
}

// HTTPStatusCode returns the status for the SDK's retryer.
func (e *Error) HTTPStatusCode() int { return e.HTTPStatus }

// Throttled reports whether AWS throttled the call.
func (e *Error) Throttled() bool {
	return e.HTTPStatus == http.StatusTooManyRequests || retry.IsErrorThrottles(retry.DefaultThrottles).IsErrorThrottle(e) == aws.TrueTernary
}

// goneCodes are the codes for a missing resource that Gone cannot recognise by their names.
var goneCodes = []string{
	"AWS.SimpleQueueService.NonExistentQueue", "InvalidAMIID.Unavailable", "InvalidDocument", "InvalidPlacementGroup.Unknown", "WAFNonexistentItemException",
}

// Gone reports whether the resource of the call does not exist.
func (e *Error) Gone() bool {
	return slices.Contains(goneCodes, e.Code) || strings.HasPrefix(e.Code, "NoSuch") || strings.Contains(e.Code, "NotFound") || strings.Contains(e.Code, "DoesNotExist") ||
		e.isMissingStack()
}

// isMissingStack reports whether the stack of the call does not exist. CloudFormation has no code
// for this: only the message differs from that of a malformed request.
func (e *Error) isMissingStack() bool {
	return e.Service == "cloudformation" && e.Code == "ValidationError" && strings.Contains(e.Message, "does not exist")
}

// isExpired reports whether the session that signed the call has expired.
func (e *Error) isExpired() bool {
	return slices.Contains([]string{"ExpiredToken", "ExpiredTokenException", "RequestExpired"}, e.Code)
}

// ErrSlow is the error of an attempt that timed out.
var ErrSlow error = slowError{}

type slowError struct{}

func (slowError) Error() string        { return "AWS did not answer in time" }
func (slowError) RetryableError() bool { return true }

// maxRetryAfter limits the pause that a service may request.
const maxRetryAfter = 5 * time.Minute

func (x *exchange) failure(answer *http.Response, body []byte) error {
	f := wire.DecodeFailure(x.op, answer.StatusCode, answer.Header, body)
	e := &Error{
		Service: x.op.Service.Name, Operation: x.op.Name, Region: x.region,
		Code: f.Code, Message: f.Message, HTTPStatus: answer.StatusCode, RequestID: f.RequestID, bucketRegion: f.Region,
	}
	e.date, _ = http.ParseTime(answer.Header.Get("Date"))
	if after := answer.Header.Get("Retry-After"); after != "" {
		if seconds, err := strconv.Atoi(after); err == nil && seconds > 0 {
			// The inner min prevents an overflow of the product.
			e.RetryAfter = min(time.Duration(min(seconds, 1<<20))*time.Second, maxRetryAfter)
		} else if at, err := http.ParseTime(after); err == nil {
			e.RetryAfter = min(max(at.Sub(x.client.options.Now()), 0), maxRetryAfter)
		}
	}
	return e
}

// CodeOf returns the code of the first [*Error] in an error's chain, or "".
func CodeOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}
