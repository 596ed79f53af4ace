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
//
// Tokens are in order, and those of one name are neighbours, so width_bucket
// finds them by bisection.
func (s *selection) countGroups(a posture.Aggregation, c *counter) (total int, ok bool, err error) {
	var args []any
	from, whole, err := s.groupSource(a.Of, &args)
	if err != nil {
		return 0, false, err
	}
	g := likeness{org: s.org}
	g.aggregation(a)
	text := fmt.Sprintf(`SELECT min(rid), count(*) FROM (SELECT %s FROM %s) AS e`, strings.Join(append([]string{"rid"}, g.values...), ", "), from)
	if len(g.cell) > 0 {
		text += fmt.Sprintf(` JOIN entity_cell c ON c.id = e.rid >> %d`, memberBits)
	}
	text += fmt.Sprintf(` GROUP BY %s LIMIT %d`, strings.Join(append(g.cell, g.names...), ", "), maxGroups+1)
	// It expects as many groups as rows, and would sort them.
	if _, err := s.tx.Exec(`SET LOCAL enable_sort = off`); err != nil {
		return 0, false, err
	}
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
	having := plan(always(true))
	if t, ok := s.hasToken(a); ok {
		having = hit(t)
	}
	spans, err := s.accountSpans()
	if err != nil {
		return "", false, err
	}
	if s.types != nil || s.regions != nil || len(spans) > 100 {
		where := s.cellWhere(args)
		return fmt.Sprintf(`entity_cell c JOIN entity ON rid BETWEEN c.id << %d AND (c.id << %[1]d) + %d WHERE %s AND %s`,
			memberBits, memberMask, where, having.where()), false, nil
	}
	terms := []string{"FALSE"}
	for _, each := range spans {
		terms = append(terms, fmt.Sprintf("rid BETWEEN %d AND %d", each.from, each.to))
	}
	return "entity WHERE " + having.where() + " AND (" + strings.Join(terms, " OR ") + ")", false, nil
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
	org    posture.OrgID
	cell   []string // columns of the cell
	values []string // tokens of properties and tags
	names  []string // of values
}

func (g *likeness) aggregation(a posture.Aggregation) {
	switch a.Of.Kind {
	case posture.PropertyAttribute:
		g.tokens(propertyToken, a.Of.Name)
	case posture.TagAttribute:
		g.tokens(tagToken, a.Of.Name)
	default:
		switch a.Of.Name {
		case posture.FieldName:
			g.tokens(nameToken, "")
		case posture.FieldAccount, posture.FieldPartition:
			g.cell = append(g.cell, "c.acct")
		case posture.FieldRegion:
			g.cell = append(g.cell, "c.region")
		default:
			g.cell = append(g.cell, "c.type")
		}
	}
	for _, sub := range a.Sub {
		g.aggregation(sub)
	}
}

// tokens groups by the tokens of a name.
func (g *likeness) tokens(kind byte, name string) {
	after, to := tokenRange(g.org, kind, name)
	column := fmt.Sprintf("v%d", len(g.values))
	g.names = append(g.names, column)
	g.values = append(g.values, fmt.Sprintf("tokens[width_bucket(%d::bigint, tokens) + 1 : width_bucket(%d::bigint, tokens)] AS %s", after, to, column))
}
