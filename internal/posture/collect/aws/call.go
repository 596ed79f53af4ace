package aws

import (
	"context"
	"errors"
	"math/rand/v2"
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

// timed ends an attempt that takes too long, also one whose answer stops in the
// middle: it says nothing about the run, and the next may be better.
func timed(most time.Duration) func(*middleware.Stack) error {
	end := middleware.FinalizeMiddlewareFunc("Timeout", func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
		middleware.FinalizeOutput, middleware.Metadata, error,
	) {
		attempt, cancel := context.WithTimeout(ctx, most)
		defer cancel()
		out, metadata, err := next.HandleFinalize(attempt, in)
		if err != nil && ctx.Err() == nil && (attempt.Err() != nil || errors.Is(err, context.DeadlineExceeded)) {
			err = slowError{}
		}
		return out, metadata, err
	})
	return func(stack *middleware.Stack) error { return stack.Finalize.Insert(end, "Retry", middleware.After) }
}

// slowError says that AWS does not answer in time. It is worth another attempt.
type slowError struct{}

func (slowError) Error() string        { return "AWS does not answer in time" }
func (slowError) RetryableError() bool { return true }

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

// maxBackoff is the longest pause between attempts that nobody asked for.
const maxBackoff = 20 * time.Second

// newRetryer returns the SDK's own way to try again, which also waits as long as
// it is asked to and, given a way to renew the session, does so when AWS says
// that it has ended.
func newRetryer(o Options, renew func()) aws.Retryer {
	return retry.NewStandard(func(s *retry.StandardOptions) {
		s.MaxAttempts = o.Attempts
		s.RateLimiter = ratelimit.None // ours is shared by all calls
		s.Backoff = backoff(o.Backoff)
		s.Retryables = append(s.Retryables, retry.IsErrorRetryableFunc(func(err error) aws.Ternary {
			if renew == nil || !ended(err) {
				return aws.UnknownTernary
			}
			renew()
			return aws.TrueTernary
		}))
	})
}

// ended reports whether an error says that the session is over.
func ended(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && slices.Contains(sessionEnded, api.ErrorCode())
}

// backoff is how long to wait before the next attempt: at most this long before
// the second, twice as long before the third, and so on.
type backoff time.Duration

// BackoffDelay implements [retry.BackoffDelayer].
func (b backoff) BackoffDelay(attempt int, err error) (time.Duration, error) {
	if ended(err) && attempt <= 1 {
		return 0, nil // a new session is all it takes
	}
	longest := min(time.Duration(b)<<min(attempt-1, 10), maxBackoff)
	return max(rand.N(longest+1), retryAfter(err)), nil
}
