package estate

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"sync"
	"time"

	"vigil/internal/fault"
)

// control is an HTTP server on loopback that starts and ends incidents:
//
//	GET    /incidents         lists the incidents
//	POST   /incidents/{name}  starts one
//	DELETE /incidents/{name}  ends one
//	POST   /notices           accepts and discards the notices of alert rules
type control struct {
	estate   *Estate
	listener net.Listener
	server   *http.Server
	work     sync.WaitGroup
}

func newControl(e *Estate) *control { return &control{estate: e} }

// URL returns the address of the server.
func (c *control) URL() string { return "http://" + c.listener.Addr().String() }

// Start listens on a free port of loopback.
func (c *control) Start(context.Context) error {
	var err error
	if c.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /incidents", c.list)
	mux.HandleFunc("POST /incidents/{name}", c.change(true))
	mux.HandleFunc("DELETE /incidents/{name}", c.change(false))
	mux.HandleFunc("POST /notices", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	c.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	c.work.Go(func() { _ = c.server.Serve(c.listener) }) // until it is closed
	return nil
}

// Stop stops the server and waits for it.
func (c *control) Stop() error {
	if c.server == nil {
		return nil
	}
	err := c.server.Close()
	c.work.Wait()
	return err
}

func (c *control) list(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(c.estate.Incidents()) // ignored: the client has disconnected
}

func (c *control) change(begin bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("name")
		do := c.estate.End
		if begin {
			do = c.estate.Begin
		}
		err := do(name)
		switch {
		case fault.Is(err, fault.NotFound):
			http.Error(w, err.Error(), http.StatusNotFound)
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	}
}
