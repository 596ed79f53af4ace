package entitydb

import (
	"errors"
	"fmt"
	"slices"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// countEntities aggregates by attributes that are stored in the entities. It returns
// the total number of matches, or uncounted.
func (s *selection) countEntities(a posture.Aggregation, c *counter) (int, error) {
	if s.tx.Dialect() == sqldb.Postgres {
		if n, ok, err := s.countGroups(a, c); ok || err != nil {
			return n, err
		}
	}
	return uncounted, s.visitAll(a, c)
}

// visitAll scans every entity that can have a value of the aggregated attribute.
func (s *selection) visitAll(a posture.Aggregation, c *counter) error {
	v := &visitor{selection: s, counter: c, contexts: map[int64]cellContext{}}
	v.projection.addAggregation(a)
	if s.plan != nil {
		v.projection.addFilter(s.filter)
	}
	narrow, err := s.withAttribute(a.Of)
	if err != nil {
		return err
	}
	remainingBuckets := *c.remaining
	err = narrow.visit(v.add)
	if errors.Is(err, errCellsUnknown) { // load all contexts, then start again
		clear(c.buckets)
		*c.remaining = remainingBuckets
		v.deferred = nil
		if v.contexts, err = s.allContexts(); err != nil {
			return err
		}
		err = narrow.visit(v.add)
	}
	if err != nil {
		return err
	}
	return v.catchUp()
}

// presenceToken returns the token that all entities with an attribute have. For fields, which
// have no such token, ok is false.
func (s *selection) presenceToken(a posture.Attribute) (t token, ok bool) {
	switch a.Kind {
	case posture.PropertyAttribute:
		return newToken(s.org, hasToken, a.Name, ""), true
	case posture.TagAttribute:
		return newToken(s.org, hasTagToken, a.Name, ""), true
	}
	return 0, false
}

// withAttribute narrows the selection to entities that have an attribute. It narrows a selection
// without a plan only if at most a third of the entities have the attribute: otherwise a scan
// of all is faster than the index.
func (s *selection) withAttribute(a posture.Attribute) (*selection, error) {
	t, ok := s.presenceToken(a)
	if !ok {
		return s, nil
	}
	narrow := *s
	if s.plan == nil {
		narrow.makePlan(planner{org: s.org}) // without types, which only conditions need
	}
	narrow.plan = and(narrow.plan, hit(t))
	if s.plan != nil {
		return &narrow, nil
	}
	all, err := s.count()
	if err != nil {
		return nil, err
	}
	count, err := narrow.count()
	if err != nil {
		return nil, err
	}
	if count > all/3 {
		return s, nil
	}
	return &narrow, nil
}

// visit calls f for every row of the selection.
func (s *selection) visit(f func(rowID int64, doc []byte) error) error {
	var args []any
	text := s.scan("row_id, doc", &args)
	return s.tx.Visit(f, text, args...)
}

// scan returns a query of columns of all rows of the selection.
func (s *selection) scan(columns string, args *[]any) string {
	if s.plan == nil {
		where := s.cellWhere(args)
		return fmt.Sprintf(`
			SELECT %s
			FROM (SELECT id, account_no AS cell_account FROM entity_cell WHERE %s) AS c
			JOIN entity e ON e.row_id BETWEEN c.id << %d AND (c.id << %[3]d) + %d%s`, columns, where, memberBits, memberMask, sameAccount(s.tx, "e.account_no", "c.cell_account"))
	}
	from := s.source(s.rows(), args)
	if s.tx.Dialect() == sqldb.Postgres {
		return `SELECT ` + columns + ` FROM ` + from
	}
	return `SELECT ` + columns + ` FROM entity WHERE row_id IN (SELECT row_id FROM ` + from + `)`
}

// allContexts returns the contexts of all cells of the selection.
func (s *selection) allContexts() (map[int64]cellContext, error) {
	var args []any
	where := s.cellWhere(&args)
	all, err := readContexts(s.tx, where, args)
	contexts := make(map[int64]cellContext, len(all))
	for _, h := range all {
		contexts[h.cell] = h.cellContext
	}
	afterCommit(s.tx, func() { s.store.ids.addContexts(all) })
	return contexts, err
}

// errCellsUnknown ends a scan that finds too many rows of cells that are not cached.
var errCellsUnknown = errors.New("too many cells are not cached")

// A visitor counts the rows of a scan.
type visitor struct {
	*selection  // not narrowed to an attribute
	counter     *counter
	projection  projection
	contexts    map[int64]cellContext
	cell        int64       // of the last row
	cellContext cellContext // of that cell
	deferred    []entityRow // rows of cells that are not cached
}

// maxDeferred bounds the rows that a visitor keeps in memory.
const maxDeferred = 1000

// add counts one row. It cannot query the database during the scan, so it defers rows
// of cells that are not cached.
func (v *visitor) add(rowID int64, doc []byte) error {
	cell := cellOf(rowID)
	if cell == v.cell {
		return v.count(doc, v.cellContext)
	}
	h, ok := v.contexts[cell]
	if !ok {
		found, _ := v.store.ids.contexts([]int64{cell})
		h, ok = found[cell]
		if ok {
			v.contexts[cell] = h
		}
	}
	if ok {
		v.cell, v.cellContext = cell, h
		return v.count(doc, h)
	}
	if len(v.deferred) >= maxDeferred {
		return errCellsUnknown
	}
	v.deferred = append(v.deferred, entityRow{rowID: rowID, doc: slices.Clone(doc)})
	return nil
}

// catchUp counts the rows that add deferred.
func (v *visitor) catchUp() error {
	contexts, err := v.store.contextsOf(v.tx, v.deferred)
	if err != nil {
		return err
	}
	for _, row := range v.deferred {
		if err := v.count(row.doc, contexts[cellOf(row.rowID)]); err != nil {
			return err
		}
	}
	return nil
}

// count counts one entity. Two values may have the same token, so count applies the
// original filter.
func (v *visitor) count(doc []byte, h cellContext) error {
	e, err := readProjected(doc, h, &v.projection)
	if err != nil {
		return err
	}
	if v.plan != nil && !v.filter.Matches(&e) {
		return nil
	}
	return v.counter.add(&e, 1)
}
