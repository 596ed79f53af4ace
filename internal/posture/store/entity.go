package store

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
		found, err := s.tryPartitions(tx, org, id, func(acct int64) (bool, error) {
			found, err := s.findEntities(tx, acct, []posture.EntityID{id})
			at, ok := found[id]
			e = at.entity
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
		located, err := s.findEntities(tx, p.acct, ids)
		found = make(map[posture.EntityID]posture.Entity, len(located))
		for id, at := range located {
			found[id] = at.entity
		}
		return err
	})
	return found, err
}

// tryPartitions calls look for the partitions an entity may be in, those whose
// account its id names, until it finds something. The id is not split, since
// names may hold dots: any part of it may be an account.
func (s *Store) tryPartitions(tx *sqldb.Tx, org posture.OrgID, id posture.EntityID, look func(acct int64) (bool, error)) (bool, error) {
	parts := strings.Split(string(id), ".")
	if len(parts) > 64 { // the account is among the first
		parts = parts[:64]
	}
	tried := map[int64]bool{}
	for _, acct := range s.seen.partitions(org, parts) {
		tried[acct] = true
		if found, err := look(acct); found || err != nil {
			return found, err
		}
	}
	args := []any{org}
	all, err := sqldb.Query(tx, scanPartition, `
		SELECT `+partitionColumns+`
		FROM entity_partition
		WHERE org = $1 AND account IN `+sqldb.List(&args, readable(parts)), args...)
	if err != nil {
		return false, err
	}
	for _, p := range all {
		s.seen.addPartition(p)
		if tried[p.acct] {
			continue
		}
		if found, err := look(p.acct); found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// A located is an entity and where it is.
type located struct {
	rid    int64
	entity posture.Entity
}

// findEntities returns those of the entities that are in a partition.
func (s *Store) findEntities(tx *sqldb.Tx, acct int64, ids []posture.EntityID) (map[posture.EntityID]located, error) {
	wanted := make(map[posture.EntityID]bool, len(ids))
	keys := make([]int64, len(ids))
	for i, id := range ids {
		wanted[id] = true
		keys[i] = ekeyOf(acct, idDigest(id))
	}
	found := make(map[posture.EntityID]located, len(ids))
	for part := range slices.Chunk(keys, 1000) {
		var args []any
		rows, err := sqldb.Query(tx, scanRow, `SELECT `+rowColumns+` FROM entity WHERE ekey IN `+sqldb.List(&args, part), args...)
		if err != nil {
			return nil, err
		}
		entities, err := s.readEntities(tx, rows)
		if err != nil {
			return nil, err
		}
		for i, e := range entities {
			if wanted[e.ID] { // another may have the same key
				found[e.ID] = located{rows[i].rid, e}
			}
		}
	}
	return found, nil
}

// readEntities returns the entities of rows.
func (s *Store) readEntities(tx *sqldb.Tx, rows []entityRow) ([]posture.Entity, error) {
	homes, err := s.homesOf(tx, rows)
	if err != nil {
		return nil, err
	}
	all := make([]posture.Entity, len(rows))
	for i, row := range rows {
		if all[i], err = row.entity(homes[cellOf(row.rid)]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// entity returns the entity of a row.
func (r entityRow) entity(h home) (posture.Entity, error) {
	e, err := readDoc(r.doc, h)
	e.Created, e.Updated = sqldb.Time(r.created), sqldb.Time(r.updated)
	return e, err
}

// Replace implements [posture.EntityStore].
func (s *Store) Replace(ctx context.Context, scope posture.Scope, found []posture.Entity, gone []posture.EntityID) error {
	items := make([]staged, len(found))
	gone = slices.DeleteFunc(slices.Clone(gone), func(id posture.EntityID) bool {
		return slices.ContainsFunc(found, func(e posture.Entity) bool { return e.ID == id })
	})
	ids, w := slices.Clone(gone), newWriter(scope)
	for i := range found {
		e := found[i]
		e.Properties, e.Edges = slices.Clone(e.Properties), slices.Clone(e.Edges) // they are put in order
		item, err := w.write(&e)
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
		there, err := s.findEntities(tx, c.part.acct, ids)
		if err != nil {
			return err
		}
		if err := c.replace(w, items, found, there); err != nil {
			return err
		}
		var rids []int64
		for _, id := range gone {
			if at, ok := there[id]; ok && at.entity.Type == scope.Type {
				rids = append(rids, at.rid)
			}
		}
		if err := c.remove(rids); err != nil {
			return err
		}
		return c.finish()
	})
}

// replace adds entities, or updates those that are there and differ.
func (c *changeSet) replace(w *writer, items []staged, found []posture.Entity, there map[posture.EntityID]located) error {
	var adds, updates []staged
	done := map[digest]bool{}
	for i, item := range items {
		if done[item.id] {
			continue
		}
		done[item.id] = true
		at, ok := there[found[i].ID]
		if !ok {
			adds = append(adds, item)
			continue
		}
		known, err := w.write(&at.entity)
		if err != nil {
			return err
		}
		if known.hash != item.hash {
			item.rid = at.rid
			updates = append(updates, item)
		}
	}
	if err := c.add(adds); err != nil {
		return err
	}
	return c.update(updates)
}
