package scan

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"vigil/graph"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/graphcache"
)

// An inventory stores collected entities in memory: properties and edges in a graph
// builder, the other fields in a map.
type inventory struct {
	each func(posture.Entity) error
	now  func() time.Time

	mu       sync.Mutex
	builder  *graph.Builder
	entities map[posture.EntityID]posture.Entity // without properties and edges
	scopes   []posture.Coverage
}

func newInventory(each func(posture.Entity) error, now func() time.Time) *inventory {
	return &inventory{each: each, now: now, builder: graph.NewBuilder(graph.Limits{}), entities: map[posture.EntityID]posture.Entity{}}
}

// Begin implements [collect.Recorder].
func (i *inventory) Begin(_ context.Context, s collect.Scoped) (collect.Recording, error) {
	return &recording{to: i, scope: s, regions: map[string]bool{}}, nil
}

// A recording adds the entities of one unit to the inventory immediately. Entities that
// were read before a failure stay, as in the server.
type recording struct {
	to      *inventory
	scope   collect.Scoped
	regions map[string]bool
}

// Put implements [collect.Recording].
func (r *recording) Put(_ context.Context, e posture.Entity) error {
	r.to.mu.Lock()
	defer r.to.mu.Unlock()
	if _, exists := r.to.entities[e.ID]; exists {
		return nil // clouds repeat items between pages
	}
	if err := r.to.builder.Add(graphcache.Record(&e)); err != nil {
		return err
	}
	r.regions[e.Region] = true
	if r.to.each != nil {
		if err := r.to.each(e); err != nil {
			return err
		}
	}
	e.Properties, e.Edges = nil, nil
	r.to.entities[e.ID] = e
	return nil
}

// Commit implements [collect.Recording].
func (r *recording) Commit(_ context.Context, complete bool) error {
	c := posture.Coverage{Type: r.scope.Type, Region: r.scope.Region, Regions: slices.Sorted(maps.Keys(r.regions)), Generation: 1}
	if complete {
		c.Succeeded = r.to.now()
	} else {
		c.Failed = r.to.now()
	}
	r.to.mu.Lock()
	defer r.to.mu.Unlock()
	r.to.scopes = append(r.to.scopes, c)
	return nil
}

// Discard implements [collect.Recording].
func (*recording) Discard() {}

// graph builds the graph of all recorded entities.
func (i *inventory) graph() (*graph.Graph, error) { return i.builder.Build() }

// coverage returns the coverage of each scope.
func (i *inventory) coverage() []posture.Coverage { return i.scopes }

// EntitiesOf implements [evaluate.Lookup].
func (i *inventory) EntitiesOf(_ context.Context, _ posture.OrgID, _ posture.AccountID, ids []posture.EntityID) (map[posture.EntityID]posture.Entity, error) {
	found := make(map[posture.EntityID]posture.Entity, len(ids))
	for _, id := range ids {
		if e, ok := i.entities[id]; ok {
			found[id] = e
		}
	}
	return found, nil
}
