package evaluate

import "sync"

// VerdictCache keeps the verdicts of rules on one graph at one moment. It is safe for
// concurrent use; nil keeps nothing.
type VerdictCache struct {
	mu       sync.Mutex
	verdicts map[*query]*verdict
}

// get returns the verdict of a query, or nil.
func (c *VerdictCache) get(q *query) *verdict {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.verdicts[q]
}

// put keeps a verdict, which must not be changed afterwards.
func (c *VerdictCache) put(q *query, v *verdict) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.verdicts == nil {
		c.verdicts = map[*query]*verdict{}
	}
	c.verdicts[q] = v
}
