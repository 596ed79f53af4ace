package awsapi

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"vigil/internal/posture/collect/awsapi/model"
	"vigil/internal/posture/collect/awsapi/wire"
)

// An exchange is one call with all of its attempts.
type exchange struct {
	client     *Client
	op         *model.Operation
	region     string
	bucket     string // S3 only
	hostPrefix string
	request    *wire.Request
	decoder    *wire.Decoder
	redirected bool
	// sentTo is the region that the last attempt was sent to. When its response arrives,
	// Client.buckets may hold another region already: that of a redirect of a concurrent call.
	sentTo string
	// skew is the clock skew with which the last attempt was signed. When its response arrives, a
	// concurrent call may have changed Client.skew already.
	skew time.Duration
}

// run makes attempts until one succeeds or fails with an error that a retry would not
// change.
func (x *exchange) run(ctx context.Context) (string, error) {
	c := x.client
	attempt := Attempt{Service: x.op.Service.Name, Operation: x.op.Name, Region: x.region}
	for {
		attempt.Number++
		if c.options.Before != nil {
			if err := c.options.Before(ctx, attempt); err != nil {
				return "", err
			}
		}
		answer, err := x.try(ctx)
		if c.options.After != nil {
			c.options.After(attempt, err)
		}
		if err == nil {
			return answer, nil
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if x.followRedirect(err) {
			attempt.Number-- // a redirect does not count as an attempt
			continue
		}
		if attempt.Number >= c.options.Attempts || !x.prepareRetry(err) {
			return "", err
		}
		delay, delayErr := c.retryer.RetryDelay(attempt.Number, err)
		if delayErr != nil {
			return "", err
		}
		if err := pause(ctx, delay); err != nil {
			return "", err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// try makes one attempt. The timeout also covers a response that stalls. The transport and the
// credentials provider have shorter time limits of their own. The errors of all these limits match
// context.DeadlineExceeded, which callers would take for the end of the run: try returns ErrSlow
// or a credentialsError instead.
func (x *exchange) try(ctx context.Context) (string, error) {
	attempt, cancel := context.WithTimeout(ctx, x.client.options.Timeout)
	defer cancel()
	answer, err := x.send(attempt)
	if err == nil || ctx.Err() != nil {
		return answer, err
	}
	timedOut := attempt.Err() != nil
	if !timedOut && !errors.Is(err, context.DeadlineExceeded) {
		return "", err
	}
	if missing, ok := errors.AsType[*credentialsError](err); ok && !timedOut {
		// Keep only the text, which gives the reason, such as no metadata service: the error itself
		// matches context.DeadlineExceeded.
		return "", &credentialsError{errors.New(missing.err.Error())}
	}
	return "", fmt.Errorf("%s %s in %s: %w", x.op.Service.Name, x.op.Name, x.region, ErrSlow)
}

func (x *exchange) send(ctx context.Context) (string, error) {
	r, err := x.signedRequest(ctx)
	if err != nil {
		return "", err
	}
	answer, err := x.client.options.HTTP.Do(r)
	if err != nil {
		return "", &smithyhttp.RequestSendError{Err: err}
	}
	defer answer.Body.Close()
	b, err := readBody(answer.Body)
	if err != nil {
		return "", &smithyhttp.RequestSendError{Err: err}
	}
	return x.decode(answer, b)
}

// decode returns the content of a response, and frees its body.
func (x *exchange) decode(answer *http.Response, b *body) (string, error) {
	s, free := b.scratch()
	defer free()
	text := b.bytes(&s.body)
	if answer.StatusCode < 200 || answer.StatusCode >= 300 {
		return "", x.failure(answer, text)
	}
	decoded, err := x.decoder.DecodeInto(s.decoded[:0], answer.StatusCode, answer.Header, text)
	if err != nil {
		return "", err
	}
	s.decoded = decoded
	return string(decoded), nil
}

// signedRequest returns a request for this attempt. Credentials, time and region may differ from
// those of the previous attempt.
func (x *exchange) signedRequest(ctx context.Context) (*http.Request, error) {
	c := x.client
	address, signing, err := c.address(x)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, x.request.Method, address.String(), bytes.NewReader(x.request.Body))
	if err != nil {
		return nil, err
	}
	r.Header = x.request.Header.Clone()
	r.Header.Set("User-Agent", "vigil")
	if len(x.request.Body) == 0 {
		r.Body, r.GetBody, r.ContentLength = nil, nil, 0
	} else if x.op.Checksum {
		sum := md5.Sum(x.request.Body)
		r.Header.Set("Content-Md5", base64.StdEncoding.EncodeToString(sum[:]))
	}
	if x.op.Unsigned {
		return r, nil
	}
	credentials, err := c.options.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, &credentialsError{err}
	}
	sum := sha256.Sum256(x.request.Body)
	hash := hex.EncodeToString(sum[:])
	s3 := signing.SigningName == "s3"
	if s3 || signing.SigningName == "glacier" {
		r.Header.Set("X-Amz-Content-Sha256", hash)
	}
	x.skew = time.Duration(c.skew.Load())
	now := c.options.Now().Add(x.skew)
	err = c.signer.SignHTTP(ctx, credentials, r, hash, signing.SigningName, signing.SigningRegion, now, func(o *v4.SignerOptions) {
		o.DisableURIPathEscaping = s3 // a key may contain two consecutive slashes
	})
	return r, err
}

// prepareRetry reports whether a retry may succeed, and prepares it.
func (x *exchange) prepareRetry(err error) bool {
	var credentialsErr *credentialsError
	if errors.As(err, &credentialsErr) {
		return false // the credentials provider makes its own retries
	}
	var refused *Error
	if errors.As(err, &refused) {
		// Check the clock first: RequestExpired can also mean that the signature has expired because of
		// the clock skew, not the session.
		if x.client.adjustClock(refused, x.skew) {
			return true
		}
		if refused.isExpired() {
			holder, ok := x.client.options.Credentials.(interface{ Invalidate() })
			if ok {
				holder.Invalidate()
			}
			return ok
		}
	}
	return x.client.retryer.IsErrorRetryable(err)
}

// maxSkew is a clock difference that AWS still accepts in a signature: its limit is five
// minutes.
const maxSkew = 4 * time.Minute

// adjustClock stores the clock skew that a refusal shows if the call was refused because it was
// signed with a wrong skew. It reports whether it did, so that a retry may succeed.
func (c *Client) adjustClock(e *Error, signed time.Duration) bool {
	switch e.Code {
	case "RequestTimeTooSkewed", "RequestExpired", "RequestInTheFuture", "InvalidSignatureException", "SignatureDoesNotMatch", "AuthFailure":
	default:
		return false
	}
	if e.date.IsZero() {
		return false
	}
	skew := e.date.Sub(c.options.Now())
	if (skew - signed).Abs() < maxSkew {
		return false
	}
	c.skew.Store(int64(skew))
	return true
}

// credentialsError is the failure to get credentials for signing a call.
type credentialsError struct{ err error }

func (e *credentialsError) Error() string { return "get credentials: " + e.err.Error() }
func (e *credentialsError) Unwrap() error { return e.err }
