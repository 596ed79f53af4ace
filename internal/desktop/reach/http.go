package reach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"vigil/internal/desktop"
)

// MaxBody limits the size of a response that is read.
const MaxBody = 1 << 20

// A Web is a client of one web server over verified TLS. It follows no
// redirects and uses no proxy, so that probes only connect to addresses in the
// inventory.
type Web struct {
	PeerCertificate *PeerCertificate
	client          *http.Client
}

// NewWeb returns a client of the server at an https address.
func NewWeb(address string, t desktop.Trust, now func() time.Time) (*Web, error) {
	u, err := ParseHTTPS(address)
	if err != nil {
		return nil, err
	}
	peerCert := new(PeerCertificate)
	config, err := TLS(t, u.Hostname(), now, peerCert)
	if err != nil {
		return nil, err
	}
	return &Web{PeerCertificate: peerCert, client: &http.Client{
		Transport: &http.Transport{
			DialContext:            Dialer().DialContext,
			TLSClientConfig:        config,
			ForceAttemptHTTP2:      true,
			MaxIdleConns:           2,
			IdleConnTimeout:        2 * time.Minute,
			MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// ParseHTTPS parses an https address. It fails with the cause Malformed.
func ParseHTTPS(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return nil, &desktop.Failure{Cause: desktop.Malformed, Reason: "its address is not an https:// address", Err: err}
	}
	return u, nil
}

// Close closes idle connections.
func (w *Web) Close() { w.client.CloseIdleConnections() }

// Get requests an address and returns the response's status and body. Any
// status is a success; the error is a *desktop.Failure.
func (w *Web) Get(ctx context.Context, address string, header http.Header) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return 0, nil, &desktop.Failure{Cause: desktop.Malformed, Reason: "its address is malformed", Err: err}
	}
	if header != nil {
		req.Header = header
	}
	resp, err := w.client.Do(req)
	if err != nil {
		// The url.Error only adds the address, which the reason already has.
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return 0, nil, Failure(req.URL.Host, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, MaxBody+1))
	if err != nil {
		return 0, nil, Failure(req.URL.Host, err)
	}
	if len(body) > MaxBody {
		return 0, nil, &desktop.Failure{Cause: desktop.Broken, Reason: fmt.Sprintf("%s answers with more than %d bytes", req.URL.Host, MaxBody)}
	}
	return resp.StatusCode, body, nil
}
