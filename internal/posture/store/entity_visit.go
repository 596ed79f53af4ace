package store

import (
	"errors"
	"fmt"
	"strconv"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// countEntities looks at every entity that can have a value.
func (s *selection) countEntities(a posture.Aggregation, c *counter) error {
	v := &visitor{selection: s, counter: c}
	v.wanted.aggregation(a)
	if s.plan != nil {
		v.wanted.filter(s.filter)
	}
	narrow, err := s.having(a.Of)
	if err != nil {
		return err
	}
	for v.after = -1; ; {
		err := narrow.visit(v.after, v.look)
		if err != nil && !errors.Is(err, errPause) {
			return err
		}
		if err := v.catchUp(); err != nil {
			return err
		}
		if err == nil {
			return nil
		}
	}
}

// having returns the selection of those that have an attribute, if that is worth
// looking up: when most have it, reading all is quicker.
func (s *selection) having(a posture.Attribute) (*selection, error) {
	kind := map[posture.AttributeKind]byte{posture.PropertyAttribute: hasToken, posture.TagAttribute: hasTagToken}[a.Kind]
	if kind == 0 {
		return s, nil
	}
	narrow := *s
	if s.plan == nil {
		narrow.makePlan(planner{org: s.org})
	}
	narrow.plan = and(narrow.plan, hit(newToken(s.org, kind, a.Name, "")))
	if s.plan != nil {
		return &narrow, nil
	}
	all, err := s.count()
	if err != nil {
		return nil, err
	}
	few, err := narrow.count()
	if err != nil {
		return nil, err
	}
	if few > all/3 {
		return s, nil
	}
	return &narrow, nil
}

// visit calls f for the rows of the selection after a place, in order.
func (s *selection) visit(after int64, f func(rid int64, doc []byte) error) error {
	var args []any
	if s.plan == nil {
		where := s.cellWhere(&args)
		args = append(args, after+1)
		n := strconv.Itoa(len(args))
		return s.tx.Visit(f, fmt.Sprintf(`
			SELECT e.rid, e.doc
			FROM entity_cell c JOIN entity e ON e.rid BETWEEN c.id << %d AND (c.id << %[1]d) + %d
			WHERE %s AND c.id >= $%s >> %[1]d AND e.rid >= $%[4]s
			ORDER BY c.id, e.rid`, memberBits, memberMask, where, n), args...)
	}
	in := s.rows()
	in.from = max(in.from, after+1)
	from := source(s.tx.Dialect(), s.org, s.plan, in, &args)
	if s.tx.Dialect() == sqldb.Postgres {
		return s.tx.Visit(f, `SELECT rid, doc FROM `+from+` ORDER BY rid`, args...)
	}
	return s.tx.Visit(f, `SELECT rid, doc FROM entity WHERE rid IN (SELECT rid FROM `+from+`) ORDER BY rid`, args...)
}

// errPause ends a visit that goes on later.
var errPause = errors.New("there is something to be looked up first")

// A visitor counts what it sees.
type visitor struct {
	*selection
	counter *counter
	wanted  wanted
	after   int64       // the row that was seen last
	cell    int64       // of the row that was seen last
	home    home        // of the cell
	later   []entityRow // of cells that are not known
}

// look counts one row. What cell it is in can only be looked up between visits.
func (v *visitor) look(rid int64, doc []byte) error {
	v.after = rid
	if cell := cellOf(rid); cell != v.cell {
		homes, unknown := v.store.seen.homes([]int64{cell})
		if len(unknown) > 0 {
			if v.later = append(v.later, entityRow{rid: rid, doc: append([]byte(nil), doc...)}); len(v.later) >= 1000 {
				return errPause
			}
			return nil
		}
		v.cell, v.home = cell, homes[cell]
	}
	return v.count(doc, v.home)
}

// catchUp counts the rows that were left for later.
func (v *visitor) catchUp() error {
	homes, err := v.store.homesOf(v.tx, v.later)
	if err != nil {
		return err
	}
	for _, row := range v.later {
		if err := v.count(row.doc, homes[cellOf(row.rid)]); err != nil {
			return err
		}
	}
	v.later = v.later[:0]
	return nil
}

// count counts one entity. Two tokens may have the same hash, so each is looked
// at once more.
func (v *visitor) count(doc []byte, h home) error {
	e, err := readSome(doc, h, &v.wanted)
	if err != nil {
		return err
	}
	if v.plan != nil && !v.filter.Matches(&e) {
		return nil
	}
	return v.counter.add(&e, 1)
}
