package evaluate

import (
	"sync"

	"vigil/gremlin"
	"vigil/internal/posture"
)

// VerdictCache keeps the verdicts of rules on one graph at one moment, and what their
// queries found. It is safe for concurrent use; nil keeps nothing.
type VerdictCache struct {
	mu       sync.Mutex
	verdicts map[posture.RuleQuery]verdict
	answers  map[posture.RuleQuery]*gremlin.Verdict // of queries and of their parts
}

func (c *VerdictCache) verdict(q posture.RuleQuery) (verdict, bool) {
	if c == nil {
		return verdict{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.verdicts[q]
	return v, ok
}

func (c *VerdictCache) putVerdict(q posture.RuleQuery, v verdict) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.verdicts == nil {
		c.verdicts = map[posture.RuleQuery]verdict{}
	}
	c.verdicts[q] = v
}

// found returns what a query found, or nil if that is not kept.
func (c *VerdictCache) found(q posture.RuleQuery) *gremlin.Verdict {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answers[q]
}

func (c *VerdictCache) putFound(q posture.RuleQuery, v *gremlin.Verdict) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answers == nil {
		c.answers = map[posture.RuleQuery]*gremlin.Verdict{}
	}
	c.answers[q] = v
}

// keep takes over the verdict of a rule that a change of the graph does not affect.
func (c *VerdictCache) keep(from *VerdictCache, q *query) {
	if v, ok := from.verdict(q.key); ok {
		c.putVerdict(q.key, v)
	}
	for _, part := range []*query{q, q.about, q.perhaps} {
		if part == nil {
			continue
		}
		if v := from.found(part.key); v != nil {
			c.putFound(part.key, v)
		}
	}
}
