package stream

import (
	"context"
	"maps"
	"slices"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/stream/azure"
	"vigil/internal/posture/stream/gcp"
)

// maxNeighbours bounds how many neighbours one batch adds.
const maxNeighbours = 200

// candidateIDs returns the ids that the entity of a target may have had.
func (r *Reader) candidateIDs(p posture.Provider, account posture.AccountID, region string, t posture.Target) []posture.EntityID {
	switch p {
	case posture.Azure:
		return azure.IDs(r.index[p], account, t)
	case posture.GCP:
		return gcp.IDs(account, t)
	}
	return []posture.EntityID{t.Type.ID(account, region, t.Name), t.Type.ID(account, posture.Global, t.Name)}
}

// A neighbour is the target of edges that were added or removed.
type neighbour struct {
	id    posture.EntityID
	types []posture.EntityType // the types that the declarations of the edges permit
	// Both are true if the neighbour moved from one resource of the batch to another.
	added, removed bool
}

// changedNeighbours returns the neighbours to read because an edge was added or
// removed: those that the store does not have, and those that were part of a changed
// resource and may have been deleted with it. It does not follow the neighbours of
// neighbours.
func (r *Reader) changedNeighbours(ctx context.Context, access posture.Access, reads []read, before map[posture.EntityID]posture.Entity) ([]posture.Target, error) {
	changed := map[posture.EntityID]neighbour{}
	fresh := map[posture.EntityID]bool{}
	for _, entry := range reads {
		for _, e := range entry.found {
			fresh[e.ID] = true
		}
		if entry.Depth > 0 || entry.err != nil {
			continue
		}
		d, _ := r.index[access.Account.Provider].Type(entry.Type)
		for _, e := range entry.found {
			compareEdges(d, before[e.ID].Edges, e.Edges, changed)
		}
		for _, id := range entry.removed {
			compareEdges(d, before[id].Edges, nil, changed)
		}
	}
	for id := range fresh {
		delete(changed, id)
	}
	if len(changed) == 0 {
		return nil, nil
	}
	known, err := r.Entities.EntitiesOf(ctx, access.Org, access.Account.ID, slices.Sorted(maps.Keys(changed)))
	if err != nil {
		return nil, err
	}
	var targets []posture.Target
	for _, id := range slices.Sorted(maps.Keys(changed)) {
		e, stored := known[id]
		// An added edge alone leaves a stored neighbour as it is, and a removed edge alone a missing one.
		if stored && !changed[id].removed || !stored && !changed[id].added {
			continue
		}
		if t, ok := changed[id].target(access.Account, e); ok && len(targets) < maxNeighbours && !slices.Contains(targets, t) {
			targets = append(targets, t)
		}
	}
	return targets, nil
}

// compareEdges adds the targets of added and removed edges to changed. Of the removed
// edges only those to parts of the entity (HAS) count.
func compareEdges(d collect.Declaration, before, after []posture.Edge, changed map[posture.EntityID]neighbour) {
	add := func(e posture.Edge, added bool) {
		for _, declared := range d.Edges {
			if declared.Label == e.Label {
				n := changed[e.To] // other resources of the batch may have changed edges to it
				changed[e.To] = neighbour{e.To, append(n.types, declared.To...), n.added || added, n.removed || !added}
			}
		}
	}
	containsEdge := func(list []posture.Edge, e posture.Edge) bool {
		return slices.ContainsFunc(list, func(o posture.Edge) bool { return o.Label == e.Label && o.To == e.To })
	}
	for _, e := range before {
		if (e.Label == "HAS" || strings.HasPrefix(e.Label, "HAS_")) && !containsEdge(after, e) {
			add(e, false)
		}
	}
	for _, e := range after {
		if !containsEdge(before, e) {
			add(e, true)
		}
	}
}

// target returns the target that reads the neighbour. Azure needs the resource id,
// which only stored entities have: without it, the name is empty, and all resources of
// the type are read.
func (n neighbour) target(a posture.Account, stored posture.Entity) (posture.Target, bool) {
	for _, t := range n.types {
		region, name, ok := splitID(t, a.ID, n.id)
		if !ok {
			continue
		}
		target := posture.Target{Type: t, Region: region, Name: name}
		if a.Provider == posture.Azure {
			target.Region, target.Name = posture.Global, stored.XID
		}
		return target, true
	}
	return posture.Target{}, false
}

// splitID returns the region and name that the id of an entity of a type contains.
func splitID(t posture.EntityType, account posture.AccountID, id posture.EntityID) (region, name string, ok bool) {
	part := strings.SplitN(string(t), ".", 3)
	if len(part) != 3 {
		return "", "", false
	}
	rest, ok := strings.CutPrefix(string(id), part[0]+"."+part[1]+"."+string(account)+".")
	if !ok {
		return "", "", false
	}
	region, name, ok = strings.Cut(rest, "."+part[2]+".")
	return region, name, ok && region != "" && name != ""
}
