package entitydb

import (
	"context"
	"maps"
	"slices"
	"time"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// A changeRow is a row of table entity_change.
type changeRow struct {
	generation int64
	rowID      int64
	changedAt  int64
	removed    bool
	created    int64
	body       []byte
}

func scanChange(r sqldb.Row) (c changeRow, err error) {
	err = r.Scan(&c.generation, &c.rowID, &c.changedAt, &c.removed, &c.created, &c.body)
	return c, err
}

// ChangeLog implements [posture.EntityStore].
func (s *Store) ChangeLog(ctx context.Context, org posture.OrgID, id posture.EntityID) (log []posture.EntityChange, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		found, err := s.tryPartitions(tx, org, id, func(accountNo int64) (bool, error) {
			log, err = s.changeLog(tx, accountNo, id)
			return log != nil, err
		})
		if err == nil && !found {
			return noEntity(id)
		}
		return err
	})
	return log, err
}

// changeLog returns the change log of an entity of an account, newest first, or nil if
// the entity never existed.
//
// The addition of an entity is not stored: changeLog starts from the current state and
// reverts one change after the other, which yields the state at the addition.
func (s *Store) changeLog(tx *sqldb.Tx, accountNo int64, id posture.EntityID) ([]posture.EntityChange, error) {
	idHash := idHashOf(accountNo, idDigest(id))
	args := []any{idHash}
	where := inAccount(tx, &args, accountNo)
	rows, err := sqldb.Query(tx, scanChange, `
		SELECT generation, row_id, at, gone, created, body
		FROM entity_change
		WHERE id_hash = $1`+where+`
		ORDER BY generation DESC`, args...)
	if err != nil {
		return nil, err
	}
	found, err := s.findRows(tx, accountNo, []posture.EntityID{id})
	if err != nil {
		return nil, err
	}
	removal, err := removalOf(tx, accountNo)
	if err != nil {
		return nil, err
	}
	l := logReader{store: s, tx: tx, id: id}
	if current, ok := found[id]; ok && removal.removedAt != 0 { // the account was removed, but this row not yet
		l.addRemoval(current.entity, removal.removedAt)
	} else if ok {
		l.begin(current.entity)
	}
	for _, row := range rows {
		if err := l.read(row); err != nil {
			return nil, err
		}
	}
	l.addCreation()
	return l.log, addCauses(tx, accountNo, idHash, l.log)
}

// addCauses adds cause and origin to the entries of an entity's change log, from the
// commits of the feed. Entries that are older than the feed, and entities that the first
// collection of a scope found, have none.
func addCauses(tx *sqldb.Tx, accountNo, idHash int64, log []posture.EntityChange) error {
	byTime := make(map[int64][]int, len(log)) // indexes of entries
	for i, c := range log {
		at := sqldb.Millis(c.At)
		byTime[at] = append(byTime[at], i)
	}
	for times := range slices.Chunk(slices.Sorted(maps.Keys(byTime)), 500) {
		args := []any{accountNo}
		in := sqldb.List(&args, times)
		commits, err := sqldb.Query(tx, scanCommit, `
			SELECT at, account_no, generation, event, actor, operation, changes
			FROM entity_commit
			WHERE account_no = $1 AND at IN `+in, args...)
		if err != nil {
			return err
		}
		for _, c := range commits {
			listed, err := readListed(accountNo, c.changes)
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(listed, func(l listedChange) bool { return l.idHash == idHash }) {
				continue
			}
			for _, i := range byTime[c.changedAt] {
				log[i].Cause, log[i].ChangeOrigin = c.cause(), c.origin
			}
		}
	}
	return nil
}

// A logReader reads a change log backwards.
type logReader struct {
	store *Store
	tx    *sqldb.Tx
	id    posture.EntityID
	state posture.Entity
	alive bool // the entity exists at this point in time
	log   []posture.EntityChange
}

// begin sets the current or last state of the entity.
func (l *logReader) begin(e posture.Entity) { l.state, l.alive = e, true }

// addRemoval appends the entry of the removal and sets the state before it.
func (l *logReader) addRemoval(last posture.Entity, at int64) {
	c := posture.Compare(last, posture.Entity{})
	c.At = sqldb.Time(at)
	l.log = append(l.log, c)
	l.begin(last)
}

// addCreation appends the entry of the addition.
func (l *logReader) addCreation() {
	if !l.alive {
		return
	}
	c := posture.Compare(posture.Entity{}, l.state)
	c.At, c.Edges = l.state.Created, nil // edges are not reverted
	l.log = append(l.log, c)
	l.alive = false
}

// read reverts the change of one row.
func (l *logReader) read(row changeRow) error {
	if row.removed {
		last, err := l.removedEntity(row)
		if err != nil || last.ID != l.id { // another entity with the same id hash
			return err
		}
		l.addCreation() // if the entity was added again after this removal
		l.addRemoval(last, row.changedAt)
		return nil
	}
	id, c, err := readChange(row.body)
	if err != nil || id != l.id {
		return err
	}
	c.At = sqldb.Time(row.changedAt)
	l.log = append(l.log, c)
	l.state = c.Undo(l.state)
	return nil
}

// removedEntity returns the last state of a removed entity.
func (l *logReader) removedEntity(row changeRow) (posture.Entity, error) {
	contexts, err := l.store.contextsOf(l.tx, []entityRow{{rowID: row.rowID}})
	if err != nil {
		return posture.Entity{}, err
	}
	e, err := readDoc(row.body, contexts[cellOf(row.rowID)])
	e.Created = sqldb.Time(row.created)
	return e, err
}

// forgetBatch is how many change logs are deleted in one transaction, to keep it
// short.
const forgetBatch = 500

// ForgetChanges implements [posture.EntityStore].
func (s *Store) ForgetChanges(ctx context.Context, before time.Time) error {
	if err := s.forgetFeed(ctx, before); err != nil {
		return err
	}
	for {
		n := 0
		err := s.db.Write(ctx, func(tx *sqldb.Tx) error {
			type key struct{ idHash, generation, rowID int64 }
			removed, err := sqldb.Query(tx, func(r sqldb.Row) (k key, err error) {
				err = r.Scan(&k.idHash, &k.generation, &k.rowID)
				return k, err
			}, `
				SELECT id_hash, generation, row_id
				FROM entity_change
				WHERE gone AND at < $1
				LIMIT $2`, sqldb.Millis(before), forgetBatch)
			if err != nil {
				return err
			}
			n = len(removed)
			args := make([][]any, n)
			for i, k := range removed {
				args[i] = []any{k.idHash, k.generation}
			}
			// Delete the earlier entries of the removed entity as well.
			return execEach(tx, `DELETE FROM entity_change WHERE id_hash = $1 AND generation <= $2`, accountShift, slices.Values(args))
		})
		if err != nil || n < forgetBatch {
			return err
		}
	}
}
