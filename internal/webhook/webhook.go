// Package webhook posts to addresses that users choose.
//
// The server can connect to addresses that its users cannot. Connections
// therefore follow an outbound policy, redirects are not followed, and
// [Unreachable] has the same text for every cause.
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

// Timeout limits one attempt.
const Timeout = 10 * time.Second

// NewClient returns a client whose connections follow the policy. It trusts the
// certificate authorities of config, or those of the system if config is nil.
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
// HMAC-SHA256 of the seconds, a dot and the body. It lets a receiver refuse
// forged and old messages.
func Sign(key []byte, at time.Time, body []byte) string {
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(stamp + ".")) // a hash never fails
	_, _ = mac.Write(body)
	return "t=" + stamp + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}

// RefusesBody reports whether the status of a response means that the receiver will not accept
// this body in later attempts either. The causes of other errors, such as wrong credentials and
// missing pages, are often corrected within a day.
func RefusesBody(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return true
	}
	return false
}

// Unreachable is the error of an attempt without a response. Its text is the
// same whether the address is not allowed, nothing listens there, or the
// listener does not speak TLS: it is shown to the user who chose the address,
// who must not be able to scan the network with it. The cause is logged.
type Unreachable struct{ Cause error }

func (Unreachable) Error() string {
	return "the receiver could not be reached, or did not answer as expected; the server's log says why"
}

func (u Unreachable) Unwrap() error { return u.Cause }
