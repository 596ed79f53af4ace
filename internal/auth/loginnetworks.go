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
	n := &LoginNetworks{load: load, now: now, counts: make(map[string]int)}
	n.known, _ = simplelru.NewLRU(maxLoginNetworks, n.onEvict) // fails only for a size below 1
	return n
}

// Has reports whether the account has logged in from the network of an address.
func (n *LoginNetworks) Has(ctx context.Context, account, address string) (bool, error) {
	network := LoginNetwork{account, Network(address)}
	if n.find(network) || !n.isStale() {
		return n.find(network), nil
	}
	n.loading.Lock()
	defer n.loading.Unlock()
	if !n.isStale() { // another caller has loaded meanwhile
		return n.find(network), nil
	}
	all, err := n.load(ctx)
	if err != nil {
		return false, err
	}
	n.mu.Lock()
	n.loaded = n.now()
	for _, network := range all {
		n.add(network)
	}
	n.mu.Unlock()
	return n.find(network), nil
}

// Any reports whether any network of an account is known, as of the last call
// of Has.
func (n *LoginNetworks) Any(account string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.counts[account] > 0
}

// Add adds a network of an account. It returns false if it was known.
func (n *LoginNetworks) Add(account, address string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.add(LoginNetwork{account, Network(address)})
}

func (n *LoginNetworks) isStale() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.loaded.IsZero() || n.now().Sub(n.loaded) >= loginNetworksAge
}

func (n *LoginNetworks) find(network LoginNetwork) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	_, ok := n.known.Get(network)
	return ok
}

func (n *LoginNetworks) add(network LoginNetwork) bool {
	if _, ok := n.known.Get(network); ok {
		return false
	}
	n.counts[network.Account]++
	n.known.Add(network, struct{}{})
	return true
}

// onEvict decrements the count of an evicted entry's account.
func (n *LoginNetworks) onEvict(network LoginNetwork, _ struct{}) {
	n.counts[network.Account]--
	if n.counts[network.Account] == 0 {
		delete(n.counts, network.Account)
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
