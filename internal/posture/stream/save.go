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

// save saves what was read, scope by scope in the order in which it was named,
// and returns what is to be noted.
func (r *Reader) save(ctx context.Context, access posture.Access, looks []look) (posture.Settlement, error) {
	var s posture.Settlement
	if r.SecondLook > 0 {
		s.Second = r.Now().Add(r.SecondLook)
	}
	before, err := r.known(ctx, access, looks)
	if err != nil {
		return s, err
	}
	done := map[posture.Scope]bool{}
	for _, l := range looks {
		r.judgeLook(ctx, access, l, &s)
		if l.err != nil || l.skip || l.whole || done[l.scope] {
			continue
		}
		done[l.scope] = true
		var found []posture.Entity
		var gone []posture.EntityID
		for _, other := range looks {
			if other.scope == l.scope && other.err == nil {
				found, gone = append(found, other.found...), append(gone, other.gone...)
			}
		}
		if len(found) == 0 && !slices.ContainsFunc(gone, func(id posture.EntityID) bool { _, ok := before[id]; return ok }) {
			continue
		}
		if err := r.Entities.Replace(ctx, l.scope, found, gone); err != nil {
			return s, err
		}
	}
	s.Spread, err = r.spread(ctx, access, looks, before)
	return s, err
}

// judgeLook decides what becomes of a target.
func (r *Reader) judgeLook(ctx context.Context, access posture.Access, l look, s *posture.Settlement) {
	p := access.Account.Provider
	switch {
	case l.err == nil && len(l.gone) > 0:
		r.Metrics.reread(p, "gone")
	case l.err == nil:
		r.Metrics.reread(p, "found")
	case l.Tries+1 < maxTries && !errors.Is(l.err, collect.ErrDenied):
		r.Metrics.reread(p, "failed")
		r.Log.InfoContext(ctx, "resource of an event not read yet", "account", access.Account.ID, "type", l.Type, "region", l.Region, "error", l.err)
		s.Failed = append(s.Failed, l.Reread)
		// One time serves all: the longest wait that any of them has earned.
		if wait := r.Now().Add(time.Second << l.Tries); wait.After(s.Retry) {
			s.Retry = wait
		}
		return
	default:
		r.Metrics.reread(p, "given up")
		r.Log.WarnContext(ctx, "resource of an event not read", "account", access.Account.ID, "type", l.Type, "region", l.Region, "error", l.err)
	}
	s.Done = append(s.Done, l.Reread)
}

// known returns what is known of the entities that were read.
func (r *Reader) known(ctx context.Context, access posture.Access, looks []look) (map[posture.EntityID]posture.Entity, error) {
	ids := map[posture.EntityID]bool{}
	for _, l := range looks {
		for _, e := range l.found {
			ids[e.ID] = true
		}
		for _, id := range l.gone {
			ids[id] = true
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return r.Entities.EntitiesOf(ctx, access.Org, access.Account.ID, slices.Sorted(maps.Keys(ids)))
}
