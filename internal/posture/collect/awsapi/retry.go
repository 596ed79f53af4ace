package awsapi

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
)

// maxBackoff is the longest pause between attempts that nobody asked for.
const maxBackoff = 20 * time.Second

// newRetryer returns the SDK's way to try again. It does not count: a limit is
// kept before every attempt, for all calls together.
func newRetryer(o Options) aws.RetryerV2 {
	return retry.NewStandard(func(s *retry.StandardOptions) {
		s.MaxAttempts = o.Attempts
		s.RateLimiter = ratelimit.None
		s.Backoff = backoff(o.Backoff)
		s.Retryables = append(s.Retryables, retry.IsErrorRetryableFunc(func(err error) aws.Ternary {
			// The SDK's own list has codes, and not every 429 has one of them.
			if refused, ok := errors.AsType[*Error](err); ok && refused.Throttled() {
				return aws.TrueTernary
			}
			return aws.UnknownTernary
		}))
	})
}

// A backoff is how long to wait before the next attempt: at most this long before
// the second, twice as long before the third, and so on; as long as AWS asks for
// at least.
type backoff time.Duration

// BackoffDelay implements [retry.BackoffDelayer].
func (b backoff) BackoffDelay(attempt int, err error) (time.Duration, error) {
	var refused *Error
	if errors.As(err, &refused) && refused.expired() && attempt <= 1 {
		return 0, nil // new credentials are all it takes
	}
	longest := min(time.Duration(b)<<min(attempt-1, 10), maxBackoff)
	delay := rand.N(longest + 1)
	if refused != nil {
		delay = max(delay, refused.RetryAfter)
	}
	return delay, nil
}
