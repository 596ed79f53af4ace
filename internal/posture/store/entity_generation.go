package store

import (
	"cmp"
	"context"
	"slices"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// Generation implements [posture.PartitionStore].
func (s *Store) Generation(ctx context.Context, org posture.OrgID, account posture.AccountID) (generation int64, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		p, err := livePartition(tx, org, account)
		generation = p.generation
		return err
	})
	return generation, err
}

// EachEntity implements [posture.PartitionStore].
func (s *Store) EachEntity(ctx context.Context, org posture.OrgID, account posture.AccountID, f func(posture.Entity) error) (generation int64, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		p, err := livePartition(tx, org, account)
		if err != nil || p.acct == 0 {
			return err
		}
		generation = p.generation
		cells, err := sqldb.Query(tx, scanCell, `SELECT `+cellColumns+` FROM entity_cell WHERE acct = $1`, p.acct)
		if err != nil {
			return err
		}
		homes := make(map[int64]home, len(cells))
		for _, c := range cells {
			homes[c.id] = c.home(p)
		}
		rows := acctSpan(p.acct)
		for row, err := range sqldb.Each(tx, scanRow, `
			SELECT `+rowColumns+`
			FROM entity
			WHERE rid BETWEEN $1 AND $2
			ORDER BY rid`, rows.from, rows.to) {
			if err != nil {
				return err
			}
			e, err := row.entity(homes[cellOf(row.rid)])
			if err != nil {
				return err
			}
			if err := f(e); err != nil {
				return err
			}
		}
		return nil
	})
	return generation, err
}

// A deltaRow says what one generation changed.
type deltaRow struct {
	generation int64
	changed    []byte
	gone       []byte
}

// ChangesSince implements [posture.PartitionStore].
func (s *Store) ChangesSince(ctx context.Context, org posture.OrgID, account posture.AccountID, generation int64) (changes posture.PartitionChanges, ok bool, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		p, err := livePartition(tx, org, account)
		if err != nil {
			return err
		}
		changes.Generation = p.generation
		deltas, err := sqldb.Query(tx, func(r sqldb.Row) (d deltaRow, err error) {
			err = r.Scan(&d.generation, &d.changed, &d.gone)
			return d, err
		}, `
			SELECT generation, changed, gone
			FROM entity_delta
			WHERE acct = $1 AND generation > $2
			ORDER BY generation`, p.acct, generation)
		if err != nil {
			return err
		}
		if ok = int64(len(deltas)) == p.generation-generation; !ok {
			return nil
		}
		changes.Changed, changes.Gone, err = s.readDeltas(tx, deltas)
		return err
	})
	return changes, ok, err
}

// readDeltas returns the entities that deltas changed as they are now, and those
// that are gone.
func (s *Store) readDeltas(tx *sqldb.Tx, deltas []deltaRow) ([]posture.Entity, []posture.EntityID, error) {
	var rids []int64
	gone := map[posture.EntityID]bool{}
	for _, d := range deltas {
		rids = append(rids, unpackRows(d.changed)...)
		var ids []posture.EntityID
		if err := fromJSON(string(d.gone), &ids); err != nil {
			return nil, nil, err
		}
		for _, id := range ids {
			gone[id] = true
		}
	}
	slices.Sort(rids)
	found, err := readRows(tx, slices.Compact(rids))
	if err != nil {
		return nil, nil, err
	}
	rows := make([]entityRow, 0, len(found))
	for _, row := range found {
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b entityRow) int { return cmp.Compare(a.rid, b.rid) })
	changed, err := s.readEntities(tx, rows)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range changed {
		delete(gone, e.ID) // it came back
	}
	ids := make([]posture.EntityID, 0, len(gone))
	for id := range gone {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return changed, ids, nil
}

// Snapshot implements [posture.PartitionStore].
func (s *Store) Snapshot(ctx context.Context, org posture.OrgID, account posture.AccountID) (snap posture.Snapshot, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		p, err := livePartition(tx, org, account)
		if err != nil || p.acct == 0 {
			return err
		}
		err = tx.QueryRow(`SELECT generation, data FROM entity_snapshot WHERE acct = $1`, p.acct).Scan(&snap.Generation, &snap.Data)
		if sqldb.Missing(err) {
			return nil
		}
		return err
	})
	return snap, err
}

// SaveSnapshot implements [posture.PartitionStore].
func (s *Store) SaveSnapshot(ctx context.Context, org posture.OrgID, account posture.AccountID, snap posture.Snapshot) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		p, err := lockPartition(tx, org, account)
		if err != nil {
			return err
		}
		_, err = tx.Exec(`
			INSERT INTO entity_snapshot (acct, generation, data)
			VALUES ($1, $2, $3)
			ON CONFLICT (acct) DO UPDATE
			SET generation = excluded.generation, data = excluded.data
			WHERE entity_snapshot.generation < excluded.generation`, p.acct, snap.Generation, snap.Data)
		return err
	})
}
