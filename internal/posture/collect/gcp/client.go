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
	maxAnswer = 64 << 20        // bytes of one answer; the largest pages have a few million
	maxPause  = 2 * time.Minute // that Google may ask for before a call is given up
)

// A client makes the calls of one service account: it signs them, keeps the pace
// and tries again what may work the next time. It is an http.RoundTripper, because
// tokens are asked for through it too.
type client struct {
	src     *Source
	account posture.AccountID
	tokens  *tokens // nil for the client that asks for tokens
}

// RoundTrip implements [http.RoundTripper]. Answers come with their whole body,
// so that one that ends in the middle is asked for again too.
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
			// It was good when we got it. Ask for another, once.
			renewed = true
			c.tokens.forget(token)
			if token, err = c.token(ctx); err != nil {
				return nil, err
			}
			continue
		}
		if pause < 0 || attempt >= c.src.options.Attempts {
			return answer, err
		}
		if err := c.wait(ctx, attempt, pause); err != nil {
			return nil, err
		}
	}
}

// token returns what calls are signed with: nothing where tokens are asked for.
func (c *client) token(ctx context.Context) (string, error) {
	if c.tokens == nil {
		return "", nil
	}
	return c.tokens.get(ctx)
}

// never is the pause before an attempt that is of no use.
const never = time.Duration(-1)

// try makes one attempt. It returns how long Google wants to be left alone
// before the next, which is never when there is no use in one.
func (c *client) try(req *http.Request, key collect.Key, token string) (answer *http.Response, pause time.Duration, err error) {
	limiter := c.src.options.Limiter
	if limiter != nil {
		if err := limiter.Wait(req.Context(), key); err != nil {
			return nil, never, err
		}
	}
	ctx, cancel := context.WithTimeout(req.Context(), c.src.options.Timeout)
	defer cancel()
	out := req.Clone(ctx)
	if out.GetBody != nil {
		if out.Body, err = out.GetBody(); err != nil {
			return nil, never, err
		}
	}
	out.Header.Set("User-Agent", "vigil")
	if token != "" {
		out.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err = c.src.transport.RoundTrip(out)
	var body []byte
	if err == nil {
		body, err = whole(answer)
	}
	switch {
	case err != nil && req.Context().Err() != nil:
		return nil, never, req.Context().Err()
	case errors.Is(err, errTooLarge):
		return nil, never, err
	case errors.Is(err, context.DeadlineExceeded): // of this attempt
		return nil, 0, errSlow
	case err != nil:
		return nil, 0, err
	}
	pause = again(answer, body)
	if limiter != nil && throttling(answer.StatusCode, body) {
		limiter.Throttled(key, pause)
	}
	return answer, pause, nil
}

// whole reads the body of an answer and puts it back.
func whole(answer *http.Response) ([]byte, error) {
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read answer: %w", err)
	case len(body) > maxAnswer:
		return nil, errTooLarge
	case answer.StatusCode == http.StatusOK && !collect.ValidAnswer(body):
		return nil, errNotJSON
	}
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return body, nil
}

var (
	errNotJSON  = errors.New("the answer is not JSON")
	errTooLarge = errors.New("the answer is larger than any we expect")
	errSlow     = errors.New("Google does not answer in time") //nolint:staticcheck // a name
)

// again says how long Google wants to be left alone before a call is tried again,
// or never.
func again(answer *http.Response, body []byte) time.Duration {
	switch answer.StatusCode {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusRequestTimeout:
	default:
		if !throttling(answer.StatusCode, body) {
			return never
		}
	}
	return retryAfter(answer.Header)
}

// throttling reports whether an answer says that there were too many calls. Some
// services say so with a status that otherwise means a missing permission.
func throttling(status int, body []byte) bool {
	if status == http.StatusTooManyRequests {
		return true
	}
	return status == http.StatusForbidden &&
		(bytes.Contains(body, []byte("ateLimitExceeded")) || bytes.Contains(body, []byte("RATE_LIMIT_EXCEEDED")) || bytes.Contains(body, []byte(`"quotaExceeded"`)))
}

// retryAfter returns how long an answer asks to wait, or 0.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, maxPause)
}

// wait pauses between attempts: longer from one to the next, and not for all
// callers the same.
func (c *client) wait(ctx context.Context, attempt int, asked time.Duration) error {
	pause := c.src.options.RetryDelay << (attempt - 1)
	pause = pause/2 + rand.N(pause/2+1)
	timer := time.NewTimer(min(max(pause, asked), maxPause))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// limitOf returns the name under which the calls of an API or its host are counted.
func limitOf(host string) string {
	name, _, _ := strings.Cut(host, ".")
	if name == "iam" {
		return "iam.gcp" // AWS has one too
	}
	return name
}
