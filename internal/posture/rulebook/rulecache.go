package rulebook

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"vigil/internal/posture"
)

// A ruleCache keeps the rules of organisations at their last known generation. Each
// organisation has more than a thousand, and every judgement needs them.
type ruleCache struct {
	mu    sync.Mutex
	known *simplelru.LRU[posture.OrgID, rulesAt] // nil before the first one
}

// rulesAt are the rules of an organisation at a generation. They must not be changed.
type rulesAt struct {
	rules      []posture.Rule
	generation int64
}

// organisationsKept is how many organisations the cache holds, of about a megabyte each.
const organisationsKept = 64

// get returns the rules of an organisation at a generation.
func (c *ruleCache) get(org posture.OrgID, generation int64) ([]posture.Rule, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		return nil, false
	}
	at, ok := c.known.Get(cacheKey(org, generation))
	return at.rules, ok && at.generation == generation
}

// cacheKey returns the key of an organisation's rules. All organisations that never
// changed a rule share one entry.
func cacheKey(org posture.OrgID, generation int64) posture.OrgID {
	if generation == 0 {
		return ""
	}
	return org
}

// put keeps rules, unless later ones are kept.
func (c *ruleCache) put(org posture.OrgID, loaded rulesAt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known, _ = simplelru.NewLRU[posture.OrgID, rulesAt](organisationsKept, nil) // fails for sizes below 1 only
	}
	key := cacheKey(org, loaded.generation)
	if last, ok := c.known.Get(key); !ok || last.generation < loaded.generation {
		c.known.Add(key, loaded)
	}
}

// Rules returns all rules of an organisation, sorted by id. The caller must not change
// them.
func (b *Book) Rules(ctx context.Context, org posture.OrgID) ([]posture.Rule, error) {
	rules, _, err := b.RulesAt(ctx, org)
	return rules, err
}

// RulesAt returns all rules of an organisation, sorted by id, and their generation. The
// caller must not change them.
func (b *Book) RulesAt(ctx context.Context, org posture.OrgID) ([]posture.Rule, int64, error) {
	generation, err := b.Store.RuleGeneration(ctx, org)
	if err != nil {
		return nil, 0, err
	}
	if rules, ok := b.cache.get(org, generation); ok {
		return rules, generation, nil
	}
	changed, generation, err := b.Store.Rules(ctx, org)
	if err != nil {
		return nil, 0, err
	}
	rules := make([]posture.Rule, 0, len(b.Catalog.Rules)+len(changed))
	for _, native := range b.Catalog.Rules {
		r := native.Rule
		if c, ok := changed[r.ID]; ok {
			r = overridden(native, c)
		}
		rules = append(rules, r)
	}
	for _, r := range changed {
		if r.Source == posture.Custom {
			rules = append(rules, r.Bind())
		}
	}
	slices.SortFunc(rules, func(a, b posture.Rule) int { return strings.Compare(string(a.ID), string(b.ID)) })
	b.cache.put(org, rulesAt{rules, generation})
	return rules, generation, nil
}
