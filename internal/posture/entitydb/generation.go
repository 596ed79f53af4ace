package entitydb

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

// GenerationOf returns the generation of an account's entities, also after its removal; 0 if
// it was never collected.
func GenerationOf(tx *sqldb.Tx, ref posture.AccountRef) (int64, error) {
	p, err := findPartition(tx, ref.Org, ref.Account)
	if sqldb.Missing(err) {
		return 0, nil
	}
	return p.generation, err
}

// EachEntity implements [posture.PartitionStore].
func (s *Store) EachEntity(ctx context.Context, org posture.OrgID, account posture.AccountID, f func(posture.Entity) error) (generation int64, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		p, err := livePartition(tx, org, account)
		generation = p.generation
		if err != nil || p.accountNo == 0 {
			return err
		}
		cells, err := sqldb.Query(tx, scanCell, `SELECT `+cellColumns+` FROM entity_cell WHERE account_no = $1`, p.accountNo)
		if err != nil {
			return err
		}
		contexts := make(map[int64]cellContext, len(cells))
		for _, c := range cells {
			contexts[c.id] = c.contextIn(p)
		}
		rows := accountSpan(p.accountNo)
		args := []any{rows.from, rows.to}
		where := inAccount(tx, &args, p.accountNo)
		for row, err := range sqldb.Each(tx, scanRow, `
			SELECT `+rowColumns+`
			FROM entity
			WHERE row_id BETWEEN $1 AND $2`+where+`
			ORDER BY row_id`, args...) {
			if err != nil {
				return err
			}
			e, err := row.entity(contexts[cellOf(row.rowID)])
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

// A deltaRow lists the changes of one generation.
type deltaRow struct {
	generation int64
	changed    []byte
	removed    []byte
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
			err = r.Scan(&d.generation, &d.changed, &d.removed)
			return d, err
		}, `
			SELECT generation, changed, gone
			FROM entity_delta
			WHERE account_no = $1 AND generation > $2
			ORDER BY generation`, p.accountNo, generation)
		if err != nil {
			return err
		}
		ok = int64(len(deltas)) == p.generation-generation // false if old deltas were deleted
		if !ok {
			return nil
		}
		changes.Changed, changes.Gone, err = s.readDeltas(tx, deltas)
		return err
	})
	return changes, ok, err
}

// readDeltas returns the current state of the entities that deltas changed, and the
// ids of those that no longer exist.
func (s *Store) readDeltas(tx *sqldb.Tx, deltas []deltaRow) ([]posture.Entity, []posture.EntityID, error) {
	var rowIDs []int64
	removed := map[posture.EntityID]bool{}
	for _, d := range deltas {
		rowIDs = append(rowIDs, unpackRows(d.changed)...)
		var ids []posture.EntityID
		if err := fromJSON(d.removed, &ids); err != nil {
			return nil, nil, err
		}
		for _, id := range ids {
			removed[id] = true
		}
	}
	slices.Sort(rowIDs)
	found, err := readRows(tx, slices.Compact(rowIDs))
	if err != nil {
		return nil, nil, err
	}
	rows := make([]entityRow, 0, len(found))
	for _, row := range found {
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b entityRow) int { return cmp.Compare(a.rowID, b.rowID) })
	changed, err := s.readEntities(tx, rows)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range changed {
		delete(removed, e.ID) // it was added again
	}
	ids := make([]posture.EntityID, 0, len(removed))
	for id := range removed {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return changed, ids, nil
}

// Snapshot implements [posture.PartitionStore].
func (s *Store) Snapshot(ctx context.Context, org posture.OrgID, account posture.AccountID) (snap posture.Snapshot, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		p, err := livePartition(tx, org, account)
		if err != nil || p.accountNo == 0 {
			return err
		}
		err = tx.QueryRow(`SELECT generation, data FROM entity_snapshot WHERE account_no = $1`, p.accountNo).Scan(&snap.Generation, &snap.Data)
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
			INSERT INTO entity_snapshot (account_no, generation, data)
			VALUES ($1, $2, $3)
			ON CONFLICT (account_no) DO UPDATE
			SET generation = excluded.generation, data = excluded.data
			WHERE entity_snapshot.generation < excluded.generation`, p.accountNo, snap.Generation, snap.Data)
		return err
	})
}
