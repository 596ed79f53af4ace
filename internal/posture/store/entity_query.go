package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// Entities implements [posture.EntityStore]. Entities are in the order of their
// rows, which never changes.
func (s *Store) Entities(ctx context.Context, org posture.OrgID, f posture.EntityFilter, p posture.Page) (page posture.EntityPage, err error) {
	after, err := placeOf(p.After)
	if err != nil {
		return page, err
	}
	limit := cmp.Or(p.Size, posture.MaxPage)
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		sel, err := s.selectEntities(tx, org, f)
		if err != nil {
			return err
		}
		var rows []entityRow
		if rows, page.Total, err = sel.page(after, limit+1); err != nil { // one more tells whether there is another page
			return err
		}
		if len(rows) > limit {
			rows = rows[:limit]
			page.Next = strconv.FormatInt(rows[limit-1].rid, 36)
		}
		page.Entities, err = sel.read(rows)
		page.Total -= len(rows) - len(page.Entities)
		return err
	})
	return page, err
}

// placeOf reads where a page begins.
func placeOf(after string) (int64, error) {
	if after == "" {
		return -1, nil
	}
	rid, err := strconv.ParseInt(after, 36, 64)
	if err != nil {
		return 0, fault.Wrap(fault.Invalid, err, "this is not a place in a list of entities")
	}
	return rid, nil
}

// read returns the entities of rows. Two tokens may have the same hash, so each
// is looked at once more.
func (s *selection) read(rows []entityRow) ([]posture.Entity, error) {
	all, err := s.store.readEntities(s.tx, rows)
	if err != nil {
		return nil, err
	}
	if s.plan == nil {
		return all, nil
	}
	return slices.DeleteFunc(all, func(e posture.Entity) bool { return !s.filter.Matches(&e) }), nil
}

// page returns up to limit rows after a place, in order, and how many there are
// before and after it.
func (s *selection) page(after int64, limit int) (rows []entityRow, total int, err error) {
	if s.empty {
		return nil, 0, nil
	}
	if s.plan != nil && s.tx.Dialect() == sqldb.Postgres {
		if rows, total, ok, err := s.listed(after, limit); ok || err != nil {
			return rows, total, err
		}
	}
	if s.plan != nil {
		rows, err = s.planned(after, limit)
	} else {
		rows, err = s.cellPage(after, limit)
	}
	if err != nil || after < 0 && len(rows) < limit {
		return rows, len(rows), err
	}
	total, err = s.count()
	return rows, total, err
}

// planned returns rows that the plan finds.
func (s *selection) planned(after int64, limit int) ([]entityRow, error) {
	in := s.rows()
	in.from = max(in.from, after+1)
	var args []any
	from := source(s.tx.Dialect(), s.org, s.plan, in, &args)
	args = append(args, limit)
	n := len(args)
	if s.tx.Dialect() == sqldb.Postgres {
		return sqldb.Query(s.tx, scanRow, fmt.Sprintf(`SELECT %s FROM %s ORDER BY rid LIMIT $%d`, rowColumns, from, n), args...)
	}
	return sqldb.Query(s.tx, scanRow, fmt.Sprintf(`
		SELECT %s
		FROM entity
		WHERE rid IN (SELECT rid FROM %s ORDER BY rid LIMIT $%d)
		ORDER BY rid`, rowColumns, from, n), args...)
}

// maxListed is how many hits PostgreSQL lists.
const maxListed = 10_000

// listed returns rows that the plan finds in PostgreSQL, and how many it finds.
// All hits are listed once, for both: asked for the first of them, PostgreSQL may
// go through the table in order, in the belief that it soon meets one. If there
// are too many, that is what it should do, and it reports false.
func (s *selection) listed(after int64, limit int) (rows []entityRow, total int, ok bool, err error) {
	var args []any
	from := source(s.tx.Dialect(), s.org, s.plan, s.rows(), &args)
	args = append(args, after, limit)
	rows, err = sqldb.Query(s.tx, func(r sqldb.Row) (row entityRow, err error) {
		err = r.Scan(&row.rid, &row.ekey, &row.created, &row.updated, &row.doc, &total)
		return row, err
	}, fmt.Sprintf(`
		WITH found AS MATERIALIZED (SELECT rid FROM %s LIMIT %d)
		SELECT %s, (SELECT count(*) FROM found)
		FROM entity
		WHERE rid IN (SELECT rid FROM found WHERE rid > $%d ORDER BY rid LIMIT $%d)
		ORDER BY rid`, from, maxListed+1, rowColumns, len(args)-1, len(args)), args...)
	// A page after the last hit cannot say how many there are.
	return rows, total, total <= maxListed && (len(rows) > 0 || after < 0), err
}

