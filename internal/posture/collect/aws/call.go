package aws

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// limited makes every attempt of a call wait for its turn, and tells the limiter
// when AWS wants fewer.
func limited(l collect.Limiter, account posture.AccountID) func(*middleware.Stack) error {
	wait := middleware.FinalizeMiddlewareFunc("Limit", func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
		middleware.FinalizeOutput, middleware.Metadata, error,
	) {
		key := collect.Key{
			Provider: posture.AWS, Account: account, Region: awsmiddleware.GetRegion(ctx), Service: prefix(awsmiddleware.GetServiceID(ctx)),
		}
		if err := l.Wait(ctx, key); err != nil {
			return middleware.FinalizeOutput{}, middleware.Metadata{}, err
		}
		out, metadata, err := next.HandleFinalize(ctx, in)
		if throttled(err) {
			l.Throttled(key, retryAfter(err))
		}
		return out, metadata, err
	})
	return func(stack *middleware.Stack) error {
		if l == nil {
			return nil
		}
		return stack.Finalize.Insert(wait, "Retry", middleware.After)
	}
}

// throttled reports whether an error says that there were too many calls.
func throttled(err error) bool {
	return err != nil && retry.IsErrorThrottles(retry.DefaultThrottles).IsErrorThrottle(err) == aws.TrueTernary || status(err) == 429
}

// status returns the HTTP status of the answer that an error is about, or 0.
func status(err error) int {
	if answer, ok := errors.AsType[*awshttp.ResponseError](err); ok {
		return answer.HTTPStatusCode()
	}
	return 0
}

// retryAfter returns how long the answer asks to wait, or 0.
func retryAfter(err error) time.Duration {
	answer, ok := errors.AsType[*awshttp.ResponseError](err)
	if !ok || answer.Response == nil {
		return 0
	}
	seconds, err := strconv.Atoi(answer.Response.Header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(min(seconds, 300)) * time.Second
}

// sessionEnded are the codes of a session that is over.
var sessionEnded = []string{"ExpiredToken", "ExpiredTokenException", "RequestExpired"}

// newRetryer returns the SDK's own way to try again, which also waits as long as
// it is asked to and, given a way to renew the session, does so when AWS says
// that it has ended.
func newRetryer(attempts int, renew func()) aws.Retryer {
	return retryer{retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = attempts
		o.RateLimiter = ratelimit.None // ours is shared by all calls
		o.Retryables = append(o.Retryables, retry.IsErrorRetryableFunc(func(err error) aws.Ternary {
			api, ok := errors.AsType[smithy.APIError](err)
			if renew == nil || !ok || !slices.Contains(sessionEnded, api.ErrorCode()) {
				return aws.UnknownTernary
			}
			renew()
			return aws.TrueTernary
		}))
	})}
}

type retryer struct{ *retry.Standard }

// RetryDelay implements [aws.Retryer].
func (r retryer) RetryDelay(attempt int, err error) (time.Duration, error) {
	d, delayErr := r.Standard.RetryDelay(attempt, err)
	return max(d, retryAfter(err)), delayErr
}
