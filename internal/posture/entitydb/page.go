package entitydb

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// Entities implements [posture.EntityStore]. Pages are in the order of row ids, which
// are stable.
func (s *Store) Entities(ctx context.Context, org posture.OrgID, f posture.EntityFilter, p posture.Page) (page posture.EntityPage, err error) {
	after, err := parsePosition(p.After)
	if err != nil {
		return page, err
	}
	limit := cmp.Or(p.Size, posture.MaxPage)
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		sel, err := s.selectEntities(tx, org, f)
		if err != nil {
			return err
		}
		page, err = sel.fullPage(after, limit)
		return err
	})
	return page, err
}

// maxCandidates bounds the rows that are read for one page.
const maxCandidates = 10_000

// fullPage returns up to limit entities after a position. The index may find rows that
// the filter does not match: only the prefixes of long words of names are indexed, and
// hashes can collide. After maxCandidates rows the page ends early, and the next page continues.
func (s *selection) fullPage(after int64, limit int) (page posture.EntityPage, err error) {
	rows, total, err := s.page(after, limit+1) // one more, to know whether there is a next page
	if err != nil {
		return page, err
	}
	page.Total = total
	size, candidates := limit, 0
	for {
		more := len(rows) > size
		rows = rows[:min(size, len(rows))]
		candidates += len(rows)
		entities, positions, err := s.read(rows)
		if err != nil {
			return page, err
		}
		page.Total -= len(rows) - len(entities) // rows that the filter does not match
		missing := limit - len(page.Entities)
		if len(entities) > missing {
			more, entities, positions = true, entities[:missing], positions[:missing]
		}
		page.Entities = append(page.Entities, entities...)
		full := len(page.Entities) == limit
		if !more {
			return page, nil
		}
		after = rows[len(rows)-1].rowID
		if full { // the next page begins after the last entity, not after the last row read
			after = positions[len(positions)-1]
		}
		if full || candidates >= maxCandidates {
			page.Next = strconv.FormatInt(after, 36)
			return page, nil
		}
		size = posture.MaxPage
		if rows, err = s.pageByPlan(after, size+1); err != nil {
			return page, err
		}
	}
}

// parsePosition parses the position that a page begins after. The first page begins after -1.
func parsePosition(after string) (int64, error) {
	if after == "" {
		return -1, nil
	}
	rowID, err := strconv.ParseInt(after, 36, 64)
	if err != nil {
		return 0, fault.Wrap(fault.Invalid, err, "invalid position in a list of entities")
	}
	return rowID, nil
}

// read decodes the entities of rows that the filter matches, and returns their row ids.
func (s *selection) read(rows []entityRow) (entities []posture.Entity, rowIDs []int64, err error) {
	all, err := s.store.readEntities(s.tx, rows)
	if err != nil {
		return nil, nil, err
	}
	entities = all[:0]
	for i, e := range all {
		if s.plan == nil || s.filter.Matches(&e) {
			entities, rowIDs = append(entities, e), append(rowIDs, rows[i].rowID)
		}
	}
	return entities, rowIDs, nil
}

// page returns up to limit rows after a position, and the total number of matches.
func (s *selection) page(after int64, limit int) (rows []entityRow, total int, err error) {
	if s.empty {
		return nil, 0, nil
	}
	if s.plan != nil && s.tx.Dialect() == sqldb.Postgres {
		if rows, total, ok, err := s.pageByList(after, limit); ok || err != nil {
			return rows, total, err
		}
	}
	if s.plan != nil {
		rows, err = s.pageByPlan(after, limit)
	} else {
		rows, err = s.cellPage(after, limit)
	}
	if err != nil {
		return nil, 0, err
	}
	if after < 0 && len(rows) < limit { // the first page has all matches
		return rows, len(rows), nil
	}
	total, err = s.count()
	return rows, total, err
}

// pageByPlan returns a page of the rows that match the plan.
func (s *selection) pageByPlan(after int64, limit int) ([]entityRow, error) {
	in := s.rows()
	in.from = max(in.from, after+1)
	var args []any
	from := s.source(in, &args)
	args = append(args, limit)
	n := len(args)
	if s.tx.Dialect() == sqldb.Postgres {
		return sqldb.Query(s.tx, scanRow, fmt.Sprintf(`SELECT %s FROM %s ORDER BY row_id LIMIT $%d`, rowColumns, from, n), args...)
	}
	return sqldb.Query(s.tx, scanRow, fmt.Sprintf(`
		SELECT %s
		FROM entity
		WHERE row_id IN (SELECT row_id FROM %s ORDER BY row_id LIMIT $%d)
		ORDER BY row_id`, rowColumns, from, n), args...)
}

// maxListed is how many matches pageByList materialises.
const maxListed = 10_000

