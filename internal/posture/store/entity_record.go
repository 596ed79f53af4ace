package store

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

// A recording compares what a unit reads with what is known, by hashes, and
// keeps only what differs.
type recording struct {
	store    *Store
	scope    posture.Scope
	writer   *writer
	known    knowns
	next     map[string]int      // which of known is likely to come next, by region
	versions map[int64]int64     // of the cells when known was read
	fresh    map[uint32]struct{} // parts of the ids of entities that were not known
	repeated map[digest]bool     // which of them perhaps came twice, and whether it is written
	stage    stage
	closed   bool
}

func newRecording(s *Store, scope posture.Scope) *recording {
	return &recording{
		store: s, scope: scope, writer: newWriter(scope), next: map[string]int{},
		versions: map[int64]int64{}, fresh: map[uint32]struct{}{}, repeated: map[digest]bool{},
		known: knowns{limit: knownMemory}, stage: stage{limit: stageMemory},
	}
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
		r.next[c.region] = r.known.count
		err := readLedger(tx, c.id, func(rid int64, e entry) error { return r.known.add(known{entry: e, rid: rid}) })
		if err != nil {
			return err
		}
	}
	return r.known.ready()
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
	place, ok := r.next[item.region]
	ok = ok && place < r.known.count
	var was known
	if ok {
		if was, err = r.known.at(place); err != nil {
			return err
		}
	}
	if !ok || was.hash != item.hash {
		item.id = idDigest(e.ID)
		if !ok || was.id != item.id {
			if place, ok, err = r.known.find(item.id); err != nil {
				return err
			}
			if !ok {
				return r.putNew(item)
			}
			if was, err = r.known.at(place); err != nil {
				return err
			}
		}
	}
	if r.known.isSeen(place) {
		return nil // clouds repeat themselves between pages
	}
	r.known.see(place)
	r.next[item.region] = place + 1
	if was.hash == item.hash {
		return nil
	}
	item.rid = was.rid
	return r.stage.add(item)
}

// putNew takes an entity that was not known. Only a part of its id is kept: those
// that share it with another are looked at when they are written.
func (r *recording) putNew(item staged) error {
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
	write := r.store.db.WriteSurely
	if r.much() {
		write = r.store.db.WriteAlone
	}
	if err := write(ctx, func(tx *sqldb.Tx) error { return r.commit(tx, complete) }); err != nil {
		return fmt.Errorf("save %s of %s: %w", r.scope.Type, r.scope.Region, err)
	}
	return nil
}

// commit does what Commit does, in a transaction.
func (r *recording) commit(tx *sqldb.Tx, complete bool) error {
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
}

// much reports whether the words of so many rows may change that they should not
// have to wait for the end of a transaction. Those that moved to another region change the
// words of two.
func (r *recording) much() bool { return 2*r.stage.count+r.known.unseen >= maxWords }

// unchanged reports whether everything that was known was put as it was, and
// nothing else.
func (r *recording) unchanged() bool {
	return r.stage.count == 0 && r.known.unseen == 0
}

// Discard implements [collect.Recording].
func (r *recording) Discard() {
	r.stage.close()
	r.known.close()
	r.closed = true
	r.next, r.fresh, r.repeated, r.writer = nil, nil, nil, nil
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
	for id := range r.repeated { // a transaction may be run again
		r.repeated[id] = false
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
		if others[s.id] || r.written(s) {
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
	if !complete || r.known.unseen == 0 {
		return nil
	}
	var gone []int64
	err = r.known.all(func(k known, seen bool) {
		if !seen && !others[k.id] {
			gone = append(gone, k.rid)
		}
	})
	if err != nil {
		return err
	}
	return c.remove(gone)
}

// written reports whether an entity came before, and notes that it came.
func (r *recording) written(s staged) bool {
	was, doubtful := r.repeated[s.id]
	if doubtful {
		r.repeated[s.id] = true
	}
	return was
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
		err := readLedger(c.tx, id, func(rid int64, e entry) error {
			current[e.id] = known{entry: e, rid: rid}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	others := map[digest]bool{}
	err := r.known.all(func(k known, _ bool) {
		if current[k.id] != k {
			others[k.id] = true
		}
		delete(current, k.id)
	})
	if err != nil {
		return nil, err
	}
	for id := range current { // came meanwhile
		others[id] = true
	}
	return others, nil
}
