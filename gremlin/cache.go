package gremlin

import (
	"container/list"
	"sync"
)

// A Cache keeps compiled queries by their text, the ones used last if there are
// too many. It is safe for concurrent use. The zero Cache keeps
// [DefaultCacheSize] plans.
type Cache struct {
	// Size is how many plans are kept at most. It must not be changed once the
	// cache is in use.
	Size int

	mu      sync.Mutex
	byText  map[cacheKey]*list.Element
	recent  list.List // of *cached, the one used last in front
	hits    int64
	lookups int64
}

// DefaultCacheSize is the number of plans that the zero Cache keeps.
const DefaultCacheSize = 1000

// cacheKey is what a plan depends on: a text that one budget allows may be too
// long for another.
type cacheKey struct {
	text                                  string
	length, steps, depth, literals, regex int
}

type cached struct {
	key  cacheKey
	plan *Plan
}

// Compile is [Compile] for texts that come again. Errors are not kept.
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
	e := c.byText[key]
	if e == nil {
		return nil
	}
	c.hits++
	c.recent.MoveToFront(e)
	return e.Value.(*cached).plan
}

func (c *Cache) keep(key cacheKey, p *Plan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byText == nil {
		c.byText = map[cacheKey]*list.Element{}
	}
	if c.byText[key] != nil {
		return // somebody else was quicker
	}
	c.byText[key] = c.recent.PushFront(&cached{key, p})
	size := c.Size
	if size <= 0 {
		size = DefaultCacheSize
	}
	for c.recent.Len() > size {
		last := c.recent.Back()
		delete(c.byText, last.Value.(*cached).key)
		c.recent.Remove(last)
	}
}

// Stats returns how many plans are kept, how often one was asked for and how
// often it was there.
func (c *Cache) Stats() (plans int, lookups, hits int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.recent.Len(), c.lookups, c.hits
}
