package graphcache

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"

	"vigil/graph"
	"vigil/internal/posture"
)

// load returns the current graph: by patching the cached one, by patching the one of
// the snapshot, or by building it from all entities.
func (g *Graphs) load(ctx context.Context, ref posture.AccountRef, cached Graph) (Graph, error) {
	if cached.Graph != nil {
		if current, _, ok, err := g.patch(ctx, ref, cached); ok || err != nil {
			return current, err
		}
	}
	saved := g.fromSnapshot(ctx, ref)
	if saved.Graph != nil {
		current, changed, ok, err := g.patch(ctx, ref, saved)
		if err != nil {
			return current, err
		}
		if ok {
			if changed > savedAfter(current) {
				g.save(ctx, ref, current)
			}
			return current, nil
		}
	}
	built, err := g.build(ctx, ref)
	if err == nil && built.NumVertices() > 0 {
		g.save(ctx, ref, built)
	}
	return built, err
}

// savedAfter returns the number of changes since a snapshot after which a new one is
// saved.
func savedAfter(g Graph) int { return 500 + g.NumVertices()/10 }

// patch applies the changes since the generation of a graph. It returns false if the
// change log does not reach back that far.
func (g *Graphs) patch(ctx context.Context, ref posture.AccountRef, old Graph) (current Graph, changed int, ok bool, err error) {
	changes, ok, err := g.store.ChangesSince(ctx, ref.Org, ref.Account, old.Generation)
	if err != nil || !ok {
		return Graph{}, 0, false, err
	}
	list := make([]graph.Change, 0, len(changes.Changed)+len(changes.Gone))
	for _, id := range changes.Gone {
		list = append(list, graph.Change{Record: graph.Record{ID: graph.String(string(id))}, Remove: true})
	}
	for i := range changes.Changed {
		list = append(list, graph.Change{Record: Record(&changes.Changed[i])})
	}
	if len(list) == 0 {
		return Graph{old.Graph, changes.Generation}, 0, true, nil
	}
	patched, err := old.Patch(list)
	if err != nil {
		return Graph{}, 0, false, fmt.Errorf("bring the graph of %s up to date: %w", ref.Account, err)
	}
	return Graph{patched, changes.Generation}, len(list), true, nil
}

// build builds a graph from all entities.
func (g *Graphs) build(ctx context.Context, ref posture.AccountRef) (Graph, error) {
	b := graph.NewBuilder(graph.Limits{})
	generation, err := g.store.EachEntity(ctx, ref.Org, ref.Account, func(e posture.Entity) error { return b.Add(Record(&e)) })
	if err != nil {
		return Graph{}, fmt.Errorf("build the graph of %s: %w", ref.Account, err)
	}
	built, err := b.Build()
	if err != nil {
		return Graph{}, fmt.Errorf("build the graph of %s: %w", ref.Account, err)
	}
	return Graph{built, generation}, nil
}

// fromSnapshot returns the graph of the snapshot. An unreadable snapshot is treated as
// missing.
func (g *Graphs) fromSnapshot(ctx context.Context, ref posture.AccountRef) Graph {
	s, err := g.store.Snapshot(ctx, ref.Org, ref.Account)
	if err != nil || s.Generation == 0 {
		return Graph{}
	}
	read, err := Unpack(s.Data)
	if err != nil {
		g.log.WarnContext(ctx, "snapshot not readable", "account", ref.Account, "generation", s.Generation, "error", err)
		return Graph{}
	}
	return Graph{read, s.Generation}
}

// save saves a snapshot for the next load. It only logs errors, because the snapshot is
// a cache.
func (g *Graphs) save(ctx context.Context, ref posture.AccountRef, current Graph) {
	data, err := Pack(current.Graph)
	if err == nil {
		err = g.store.SaveSnapshot(ctx, ref.Org, ref.Account, posture.Snapshot{Generation: current.Generation, Data: data})
	}
	if err != nil && ctx.Err() == nil {
		g.log.WarnContext(ctx, "snapshot not saved", "account", ref.Account, "generation", current.Generation, "error", err)
	}
}

// maxSnapshot limits the size of a decompressed snapshot.
const maxSnapshot = 4 << 30

var packer = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
})

var unpacker = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxSnapshot))
})

// Pack encodes a graph as a compressed snapshot.
func Pack(g *graph.Graph) ([]byte, error) {
	w, err := packer()
	if err != nil {
		return nil, err
	}
	var encoded bytes.Buffer
	if _, err := g.WriteTo(&encoded); err != nil {
		return nil, err
	}
	return w.EncodeAll(encoded.Bytes(), make([]byte, 0, encoded.Len()/4)), nil
}

// Unpack decodes a snapshot of Pack.
func Unpack(data []byte) (*graph.Graph, error) {
	r, err := unpacker()
	if err != nil {
		return nil, err
	}
	decoded, err := r.DecodeAll(data, nil)
	if err != nil {
		return nil, fmt.Errorf("unpack snapshot: %w", err)
	}
	return graph.Decode(decoded)
}
