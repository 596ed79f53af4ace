// Package directory simulates the domain controller of a directory domain: LDAP
// with StartTLS, LDAP over TLS and the connectionless LDAP ping over UDP.
//
// It behaves like a real controller where a client can observe it: the
// diagnostic codes of a refused bind, the counting of bad passwords up to a
// lockout, the unauthenticated bind that succeeds, nested groups as binary SIDs
// in tokenGroups, referrals in search results, and only the rootDSE for
// unauthenticated clients. It is implemented on a BER codec rather than an LDAP
// server library because a simulated controller must also be able to cut
// connections, hang, and answer UDP pings on fixed ports.
package directory

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"vigil/internal/sim/flakylistener"
)

// Fault is a fault of a controller.
type Fault int

// The faults of a controller.
const (
	Healthy   Fault = iota
	Down            // connections are reset, pings are not answered
	Hung            // connections are accepted and nothing is answered
	BindHung        // binds are not answered
	PingOnly        // pings and the rootDSE are answered, binds are refused
	Unwilling       // every bind is answered with "busy"
)

// Options configure a simulated controller.
type Options struct {
	Domain      Domain
	Certificate tls.Certificate  // of StartTLS and LDAPS
	Host        string           // address to listen on; 127.0.0.1 when empty
	AllowPlain  bool             // accept binds without TLS
	Now         func() time.Time // time.Now when nil
}

// Server is one simulated domain controller. It is safe for concurrent use.
type Server struct {
	options Options
	now     func() time.Time
	tls     *tls.Config

	mu     sync.Mutex
	domain *domain
	fault  Fault
	binds  int

	unencrypted, encrypted *flakylistener.Listener
	ping                   net.PacketConn
	stop                   context.CancelFunc
	work                   sync.WaitGroup
}

// New returns a controller that is not started.
func New(o Options) *Server {
	if o.Host == "" {
		o.Host = "127.0.0.1"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Server{
		options: o,
		now:     o.Now,
		tls:     &tls.Config{Certificates: []tls.Certificate{o.Certificate}, MinVersion: tls.VersionTLS12},
		domain:  build(o.Domain),
	}
}

// Start listens and serves until Stop.
func (s *Server) Start(ctx context.Context) error {
	if err := s.listen(); err != nil {
		return fmt.Errorf("start directory %s: %w", s.options.Domain.DNSName, err)
	}
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.work.Add(3)
	go func() {
		defer s.work.Done()
		s.serve(ctx, s.unencrypted, nil)
	}()
	go func() {
		defer s.work.Done()
		s.serve(ctx, s.encrypted, s.tls)
	}()
	go func() {
		defer s.work.Done()
		s.servePings()
	}()
	return nil
}

// listen opens the same port number for TCP and UDP, as clients expect.
func (s *Server) listen() error {
	var err error
	for range 20 { // the UDP port of a free TCP port may be in use
		if s.unencrypted, err = flakylistener.Listen(net.JoinHostPort(s.options.Host, "0")); err != nil {
			return err
		}
		s.ping, err = net.ListenPacket("udp", s.unencrypted.Addr().String())
		if err == nil {
			break
		}
		_ = s.unencrypted.Close()
	}
	if err != nil {
		return err
	}
	if s.encrypted, err = flakylistener.Listen(net.JoinHostPort(s.options.Host, "0")); err != nil {
		return errors.Join(err, s.unencrypted.Close(), s.ping.Close())
	}
	return nil
}

// Stop stops the controller and waits for it.
func (s *Server) Stop() error {
	if s.stop == nil {
		return nil
	}
	s.stop()
	err := errors.Join(s.unencrypted.Close(), s.encrypted.Close(), s.ping.Close())
	s.work.Wait()
	return err
}

// Host returns the address listened on.
func (s *Server) Host() string { return s.options.Host }

// Port returns the port of LDAP (TCP) and of the LDAP ping (UDP).
func (s *Server) Port() int { return s.unencrypted.Port() }

// SecurePort returns the port of LDAP over TLS.
func (s *Server) SecurePort() int { return s.encrypted.Port() }

// URL returns the address of LDAP, for StartTLS.
func (s *Server) URL() string { return "ldap://" + s.address(s.Port()) }

// SecureURL returns the address of LDAP over TLS.
func (s *Server) SecureURL() string { return "ldaps://" + s.address(s.SecurePort()) }

func (s *Server) address(port int) string {
	return net.JoinHostPort(s.options.Host, strconv.Itoa(port))
}

// Break sets the controller's fault; Healthy removes it.
func (s *Server) Break(f Fault) {
	s.mu.Lock()
	s.fault = f
	s.mu.Unlock()
	state := flakylistener.Up
	switch f {
	case Down:
		state = flakylistener.Down
	case Hung:
		state = flakylistener.Hung
	}
	s.unencrypted.Set(state)
	s.encrypted.Set(state)
}

// Fault returns the controller's fault, or Healthy.
func (s *Server) Fault() Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fault
}

// Binds returns the number of binds with a name and a password so far.
func (s *Server) Binds() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.binds
}

// BadPasswords returns an account's count of bad passwords.
func (s *Server) BadPasswords(user string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.domain.account(user); a != nil {
		return a.bad
	}
	return 0
}

// Locked reports whether an account is locked out.
func (s *Server) Locked(user string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.domain.account(user)
	return a != nil && s.domain.isLocked(a, s.now())
}

// Change edits the domain: users, groups and trusts. The counts of bad
// passwords are kept.
func (s *Server) Change(edit func(*Domain)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	edit(&s.options.Domain)
	next := build(s.options.Domain)
	for name, a := range s.domain.accounts {
		if b := next.accounts[name]; b != nil {
			b.bad, b.badAt, b.lockedAt = a.bad, a.badAt, a.lockedAt
		}
	}
	s.domain = next
}

// Root returns the distinguished name of the domain's root.
func (s *Server) Root() string { return s.options.Domain.Root() }
