package entitydb

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// maxBuckets bounds the buckets of all aggregations of a call. Each nested aggregation
// of a bucket counts as one more.
const maxBuckets = 100_000

// Aggregate implements [posture.EntityStore].
func (s *Store) Aggregate(ctx context.Context, org posture.OrgID, f posture.EntityFilter, aggregations map[string]posture.Aggregation) (total int, found map[string]posture.Buckets, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		sel, err := s.selectEntities(tx, org, f)
		if err != nil {
			return err
		}
		found, total = make(map[string]posture.Buckets, len(aggregations)), uncounted
		remaining := maxBuckets
		for _, name := range slices.Sorted(maps.Keys(aggregations)) {
			c := newCounter(aggregations[name], &remaining)
			n, err := sel.aggregate(aggregations[name], c)
			if err != nil {
				return err
			}
			total = max(total, n)
			found[name] = c.result()
		}
		if total == uncounted {
			total, err = sel.count()
		}
		return err
	})
	return total, found, err
}

// uncounted is the total of an aggregation that did not determine it.
const uncounted = -1

// aggregate runs one aggregation over the selection. It returns the total number of
// matches, or uncounted.
func (s *selection) aggregate(a posture.Aggregation, c *counter) (int, error) {
	switch {
	case s.empty:
		return 0, nil
	case !usesOnlyCells(a):
		return s.countEntities(a, c)
	case s.plan != nil:
		return s.countHits(c)
	}
	return uncounted, s.countCells(a, c)
}

// usesOnlyCells reports whether an aggregation uses only what all entities of a cell have in
// common: account, type and region, and what follows from them.
func usesOnlyCells(a posture.Aggregation) bool {
	if a.Of.Kind != posture.FieldAttribute || a.Of.Name == posture.FieldName {
		return false
	}
	for _, sub := range a.Sub {
		if !usesOnlyCells(sub) {
			return false
		}
	}
	return true
}

// needsAccount reports whether an aggregation needs counts per account.
func needsAccount(a posture.Aggregation) bool {
	if a.Of.Name == posture.FieldAccount || a.Of.Name == posture.FieldPartition {
		return true
	}
	for _, sub := range a.Sub {
		if needsAccount(sub) {
			return true
		}
	}
	return false
}

// countCells aggregates the stored counts of cells.
func (s *selection) countCells(a posture.Aggregation, c *counter) error {
	var args []any
	if s.accountNos == nil && !needsAccount(a) { // the totals of the organisation are enough
		where := s.cellWhere(&args)
		_, err := countRows(s.tx, c, `SELECT '', type, region, count FROM entity_tally WHERE `+where, args...)
		return err
	}
	where := s.cellWhere(&args)
	if s.tx.Distributed() {
		_, err := s.countByCell(c, `SELECT id, count FROM entity_cell WHERE `+where, args)
		return err
	}
	_, err := countRows(s.tx, c, `
		SELECT p.account, c.type, c.region, c.count
		FROM (SELECT account_no, type, region, CAST(sum(count) AS BIGINT) AS count FROM entity_cell WHERE `+where+` GROUP BY account_no, type, region) AS c
		JOIN entity_partition p ON p.account_no = c.account_no`, args...)
	return err
}

// countHits counts the matches of a plan by cell.
func (s *selection) countHits(c *counter) (int, error) {
	var args []any
	from := s.source(s.rows(), &args)
	cell := fmt.Sprintf("row_id >> %d", memberBits)
	if s.tx.Distributed() {
		return s.countByCell(c, `SELECT `+cell+`, count(*) FROM `+from+` GROUP BY `+cell, args)
	}
	return countRows(s.tx, c, `
		SELECT p.account, c.type, c.region, h.count
		FROM (SELECT `+cell+` AS cell, count(*) AS count FROM `+from+` GROUP BY `+cell+`) AS h
		JOIN entity_cell c ON c.id = h.cell
		JOIN entity_partition p ON p.account_no = c.account_no`, args...)
}

