package auth

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"vigil/internal/subnet"
)

// A LoginNetwork is a network from which an account has logged in.
type LoginNetwork struct {
	Account string
	Network string // as returned by [subnet.Of]
}

// LoginNetworks caches the networks from which accounts have logged in. Logins from
// such a network have separate rate limits, so that failures from elsewhere, or
// of others at the same address, do not lock the account out.
//
// It is safe for concurrent use.
type LoginNetworks struct {
	load func(ctx context.Context) ([]LoginNetwork, error) // newest first
	now  func() time.Time

	loading sync.Mutex // held while load runs
	mu      sync.Mutex
	loaded  time.Time
	known   *simplelru.LRU[LoginNetwork, struct{}]
	counts  map[string]int // number of networks per account
}

const (
	// MaxLoginNetworks is the maximum size of the cache, and so of what load returns.
	MaxLoginNetworks = 50_000

	// loginNetworksAge is the longest time until a login through another process is seen.
	loginNetworksAge = time.Minute
)

// NewLoginNetworks returns an empty cache. It calls load, which returns the newest
// networks first, at the first lookup, and again when a lookup misses and the last load
// is older than a minute.
func NewLoginNetworks(load func(context.Context) ([]LoginNetwork, error), now func() time.Time) *LoginNetworks {
	n := &LoginNetworks{load: load, now: now, counts: make(map[string]int)}
	n.known, _ = simplelru.NewLRU(MaxLoginNetworks, n.onEvict) // fails only for a size below 1
	return n
}

// Has reports whether the account has logged in from the network of an address.
func (n *LoginNetworks) Has(ctx context.Context, account, address string) (bool, error) {
	network := LoginNetwork{account, subnet.Of(address)}
	if n.find(network) {
		return true, nil
	}
	if err := n.loadIfStale(ctx); err != nil {
		return false, err
	}
	return n.find(network), nil // another caller may have loaded meanwhile
}

// loadIfStale adds the networks that load returns, unless the last load is recent enough.
func (n *LoginNetworks) loadIfStale(ctx context.Context) error {
	if !n.isStale() {
		return nil
	}
	n.loading.Lock()
	defer n.loading.Unlock()
	if !n.isStale() { // another caller has loaded meanwhile
		return nil
	}
	newestFirst, err := n.load(ctx)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.loaded = n.now()
	// The cache evicts the network that was added first. Therefore add the oldest network first.
	for _, network := range slices.Backward(newestFirst) {
		n.add(network)
	}
	return nil
}

// Any reports whether the cache has a network of an account. Unlike Has, it never
// calls load.
func (n *LoginNetworks) Any(account string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.counts[account] > 0
}

// Add adds a network of an account. It returns false if the network was known.
func (n *LoginNetworks) Add(account, address string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.add(LoginNetwork{account, subnet.Of(address)})
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
