package store

import (
	"errors"
	"fmt"
	"slices"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// countEntities counts by something that only entities can tell. It returns how
// many there are, if it comes to know that.
func (s *selection) countEntities(a posture.Aggregation, c *counter) (int, error) {
	if s.tx.Dialect() == sqldb.Postgres {
		if n, ok, err := s.countGroups(a, c); ok || err != nil {
			return n, err
		}
	}
	return uncounted, s.visitAll(a, c)
}

// visitAll looks at every entity that can have a value.
func (s *selection) visitAll(a posture.Aggregation, c *counter) error {
	v := &visitor{selection: s, counter: c, homes: map[int64]home{}}
	v.wanted.aggregation(a)
	if s.plan != nil {
		v.wanted.filter(s.filter)
	}
	narrow, err := s.having(a.Of)
	if err != nil {
		return err
	}
	room := *c.room
	err = narrow.visit(v.look)
	if errors.Is(err, errUnknown) { // once more, and then all are known
		clear(c.buckets)
		*c.room, v.later = room, nil
		if v.homes, err = s.allHomes(); err != nil {
			return err
		}
		err = narrow.visit(v.look)
	}
	if err != nil {
		return err
	}
	return v.catchUp()
}

// hasToken returns the token of entities that have an attribute.
func (s *selection) hasToken(a posture.Attribute) (t token, ok bool) {
	switch a.Kind {
	case posture.PropertyAttribute:
		return newToken(s.org, hasToken, a.Name, ""), true
	case posture.TagAttribute:
		return newToken(s.org, hasTagToken, a.Name, ""), true
	}
	return 0, false
}

// having returns the selection of those that have an attribute, if that is worth
// looking up: when most have it, reading all is quicker.
func (s *selection) having(a posture.Attribute) (*selection, error) {
	t, ok := s.hasToken(a)
	if !ok {
		return s, nil
	}
	narrow := *s
	if s.plan == nil {
		narrow.makePlan(planner{org: s.org})
	}
	narrow.plan = and(narrow.plan, hit(t))
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

// visit calls f for the rows of the selection.
func (s *selection) visit(f func(rid int64, doc []byte) error) error {
	var args []any
	if s.plan == nil {
		where := s.cellWhere(&args)
		return s.tx.Visit(f, fmt.Sprintf(`
			SELECT e.rid, e.doc
			FROM entity_cell c JOIN entity e ON e.rid BETWEEN c.id << %d AND (c.id << %[1]d) + %d
			WHERE %s`, memberBits, memberMask, where), args...)
	}
	from := source(s.tx.Dialect(), s.org, s.plan, s.rows(), &args)
	if s.tx.Dialect() == sqldb.Postgres {
		return s.tx.Visit(f, `SELECT rid, doc FROM `+from, args...)
	}
	return s.tx.Visit(f, `SELECT rid, doc FROM entity WHERE rid IN (SELECT rid FROM `+from+`)`, args...)
}

// allHomes returns what the cells of the selection say of their entities.
func (s *selection) allHomes() (map[int64]home, error) {
	var args []any
	where := s.cellWhere(&args)
	all, err := sqldb.Query(s.tx, scanHome, `
		SELECT c.id, p.account, p.provider, c.type, c.region
		FROM (SELECT id, acct, type, region FROM entity_cell WHERE `+where+`) AS c JOIN entity_partition p ON p.acct = c.acct`, args...)
	homes := make(map[int64]home, len(all))
	for _, h := range all {
		homes[h.cell] = h.home
	}
	s.store.seen.addHomes(all)
	return homes, err
}

// errUnknown ends a visit that meets too many cells that are not known.
var errUnknown = errors.New("there is much to be looked up first")

// A visitor counts what it sees.
type visitor struct {
	*selection
	counter *counter
	wanted  wanted
	homes   map[int64]home
	cell    int64       // of the row that was seen last
	home    home        // of that cell
	later   []entityRow // of cells that are not known
}

// look counts one row. What is known of cells cannot be looked up meanwhile.
func (v *visitor) look(rid int64, doc []byte) error {
	cell := cellOf(rid)
	if cell == v.cell {
		return v.count(doc, v.home)
	}
	h, ok := v.homes[cell]
	if !ok {
		found, _ := v.store.seen.homes([]int64{cell})
		if h, ok = found[cell]; ok {
			v.homes[cell] = h
		}
	}
	if ok {
		v.cell, v.home = cell, h
		return v.count(doc, h)
	}
	if len(v.later) >= 1000 {
		return errUnknown
	}
	v.later = append(v.later, entityRow{rid: rid, doc: slices.Clone(doc)})
	return nil
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
