package entitydb

import (
	"context"
	"slices"
	"strings"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// Entity implements [posture.EntityStore].
func (s *Store) Entity(ctx context.Context, org posture.OrgID, id posture.EntityID) (e posture.Entity, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		found, err := s.tryPartitions(tx, org, id, func(accountNo int64) (bool, error) {
			found, err := s.findEntities(tx, accountNo, []posture.EntityID{id})
			stored, ok := found[id]
			e = stored.entity
			return ok, err
		})
		if err == nil && !found {
			return noEntity(id)
		}
		return err
	})
	return e, err
}

func noEntity(id posture.EntityID) error {
	return fault.New(fault.NotFound, "entity %q was not found", id)
}

// EntitiesOf implements [posture.EntityStore].
func (s *Store) EntitiesOf(ctx context.Context, org posture.OrgID, account posture.AccountID, ids []posture.EntityID) (found map[posture.EntityID]posture.Entity, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		p, err := findPartition(tx, org, account)
		if sqldb.Missing(err) {
			return nil
		}
		if err != nil {
			return err
		}
		all, err := s.findEntities(tx, p.accountNo, ids)
		found = make(map[posture.EntityID]posture.Entity, len(all))
		for id, stored := range all {
			found[id] = stored.entity
		}
		return err
	})
	return found, err
}

