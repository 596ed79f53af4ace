package store

import (
	"context"
	"slices"
	"time"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// A changeRow is an entry of a change log as it is kept.
type changeRow struct {
	generation int64
	rid        int64
	at         int64
	gone       bool
	created    int64
	body       []byte
}

func scanChange(r sqldb.Row) (c changeRow, err error) {
	err = r.Scan(&c.generation, &c.rid, &c.at, &c.gone, &c.created, &c.body)
	return c, err
}

// ChangeLog implements [posture.EntityStore].
func (s *Store) ChangeLog(ctx context.Context, org posture.OrgID, id posture.EntityID) (log []posture.EntityChange, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		found, err := s.tryPartitions(tx, org, id, func(acct int64) (bool, error) {
			log, err = s.changeLog(tx, acct, id)
			return log != nil, err
		})
		if err == nil && !found {
			return noEntity(id)
		}
		return err
	})
	return log, err
}

// changeLog returns the change log of an entity of a partition, newest first,
// or nil when it was never there.
//
// It starts with what the entity is and takes back one change after the other.
// What is left in the end is what it was when it was added.
func (s *Store) changeLog(tx *sqldb.Tx, acct int64, id posture.EntityID) ([]posture.EntityChange, error) {
	rows, err := sqldb.Query(tx, scanChange, `
		SELECT generation, rid, at, gone, created, body
		FROM entity_change
		WHERE ekey = $1
		ORDER BY generation DESC`, ekeyOf(acct, idDigest(id)))
	if err != nil {
		return nil, err
	}
	found, err := s.findEntities(tx, acct, []posture.EntityID{id})
	if err != nil {
		return nil, err
	}
	l := logReader{store: s, tx: tx, id: id}
	if at, ok := found[id]; ok {
		l.begin(at.entity)
	}
	for _, row := range rows {
		if err := l.read(row); err != nil {
			return nil, err
		}
	}
	l.added()
	return l.log, nil
}

// A logReader reads a change log backwards.
type logReader struct {
	store *Store
	tx    *sqldb.Tx
	id    posture.EntityID
	state posture.Entity
	alive bool // the entity is there at this point of the past
	log   []posture.EntityChange
}

// begin says what the entity was at the end of its life, or is now.
func (l *logReader) begin(e posture.Entity) { l.state, l.alive = e, true }

// added writes the entry of the entity's beginning.
func (l *logReader) added() {
	if !l.alive {
		return
	}
	c := posture.Compare(posture.Entity{}, l.state)
	c.At, c.Edges = l.state.Created, nil // which edges there were is not known
	l.log, l.alive = append(l.log, c), false
}

// read goes back over one row.
func (l *logReader) read(row changeRow) error {
	if row.gone {
		last, err := l.gone(row)
		if err != nil || last.ID != l.id {
			return err
		}
		l.added()
		c := posture.Compare(last, posture.Entity{})
		c.At = sqldb.Time(row.at)
		l.log = append(l.log, c)
		l.begin(last)
		return nil
	}
	id, c, err := readChange(row.body)
	if err != nil || id != l.id {
		return err
	}
	c.At = sqldb.Time(row.at)
	l.log = append(l.log, c)
	l.state = c.Undo(l.state)
	return nil
}

// gone returns the entity as it was when it went.
func (l *logReader) gone(row changeRow) (posture.Entity, error) {
	homes, err := l.store.homesOf(l.tx, []entityRow{{rid: row.rid}})
	if err != nil {
		return posture.Entity{}, err
	}
	e, err := readDoc(row.body, homes[cellOf(row.rid)])
	e.Created = sqldb.Time(row.created)
	return e, err
}

// forgetBatch is how many change logs are forgotten in one transaction, so that
// others get their turn.
const forgetBatch = 500

// ForgetChanges implements [posture.EntityStore].
func (s *Store) ForgetChanges(ctx context.Context, before time.Time) error {
	for {
		n := 0
		err := s.db.Write(ctx, func(tx *sqldb.Tx) error {
			type key struct{ ekey, generation, rid int64 }
			gone, err := sqldb.Query(tx, func(r sqldb.Row) (k key, err error) {
				err = r.Scan(&k.ekey, &k.generation, &k.rid)
				return k, err
			}, `
				SELECT ekey, generation, rid
				FROM entity_change
				WHERE gone AND at < $1
				LIMIT $2`, sqldb.Millis(before), forgetBatch)
			if err != nil {
				return err
			}
			n = len(gone)
			args := make([][]any, n)
			for i, k := range gone {
				args[i] = []any{k.ekey, k.generation}
			}
			// What happened to it before it went goes too.
			_, err = tx.ExecEach(`DELETE FROM entity_change WHERE ekey = $1 AND generation <= $2`, slices.Values(args))
			return err
		})
		if err != nil || n < forgetBatch {
			return err
		}
	}
}
