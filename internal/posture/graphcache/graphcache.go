// Package graphcache is an in-memory LRU cache of account graphs.
//
// A graph is loaded from the snapshot that is stored with the entities, patched with
// the changes since, and cached while there is room. Callers always get the graph of
// the last commit.
package graphcache

import (
	"container/list"
	"context"
	"log/slog"
	"sync"

	"vigil/graph"
	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/processors"
)

// Options configure a cache.
type Options struct {
	Bytes int64        // memory limit of cached graphs; 256 MiB if zero
	Log   *slog.Logger // discarded if nil

	// Check returns the error for a caller who may not see an account; may be nil.
	Check func(ctx context.Context, account posture.AccountID) error
}

// Graphs is a cache of account graphs. Its methods are safe for concurrent use.
type Graphs struct {
	store posture.PartitionStore
	check func(context.Context, posture.AccountID) error
	limit int64
	log   *slog.Logger
	loads chan struct{} // semaphore of concurrent loads

	mu      sync.Mutex
	entries map[posture.AccountRef]*list.Element
	order   *list.List // of *cacheEntry, the most recently used first
	bytes   int64
	turns   map[posture.AccountRef]*turn // accounts whose graph is being loaded
}

// A Graph is the graph of an account at one generation.
type Graph struct {
	*graph.Graph
	Generation int64
}

// A cacheEntry is a cached graph with its size.
type cacheEntry struct {
	ref   posture.AccountRef
	graph Graph
	bytes int64
	uses  int // since it was cached; see weighEvery
}

// weighEvery is the number of uses after which the size of a graph is measured again.
const weighEvery = 16

// A turn is a per-account lock: one caller at a time loads the graph.
type turn struct {
	free    chan struct{}
	waiting int
}

// New returns an empty cache over a store.
func New(store posture.PartitionStore, o Options) *Graphs {
	if o.Bytes == 0 {
		o.Bytes = 256 << 20
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Check == nil {
		o.Check = func(context.Context, posture.AccountID) error { return nil }
	}
	return &Graphs{
		store: store, check: o.Check, limit: o.Bytes, log: o.Log, loads: make(chan struct{}, max(2, processors.Count())),
		entries: map[posture.AccountRef]*list.Element{}, order: list.New(), turns: map[posture.AccountRef]*turn{},
	}
}

// Graph returns the current graph of an account. It fails with fault.NotFound if the
// account does not exist.
func (g *Graphs) Graph(ctx context.Context, org posture.OrgID, account posture.AccountID) (Graph, error) {
	if err := g.check(ctx, account); err != nil {
		return Graph{}, err
	}
	ref := posture.AccountRef{Org: org, Account: account}
	generation, err := g.store.Generation(ctx, org, account)
	if fault.Is(err, fault.NotFound) {
		g.forget(ref)
	}
	if err != nil {
		return Graph{}, err
	}
	if found, ok := g.take(ref); ok && found.Generation >= generation {
		return found, nil
	}
	release, err := g.enter(ctx, ref)
	if err != nil {
		return Graph{}, err
	}
	defer release()
	found, ok := g.take(ref)
	if ok && found.Generation >= generation { // another caller has loaded it
		return found, nil
	}
	select {
	case g.loads <- struct{}{}:
		defer func() { <-g.loads }()
	case <-ctx.Done():
		return Graph{}, ctx.Err()
	}
	if found, err = g.load(ctx, ref, found); err != nil {
		return Graph{}, err
	}
	g.keep(ref, found)
	return found, nil
}

// Bytes returns the memory of the cached graphs.
func (g *Graphs) Bytes() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.bytes
}

// take returns the cached graph of an account.
func (g *Graphs) take(ref posture.AccountRef) (Graph, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	element, ok := g.entries[ref]
	if !ok {
		return Graph{}, false
	}
	g.order.MoveToFront(element)
	h := element.Value.(*cacheEntry)
	// Queries add indexes to the graph, which count too. Measuring the size at each use
	// took 5 % of the server's CPU time under a stream of changes.
	h.uses++
	if h.uses%weighEvery == 0 {
		now := h.graph.Bytes()
		g.bytes += now - h.bytes
		h.bytes = now
		g.evict(h)
	}
	return h.graph, true
}

// keep puts a graph into the cache, replacing an older one.
func (g *Graphs) keep(ref posture.AccountRef, found Graph) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if element, ok := g.entries[ref]; ok {
		if element.Value.(*cacheEntry).graph.Generation >= found.Generation {
			return
		}
		g.drop(element)
	}
	h := &cacheEntry{ref: ref, graph: found, bytes: found.Bytes()}
	if h.bytes > g.limit {
		return
	}
	g.entries[ref] = g.order.PushFront(h)
	g.bytes += h.bytes
	g.evict(h)
}

// evict drops the least recently used graphs until the cache is within its limit.
func (g *Graphs) evict(except *cacheEntry) {
	for element := g.order.Back(); element != nil && g.bytes > g.limit; {
		before := element.Prev()
		if element.Value.(*cacheEntry) != except {
			g.drop(element)
		}
		element = before
	}
}

func (g *Graphs) drop(element *list.Element) {
	h := element.Value.(*cacheEntry)
	g.order.Remove(element)
	delete(g.entries, h.ref)
	g.bytes -= h.bytes
}

// forget drops the graph of a removed account.
func (g *Graphs) forget(ref posture.AccountRef) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if element, ok := g.entries[ref]; ok {
		g.drop(element)
	}
}

// enter locks the loading of an account's graph.
func (g *Graphs) enter(ctx context.Context, ref posture.AccountRef) (release func(), err error) {
	g.mu.Lock()
	t := g.turns[ref]
	if t == nil {
		t = &turn{free: make(chan struct{}, 1)}
		g.turns[ref] = t
	}
	t.waiting++
	g.mu.Unlock()

	leave := func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		t.waiting--
		if t.waiting == 0 {
			delete(g.turns, ref)
		}
	}
	select {
	case t.free <- struct{}{}:
		return func() { <-t.free; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}

// Generation returns the current generation of an account, or fault.NotFound if it does
// not exist.
func (g *Graphs) Generation(ctx context.Context, org posture.OrgID, account posture.AccountID) (int64, error) {
	if err := g.check(ctx, account); err != nil {
		return 0, err
	}
	return g.store.Generation(ctx, org, account)
}
