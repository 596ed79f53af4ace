// Package site provides an HTTPS server on loopback whose connections can be
// cut and whose certificate can be replaced while it runs. Simulated components
// with HTTP use it.
package site

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"vigil/internal/sim/flakylistener"
)

// Site is one HTTPS server. It is safe for concurrent use.
type Site struct {
	handler     http.Handler
	certificate atomic.Pointer[tls.Certificate]
	listener    *flakylistener.Listener
	server      *http.Server
	work        sync.WaitGroup
}

// New returns a site that is not started.
func New(certificate tls.Certificate, h http.Handler) *Site {
	s := &Site{handler: h}
	s.certificate.Store(&certificate)
	return s
}

// Start listens on a free port of loopback and serves until Stop.
func (s *Site) Start(context.Context) error {
	var err error
	if s.listener, err = flakylistener.Listen("127.0.0.1:0"); err != nil {
		return err
	}
	s.server = &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0), // probes close connections at any point
	}
	config := &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.certificate.Load(), nil },
	}
	s.work.Go(func() { _ = s.server.Serve(tls.NewListener(s.listener, config)) }) // until it is closed
	return nil
}

// Stop stops the site and waits for it.
func (s *Site) Stop() error {
	if s.server == nil {
		return nil
	}
	err := s.server.Close()
	s.work.Wait()
	return err
}

// Port returns the site's port.
func (s *Site) Port() int { return s.listener.Port() }

// Host returns the site's host name.
func (s *Site) Host() string { return "localhost" }

// URL returns the site's address, without a trailing slash.
func (s *Site) URL() string { return "https://localhost:" + strconv.Itoa(s.Port()) }

// Listener returns the listener, whose connections can be cut.
func (s *Site) Listener() *flakylistener.Listener { return s.listener }

// SetCertificate replaces the certificate for new connections; open ones are reset.
func (s *Site) SetCertificate(certificate tls.Certificate) {
	s.certificate.Store(&certificate)
	s.listener.Set(s.listener.State()) // resets the open connections
}

// Certificate returns the current certificate.
func (s *Site) Certificate() tls.Certificate { return *s.certificate.Load() }
