package probe

import (
	"context"
	"net/http"
	"sync"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/reach"
)

// served reports whether a status says that there is something at the address
// that was asked for, also when it is not for us or not to be read this way.
func served(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusTooManyRequests:
		return true
	}
	return status < http.StatusBadRequest
}

// web is a web server that is looked at again and again, over connections that
// are kept. It is made at the first look, since a bad address or a missing file
// is something to report, not to refuse.
type web struct {
	address string
	trust   desktop.Trust
	now     func() time.Time

	mu     sync.Mutex
	client *reach.Web
}

// get reads an address of the server. After a failure the next look begins with
// a new connection and reads the files it trusts again.
func (w *web) get(ctx context.Context, address string, h http.Header) (int, []byte, *desktop.Certificate, error) {
	client, err := w.open()
	if err != nil {
		return 0, nil, nil, err
	}
	status, body, err := client.Get(ctx, address, h)
	if err != nil {
		w.close()
	}
	return status, body, client.Shown.Certificate(), err
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
