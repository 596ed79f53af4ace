package collect

import (
	"context"
	"sync"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/resource"
)

// caller implements [resource.Caller] with a reader.
type caller struct{ *Reader }

// Call implements [resource.Caller].
func (c caller) Call(ctx context.Context, q resource.Request, item *resource.Item) (answers []gjson.Result, err error) {
	// The function may make the same call for other items, so the session of Azure caches the response.
	q.Shared = true
	// c.Answers caches the response only if several types make the call.
	several := c.Catalog.Shared(q.Call)
	err = c.pages(ctx, &q, item, several, func(answer gjson.Result) error {
		answers = append(answers, answer)
		return nil
	})
	return answers, err
}

// Items implements [resource.Caller].
func (c caller) Items(ctx context.Context, t posture.EntityType) (all []resource.Item, err error) {
	err = c.Each(ctx, t, func(item *resource.Item) error {
		all = append(all, *item)
		return nil
	})
	return all, err
}

// Each implements [resource.Caller].
func (c caller) Each(ctx context.Context, t posture.EntityType, visit func(*resource.Item) error) error {
	var mu sync.Mutex
	return c.stages(ctx, []resource.Stage{{From: t}}, nil, func(_ context.Context, items []resource.Item) error {
		mu.Lock()
		defer mu.Unlock()
		for i := range items {
			if err := visit(&items[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// One implements [resource.Caller].
func (c caller) One(ctx context.Context, t posture.EntityType, name string) (*resource.Item, error) {
	return c.itemNamed(ctx, c.Catalog.Type(t), name)
}

// Answer implements [resource.Caller].
func (c caller) Answer(ctx context.Context, function string) (gjson.Result, error) {
	entry, err := c.read(ctx, &resource.Call{Function: function}, nil)
	if err != nil {
		return gjson.Result{}, err
	}
	return entry.result(), nil
}

// Vars implements [resource.Caller].
func (c caller) Vars() resource.Vars { return c.Context.Vars }

// Once implements [resource.Caller].
func (c caller) Once(key string, read func() (any, error)) (any, error) {
	return c.cache.do(key, read)
}

// callCache caches what functions read for all items of a list.
type callCache struct {
	mu  sync.Mutex
	all map[string]*outcome
}

type outcome struct {
	once  sync.Once
	value any
	err   error
}

func (o *callCache) do(key string, read func() (any, error)) (any, error) {
	o.mu.Lock()
	if o.all == nil {
		o.all = map[string]*outcome{}
	}
	cached, ok := o.all[key]
	if !ok {
		cached = new(outcome)
		o.all[key] = cached
	}
	o.mu.Unlock()
	cached.once.Do(func() { cached.value, cached.err = read() })
	return cached.value, cached.err
}
