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

// maxSpread bounds how many neighbours one batch adds.
const maxSpread = 200

// candidates returns the ids that the entity of a target may have had.
func (r *Reader) candidates(p posture.Provider, account posture.AccountID, region string, t posture.Target) []posture.EntityID {
	switch p {
	case posture.Azure:
		return azure.IDs(r.index[p], account, t)
	case posture.GCP:
		return gcp.IDs(account, t)
	}
	return []posture.EntityID{t.Type.ID(account, region, t.Name), t.Type.ID(account, posture.Global, t.Name)}
}

// An end is the other end of an edge that came or went.
type end struct {
	id    posture.EntityID
	types []posture.EntityType // that it may be of
	came  bool
}

// spread returns the neighbours that are to be read because an edge came or went:
// those that are new to us, and those that were part of what changed and may be
// gone with it. Neighbours of neighbours are not looked at.
func (r *Reader) spread(ctx context.Context, access posture.Access, looks []look, before map[posture.EntityID]posture.Entity) ([]posture.Target, error) {
	ends := map[posture.EntityID]end{}
	read := map[posture.EntityID]bool{}
	for _, l := range looks {
		for _, e := range l.found {
			read[e.ID] = true
		}
		if l.Depth > 0 || l.err != nil {
			continue
		}
		d, _ := r.index[access.Account.Provider].Type(l.Type)
		for _, e := range l.found {
			compare(d, before[e.ID].Edges, e.Edges, ends)
		}
		for _, id := range l.gone {
			compare(d, before[id].Edges, nil, ends)
		}
	}
	for id := range read {
		delete(ends, id)
	}
	if len(ends) == 0 {
		return nil, nil
	}
	known, err := r.Entities.EntitiesOf(ctx, access.Org, access.Account.ID, slices.Sorted(maps.Keys(ends)))
	if err != nil {
		return nil, err
	}
	var targets []posture.Target
	for _, id := range slices.Sorted(maps.Keys(ends)) {
		e, there := known[id]
		if there == ends[id].came { // new edges to what is known, and lost ones to what is not, change nothing there
			continue
		}
		if t, ok := neighbour(access.Account, ends[id], e); ok && len(targets) < maxSpread && !slices.Contains(targets, t) {
			targets = append(targets, t)
		}
	}
	return targets, nil
}

// compare notes the ends of edges that came or went. Of those that went only what
// was part of the entity counts.
func compare(d collect.Declaration, before, after []posture.Edge, ends map[posture.EntityID]end) {
	note := func(e posture.Edge, came bool) {
		for _, declared := range d.Edges {
			if declared.Label == e.Label {
				ends[e.To] = end{e.To, append(ends[e.To].types, declared.To...), came}
			}
		}
	}
	has := func(list []posture.Edge, e posture.Edge) bool {
		return slices.ContainsFunc(list, func(o posture.Edge) bool { return o.Label == e.Label && o.To == e.To })
	}
	for _, e := range before {
		if (e.Label == "HAS" || strings.HasPrefix(e.Label, "HAS_")) && !has(after, e) {
			note(e, false)
		}
	}
	for _, e := range after {
		if !has(before, e) {
			note(e, true)
		}
	}
}

// neighbour returns how the other end of an edge is read. What Azure calls it is
// known only of what was read before; of others all of the type is read.
func neighbour(a posture.Account, at end, known posture.Entity) (posture.Target, bool) {
	for _, t := range at.types {
		place, name, ok := split(t, a.ID, at.id)
		if !ok {
			continue
		}
		target := posture.Target{Type: t, Region: place, Name: name}
		if a.Provider == posture.Azure {
			target.Region, target.Name = posture.Global, known.XID
		}
		return target, true
	}
	return posture.Target{}, false
}

// split returns place and name of an entity of a type from its id.
func split(t posture.EntityType, account posture.AccountID, id posture.EntityID) (place, name string, ok bool) {
	part := strings.SplitN(string(t), ".", 3)
	if len(part) != 3 {
		return "", "", false
	}
	rest, ok := strings.CutPrefix(string(id), part[0]+"."+part[1]+"."+string(account)+".")
	if !ok {
		return "", "", false
	}
	place, name, ok = strings.Cut(rest, "."+part[2]+".")
	return place, name, ok && place != "" && name != ""
}
