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
		candidates, err := partitionsFor(tx, org, id)
		if err != nil {
			return err
		}
		for _, p := range candidates {
			found, err := findEntities(tx, p, []posture.EntityID{id})
			if err != nil {
				return err
			}
			if at, ok := found[id]; ok {
				e = at.entity
				return nil
			}
		}
		return noEntity(id)
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
		located, err := findEntities(tx, p, ids)
		found = make(map[posture.EntityID]posture.Entity, len(located))
		for id, at := range located {
			found[id] = at.entity
		}
		return err
	})
	return found, err
}

// partitionsFor returns the partitions an entity may be in: those whose account
// its id names. The id is not split, since names may hold dots: any part of it
// may be an account.
func partitionsFor(tx *sqldb.Tx, org posture.OrgID, id posture.EntityID) ([]partition, error) {
	parts := strings.Split(string(id), ".")
	if len(parts) > 64 { // the account is among the first
		parts = parts[:64]
	}
	args := []any{org}
	return sqldb.Query(tx, scanPartition, `
		SELECT `+partitionColumns+`
		FROM entity_partition
		WHERE org = $1 AND account IN `+sqldb.List(&args, readable(parts)), args...)
}

// A located is an entity and where it is.
type located struct {
	rid    int64
	entity posture.Entity
}

// findEntities returns those of the entities that are in a partition.
func findEntities(tx *sqldb.Tx, p partition, ids []posture.EntityID) (map[posture.EntityID]located, error) {
	wanted := make(map[posture.EntityID]bool, len(ids))
	keys := make([]int64, len(ids))
	for i, id := range ids {
		wanted[id] = true
		keys[i] = ekeyOf(p.acct, idDigest(id))
	}
	found := make(map[posture.EntityID]located, len(ids))
	for part := range slices.Chunk(keys, 1000) {
		var args []any
		rows, err := sqldb.Query(tx, scanRow, `SELECT `+rowColumns+` FROM entity WHERE ekey IN `+sqldb.List(&args, part), args...)
		if err != nil {
			return nil, err
		}
		entities, err := readEntities(tx, rows)
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
func readEntities(tx *sqldb.Tx, rows []entityRow) ([]posture.Entity, error) {
	homes, err := homesOf(tx, rows)
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

// homesOf returns what the cells of rows say of their entities.
func homesOf(tx *sqldb.Tx, rows []entityRow) (map[int64]home, error) {
	cells := make([]int64, len(rows))
	for i, row := range rows {
		cells[i] = cellOf(row.rid)
	}
	slices.Sort(cells)
	return homesOfCells(tx, slices.Compact(cells))
}

func homesOfCells(tx *sqldb.Tx, cells []int64) (map[int64]home, error) {
	homes := make(map[int64]home, len(cells))
	for part := range slices.Chunk(cells, 1000) {
		var args []any
		found, err := sqldb.Query(tx, scanHome, `
			SELECT c.id, p.account, p.provider, c.type, c.region
			FROM entity_cell c JOIN entity_partition p ON p.acct = c.acct
			WHERE c.id IN `+sqldb.List(&args, part), args...)
		if err != nil {
			return nil, err
		}
		for _, h := range found {
			homes[h.cell] = h.home
		}
	}
	return homes, nil
}

// A cellHome is a cell and what it says of its entities.
type cellHome struct {
	cell int64
	home
}

func scanHome(r sqldb.Row) (h cellHome, err error) {
	err = r.Scan(&h.cell, &h.account, &h.provider, &h.typ, &h.region)
	return h, err
}

// Replace implements [posture.EntityStore].
func (s *Store) Replace(ctx context.Context, scope posture.Scope, found []posture.Entity, gone []posture.EntityID) error {
	items := make([]staged, len(found))
	gone = slices.DeleteFunc(slices.Clone(gone), func(id posture.EntityID) bool {
		return slices.ContainsFunc(found, func(e posture.Entity) bool { return e.ID == id })
	})
	ids := slices.Clone(gone)
	for i := range found {
		e := found[i]
		e.Properties, e.Edges = slices.Clone(e.Properties), slices.Clone(e.Edges) // they are put in order
		if err := admit(scope, &e); err != nil {
			return err
		}
		doc := appendDoc(nil, &e)
		items[i] = staged{idDigest(e.ID), contentDigest(e.Region, doc), e.Region, doc}
		ids = append(ids, e.ID)
	}
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		c, err := s.change(tx, scope)
		if err != nil {
			return err
		}
		there, err := findEntities(tx, c.part, ids)
		if err != nil {
			return err
		}
		if err := c.replace(items, found, there); err != nil {
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
func (c *changeSet) replace(items []staged, found []posture.Entity, there map[posture.EntityID]located) error {
	var adds []staged
	var updates []update
	done := map[digest]bool{}
	for i, item := range items {
		if done[item.id] {
			continue
		}
		done[item.id] = true
		at, ok := there[found[i].ID]
		switch {
		case !ok:
			adds = append(adds, item)
		case contentDigest(at.entity.Region, appendDoc(nil, &at.entity)) != item.hash:
			updates = append(updates, update{at.rid, item})
		}
	}
	if err := c.add(adds); err != nil {
		return err
	}
	return c.update(updates)
}
