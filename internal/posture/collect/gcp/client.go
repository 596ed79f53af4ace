package gcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

const (
	maxAnswer = 64 << 20        // bytes of one response; the largest pages have a few million
	maxPause  = 2 * time.Minute // longest pause before a retry, even if Google requests a longer one
)

// A client makes the calls of one service account: it authenticates them, waits for the rate
// limiter and retries. It is an http.RoundTripper because tokens are requested through it too.
type client struct {
	src     *Source
	account posture.AccountID
	tokens  *tokens // nil for the client that requests tokens
}

// RoundTrip implements [http.RoundTripper]. It reads the whole body, so that a truncated
// response is retried too.
func (c *client) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	key := collect.Key{Provider: posture.GCP, Account: c.account, Service: limitOf(req.URL.Hostname())}
	token, err := c.token(ctx)
	if err != nil {
		return nil, err
	}
	renewed := false
	for attempt := 1; ; attempt++ {
		answer, pause, err := c.try(req, key, token)
		if err == nil && answer.StatusCode == http.StatusUnauthorized && token != "" && !renewed {
			// The token was valid when issued. Request another one, once.
			renewed = true
			c.tokens.forget(token)
			if token, err = c.token(ctx); err != nil {
				return nil, err
			}
			continue
		}
		if pause == noRetry || attempt >= c.src.options.Attempts {
			return answer, err
		}
		if err := c.wait(ctx, attempt, pause); err != nil {
			return nil, err
		}
	}
}

// token returns the access token for calls, "" for the client that requests tokens.
func (c *client) token(ctx context.Context) (string, error) {
	if c.tokens == nil {
		return "", nil
	}
	return c.tokens.get(ctx)
}

// noRetry is the pause of an error that must not be retried.
const noRetry = time.Duration(-1)

// try makes one attempt. It returns the pause that Google requests before the next attempt, or
// noRetry when a retry is pointless.
func (c *client) try(req *http.Request, key collect.Key, token string) (answer *http.Response, pause time.Duration, err error) {
	limiter := c.src.options.Limiter
	if limiter != nil {
		if err := limiter.Wait(req.Context(), key); err != nil {
			return nil, noRetry, err
		}
	}
	ctx, cancel := context.WithTimeout(req.Context(), c.src.options.Timeout)
	defer cancel()
	out := req.Clone(ctx)
	if out.GetBody != nil {
		if out.Body, err = out.GetBody(); err != nil {
			return nil, noRetry, err
		}
	}
	out.Header.Set("User-Agent", "vigil")
	if token != "" {
		out.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err = c.src.transport.RoundTrip(out)
	var body []byte
	if err == nil {
		body, err = readBody(answer)
	}
	switch {
	case err != nil && req.Context().Err() != nil:
		return nil, noRetry, req.Context().Err()
	case errors.Is(err, errTooLarge):
		return nil, noRetry, err
	case errors.Is(err, context.DeadlineExceeded): // the attempt timed out
		return nil, 0, errSlow
	case err != nil:
		return nil, 0, err
	}
	pause = retryPause(answer, body)
	if limiter != nil && isThrottled(answer.StatusCode, body) {
		limiter.Throttled(key, pause)
	}
	return answer, pause, nil
}

// readBody reads the body of a response and replaces it by the bytes read.
func readBody(answer *http.Response) ([]byte, error) {
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read response: %w", err)
	case len(body) > maxAnswer:
		return nil, errTooLarge
	case answer.StatusCode == http.StatusOK && !collect.ValidAnswer(body):
		return nil, errNotJSON
	}
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return body, nil
}

var (
	errNotJSON  = errors.New("the response is not JSON")
	errTooLarge = errors.New("the response is larger than 64 MB")
	errSlow     = errors.New("Google did not answer in time") //nolint:staticcheck // a name
)

// retryPause returns the pause that Google requests before a retry, or noRetry.
func retryPause(answer *http.Response, body []byte) time.Duration {
	switch answer.StatusCode {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusRequestTimeout:
		return retryAfter(answer.Header)
	}
	if isThrottled(answer.StatusCode, body) {
		return retryAfter(answer.Header)
	}
	return noRetry
}

// isThrottled reports whether a response means that there were too many calls. Some services then
// respond with 403, which otherwise means a missing permission.
func isThrottled(status int, body []byte) bool {
	if status == http.StatusTooManyRequests {
		return true
	}
	return status == http.StatusForbidden && // ateLimitExceeded is part of rateLimitExceeded and userRateLimitExceeded
		(bytes.Contains(body, []byte("ateLimitExceeded")) || bytes.Contains(body, []byte("RATE_LIMIT_EXCEEDED")) || bytes.Contains(body, []byte(`"quotaExceeded"`)))
}

// retryAfter returns the pause that a response requests, or 0.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, maxPause)
}

// wait pauses between attempts with exponential backoff and jitter.
func (c *client) wait(ctx context.Context, attempt int, requested time.Duration) error {
	pause := c.src.options.RetryDelay << (attempt - 1)
	pause = pause/2 + rand.N(pause/2+1)
	timer := time.NewTimer(min(max(pause, requested), maxPause))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// limitOf returns the name of the rate limit of an API or its host.
func limitOf(host string) string {
	name, _, _ := strings.Cut(host, ".")
	if name == "iam" {
		return "iam.gcp" // AWS has a service named iam too
	}
	return name
}