// countByCell runs a query of distributed tables that returns a cell id and a count in each row,
// and adds the counts to the counter. The accounts of the cells, which are in another table, are
// read separately. countByCell returns the sum of the counts.
func (s *selection) countByCell(c *counter, text string, args []any) (total int, err error) {
	type row struct {
		cell int64
		n    int
	}
	rows, err := sqldb.Query(s.tx, func(r sqldb.Row) (out row, err error) {
		err = r.Scan(&out.cell, &out.n)
		return out, err
	}, text, args...)
	if err != nil {
		return 0, err
	}
	first := make([]entityRow, len(rows)) // the first row id of each cell stands for it
	for i, r := range rows {
		first[i].rowID = r.cell << memberBits
	}
	contexts, err := s.store.contextsOf(s.tx, first)
	if err != nil {
		return 0, err
	}
	for _, r := range rows {
		h := contexts[r.cell]
		total += r.n
		e := posture.Entity{Account: h.account, Type: h.typ, Region: h.region, Service: h.typ.Service(), Provider: h.typ.Provider()}
		if err := c.add(&e, r.n); err != nil {
			return 0, err
		}
	}
	return total, nil
}

// countRows runs a query that returns account, type, region and a count in each row, and adds
// the counts to the counter. It returns the sum of the counts.
func countRows(tx *sqldb.Tx, c *counter, text string, args ...any) (total int, err error) {
	type row struct {
		e posture.Entity
		n int
	}
	scan := func(r sqldb.Row) (out row, err error) {
		err = r.Scan(&out.e.Account, &out.e.Type, &out.e.Region, &out.n)
		return out, err
	}
	for r, err := range sqldb.Each(tx, scan, text, args...) {
		if err != nil {
			return 0, err
		}
		r.e.Service, r.e.Provider = r.e.Type.Service(), r.e.Type.Provider()
		total += r.n
		if err := c.add(&r.e, r.n); err != nil {
			return 0, err
		}
	}
	return total, nil
}

// A counter counts entities by the values of an attribute.
type counter struct {
	aggregation posture.Aggregation
	remaining   *int // remaining buckets
	buckets     map[string]*bucket
}

type bucket struct {
	count int
	sub   map[string]*counter
}

func newCounter(a posture.Aggregation, remaining *int) *counter {
	return &counter{aggregation: a, remaining: remaining, buckets: map[string]*bucket{}}
}

// add counts n entities with the same values.
func (c *counter) add(e *posture.Entity, n int) error {
	values := c.aggregation.Of.Values(e)
	for i, v := range values {
		if slices.Contains(values[:i], v) {
			continue
		}
		b := c.buckets[v]
		if b == nil {
			*c.remaining -= 1 + len(c.aggregation.Sub)
			if *c.remaining < 0 {
				return fault.New(fault.Invalid, "the aggregations have more than %d buckets; filter more, or count something with fewer values", maxBuckets)
			}
			b = &bucket{sub: make(map[string]*counter, len(c.aggregation.Sub))}
			for name, sub := range c.aggregation.Sub {
				b.sub[name] = newCounter(sub, c.remaining)
			}
			c.buckets[strings.Clone(v)] = b // the entity's memory is reused
		}
		b.count += n
		for _, sub := range b.sub {
			if err := sub.add(e, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// result returns the buckets; with a limit, those with the highest counts.
func (c *counter) result() posture.Buckets {
	keys := slices.SortedFunc(maps.Keys(c.buckets), func(a, b string) int {
		return cmp.Or(cmp.Compare(c.buckets[b].count, c.buckets[a].count), cmp.Compare(a, b))
	})
	if c.aggregation.Limit > 0 && len(keys) > c.aggregation.Limit {
		keys = keys[:c.aggregation.Limit]
	}
	all := make(posture.Buckets, len(keys))
	for _, k := range keys {
		b := posture.Bucket{Count: c.buckets[k].count}
		for name, sub := range c.buckets[k].sub {
			if b.Sub == nil {
				b.Sub = make(map[string]posture.Buckets, len(c.aggregation.Sub))
			}
			b.Sub[name] = sub.result()
		}
		all[k] = b
	}
	return all
}
