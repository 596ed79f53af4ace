package estate

import (
	"crypto/tls"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"

	"vigil/internal/desktop"
	"vigil/internal/sim/site"
)

// Peer is a simulated connection server: a peer of the same pod, or an endpoint
// of a remote one. It serves the same health document as the product.
type Peer struct {
	*site.Site
	Name     string
	number   int // among the connection servers, or among the endpoints of pods
	token    string
	follower *follower

	mu        sync.Mutex
	problems  []string
	diverged  bool                  // reports a store of its own
	overrides map[desktop.ID]string // overridden statuses of components in its views
}

func newPeer(name string, number int, certificate tls.Certificate, token string, f *follower) *Peer {
	p := &Peer{Name: name, number: number, token: token, follower: f, overrides: map[desktop.ID]string{}}
	p.Site = site.New(certificate, http.HandlerFunc(p.serve))
	return p
}

// SetProblems sets the problems that the peer reports; none clears them.
func (p *Peer) SetProblems(problems ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.problems = problems
}

// SetDiverged sets whether the peer reports a replicated store of its own, instead of that of
// the product. The product treats this as an error at once, unlike an old revision.
func (p *Peer) SetDiverged(diverged bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.diverged = diverged
}

// OverrideView overrides the status of a component in the peer's views; empty removes
// the override.
func (p *Peer) OverrideView(id desktop.ID, status string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if status == "" {
		delete(p.overrides, id)
	} else {
		p.overrides[id] = status
	}
}

func (p *Peer) serve(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasPrefix(r.URL.Path, "/rest/monitor/"):
		http.Error(w, "log in first", http.StatusUnauthorized) // probes of remote pods expect this answer
	case r.URL.Path != desktop.HealthPath:
		http.NotFound(w, r)
	case r.Header.Get("Authorization") != "Bearer "+p.token:
		http.Error(w, "the peer token is required", http.StatusUnauthorized)
	default:
		followed, ok := p.follower.last(r.Context())
		if !ok {
			http.Error(w, "this server has no copy of the shared store yet", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(p.health(followed)) // ignored: the client has disconnected
	}
}

// health returns the health of the peer. Version, revision and views are those of the product,
// unless a fault or an override changes them.
func (p *Peer) health(product desktop.PeerHealth) desktop.PeerHealth {
	p.mu.Lock()
	defer p.mu.Unlock()
	// The number of sessions differs between peers and changes every minute.
	sessions := 3 + p.number*7%23 + int(p.follower.now().Unix()/60%7)
	h := desktop.PeerHealth{
		Name: p.Name, Version: product.Version, Build: product.Build, Problems: slices.Clone(p.problems),
		ConnectionCount: sessions, TunnelCount: sessions / 3,
		Sessions: map[desktop.SessionProtocol]int{
			desktop.ProtocolBlast: sessions / 2, desktop.ProtocolPCoIP: sessions / 3, desktop.ProtocolRDP: sessions - sessions/2 - sessions/3,
		},
		Revision: product.Revision,
		Views:    slices.Clone(product.Views),
	}
	if p.diverged {
		h.Revision.Store = "a store of its own"
	}
	for i, v := range h.Views {
		h.Views[i].Reasons = nil
		if status, ok := p.overrides[v.ID]; ok {
			h.Views[i].Status, h.Views[i].Reasons = status, []string{"as seen from " + p.Name}
		}
	}
	return h
}
