package auth

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// A Place is a network from which an account has logged in.
type Place struct {
	Account string
	Network string // as [Network] returns it
}

// Places remembers from which networks accounts have logged in. Logins from a
// known place have limits of their own, so that failures from elsewhere, and
// failures of others at the same address, do not keep the account out.
//
// It is safe for concurrent use.
type Places struct {
	load func(ctx context.Context) ([]Place, error)
	now  func() time.Time

	loading sync.Mutex // held while the store is asked
	mu      sync.Mutex
	loaded  time.Time
	known   *simplelru.LRU[Place, struct{}]
	counts  map[string]int // places of an account
}

const (
	// maxPlaces bounds the memory of Places and what is loaded.
	maxPlaces = 50_000

	// placesAge is how long a login through another process may go unnoticed.
	placesAge = time.Minute
)

// NewPlaces returns an empty set that is filled by load when it is first asked,
// and again when it does not know a place and load was last called a minute ago.
func NewPlaces(load func(context.Context) ([]Place, error), now func() time.Time) *Places {
	p := &Places{load: load, now: now, counts: make(map[string]int)}
	p.known, _ = simplelru.NewLRU(maxPlaces, p.evicted) // fails only for a size below 1
	return p
}

// Has reports whether the account has logged in from the network of an address.
func (p *Places) Has(ctx context.Context, account, address string) (bool, error) {
	place := Place{account, Network(address)}
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

// Any reports whether any place of an account is known, as of the last call of
// Has.
func (p *Places) Any(account string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts[account] > 0
}

// Add remembers a place. It reports false if the place was known.
func (p *Places) Add(account, address string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.add(Place{account, Network(address)})
}

func (p *Places) stale() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.loaded.IsZero() || p.now().Sub(p.loaded) >= placesAge
}

func (p *Places) find(place Place) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.known.Get(place)
	return ok
}

func (p *Places) add(place Place) bool {
	if _, ok := p.known.Get(place); ok {
		return false
	}
	p.counts[place.Account]++
	p.known.Add(place, struct{}{})
	return true
}

// evicted counts a place that had to make room for another.
func (p *Places) evicted(place Place, _ struct{}) {
	if p.counts[place.Account]--; p.counts[place.Account] == 0 {
		delete(p.counts, place.Account)
	}
}

// Network returns the network that limits count an address as: an IPv4 address
// is one, and so is a /64 of IPv6, of which a site may choose any address.
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
