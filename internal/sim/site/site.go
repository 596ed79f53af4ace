// Package site is an HTTPS server on loopback whose line can be cut and whose
// certificate can be changed while it runs. The simulated components that speak
// HTTP stand on it.
package site

import (
	"context"
	"crypto/tls"
	"errors"
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
	line        *flakylistener.Listener
	server      *http.Server
	work        sync.WaitGroup
}

// New makes a site. It listens once started.
func New(certificate tls.Certificate, h http.Handler) *Site {
	s := &Site{handler: h}
	s.certificate.Store(&certificate)
	return s
}

// Start listens on a free port of loopback and serves until Stop.
func (s *Site) Start(context.Context) error {
	var err error
	if s.line, err = flakylistener.Listen("127.0.0.1:0"); err != nil {
		return err
	}
	s.server = &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0), // probes hang up in the middle of things
	}
	config := &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.certificate.Load(), nil },
	}
	s.work.Go(func() { _ = s.server.Serve(tls.NewListener(s.line, config)) }) // until it is closed
	return nil
}

// Stop ends the site and waits for it.
func (s *Site) Stop() error {
	if s.server == nil {
		return nil
	}
	err := s.server.Close()
	s.work.Wait()
	return errors.Join(err)
}

// Port returns the port that is listened on.
func (s *Site) Port() int { return s.line.Port() }

// Host returns the name by which the site is reached.
func (s *Site) Host() string { return "localhost" }

// URL returns the address of the site, without a slash at the end.
func (s *Site) URL() string { return "https://localhost:" + strconv.Itoa(s.Port()) }

// Line is the line that can be cut.
func (s *Site) Line() *flakylistener.Listener { return s.line }

// Show changes the certificate, for connections to come; those that are open are
// dropped.
func (s *Site) Show(certificate tls.Certificate) {
	s.certificate.Store(&certificate)
	s.line.Set(s.line.State())
}

// Certificate returns the certificate that is shown.
func (s *Site) Certificate() tls.Certificate { return *s.certificate.Load() }
