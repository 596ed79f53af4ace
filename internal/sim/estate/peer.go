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
	token    string
	follower *follower

	mu        sync.Mutex
	problems  []string
	lagging   bool
	overrides map[desktop.ID]string // overridden statuses of components in its views
}

func newPeer(name string, certificate tls.Certificate, token string, f *follower) *Peer {
	p := &Peer{Name: name, token: token, follower: f, overrides: map[desktop.ID]string{}}
	p.Site = site.New(certificate, http.HandlerFunc(p.serve))
	return p
}

// SetProblems sets the problems that the peer reports; none clears them.
func (p *Peer) SetProblems(problems ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.problems = problems
}

// Lag makes the peer fall behind in replication, or catch up.
func (p *Peer) Lag(yes bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lagging = yes
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
		http.Error(w, "log in first", http.StatusUnauthorized)
	case r.URL.Path != desktop.HealthPath:
		http.NotFound(w, r)
	case r.Header.Get("Authorization") != "Bearer "+p.token:
		http.Error(w, "the peer token is required", http.StatusUnauthorized)
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(p.health()) // ignored: the client has disconnected
	}
}

func (p *Peer) health() desktop.PeerHealth {
	followed := p.follower.last()
	p.mu.Lock()
	defer p.mu.Unlock()
	sessions := 3 + len(p.Name)*7%23 + int(p.follower.now().Unix()/60%7)
	h := desktop.PeerHealth{
		Name: p.Name, Version: followed.Version, Build: followed.Build, Problems: slices.Clone(p.problems),
		ConnectionCount: sessions, TunnelCount: sessions / 3,
		Sessions: map[desktop.SessionProtocol]int{
			desktop.ProtocolBlast: sessions / 2, desktop.ProtocolPCoIP: sessions / 3, desktop.ProtocolRDP: sessions - sessions/2 - sessions/3,
		},
		Revision: followed.Revision,
		Views:    slices.Clone(followed.Views),
	}
	if p.lagging {
		h.Revision.Store = "a store of its own" // another store is an error at once, unlike a lag
	}
	for i, v := range h.Views {
		h.Views[i].Certificate, h.Views[i].Reasons = v.Certificate, nil
		if status, ok := p.overrides[v.ID]; ok {
			h.Views[i].Status, h.Views[i].Reasons = status, []string{"seen so from " + p.Name}
		}
	}
	return h
}
