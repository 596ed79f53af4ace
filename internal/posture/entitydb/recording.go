package entitydb

import (
	"context"
	"encoding/binary"
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
	r := newRecording(s, posture.Scope(scope))
	if err := s.db.Read(ctx, r.load); err != nil {
		r.Discard()
		return nil, err
	}
	return r, nil
}

// A recording compares the entities of a collection with the stored ones by hash and
// stages only those that differ.
type recording struct {
	store    *Store
	scope    posture.Scope
	encoder  *encoder
	baseline baseline
	next     map[string]int      // position in baseline expected next, by region
	versions map[int64]int64     // of the cells when the baseline was read, by cell
	fresh    map[uint32]struct{} // 32 bits of the id hashes of new entities
	repeated map[digest]bool     // new entities that may have been put twice; true once written
	stage    stage
	closed   bool
}

func newRecording(s *Store, scope posture.Scope) *recording {
	return &recording{
		store: s, scope: scope, encoder: newEncoder(scope), next: map[string]int{},
		versions: map[int64]int64{}, fresh: map[uint32]struct{}{}, repeated: map[digest]bool{},
		baseline: baseline{limit: baselineMemory}, stage: stage{limit: stageMemory},
	}
}

// load reads the baseline of the scope.
func (r *recording) load(tx *sqldb.Tx) error {
	p, err := findPartition(tx, r.scope.Org, r.scope.Account)
	if sqldb.Missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	cells, err := cellsOf(tx, p.accountNo, r.scope.Type)
	if err != nil {
		return err
	}
	for _, c := range cells {
		if !c.isCovered(r.scope.Region) {
			continue
		}
		r.versions[c.id] = c.version
		if c.count == 0 {
			continue
		}
		r.next[c.region] = r.baseline.count
		err := readLedger(tx, c.id, func(rowID int64, e entry) error { return r.baseline.add(baselineEntry{entry: e, rowID: rowID}) })
		if err != nil {
			return err
		}
	}
	return r.baseline.ready()
}

var errClosed = errors.New("the recording is closed")

// Put implements [collect.Recording].
func (r *recording) Put(_ context.Context, e posture.Entity) error {
	if r.closed {
		return errClosed
	}
	item, err := r.encoder.encode(&e)
	if err != nil {
		return err
	}
	// Clouds list resources in the same order each time and most are unchanged, so the
	// next baseline entry usually matches. Equal hashes mean the same entity: they cover the id.
	index, ok := r.next[item.region]
	ok = ok && index < r.baseline.count
	var old baselineEntry
	if ok {
		if old, err = r.baseline.entryAt(index); err != nil {
			return err
		}
	}
	if !ok || old.hash != item.hash {
		item.id = idDigest(e.ID)
		if !ok || old.id != item.id {
			if index, ok, err = r.baseline.find(item.id); err != nil {
				return err
			}
			if !ok {
				return r.putNew(item)
			}
			if old, err = r.baseline.entryAt(index); err != nil {
				return err
			}
		}
	}
	if r.baseline.wasSeen(index) {
		return nil // clouds repeat items between pages
	}
	r.baseline.markSeen(index)
	r.next[item.region] = index + 1
	if old.hash == item.hash {
		return nil
	}
	item.rowID = old.rowID
	return r.stage.add(item)
}

// putNew stages a new entity. To find duplicates, it keeps 32 bits of the hash of each id. If
// two entities have these bits in common, the commit compares the whole hashes.
func (r *recording) putNew(item stagedEntity) error {
	part := binary.LittleEndian.Uint32(item.id[:])
	if _, ok := r.fresh[part]; ok {
		r.repeated[item.id] = false
	}
	r.fresh[part] = struct{}{}
	return r.stage.add(item)
}

// Commit implements [collect.Recording].
func (r *recording) Commit(ctx context.Context, complete bool) error {
	if r.closed {
		return errClosed
	}
	defer r.Discard()
	write := r.store.db.WriteCooperative
	if r.isLarge() {
		write = r.store.db.WriteExclusive
	}
	if err := write(ctx, func(tx *sqldb.Tx) error { return r.commit(tx, complete) }); err != nil {
		return fmt.Errorf("save %s of %s: %w", r.scope.Type, r.scope.Region, err)
	}
	return nil
}

// commit is Commit within a transaction.
func (r *recording) commit(tx *sqldb.Tx, complete bool) error {
	if complete && r.isUnchanged() {
		if found, err := r.store.stillCurrent(tx, r.scope); found || err != nil {
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
		return c.recordSuccess()
	}
	return c.recordFailure("not all of it could be read")
}

// isLarge reports whether the commit may change so many index entries that it should
// have a transaction of its own. An entity that moved to another region changes two.
func (r *recording) isLarge() bool { return 2*r.stage.count+r.baseline.unseen >= maxIndexChanges }

// isUnchanged reports whether the collection equals the baseline.
func (r *recording) isUnchanged() bool {
	return r.stage.count == 0 && r.baseline.unseen == 0
}

// Discard implements [collect.Recording].
func (r *recording) Discard() {
	r.stage.close()
	r.baseline.close()
	r.closed = true
	r.next, r.fresh, r.repeated, r.encoder = nil, nil, nil, nil
}

// batch is how many entities are written with one statement.
const batch = 250

// save writes the differences. Entities that another writer changed since the
// recording began are newer and stay.
func (r *recording) save(c *changeSet, complete bool) error {
	changedByOthers, err := r.changedMeanwhile(c)
	if err != nil {
		return err
	}
	for id := range r.repeated { // the transaction may be retried
		r.repeated[id] = false
	}
	var adds, updates []stagedEntity
	flush := func(minimum int) error {
		if len(adds) >= minimum {
			if err := c.add(adds); err != nil {
				return err
			}
			adds = adds[:0]
		}
		if len(updates) >= minimum {
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
		if changedByOthers[s.id] || r.markWritten(s) {
			continue
		}
		if s.rowID != 0 {
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
	if !complete || r.baseline.unseen == 0 {
		return nil
	}
	var removed []int64
	err = r.baseline.all(func(k baselineEntry, seen bool) {
		if !seen && !changedByOthers[k.id] {
			removed = append(removed, k.rowID)
		}
	})
	if err != nil {
		return err
	}
	return c.remove(removed)
}

// markWritten reports whether a new entity was written before in this commit, and marks it
// as written.
func (r *recording) markWritten(s stagedEntity) bool {
	written, maybeRepeated := r.repeated[s.id]
	if maybeRepeated {
		r.repeated[s.id] = true
	}
	return written
}

// changedMeanwhile returns the entities of the scope that another writer added,
// changed or removed since the recording began.
func (r *recording) changedMeanwhile(c *changeSet) (map[digest]bool, error) {
	now := map[int64]int64{}
	for _, each := range c.cells {
		if each.isCovered(r.scope.Region) {
			now[each.id] = each.version
		}
	}
	if maps.Equal(now, r.versions) {
		return nil, nil
	}
	current := map[digest]baselineEntry{}
	for _, id := range slices.Sorted(maps.Keys(now)) {
		err := readLedger(c.tx, id, func(rowID int64, e entry) error {
			current[e.id] = baselineEntry{entry: e, rowID: rowID}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	others := map[digest]bool{}
	err := r.baseline.all(func(k baselineEntry, _ bool) {
		if current[k.id] != k {
			others[k.id] = true
		}
		delete(current, k.id)
	})
	if err != nil {
		return nil, err
	}
	for id := range current { // added since
		others[id] = true
	}
	return others, nil
}
