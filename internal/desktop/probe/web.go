package probe

import (
	"context"
	"net/http"
	"sync"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/reach"
)

// pathExists reports whether a status means that the requested path exists, even if
// access is denied or the method is wrong.
func pathExists(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusTooManyRequests:
		return true
	}
	return status < http.StatusBadRequest
}

// web is a web server that is probed repeatedly over kept connections. Its
// client is created at the first probe, so that a malformed address or a missing
// CA file is reported as a failure of the probe.
type web struct {
	address string
	trust   desktop.Trust
	now     func() time.Time

	mu     sync.Mutex
	client *reach.Web
}

// get requests an address of the server. After a failure the next call uses a
// new connection and reloads the trusted certificates.
func (w *web) get(ctx context.Context, address string, h http.Header) (int, []byte, *desktop.Certificate, error) {
	client, err := w.open()
	if err != nil {
		return 0, nil, nil, err
	}
	status, body, err := client.Get(ctx, address, h)
	if err != nil {
		w.close()
	}
	return status, body, client.PeerCertificate.Certificate(), err
}

func (w *web) open() (*reach.Web, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.client != nil {
		return w.client, nil
	}
	client, err := reach.NewWeb(w.address, w.trust, w.now)
	if err != nil {
		return nil, err
	}
	w.client = client
	return client, nil
}

func (w *web) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.client != nil {
		w.client.Close()
		w.client = nil
	}
}