// tryPartitions calls try for each account that the entity may belong to, until try
// reports true. An id contains its account between dots, but names may contain dots
// too, so every part of the id that is an account of the organisation is tried.
func (s *Store) tryPartitions(tx *sqldb.Tx, org posture.OrgID, id posture.EntityID, try func(accountNo int64) (bool, error)) (bool, error) {
	parts := strings.Split(string(id), ".")
	if len(parts) > 64 { // the account is one of the first parts
		parts = parts[:64]
	}
	tried := map[int64]bool{}
	for _, accountNo := range s.ids.partitions(org, parts) {
		tried[accountNo] = true
		if found, err := try(accountNo); found || err != nil {
			return found, err
		}
	}
	args := []any{org}
	accounts := sqldb.List(&args, storable(parts))
	all, err := sqldb.Query(tx, scanPartition, `
		SELECT `+partitionColumns+`
		FROM entity_partition
		WHERE org = $1 AND account IN `+accounts, args...)
	if err != nil {
		return false, err
	}
	for _, p := range all {
		afterCommit(tx, func() { s.ids.addPartition(p) })
		if tried[p.accountNo] {
			continue
		}
		if found, err := try(p.accountNo); found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// A storedEntity is an entity with its row id.
type storedEntity struct {
	rowID  int64
	entity posture.Entity
}

// findEntities returns the entities of an account with the given ids, omitting ids that
// do not exist.
func (s *Store) findEntities(tx *sqldb.Tx, accountNo int64, ids []posture.EntityID) (map[posture.EntityID]storedEntity, error) {
	if !tx.Distributed() {
		return s.findRowsWhere(tx, accountNo, ids, notInRemoval)
	}
	// Citus would send the removals, which are on the coordinator, to the shard.
	removal, err := removalOf(tx, accountNo)
	if err != nil || removal.removedAt != 0 {
		return nil, err
	}
	return s.findRows(tx, accountNo, ids)
}

// findRows is findEntities including rows that are being removed.
func (s *Store) findRows(tx *sqldb.Tx, accountNo int64, ids []posture.EntityID) (map[posture.EntityID]storedEntity, error) {
	return s.findRowsWhere(tx, accountNo, ids, inAccount)
}

// findRowsWhere returns those of the entities whose rows meet a further condition.
func (s *Store) findRowsWhere(
	tx *sqldb.Tx, accountNo int64, ids []posture.EntityID, condition func(tx *sqldb.Tx, args *[]any, accountNo int64) string,
) (map[posture.EntityID]storedEntity, error) {
	requested := make(map[posture.EntityID]bool, len(ids))
	keys := make([]int64, len(ids))
	for i, id := range ids {
		requested[id] = true
		keys[i] = idHashOf(accountNo, idDigest(id))
	}
	found := make(map[posture.EntityID]storedEntity, len(ids))
	for part := range slices.Chunk(keys, 1000) {
		var args []any
		where := `id_hash IN ` + sqldb.List(&args, part) + condition(tx, &args, accountNo)
		rows, err := sqldb.Query(tx, scanRow, `SELECT `+rowColumns+` FROM entity WHERE `+where, args...)
		if err != nil {
			return nil, err
		}
		entities, err := s.readEntities(tx, rows)
		if err != nil {
			return nil, err
		}
		for i, e := range entities {
			if requested[e.ID] { // two ids may have the same hash
				found[e.ID] = storedEntity{rows[i].rowID, e}
			}
		}
	}
	return found, nil
}

// readEntities decodes the entities of rows.
func (s *Store) readEntities(tx *sqldb.Tx, rows []entityRow) ([]posture.Entity, error) {
	contexts, err := s.contextsOf(tx, rows)
	if err != nil {
		return nil, err
	}
	all := make([]posture.Entity, len(rows))
	for i, row := range rows {
		if all[i], err = row.entity(contexts[cellOf(row.rowID)]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// entity decodes the entity of a row.
func (r entityRow) entity(h cellContext) (posture.Entity, error) {
	e, err := readDoc(r.doc, h)
	e.Created, e.Updated = sqldb.Time(r.created), sqldb.Time(r.updated)
	return e, err
}

// Replace implements [posture.EntityStore].
func (s *Store) Replace(ctx context.Context, scope posture.Scope, origin posture.ChangeOrigin, found []posture.Entity, removed []posture.EntityID) error {
	items := make([]stagedEntity, len(found))
	removed = slices.DeleteFunc(slices.Clone(removed), func(id posture.EntityID) bool {
		return slices.ContainsFunc(found, func(e posture.Entity) bool { return e.ID == id })
	})
	ids, enc := slices.Clone(removed), newEncoder(scope)
	for i := range found {
		e := found[i]
		e.Properties, e.Edges = slices.Clone(e.Properties), slices.Clone(e.Edges) // the encoder sorts them
		item, err := enc.encode(&e)
		if err != nil {
			return err
		}
		item.id, item.doc = idDigest(e.ID), slices.Clone(item.doc)
		items[i] = item
		ids = append(ids, e.ID)
	}
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		c, err := s.change(tx, scope)
		if err != nil {
			return err
		}
		c.feed.event, c.feed.origin = true, origin
		existing, err := s.findEntities(tx, c.part.accountNo, ids)
		if err != nil {
			return err
		}
		if err := c.replace(enc, items, found, existing); err != nil {
			return err
		}
		var rowIDs []int64
		for _, id := range removed {
			if stored, ok := existing[id]; ok && stored.entity.Type == scope.Type {
				rowIDs = append(rowIDs, stored.rowID)
			}
		}
		if err := c.remove(rowIDs); err != nil {
			return err
		}
		return c.finish()
	})
}

// replace adds entities, or updates those that exist and differ.
func (c *changeSet) replace(enc *encoder, items []stagedEntity, found []posture.Entity, existing map[posture.EntityID]storedEntity) error {
	var adds, updates []stagedEntity
	done := map[digest]bool{}
	for i, item := range items {
		if done[item.id] {
			continue
		}
		done[item.id] = true
		stored, ok := existing[found[i].ID]
		if !ok {
			adds = append(adds, item)
			continue
		}
		current, err := enc.encode(&stored.entity)
		if err != nil {
			return err
		}
		if current.hash != item.hash {
			item.rowID = stored.rowID
			updates = append(updates, item)
		}
	}
	if err := c.add(adds); err != nil {
		return err
	}
	return c.update(updates)
}
