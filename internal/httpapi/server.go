package httpapi

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// ServerOptions configure a Server.
type ServerOptions struct {
	Address string // host:port; port 0 selects a free port
	Handler http.Handler
	Log     *slog.Logger
	Health  *Health // marked as not ready when the server stops; may be nil

	TLS        *Certificate   // plain HTTP when nil
	ClientCAs  *x509.CertPool // authorities of accepted client certificates; none when nil
	AllowPlain bool           // allow plain HTTP on addresses other than loopback
	Proxies    Proxies        // exempt from the connection limit per network

	Grace time.Duration // how long running requests may take after a stop; 15 s when zero
	Drain time.Duration // how long to keep accepting requests after a stop, while /readyz is unready
}

// A Server listens on one address. It does nothing before Listen.
type Server struct {
	o        ServerOptions
	listener net.Listener
	http     *http.Server
	handlers *runningHandlers
	cancel   context.CancelCauseFunc // cancels the contexts of all requests
	sleep    func(time.Duration)
}

// cancelTime is how long a stop waits for the handlers of requests that it cancelled.
const cancelTime = 5 * time.Second

// errStopped is the cause of the context of a request that the server cancelled.
var errStopped = errors.New("the server stopped")

// NewServer checks the options.
func NewServer(o ServerOptions) (*Server, error) {
	if o.TLS == nil && !o.AllowPlain && !isLoopback(o.Address) {
		return nil, fmt.Errorf("plain HTTP on %s is not encrypted: use TLS or a loopback address, or set insecure_http if a proxy terminates TLS", o.Address)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Grace == 0 {
		o.Grace = 15 * time.Second
	}
	stopping := make(chan struct{})
	requests, cancel := context.WithCancelCause(context.WithValue(context.Background(), stoppingKey{}, stopping))
	handlers := newRunningHandlers(o.Handler)
	s := &Server{o: o, sleep: time.Sleep, handlers: handlers, cancel: cancel, http: &http.Server{
		Handler:           handlers,
		BaseContext:       func(net.Listener) context.Context { return requests },
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       60 * time.Second,
		WriteTimeout:      2 * time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		// Errors of net/http, such as failed handshakes, are logged at debug level.
		ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}}
	s.http.RegisterOnShutdown(func() { close(stopping) })
	return s, nil
}

type stoppingKey struct{}

// stopping returns a channel that is closed when the server of a request stops,
// so that streams end. It is nil for requests that no Server received.
func stopping(ctx context.Context) <-chan struct{} {
	c, _ := ctx.Value(stoppingKey{}).(chan struct{})
	return c
}

// Listen binds the address, after which URL is known.
func (s *Server) Listen(ctx context.Context) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", s.o.Address)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	l = limitConns(l, s.o.Proxies)
	if s.o.TLS != nil {
		l = tls.NewListener(l, s.o.TLS.config(s.o.ClientCAs))
	}
	s.listener = l
	return nil
}

// URL returns the base address for clients on the same machine, without a
// trailing slash. It is known after Listen.
func (s *Server) URL() string {
	scheme := "http"
	if s.o.TLS != nil {
		scheme = "https"
	}
	host, port, err := net.SplitHostPort(s.listener.Addr().String())
	if err != nil {
		return scheme + "://" + s.listener.Addr().String()
	}
	if a, err := netip.ParseAddr(host); err == nil && a.IsUnspecified() {
		host = "localhost"
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}

// Serve serves requests until ctx is done, then waits up to Grace for running
// requests. Cancelling ctx does not cancel them, but the end of Grace does. Serve then
// waits a few seconds more until their handlers return, so that the caller can close
// what the handlers use. If the listener fails, Serve cancels the requests at once.
func (s *Server) Serve(ctx context.Context) error {
	done := make(chan error, 1)
	go func() { done <- s.http.Serve(s.listener) }()
	select {
	case err := <-done:
		s.cancel(errStopped)
		err = errors.Join(err, s.http.Close())
		s.awaitHandlers(ctx)
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	err := s.stop(context.WithoutCancel(ctx))
	if served := <-done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

func (s *Server) stop(ctx context.Context) error {
	if s.o.Health != nil {
		s.o.Health.Stopping()
	}
	s.sleep(s.o.Drain)
	ctx, cancel := context.WithTimeout(ctx, s.o.Grace)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if err != nil {
		s.o.Log.WarnContext(ctx, "requests did not finish in time", "grace", s.o.Grace, "err", err)
	}
	// Cancel the requests before Close: it would cancel them without the cause, and would not
	// cancel requests whose body was not read.
	s.cancel(errStopped)
	if err != nil {
		err = s.http.Close()
	}
	s.awaitHandlers(ctx)
	return err
}

// awaitHandlers waits until the handlers of cancelled requests return, for a limited time.
func (s *Server) awaitHandlers(ctx context.Context) {
	if n := s.handlers.stop(cancelTime); n > 0 {
		s.o.Log.WarnContext(ctx, "requests still run after they were cancelled", "requests", n, "waited", cancelTime)
	}
}

// isLoopback reports whether an address is reachable from this machine only.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}
