// Package webhook posts to addresses that users choose.
//
// The server reaches more than its users may. Connections therefore follow an
// outbound policy, redirects are not followed, and [Unreachable] has the same
// text whatever the cause.
package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"time"

	"vigil/internal/outbound"
)

// Timeout is how long one attempt may take.
const Timeout = 10 * time.Second

// NewClient returns a client whose connections follow the policy. The authorities
// of the receivers are those of config, or the machine's own when it is nil.
func NewClient(policy outbound.Policy, config *tls.Config) *http.Client {
	return &http.Client{
		Timeout: Timeout,
		Transport: &http.Transport{
			DialContext: policy.Dialer(5 * time.Second).DialContext, TLSClientConfig: config, TLSHandshakeTimeout: 5 * time.Second,
			MaxIdleConnsPerHost: 2, IdleConnTimeout: 30 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("redirects are not followed") },
	}
}

// Sign returns the signature of a body: "t=SECONDS,v1=HEX", where HEX is the
// HMAC-SHA256 of the seconds, a dot and the body. A receiver can refuse forged
// and old messages with it.
func Sign(key []byte, at time.Time, body []byte) string {
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(stamp + ".")) // a hash does not fail
	_, _ = mac.Write(body)
	return "t=" + stamp + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}

// Unreachable is an attempt that got no answer. Its text is the same whether the
// address is not allowed, nothing listens there, or something listens that does
// not speak TLS: it is shown to whoever chose the address, who must not be able
// to explore the network with it. The cause is for the log.
type Unreachable struct{ Cause error }

func (Unreachable) Error() string {
	return "the receiver could not be reached, or did not answer as expected; the server's log says why"
}

func (u Unreachable) Unwrap() error { return u.Cause }