// pageByList returns a page of the rows that match the plan in PostgreSQL, and their
// number. It materialises the row ids of all matches, because with ORDER BY and LIMIT
// PostgreSQL may scan the table in order, expecting a match soon. With more than
// maxListed matches that scan is the right plan, and pageByList reports false.
func (s *selection) pageByList(after int64, limit int) (rows []entityRow, total int, ok bool, err error) {
	var args []any
	from := s.source(s.rows(), &args)
	args = append(args, after, limit)
	rows, err = sqldb.Query(s.tx, func(r sqldb.Row) (row entityRow, err error) {
		err = r.Scan(&row.rowID, &row.idHash, &row.created, &row.updated, &row.doc, &total)
		return row, err
	}, fmt.Sprintf(`
		WITH found AS MATERIALIZED (SELECT row_id FROM %s LIMIT %d)
		SELECT %s, (SELECT count(*) FROM found)
		FROM entity
		WHERE row_id IN (SELECT row_id FROM found WHERE row_id > $%d ORDER BY row_id LIMIT $%d)%s
		ORDER BY row_id`, from, maxListed+1, rowColumns, len(args)-1, len(args), s.inShards()), args...)
	// An empty page after the last match has no row to carry the total.
	return rows, total, total <= maxListed && (len(rows) > 0 || after < 0), err
}

// cellPage returns a page of the rows of the selected cells: the rest of the cell that
// the position is in, then as many of the following cells as needed.
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
	const cellsPerRead = 200
	for next := cellOf(after) + 1; len(rows) < limit; { // the cell of -1 is -1, too
		cells, err := s.cellsFrom(next, cellsPerRead)
		if err != nil {
			return nil, err
		}
		more, err := s.rowsOf(cells, limit-len(rows))
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
		if len(cells) < cellsPerRead {
			break
		}
		next = cells[len(cells)-1].id + 1
	}
	return rows, nil
}

// cellsFrom returns selected cells in order, beginning with an id.
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

// rowsOf returns the first rows of cells. The cells store their counts, so all but the
// last needed cell are read as whole ranges.
func (s *selection) rowsOf(cells []cell, limit int) ([]entityRow, error) {
	var whole []span
	remaining := limit
	for _, c := range cells {
		if int64(remaining) < c.count {
			rows, err := s.rowsIn(whole, limit)
			if err != nil {
				return nil, err
			}
			last, err := s.rowsIn([]span{cellSpan(c.id)}, limit-len(rows))
			return append(rows, last...), err
		}
		remaining -= int(c.count)
		whole = appendSpan(whole, cellSpan(c.id))
	}
	return s.rowsIn(whole, limit)
}

// appendSpan appends a range, merging it with an adjacent last one.
func appendSpan(all []span, s span) []span {
	if n := len(all); n > 0 && all[n-1].to+1 == s.from {
		all[n-1].to = s.to
		return all
	}
	return append(all, s)
}

// rowsIn returns the first rows of sorted ranges.
func (s *selection) rowsIn(in []span, limit int) ([]entityRow, error) {
	if len(in) == 0 || limit <= 0 {
		return nil, nil
	}
	if s.tx.Dialect() == sqldb.Postgres && !s.tx.Distributed() { // planning many OR terms is slow; Citus has no LATERAL with LIMIT
		var from, to []int64
		for _, each := range in {
			from, to = append(from, each.from), append(to, each.to)
		}
		return sqldb.Query(s.tx, scanRow, `
			SELECT `+rowColumns+`
			FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[])) AS part (low, high), LATERAL (
				SELECT `+rowColumns+`
				FROM entity
				WHERE row_id BETWEEN low AND high
				ORDER BY row_id
				LIMIT $3) AS found
			ORDER BY row_id
			LIMIT $3`, from, to, limit)
	}
	var args []any
	var terms []string
	for _, each := range in {
		args = append(args, each.from, each.to)
		terms = append(terms, fmt.Sprintf("row_id BETWEEN $%d AND $%d", len(args)-1, len(args)))
	}
	args = append(args, limit)
	text := fmt.Sprintf(`SELECT %s FROM entity WHERE (%s)`, rowColumns, strings.Join(terms, " OR "))
	order := fmt.Sprintf(` ORDER BY row_id LIMIT $%d`, len(args))
	text += inSpans(s.tx, &args, in) + order
	return sqldb.Query(s.tx, scanRow, text, args...)
}

// inSpans returns the condition of inAccounts for all accounts that have rows in
// the ranges. A range may cover several accounts.
func inSpans(tx *sqldb.Tx, args *[]any, in []span) string {
	if !tx.Distributed() {
		return ""
	}
	var rowIDs []int64
	for _, each := range in {
		for n := accountOf(each.from); n <= accountOf(each.to); n++ {
			rowIDs = append(rowIDs, n<<accountShift)
		}
	}
	return inAccounts(tx, args, rowIDs)
}
