package gremlin

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// A Cache is an LRU cache of compiled queries by text. It is safe for concurrent
// use. The zero Cache holds up to [DefaultCacheSize] plans.
type Cache struct {
	// Size is the maximum number of plans. It must not be changed after first use.
	Size int

	mu      sync.Mutex
	plans   *simplelru.LRU[cacheKey, *Plan] // nil before the first use
	hits    int64
	lookups int64
}

// DefaultCacheSize is the maximum number of plans in the zero Cache.
const DefaultCacheSize = 1000

// cacheKey is what a plan depends on: a text that one budget allows may be too long for another.
type cacheKey struct {
	text                                  string
	length, steps, depth, literals, regex int
}

// Compile is [Compile] with caching. Errors are not cached.
func (c *Cache) Compile(text string, opts CompileOptions) (*Plan, error) {
	b := opts.Budget.orDefaults()
	key := cacheKey{text, b.Length, b.Steps, b.Depth, b.Literals, b.Regex}
	if p := c.find(key); p != nil {
		return p, nil
	}
	p, err := Compile(text, opts)
	if err != nil {
		return nil, err
	}
	c.keep(key, p)
	return p, nil
}

func (c *Cache) find(key cacheKey) *Plan {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lookups++
	if c.plans == nil {
		return nil
	}
	p, ok := c.plans.Get(key)
	if ok {
		c.hits++
	}
	return p
}

func (c *Cache) keep(key cacheKey, p *Plan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.plans == nil {
		size := c.Size
		if size <= 0 {
			size = DefaultCacheSize
		}
		c.plans, _ = simplelru.NewLRU[cacheKey, *Plan](size, nil) // fails only for sizes below 1
	}
	c.plans.Add(key, p)
}

// Stats returns the number of cached plans, of lookups and of hits.
func (c *Cache) Stats() (plans int, lookups, hits int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.plans == nil {
		return 0, c.lookups, c.hits
	}
	return c.plans.Len(), c.lookups, c.hits
}
