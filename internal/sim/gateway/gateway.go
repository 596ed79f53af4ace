// Package gateway stands in for the clouds: one TLS listener that answers under
// the clouds' own host names, with certificates of a throw-away authority.
//
// A simulated cloud is an http.Handler for some hosts. Faults can be put on any
// of its calls, over HTTP too. The product reaches the gateway only where it is
// told its address and authority; see package egress.
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

// AdminHost is the host name under which faults and changes are made.
const AdminHost = "admin.sim.internal"

// Gateway routes calls to simulated clouds. Handle is called before Serve.
type Gateway struct {
	Faults *Faults
	Admin  *http.ServeMux // what AdminHost answers

	log       *slog.Logger
	authority *pki.Authority
	listener  net.Listener
	hosts     []route

	calls sync.RWMutex // held by each call for reading
	over  bool         // no call is answered any more

	mu     sync.Mutex
	leaves map[string]*tls.Certificate // by the names they are for
}

type route struct {
	suffix string
	cloud  http.Handler
}

// Listen opens a gateway on an address such as 127.0.0.1:0. It answers once
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

// Handle makes a cloud answer for a host, or for all below it when it begins
// with a dot. The longest match counts.
func (g *Gateway) Handle(host string, cloud http.Handler) {
	g.hosts = append(g.hosts, route{host, cloud})
}

// Address returns host and port of the listener.
func (g *Gateway) Address() string { return g.listener.Addr().String() }

// CA returns the authority's certificate as PEM.
func (g *Gateway) CA() []byte { return g.authority.PEM() }

// Serve answers calls until ctx ends. It returns when the last call has.
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
	g.over = true
	g.calls.Unlock()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Close closes a gateway that was never served.
func (g *Gateway) Close() error { return g.listener.Close() }

func (g *Gateway) route(w http.ResponseWriter, r *http.Request) {
	g.calls.RLock()
	defer g.calls.RUnlock()
	if g.over {
		return
	}
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	host = strings.ToLower(host)
	if net.ParseIP(host) != nil {
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

// configFor returns how to speak TLS under the name the client asks for. AWS
// speaks HTTP/1.1 alone.
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
	return &tls.Config{Certificates: []tls.Certificate{*leaf}, NextProtos: protocols}, nil
}

// leaf returns a certificate for a name. Names with the same parent share one,
// as a bucket's do in the real cloud.
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