// cellPage returns rows of the cells of the selection: the rest of the cell that
// the place is in, then the cells after it, as many as it takes.
func (s *selection) cellPage(after int64, limit int) ([]entityRow, error) {
	var rows []entityRow
	if after >= 0 {
		inside, err := s.cellsFrom(cellOf(after), 1)
		if err != nil {
			return nil, err
		}
		if len(inside) == 1 && inside[0].id == cellOf(after) {
			rest := span{after + 1, cellSpan(inside[0].id).to}
			if rows, err = s.rowsIn([]span{rest}, limit); err != nil {
				return nil, err
			}
		}
	}
	for next := cellOf(after) + 1; len(rows) < limit; {
		cells, err := s.cellsFrom(next, 200)
		if err != nil {
			return nil, err
		}
		more, err := s.rowsOf(cells, limit-len(rows))
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
		if len(cells) < 200 {
			break
		}
		next = cells[len(cells)-1].id + 1
	}
	return rows, nil
}

// cellsFrom returns cells of the selection in order, beginning with an id.
func (s *selection) cellsFrom(id int64, limit int) ([]cell, error) {
	var args []any
	where := s.cellWhere(&args)
	args = append(args, id, limit)
	return sqldb.Query(s.tx, scanCell, fmt.Sprintf(`
		SELECT %s
		FROM entity_cell
		WHERE %s AND id >= $%d
		ORDER BY id
		LIMIT $%d`, cellColumns, where, len(args)-1, len(args)), args...)
}

// rowsOf returns the first rows of cells. How many each has is known: all but
// the last one that is needed are read as a whole.
func (s *selection) rowsOf(cells []cell, limit int) ([]entityRow, error) {
	var whole []span
	room := limit
	for i, c := range cells {
		if int64(room) < c.count {
			rows, err := s.rowsIn(whole, limit)
			if err != nil {
				return nil, err
			}
			last, err := s.rowsIn([]span{cellSpan(cells[i].id)}, limit-len(rows))
			return append(rows, last...), err
		}
		room -= int(c.count)
		whole = appendSpan(whole, cellSpan(c.id))
	}
	return s.rowsIn(whole, limit)
}

// appendSpan appends a range, or makes the last one longer.
func appendSpan(all []span, s span) []span {
	if n := len(all); n > 0 && all[n-1].to+1 == s.from {
		all[n-1].to = s.to
		return all
	}
	return append(all, s)
}

// rowsIn returns the rows of ranges, which are in order.
func (s *selection) rowsIn(in []span, limit int) ([]entityRow, error) {
	if len(in) == 0 || limit <= 0 {
		return nil, nil
	}
	if s.tx.Dialect() == sqldb.Postgres { // takes long to plan for many ranges
		var from, to []int64
		for _, each := range in {
			from, to = append(from, each.from), append(to, each.to)
		}
		return sqldb.Query(s.tx, scanRow, `
			SELECT `+rowColumns+`
			FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[])) AS part (low, high), LATERAL (
				SELECT `+rowColumns+`
				FROM entity
				WHERE rid BETWEEN low AND high
				ORDER BY rid
				LIMIT $3) AS found
			ORDER BY rid
			LIMIT $3`, from, to, limit)
	}
	var args []any
	var terms []string
	for _, each := range in {
		args = append(args, each.from, each.to)
		terms = append(terms, fmt.Sprintf("rid BETWEEN $%d AND $%d", len(args)-1, len(args)))
	}
	args = append(args, limit)
	return sqldb.Query(s.tx, scanRow, fmt.Sprintf(`
		SELECT %s
		FROM entity
		WHERE %s
		ORDER BY rid
		LIMIT $%d`, rowColumns, strings.Join(terms, " OR "), len(args)), args...)
}
