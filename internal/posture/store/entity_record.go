package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/sqldb"
)

// Begin implements [collect.Recorder].
func (s *Store) Begin(ctx context.Context, scope collect.Scoped) (collect.Recording, error) {
	r := &recording{
		store: s, scope: posture.Scope(scope), writer: newWriter(posture.Scope(scope)), next: map[string]int{},
		versions: map[int64]int64{}, fresh: map[digest]bool{}, stage: stage{limit: stageMemory},
	}
	return r, s.db.Read(ctx, r.load)
}

// A recording compares what a unit reads with what is known, by hashes, and
// keeps only what differs.
type recording struct {
	store    *Store
	scope    posture.Scope
	writer   *writer
	known    []known
	next     map[string]int   // which of known is likely to come next, by region
	index    map[digest]int32 // known by id, once it is needed
	versions map[int64]int64  // of the cells when known was read
	fresh    map[digest]bool  // entities that were not known
	stage    stage
	closed   bool
}

// A known is an entity that was there when the recording began.
type known struct {
	entry
	rid  int64
	seen bool
}

// load reads what is known of the scope.
func (r *recording) load(tx *sqldb.Tx) error {
	p, err := findPartition(tx, r.scope.Org, r.scope.Account)
	if sqldb.Missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	cells, err := cellsOf(tx, p.acct, r.scope.Type)
	if err != nil {
		return err
	}
	for _, c := range cells {
		if !c.covered(r.scope.Region) {
			continue
		}
		r.versions[c.id] = c.version
		if c.count == 0 {
			continue
		}
		r.next[c.region] = len(r.known)
		r.known = slices.Grow(r.known, int(c.count))
		err := readLedger(tx, c.id, func(rid int64, e entry) {
			r.known = append(r.known, known{entry: e, rid: rid})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

var errClosed = errors.New("the recording is over")

// Put implements [collect.Recording].
func (r *recording) Put(_ context.Context, e posture.Entity) error {
	if r.closed {
		return errClosed
	}
	item, err := r.writer.write(&e)
	if err != nil {
		return err
	}
	// Clouds list things in the same order each time, and most are as they were.
	// The hash is of the id too.
	guess, ok := r.next[item.region]
	if ok = ok && guess < len(r.known); ok && r.known[guess].hash == item.hash && !r.known[guess].seen {
		r.known[guess].seen = true
		r.next[item.region] = guess + 1
		return nil
	}
	item.id = idDigest(e.ID)
	if !ok || r.known[guess].id != item.id {
		guess, ok = r.find(item.id)
	}
	if !ok {
		if r.fresh[item.id] {
			return nil
		}
		r.fresh[item.id] = true
		return r.stage.add(item)
	}
	k := &r.known[guess]
	if k.seen {
		return nil // clouds repeat themselves between pages
	}
	k.seen = true
	r.next[item.region] = guess + 1
	if k.hash == item.hash {
		return nil
	}
	item.rid = k.rid
	return r.stage.add(item)
}

// find returns which of known has an id.
func (r *recording) find(id digest) (int, bool) {
	if r.index == nil {
		r.index = make(map[digest]int32, len(r.known))
		for i := range r.known {
			r.index[r.known[i].id] = int32(i)
		}
	}
	at, ok := r.index[id]
	return int(at), ok
}

// Commit implements [collect.Recording].
func (r *recording) Commit(ctx context.Context, complete bool) error {
	if r.closed {
		return errClosed
	}
	defer r.Discard()
	at := posture.AccountRef{Org: r.scope.Org, Account: r.scope.Account}
	err := r.store.together.do(ctx, r.store.db, at, r.stage.count, func(tx *sqldb.Tx) error {
		if complete && r.unchanged() {
			if known, err := r.store.stillCurrent(tx, r.scope); known || err != nil {
				return err
			}
		}
		c, err := r.store.change(tx, r.scope)
		if err != nil {
			return err
		}
		if err := r.save(c, complete); err != nil {
			return err
		}
		if err := c.finish(); err != nil {
			return err
		}
		if complete {
			return c.succeeded()
		}
		return c.failed("not all of it could be read")
	})
	if err != nil {
		return fmt.Errorf("save %s of %s: %w", r.scope.Type, r.scope.Region, err)
	}
	return nil
}

// unchanged reports whether everything that was known was put as it was, and
// nothing else.
func (r *recording) unchanged() bool {
	return r.stage.count == 0 && !slices.ContainsFunc(r.known, func(k known) bool { return !k.seen })
}

// Discard implements [collect.Recording].
func (r *recording) Discard() {
	r.stage.close()
	r.closed = true
	r.known, r.index, r.next, r.fresh, r.writer = nil, nil, nil, nil, nil
}

// batch is how many entities are written at a time.
const batch = 250

// save writes the differences. What somebody else changed since the recording
// began was read later than this, and stays as it is.
func (r *recording) save(c *changeSet, complete bool) error {
	others, err := r.changedMeanwhile(c)
	if err != nil {
		return err
	}
	var adds, updates []staged
	flush := func(least int) error {
		if len(adds) >= least {
			if err := c.add(adds); err != nil {
				return err
			}
			adds = adds[:0]
		}
		if len(updates) >= least {
			if err := c.update(updates); err != nil {
				return err
			}
			updates = updates[:0]
		}
		return nil
	}
	for s, err := range r.stage.all() {
		if err != nil {
			return err
		}
		if others[s.id] {
			continue
		}
		if s.rid != 0 {
			updates = append(updates, s)
		} else {
			adds = append(adds, s)
		}
		if err := flush(batch); err != nil {
			return err
		}
	}
	if err := flush(1); err != nil {
		return err
	}
	if !complete {
		return nil
	}
	var gone []int64
	for _, k := range r.known {
		if !k.seen && !others[k.id] {
			gone = append(gone, k.rid)
		}
	}
	return c.remove(gone)
}

// changedMeanwhile returns the entities of the scope that are not as they were
// when the recording began.
func (r *recording) changedMeanwhile(c *changeSet) (map[digest]bool, error) {
	now := map[int64]int64{}
	for _, each := range c.cells {
		if each.covered(r.scope.Region) {
			now[each.id] = each.version
		}
	}
	if maps.Equal(now, r.versions) {
		return nil, nil
	}
	current := map[digest]known{}
	for _, id := range slices.Sorted(maps.Keys(now)) {
		if err := readLedger(c.tx, id, func(rid int64, e entry) { current[e.id] = known{entry: e, rid: rid} }); err != nil {
			return nil, err
		}
	}
	others := map[digest]bool{}
	for _, k := range r.known {
		if n := current[k.id]; n.hash != k.hash || n.rid != k.rid {
			others[k.id] = true
		}
		delete(current, k.id)
	}
	for id := range current { // came meanwhile
		others[id] = true
	}
	return others, nil
}
