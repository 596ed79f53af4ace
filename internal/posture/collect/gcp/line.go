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

// A line is the way to all services with one key: it signs calls, keeps the
// pace and tries again what may work the next time. It is an http.RoundTripper.
type line struct {
	src     *Source
	account posture.AccountID
	tokens  *tokens // nil for the line that asks for tokens
}

// RoundTrip implements [http.RoundTripper]. Answers come with their whole body,
// so that one that ends in the middle is asked for again too.
func (l *line) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	key := collect.Key{Provider: posture.GCP, Account: l.account, Service: service(req.URL.Hostname())}
	token, err := l.token(ctx)
	if err != nil {
		return nil, err
	}
	renewed := false
	for attempt := 1; ; attempt++ {
		answer, pause, err := l.try(req, key, token)
		if err == nil && answer.StatusCode == http.StatusUnauthorized && token != "" && !renewed {
			// It was good when we got it. Ask for another, once.
			renewed = true
			l.tokens.forget(token)
			if token, err = l.token(ctx); err != nil {
				return nil, err
			}
			continue
		}
		if pause < 0 || attempt >= l.src.options.Attempts {
			return answer, err
		}
		if err := l.wait(ctx, attempt, pause); err != nil {
			return nil, err
		}
	}
}

// token returns what calls are signed with: nothing where tokens are asked for.
func (l *line) token(ctx context.Context) (string, error) {
	if l.tokens == nil {
		return "", nil
	}
	return l.tokens.get(ctx)
}

// never is the pause before an attempt that is of no use.
const never = time.Duration(-1)

// try makes one attempt. It returns how long Google wants to be left alone
// before the next, which is never when there is no use in one.
func (l *line) try(req *http.Request, key collect.Key, token string) (answer *http.Response, pause time.Duration, err error) {
	limiter := l.src.options.Limiter
	if limiter != nil {
		if err := limiter.Wait(req.Context(), key); err != nil {
			return nil, never, err
		}
	}
	ctx, cancel := context.WithTimeout(req.Context(), l.src.options.Timeout)
	defer cancel()
	out, err := l.sign(req.Clone(ctx), token)
	if err != nil {
		return nil, never, err
	}
	answer, err = l.src.transport.RoundTrip(out)
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

// sign finishes a copy of a request.
func (l *line) sign(out *http.Request, token string) (_ *http.Request, err error) {
	if out.GetBody != nil {
		if out.Body, err = out.GetBody(); err != nil {
			return nil, err
		}
	}
	// An empty filter means none, and not every service takes it for that.
	out.URL.RawQuery = strings.Replace(out.URL.RawQuery, "filter=&", "", 1)
	out.Header.Set("User-Agent", "vigil")
	if token != "" {
		out.Header.Set("Authorization", "Bearer "+token)
	}
	return out, nil
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
	case answer.StatusCode == http.StatusOK && !object(body):
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

// object reports whether a text has the outer form of a JSON object. What is
// inside is the decoder's business.
func object(body []byte) bool {
	body = bytes.TrimSpace(body)
	return len(body) >= 2 && body[0] == '{' && body[len(body)-1] == '}'
}

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
func (l *line) wait(ctx context.Context, attempt int, asked time.Duration) error {
	pause := l.src.options.RetryDelay << (attempt - 1)
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

// service returns the name under which a host's calls are counted.
func service(host string) string {
	name, _, _ := strings.Cut(host, ".")
	if name == "iam" {
		return "iam.gcp" // AWS has one too
	}
	return name
}
