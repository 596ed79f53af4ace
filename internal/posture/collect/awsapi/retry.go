package awsapi

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
)

// maxBackoff is the longest pause between attempts, unless AWS asks for a longer one.
const maxBackoff = 20 * time.Second

// newRetryer returns the SDK's retryer without its retry quota: Options.Before limits the
// rate of all calls, retries included.
func newRetryer(o Options) aws.RetryerV2 {
	return retry.NewStandard(func(s *retry.StandardOptions) {
		s.MaxAttempts = o.Attempts
		s.RateLimiter = ratelimit.None
		s.Backoff = backoff(o.Backoff)
		s.Retryables = append(s.Retryables, retry.IsErrorRetryableFunc(func(err error) aws.Ternary {
			// The SDK recognises throttling by code, but not every status 429 has one of its
			// codes.
			if refused, ok := errors.AsType[*Error](err); ok && refused.Throttled() {
				return aws.TrueTernary
			}
			return aws.UnknownTernary
		}))
	})
}

// A backoff is the maximum pause before the first retry. It doubles with every retry. The
// pause is at least as long as AWS requests.
type backoff time.Duration

// BackoffDelay implements [retry.BackoffDelayer].
func (b backoff) BackoffDelay(attempt int, err error) (time.Duration, error) {
	var refused *Error
	if errors.As(err, &refused) && refused.isExpired() && attempt <= 1 {
		return 0, nil // retry at once with new credentials
	}
	longest := min(time.Duration(b)<<min(attempt-1, 10), maxBackoff)
	delay := rand.N(longest + 1)
	if refused != nil {
		delay = max(delay, refused.RetryAfter)
	}
	return delay, nil
}
