// Package graphcache keeps the graphs of accounts at hand.
//
// A graph is loaded from the snapshot that is kept beside the entities, brought
// up to date with what changed since, and kept in memory as long as there is
// room. Whoever asks for a graph gets it as of the last commit.
package graphcache

import (
	"container/list"
	"context"
	"log/slog"
	"sync"

	"vigil/graph"
	"vigil/internal/posture"
	"vigil/internal/processors"
)

// Options tune a cache of graphs.
type Options struct {
	Bytes int64        // memory for graphs that nobody uses right now; 256 MiB when zero
	Log   *slog.Logger // discarded when nil
}

// Graphs gives out the graphs of accounts. Its methods are safe for concurrent
// use.
type Graphs struct {
	store posture.PartitionStore
	limit int64
	log   *slog.Logger
	loads chan struct{} // one for each graph that may be loaded at a time

	mu    sync.Mutex
	kept  map[posture.AccountRef]*list.Element
	order *list.List // of *held, the last used first
	bytes int64
	turns map[posture.AccountRef]*turn
}

// A Graph is the graph of an account at one generation.
type Graph struct {
	*graph.Graph
	Generation int64
}

// A held is a graph in the cache.
type held struct {
	ref   posture.AccountRef
	graph Graph
	bytes int64
	taken int // how often
}

// weighEvery is how often a graph is taken before it is weighed again.
const weighEvery = 16

// A turn lets one caller at a time load a graph.
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
	return &Graphs{
		store: store, limit: o.Bytes, log: o.Log, loads: make(chan struct{}, max(2, processors.Count())),
		kept: map[posture.AccountRef]*list.Element{}, order: list.New(), turns: map[posture.AccountRef]*turn{},
	}
}

// Graph returns the graph of an account as it is now. It fails with
// fault.NotFound without the account.
func (g *Graphs) Graph(ctx context.Context, org posture.OrgID, account posture.AccountID) (Graph, error) {
	ref := posture.AccountRef{Org: org, Account: account}
	generation, err := g.store.Generation(ctx, org, account)
	if err != nil {
		g.forget(ref)
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
	if ok && found.Generation >= generation { // somebody else has just loaded it
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

// Bytes returns the memory of the graphs that are kept.
func (g *Graphs) Bytes() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.bytes
}

// take returns the graph that is kept of an account.
func (g *Graphs) take(ref posture.AccountRef) (Graph, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at, ok := g.kept[ref]
	if !ok {
		return Graph{}, false
	}
	g.order.MoveToFront(at)
	h := at.Value.(*held)
	// Queries make indexes, which count too. To weigh the graph each time took a
	// twentieth of the server's processor in a stream of changes.
	if h.taken++; h.taken%weighEvery == 0 {
		now := h.graph.Bytes()
		g.bytes += now - h.bytes
		h.bytes = now
		g.evict(h)
	}
	return h.graph, true
}

// keep puts a graph into the cache. It replaces the one before.
func (g *Graphs) keep(ref posture.AccountRef, found Graph) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if at, ok := g.kept[ref]; ok {
		if at.Value.(*held).graph.Generation >= found.Generation {
			return
		}
		g.drop(at)
	}
	h := &held{ref: ref, graph: found, bytes: found.Bytes()}
	if h.bytes > g.limit {
		return
	}
	g.kept[ref] = g.order.PushFront(h)
	g.bytes += h.bytes
	g.evict(h)
}

// evict makes room by dropping what was not used for the longest time.
func (g *Graphs) evict(except *held) {
	for at := g.order.Back(); at != nil && g.bytes > g.limit; {
		before := at.Prev()
		if at.Value.(*held) != except {
			g.drop(at)
		}
		at = before
	}
}

func (g *Graphs) drop(at *list.Element) {
	h := at.Value.(*held)
	g.order.Remove(at)
	delete(g.kept, h.ref)
	g.bytes -= h.bytes
}

// forget drops the graph of an account that is gone.
func (g *Graphs) forget(ref posture.AccountRef) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if at, ok := g.kept[ref]; ok {
		g.drop(at)
	}
}

// enter waits until nobody else loads the graph of an account.
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
		if t.waiting--; t.waiting == 0 {
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

// Generation returns the current generation of an account, or fault.NotFound
// without the account.
func (g *Graphs) Generation(ctx context.Context, org posture.OrgID, account posture.AccountID) (int64, error) {
	return g.store.Generation(ctx, org, account)
}
