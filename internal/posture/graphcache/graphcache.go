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
	loading map[posture.AccountRef]*loadLock // accounts whose graph is being loaded
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

// A loadLock is a per-account lock: one caller at a time loads the graph.
type loadLock struct {
	held  chan struct{} // of capacity 1; full while a caller holds the lock
	users int           // callers that hold the lock or wait for it
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
		entries: map[posture.AccountRef]*list.Element{}, order: list.New(), loading: map[posture.AccountRef]*loadLock{},
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
	if found, ok := g.get(ref); ok && found.Generation >= generation {
		return found, nil
	}
	release, err := g.lockLoad(ctx, ref)
	if err != nil {
		return Graph{}, err
	}
	defer release()
	cached, ok := g.get(ref)
	if ok && cached.Generation >= generation { // another caller has loaded it
		return cached, nil
	}
	select {
	case g.loads <- struct{}{}:
		defer func() { <-g.loads }()
	case <-ctx.Done():
		return Graph{}, ctx.Err()
	}
	loaded, err := g.load(ctx, ref, cached)
	if err != nil {
		return Graph{}, err
	}
	g.put(ref, loaded)
	return loaded, nil
}

// Bytes returns the memory of the cached graphs.
func (g *Graphs) Bytes() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.bytes
}

// get returns the cached graph of an account.
func (g *Graphs) get(ref posture.AccountRef) (Graph, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	element, ok := g.entries[ref]
	if !ok {
		return Graph{}, false
	}
	g.order.MoveToFront(element)
	entry := element.Value.(*cacheEntry)
	// Queries add indexes to the graph, which count too. Measuring the size at each use
	// took 5 % of the server's CPU time under a stream of changes.
	entry.uses++
	if entry.uses%weighEvery == 0 {
		now := entry.graph.Bytes()
		g.bytes += now - entry.bytes
		entry.bytes = now
		g.evict(entry)
	}
	return entry.graph, true
}

// put puts a graph into the cache, replacing an older one.
func (g *Graphs) put(ref posture.AccountRef, found Graph) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if element, ok := g.entries[ref]; ok {
		if element.Value.(*cacheEntry).graph.Generation >= found.Generation {
			return
		}
		g.drop(element)
	}
	entry := &cacheEntry{ref: ref, graph: found, bytes: found.Bytes()}
	if entry.bytes > g.limit {
		return
	}
	g.entries[ref] = g.order.PushFront(entry)
	g.bytes += entry.bytes
	g.evict(entry)
}

// evict drops the least recently used graphs until the cache is within its limit. The
// parameter except is the entry that it keeps.
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
	entry := element.Value.(*cacheEntry)
	g.order.Remove(element)
	delete(g.entries, entry.ref)
	g.bytes -= entry.bytes
}

// forget drops the graph of a removed account.
func (g *Graphs) forget(ref posture.AccountRef) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if element, ok := g.entries[ref]; ok {
		g.drop(element)
	}
}

// lockLoad locks the loading of an account's graph.
func (g *Graphs) lockLoad(ctx context.Context, ref posture.AccountRef) (release func(), err error) {
	g.mu.Lock()
	l := g.loading[ref]
	if l == nil {
		l = &loadLock{held: make(chan struct{}, 1)}
		g.loading[ref] = l
	}
	l.users++
	g.mu.Unlock()

	leave := func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		l.users--
		if l.users == 0 {
			delete(g.loading, ref)
		}
	}
	select {
	case l.held <- struct{}{}:
		return func() { <-l.held; leave() }, nil
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
