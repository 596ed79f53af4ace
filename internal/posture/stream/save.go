package stream

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// save writes the entities that were read, one scope and origin at a time in the
// order of the reads, and returns the results to record.
func (r *Reader) save(ctx context.Context, access posture.Access, reads []read) (posture.ReadResults, error) {
	var results posture.ReadResults
	if r.ConfirmAfter > 0 {
		results.ConfirmAt = r.Now().Add(r.ConfirmAfter)
	}
	before, err := r.storedEntities(ctx, access, reads)
	if err != nil {
		return results, err
	}
	type saveGroup struct { // reads whose entities are saved together
		scope  posture.Scope
		origin posture.ChangeOrigin
	}
	saved := map[saveGroup]bool{}
	for _, entry := range reads {
		r.classify(ctx, access, entry, &results)
		if entry.err != nil || entry.skipped || entry.readByRunner || saved[saveGroup{entry.scope, entry.ChangeOrigin}] {
			continue
		}
		saved[saveGroup{entry.scope, entry.ChangeOrigin}] = true
		var found []posture.Entity
		var removed []posture.EntityID
		for _, other := range reads {
			if other.scope == entry.scope && other.ChangeOrigin == entry.ChangeOrigin && other.err == nil {
				found, removed = append(found, other.found...), append(removed, other.removed...)
			}
		}
		if len(found) == 0 && !slices.ContainsFunc(removed, func(id posture.EntityID) bool { _, ok := before[id]; return ok }) {
			continue
		}
		if err := r.Entities.Replace(ctx, entry.scope, entry.ChangeOrigin, found, removed); err != nil {
			return results, err
		}
	}
	results.Neighbours, err = r.changedNeighbours(ctx, access, reads, before)
	return results, err
}

// classify adds a read to the results. A failed read is retried with exponential backoff,
// unless it was denied or was tried maxTries times. All others are done.
func (r *Reader) classify(ctx context.Context, access posture.Access, entry read, results *posture.ReadResults) {
	p := access.Account.Provider
	switch {
	case entry.skipped:
		r.Metrics.reread(p, "skipped")
	case entry.err == nil && len(entry.removed) > 0:
		r.Metrics.reread(p, "gone")
	case entry.err == nil:
		r.Metrics.reread(p, "found")
	case entry.Tries+1 < maxTries && !errors.Is(entry.err, collect.ErrDenied):
		r.Metrics.reread(p, "failed")
		r.Log.InfoContext(ctx, "read of a changed resource failed, will be retried", "account", access.Account.ID, "type", entry.Type, "region", entry.Region, "error", entry.err)
		results.Failed = append(results.Failed, entry.PendingRead)
		// All failed reads of the batch are retried at one time: the latest.
		if retry := r.Now().Add(time.Second << entry.Tries); retry.After(results.RetryAt) {
			results.RetryAt = retry
		}
		return
	default:
		r.Metrics.reread(p, "given up")
		r.Log.WarnContext(ctx, "read of a changed resource failed", "account", access.Account.ID, "type", entry.Type, "region", entry.Region, "error", entry.err)
	}
	results.Done = append(results.Done, entry.PendingRead)
}

// storedEntities returns the stored versions of the entities that were read.
func (r *Reader) storedEntities(ctx context.Context, access posture.Access, reads []read) (map[posture.EntityID]posture.Entity, error) {
	ids := map[posture.EntityID]bool{}
	for _, entry := range reads {
		for _, e := range entry.found {
			ids[e.ID] = true
		}
		for _, id := range entry.removed {
			ids[id] = true
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return r.Entities.EntitiesOf(ctx, access.Org, access.Account.ID, slices.Sorted(maps.Keys(ids)))
}
