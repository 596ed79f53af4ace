// Package gateway simulates the endpoints of the clouds: one TLS listener that
// serves the clouds' host names, with certificates of a temporary authority.
//
// A simulated cloud is an http.Handler for some hosts. Faults can be injected
// into any of its calls, also over HTTP. The product connects to the gateway
// only if its address and authority are configured; see package egress.
package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"vigil/internal/sim/pki"
)

// AdminHost is the host name of the routes for faults and changes.
const AdminHost = "admin.sim.internal"

// Gateway routes calls to simulated clouds. Call Handle before Serve.
type Gateway struct {
	Faults *Faults
	Admin  *http.ServeMux // handler of AdminHost

	log       *slog.Logger
	authority *pki.Authority
	listener  net.Listener
	hosts     []route

	calls   sync.RWMutex // held for reading by each running call
	stopped bool         // Serve has ended: no call is answered any more

	mu     sync.Mutex
	leaves map[string]*tls.Certificate // by host name pattern
}

type route struct {
	suffix string
	cloud  http.Handler
}

// Listen opens a gateway on an address such as 127.0.0.1:0. It serves after
// Serve is called.
func Listen(address string, log *slog.Logger) (*Gateway, error) {
	authority, err := pki.New("simulated clouds", pki.Around(time.Now(), 365*24*time.Hour))
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for cloud calls: %w", err)
	}
	g := &Gateway{
		Faults: NewFaults(), Admin: http.NewServeMux(),
		log: log, authority: authority, listener: listener, leaves: map[string]*tls.Certificate{},
	}
	g.Faults.routes(g.Admin)
	g.Handle(AdminHost, g.Admin)
	return g, nil
}

// Handle registers a cloud for a host, or for all subdomains when the host
// begins with a dot. The longest match wins.
func (g *Gateway) Handle(host string, cloud http.Handler) {
	g.hosts = append(g.hosts, route{host, cloud})
}

// Address returns host and port of the listener.
func (g *Gateway) Address() string { return g.listener.Addr().String() }

// CA returns the authority's certificate as PEM.
func (g *Gateway) CA() []byte { return g.authority.PEM() }

// Serve serves calls until ctx is done. It returns after the last call.
func (g *Gateway) Serve(ctx context.Context) error {
	server := &http.Server{
		Handler:           http.HandlerFunc(g.route),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 30 * time.Second,
		ErrorLog:          slog.NewLogLogger(g.log.Handler(), slog.LevelDebug),
		TLSConfig:         &tls.Config{GetConfigForClient: g.configFor},
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	err := server.ServeTLS(g.listener, "", "")
	g.calls.Lock()
	g.stopped = true
	g.calls.Unlock()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Close closes a gateway on which Serve was not called.
func (g *Gateway) Close() error { return g.listener.Close() }

func (g *Gateway) route(w http.ResponseWriter, r *http.Request) {
	g.calls.RLock()
	defer g.calls.RUnlock()
	if g.stopped {
		return
	}
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	host = strings.ToLower(host)
	if net.ParseIP(host) != nil { // tools call the admin host by the address of the gateway
		host = AdminHost
	}
	var best route
	for _, candidate := range g.hosts {
		match := host == candidate.suffix || candidate.suffix[0] == '.' && strings.HasSuffix(host, candidate.suffix)
		if match && len(candidate.suffix) > len(best.suffix) {
			best = candidate
		}
	}
	if best.cloud == nil {
		http.Error(w, "no simulated cloud answers for "+host, http.StatusMisdirectedRequest)
		return
	}
	best.cloud.ServeHTTP(w, r)
}

// configFor returns the TLS configuration for the requested name. AWS supports
// only HTTP/1.1.
func (g *Gateway) configFor(hello *tls.ClientHelloInfo) (*tls.Config, error) {
	name := strings.ToLower(hello.ServerName)
	if name == "" {
		name = "127.0.0.1"
	}
	leaf, err := g.leaf(name)
	if err != nil {
		return nil, err
	}
	protocols := []string{"h2", "http/1.1"}
	if strings.Contains(name, "amazonaws") {
		protocols = protocols[1:]
	}
	return &tls.Config{
		Certificates: []tls.Certificate{*leaf}, NextProtos: protocols,
		CurvePreferences: []tls.CurveID{tls.X25519}, // without the post-quantum key exchange of the default: tests open thousands of connections
	}, nil
}

// leaf returns a certificate for a name. Names with the same parent domain
// share a wildcard certificate, for example all buckets of a region.
func (g *Gateway) leaf(name string) (*tls.Certificate, error) {
	names := []string{name}
	if _, parent, ok := strings.Cut(name, "."); ok && strings.Count(parent, ".") >= 2 && net.ParseIP(name) == nil {
		names = []string{"*." + parent, parent}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if leaf, ok := g.leaves[names[0]]; ok {
		return leaf, nil
	}
	leaf, err := g.authority.Leaf(pki.Around(time.Now(), 365*24*time.Hour), names...)
	if err != nil {
		return nil, err
	}
	g.leaves[names[0]] = &leaf
	return &leaf, nil
}
