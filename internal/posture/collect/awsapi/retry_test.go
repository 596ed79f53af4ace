package awsapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"golang.org/x/sync/errgroup"

	"vigil/internal/posture/collect/awsapi"
)

func TestTimeoutsAreRetried(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	// The client counts the attempts: on a busy machine one can time out before the server sees it.
	var attempts atomic.Int32
	count := func(context.Context, awsapi.Attempt) error {
		attempts.Add(1)
		return nil
	}
	c := serve(t, awsapi.Options{Attempts: 2, Timeout: 20 * time.Millisecond, Before: count}, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	_, err := c.Call(t.Context(), "kms", "ListKeys", "us-east-1", nil)
	close(release)
	if !errors.Is(err, awsapi.ErrSlow) || attempts.Load() != 2 {
		t.Errorf("after %d attempts: %v", attempts.Load(), err)
	}
}

// TestTransportTimeoutsAreRetried checks that a call is repeated after a time limit of the
// transport, which is shorter than that of an attempt. The errors of the transport match
// context.DeadlineExceeded, although the context has not ended.
func TestTransportTimeoutsAreRetried(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]struct{ connect, headers time.Duration }{
		"connect": {connect: time.Nanosecond}, "headers": {headers: time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			release := make(chan struct{})
			server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
			defer server.Close()
			defer close(release)
			dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
				return (&net.Dialer{Timeout: limit.connect}).DialContext(ctx, network, server.Listener.Addr().String())
			}
			transport := &http.Transport{DialTLSContext: dial, ResponseHeaderTimeout: limit.headers}
			attempts := 0
			count := func(context.Context, awsapi.Attempt) error {
				attempts++
				return nil
			}
			c := serve(t, awsapi.Options{Attempts: 2, HTTP: &http.Client{Transport: transport}, Before: count}, nil)
			_, err := c.Call(t.Context(), "kms", "ListKeys", "us-east-1", nil)
			if !errors.Is(err, awsapi.ErrSlow) || errors.Is(err, context.DeadlineExceeded) || attempts != 2 {
				t.Errorf("after %d attempts: %v", attempts, err)
			}
		})
	}
}

// noIdentity has no credentials: the metadata service of the machine cannot be reached.
type noIdentity struct{}

func (noIdentity) Retrieve(context.Context) (aws.Credentials, error) {
	return aws.Credentials{}, fmt.Errorf("no EC2 IMDS role found: %w", context.DeadlineExceeded)
}

// TestTimeoutsOfCredentialsNameTheReason checks a time limit of the credentials provider that is
// shorter than that of an attempt. The provider has made its own retries, and its error says what
// is missing.
func TestTimeoutsOfCredentialsNameTheReason(t *testing.T) {
	t.Parallel()
	attempts := 0
	count := func(context.Context, awsapi.Attempt) error {
		attempts++
		return nil
	}
	c := serve(t, awsapi.Options{Attempts: 2, Credentials: noIdentity{}, Before: count}, nil)
	_, err := c.Call(t.Context(), "kms", "ListKeys", "us-east-1", nil)
	if err == nil || !strings.Contains(err.Error(), "no EC2 IMDS role found") || errors.Is(err, context.DeadlineExceeded) || attempts != 1 {
		t.Errorf("after %d attempts: %v", attempts, err)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	c := serve(t, awsapi.Options{Attempts: 1}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(503)
	})
	_, err := c.Call(t.Context(), "kms", "ListKeys", "us-east-1", nil)
	if refused, ok := errors.AsType[*awsapi.Error](err); !ok || refused.RetryAfter != 7*time.Second {
		t.Errorf("%+v, want an error with RetryAfter 7 s", err)
	}
}

// renewable provides credentials whose key has the number of invalidations so far: KEY0, KEY1.
type renewable struct{ invalidated atomic.Int32 }

func (r *renewable) Retrieve(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: fmt.Sprint("KEY", r.invalidated.Load()), SecretAccessKey: "x"}, nil
}
func (r *renewable) Invalidate() { r.invalidated.Add(1) }

func TestExpiredSessionsAreRenewed(t *testing.T) {
	t.Parallel()
	r := &renewable{}
	// The call is repeated at once with the new credentials: the test would not end if it waited for the backoff.
	c := serve(t, awsapi.Options{Credentials: r, Backoff: time.Hour}, func(w http.ResponseWriter, q *http.Request) {
		if strings.Contains(q.Header.Get("Authorization"), "KEY0/") {
			w.WriteHeader(400)
			_, _ = io.WriteString(w, `{"__type":"ExpiredTokenException"}`)
			return
		}
		_, _ = io.WriteString(w, `{}`)
	})
	if _, err := c.Call(t.Context(), "kms", "ListKeys", "us-east-1", nil); err != nil || r.invalidated.Load() != 1 {
		t.Errorf("renewed %d times: %v", r.invalidated.Load(), err)
	}
}

// skewedServer is a server whose clock shows serverTime. It refuses a call that was signed at
// another time with the error code.
func skewedServer(serverTime time.Time, code string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", serverTime.Format(http.TimeFormat))
		if r.Header.Get("X-Amz-Date") != serverTime.Format("20060102T150405Z") {
			w.WriteHeader(403)
			_, _ = io.WriteString(w, `{"__type":"`+code+`"}`)
			return
		}
		_, _ = io.WriteString(w, `{}`)
	}
}

func TestClockSkewIsAdjusted(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, code := range []string{"RequestTimeTooSkewed", "RequestExpired", "InvalidSignatureException"} {
		// With nil, serve uses fixed credentials.
		for name, provider := range map[string]aws.CredentialsProvider{"fixed": nil, "renewable": &renewable{}} {
			c := serve(t, awsapi.Options{Credentials: provider, Now: func() time.Time { return now }}, skewedServer(now.Add(time.Hour), code))
			if _, err := c.Call(t.Context(), "kms", "ListKeys", "us-east-1", nil); err != nil {
				t.Errorf("%s with %s credentials: %v", code, name, err)
			}
			if r, ok := provider.(*renewable); ok && r.invalidated.Load() > 0 {
				t.Errorf("%s: the credentials were renewed", code)
			}
		}
	}
}

// TestConcurrentCallsAdjustTheSameSkew lets several calls be refused before the first of them
// records the skew.
func TestConcurrentCallsAdjustTheSameSkew(t *testing.T) {
	t.Parallel()
	const calls = 4
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	var sent sync.WaitGroup // the first attempts of all calls
	sent.Add(calls)
	refuse := skewedServer(now.Add(time.Hour), "SignatureDoesNotMatch")
	c := serve(t, awsapi.Options{Now: func() time.Time { return now }}, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Amz-Date") == now.Format("20060102T150405Z") {
			sent.Done()
			sent.Wait()
		}
		refuse(w, r)
	})
	var group errgroup.Group
	for range calls {
		group.Go(func() error {
			_, err := c.Call(t.Context(), "kms", "ListKeys", "us-east-1", nil)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}
