package store

import (
	"fmt"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// maxGroups is how many groups of entities that are alike are worth having. With
// more of them, looking at the entities is as quick.
const maxGroups = 200_000

// An alike is a number of entities that are alike in what is counted.
type alike struct {
	rid   int64 // of one of them
	count int
}

// countGroups has PostgreSQL count the entities that are alike: those that have
// the same tokens of every property and tag that is counted. It then looks at
// one of each. It returns how many there are, or uncounted, and false if there
// are too many groups.
func (s *selection) countGroups(a posture.Aggregation, c *counter) (total int, ok bool, err error) {
	var args []any
	from, whole, err := s.groupSource(a.Of, &args)
	if err != nil {
		return 0, false, err
	}
	g := likeness{of: s}
	g.aggregation(a)
	text := fmt.Sprintf(`SELECT min(rid), count(*) FROM (SELECT %s FROM %s) AS e`, strings.Join(append([]string{"rid"}, g.values...), ", "), from)
	if len(g.cell) > 0 {
		text += fmt.Sprintf(` JOIN entity_cell c ON c.id = e.rid >> %d`, memberBits)
	}
	text += fmt.Sprintf(` GROUP BY %s LIMIT %d`, strings.Join(append(g.cell, g.names...), ", "), maxGroups+1)
	groups, err := sqldb.Query(s.tx, func(r sqldb.Row) (g alike, err error) {
		err = r.Scan(&g.rid, &g.count)
		return g, err
	}, text, args...)
	if err != nil || len(groups) > maxGroups {
		return 0, false, err
	}
	total = uncounted
	if whole {
		total = 0
		for _, g := range groups {
			total += g.count
		}
	}
	return total, true, s.addGroups(groups, a, c)
}

// addGroups counts groups by what one of each is like.
func (s *selection) addGroups(groups []alike, a posture.Aggregation, c *counter) error {
	var w wanted
	w.aggregation(a)
	for len(groups) > 0 {
		part := groups[:min(1000, len(groups))]
		groups = groups[len(part):]
		counts := make(map[int64]int, len(part))
		rids := make([]int64, len(part))
		for i, g := range part {
			rids[i], counts[g.rid] = g.rid, g.count
		}
		rows, err := sqldb.Query(s.tx, scanRow, `SELECT `+rowColumns+` FROM entity WHERE rid = ANY($1)`, rids)
		if err != nil {
			return err
		}
		homes, err := s.store.homesOf(s.tx, rows)
		if err != nil {
			return err
		}
		for _, row := range rows {
			e, err := readSome(row.doc, homes[cellOf(row.rid)], &w)
			if err != nil {
				return err
			}
			if err := c.add(&e, counts[row.rid]); err != nil {
				return err
			}
		}
	}
	return nil
}

// groupSource returns rows of the selection as text to be put after FROM: all,
// or only those that have an attribute.
func (s *selection) groupSource(a posture.Attribute, args *[]any) (text string, whole bool, err error) {
	if s.plan != nil {
		return source(s.tx.Dialect(), s.org, s.plan, s.rows(), args), true, nil
	}
	having, err := s.havingText(a)
	if err != nil {
		return "", false, err
	}
	spans, err := s.accountSpans()
	if err != nil {
		return "", false, err
	}
	if s.types != nil || s.regions != nil || len(spans) > 100 {
		where := s.cellWhere(args)
		return fmt.Sprintf(`entity_cell c JOIN entity ON rid BETWEEN c.id << %d AND (c.id << %[1]d) + %d WHERE %s AND %s`,
			memberBits, memberMask, where, having), false, nil
	}
	terms := []string{"FALSE"}
	for _, each := range spans {
		terms = append(terms, fmt.Sprintf("rid BETWEEN %d AND %d", each.from, each.to))
	}
	return "entity WHERE " + having + " AND (" + strings.Join(terms, " OR ") + ")", false, nil
}

// havingText writes the condition that rows have an attribute: for the index if
// there are few, otherwise so that it is quick to see.
func (s *selection) havingText(a posture.Attribute) (string, error) {
	t, ok := s.hasToken(a)
	if !ok {
		return "TRUE", nil
	}
	indexed := hit(t).where()
	var explained []struct {
		Plan struct {
			Rows float64 `json:"Plan Rows"`
		}
	}
	text, err := sqldb.QueryOne(s.tx, sqldb.Scalar[string], `EXPLAIN (FORMAT JSON) SELECT rid FROM entity WHERE `+indexed)
	if err != nil {
		return "", err
	}
	if err := fromJSON(text, &explained); err != nil {
		return "", err
	}
	all, err := s.count()
	if err != nil {
		return "", err
	}
	if len(explained) == 1 && explained[0].Plan.Rows < float64(all)/10 {
		return indexed, nil
	}
	return s.neighbours(a).has(), nil
}

// accountSpans returns the rows of the accounts of the selection.
func (s *selection) accountSpans() (spans []span, err error) {
	accts := s.accts
	if accts == nil {
		if accts, err = sqldb.Query(s.tx, sqldb.Scalar[int64], `SELECT acct FROM entity_partition WHERE org = $1 ORDER BY acct`, s.org); err != nil {
			return nil, err
		}
	}
	for _, acct := range accts {
		spans = appendSpan(spans, acctSpan(acct))
	}
	return spans, nil
}

// A likeness says in what entities of a group are alike.
type likeness struct {
	of     *selection
	cell   []string // columns of the cell
	values []string // tokens of properties and tags
	names  []string // of values
}

func (l *likeness) aggregation(a posture.Aggregation) {
	switch {
	case a.Of.Kind != posture.FieldAttribute || a.Of.Name == posture.FieldName:
		n := l.of.neighbours(a.Of)
		first, all := fmt.Sprintf("v%d", len(l.values)), fmt.Sprintf("v%d", len(l.values)+1)
		l.values = append(l.values, n.first()+" AS "+first, n.several()+" AS "+all)
		l.names = append(l.names, first, all)
	case a.Of.Name == posture.FieldAccount || a.Of.Name == posture.FieldPartition:
		l.cell = append(l.cell, "c.acct")
	case a.Of.Name == posture.FieldRegion:
		l.cell = append(l.cell, "c.region")
	default: // type, service and provider
		l.cell = append(l.cell, "c.type")
	}
	for _, sub := range a.Sub {
		l.aggregation(sub)
	}
}

// neighbours are the tokens of all values of a name, among those of a row in
// PostgreSQL. They are in order, so width_bucket finds them by bisection. Most
// rows have one of them at most, and a number is quicker to compare than an
// array.
type neighbours struct{ after, to token }

func (s *selection) neighbours(a posture.Attribute) (n neighbours) {
	kind, name := nameToken, ""
	switch a.Kind {
	case posture.PropertyAttribute:
		kind, name = propertyToken, a.Name
	case posture.TagAttribute:
		kind, name = tagToken, a.Name
	}
	n.after, n.to = tokenRange(s.org, kind, name)
	return n
}

// at writes the i-th token from the first that may be one of them, counted from 1.
func (n neighbours) at(i int) string {
	return fmt.Sprintf("tokens[width_bucket(%d::bigint, tokens) + %d]", n.after, i)
}

// has writes that there are any.
func (n neighbours) has() string { return fmt.Sprintf("%s <= %d", n.at(1), n.to) }

// first writes the first of them.
func (n neighbours) first() string { return fmt.Sprintf("CASE WHEN %s THEN %s END", n.has(), n.at(1)) }

// several writes all of them, if there is more than one.
func (n neighbours) several() string {
	return fmt.Sprintf("CASE WHEN %s <= %d THEN tokens[width_bucket(%d::bigint, tokens) + 1 : width_bucket(%[2]d::bigint, tokens)] END", n.at(2), n.to, n.after)
}
