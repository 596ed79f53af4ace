package auth

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// A LoginNetwork is a network from which an account has logged in.
type LoginNetwork struct {
	Account string
	Network string // as returned by [Network]
}

// LoginNetworks caches the networks from which accounts have logged in. Logins from
// such a network have separate rate limits, so that failures from elsewhere, or
// of others at the same address, do not lock the account out.
//
// It is safe for concurrent use.
type LoginNetworks struct {
	load func(ctx context.Context) ([]LoginNetwork, error)
	now  func() time.Time

	loading sync.Mutex // held while load runs
	mu      sync.Mutex
	loaded  time.Time
	known   *simplelru.LRU[LoginNetwork, struct{}]
	counts  map[string]int // number of networks per account
}

const (
	// maxLoginNetworks limits the size of the cache.
	maxLoginNetworks = 50_000

	// loginNetworksAge is the longest time until a login through another process is seen.
	loginNetworksAge = time.Minute
)

// NewLoginNetworks returns an empty cache. It calls load at the first lookup, and
// again when a lookup misses and the last load is older than a minute.
func NewLoginNetworks(load func(context.Context) ([]LoginNetwork, error), now func() time.Time) *LoginNetworks {
	p := &LoginNetworks{load: load, now: now, counts: make(map[string]int)}
	p.known, _ = simplelru.NewLRU(maxLoginNetworks, p.evicted) // fails only for a size below 1
	return p
}

// Has reports whether the account has logged in from the network of an address.
func (p *LoginNetworks) Has(ctx context.Context, account, address string) (bool, error) {
	place := LoginNetwork{account, Network(address)}
	if p.find(place) || !p.stale() {
		return p.find(place), nil
	}
	p.loading.Lock()
	defer p.loading.Unlock()
	if !p.stale() { // another caller has loaded meanwhile
		return p.find(place), nil
	}
	all, err := p.load(ctx)
	if err != nil {
		return false, err
	}
	p.mu.Lock()
	p.loaded = p.now()
	for _, place := range all {
		p.add(place)
	}
	p.mu.Unlock()
	return p.find(place), nil
}

// Any reports whether any network of an account is known, as of the last call
// of Has.
func (p *LoginNetworks) Any(account string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts[account] > 0
}

// Add adds a network of an account. It returns false if it was known.
func (p *LoginNetworks) Add(account, address string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.add(LoginNetwork{account, Network(address)})
}

func (p *LoginNetworks) stale() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.loaded.IsZero() || p.now().Sub(p.loaded) >= loginNetworksAge
}

func (p *LoginNetworks) find(place LoginNetwork) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.known.Get(place)
	return ok
}

func (p *LoginNetworks) add(place LoginNetwork) bool {
	if _, ok := p.known.Get(place); ok {
		return false
	}
	p.counts[place.Account]++
	p.known.Add(place, struct{}{})
	return true
}

// evicted decrements the count of an evicted entry's account.
func (p *LoginNetworks) evicted(place LoginNetwork, _ struct{}) {
	p.counts[place.Account]--
	if p.counts[place.Account] == 0 {
		delete(p.counts, place.Account)
	}
}

// Network returns the network that rate limits count an address by: an IPv4
// address itself, or the /64 of an IPv6 address, because a site may choose any
// address in it.
func Network(address string) string {
	a, err := netip.ParseAddr(address)
	switch {
	case err != nil:
		return address
	case a.Unmap().Is4():
		return a.Unmap().String()
	}
	n, err := a.WithZone("").Prefix(64)
	if err != nil {
		return address
	}
	return n.String()
}
