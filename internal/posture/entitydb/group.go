package entitydb

import (
	"fmt"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// maxGroups bounds the groups of countGroups. With more, a scan is as fast.
const maxGroups = 200_000

// A tokenGroup is a set of entities that have equal values of all counted attributes.
type tokenGroup struct {
	rowID int64 // of one of them
	count int
}

// countGroups has PostgreSQL group the entities by the tokens of every counted
// property and tag, then decodes one entity of each group. It returns the total
// number of matches, or uncounted if the query reads only some of them. If there are too
// many groups, ok is false and nothing was added to the counter.
func (s *selection) countGroups(a posture.Aggregation, c *counter) (total int, ok bool, err error) {
	var args []any
	from, whole, err := s.groupSource(a.Of, &args)
	if err != nil {
		return 0, false, err
	}
	key := groupKey{selection: s}
	key.add(a)
	columns := append([]string{"row_id"}, key.values...)
	if s.tx.Distributed() {
		columns = append(columns, "account_no")
	}
	text := fmt.Sprintf(`SELECT min(row_id), count(*) FROM (SELECT %s FROM %s) AS e`, strings.Join(columns, ", "), from)
	if len(key.cell) > 0 {
		text += fmt.Sprintf(` JOIN entity_cell c ON c.id = e.row_id >> %d%s`, memberBits, sameAccount(s.tx, "c.account_no", "e.account_no"))
	}
	text += fmt.Sprintf(` GROUP BY %s LIMIT %d`, strings.Join(append(key.cell, key.names...), ", "), maxGroups+1)
	groups, err := sqldb.Query(s.tx, func(r sqldb.Row) (g tokenGroup, err error) {
		err = r.Scan(&g.rowID, &g.count)
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

// addGroups decodes one entity of each group and adds it with the count of the group.
func (s *selection) addGroups(groups []tokenGroup, a posture.Aggregation, c *counter) error {
	var fields projection
	fields.addAggregation(a)
	for len(groups) > 0 {
		part := groups[:min(1000, len(groups))]
		groups = groups[len(part):]
		counts := make(map[int64]int, len(part))
		rowIDs := make([]int64, len(part))
		for i, g := range part {
			rowIDs[i], counts[g.rowID] = g.rowID, g.count
		}
		args := []any{rowIDs}
		where := inAccounts(s.tx, &args, rowIDs)
		rows, err := sqldb.Query(s.tx, scanRow, `SELECT `+rowColumns+` FROM entity WHERE row_id = ANY($1)`+where, args...)
		if err != nil {
			return err
		}
		contexts, err := s.store.contextsOf(s.tx, rows)
		if err != nil {
			return err
		}
		for _, row := range rows {
			e, err := readProjected(row.doc, contexts[cellOf(row.rowID)], &fields)
			if err != nil {
				return err
			}
			if err := c.add(&e, counts[row.rowID]); err != nil {
				return err
			}
		}
	}
	return nil
}

// groupSource returns the rows to group as SQL to follow FROM. If the selection has a plan, they
// are all rows that the plan finds (whole is true). Otherwise they may be only the rows of the
// selection that have the attribute (whole is false).
func (s *selection) groupSource(a posture.Attribute, args *[]any) (text string, whole bool, err error) {
	if s.plan != nil {
		return s.source(s.rows(), args), true, nil
	}
	hasAttribute, err := s.attributeCondition(a)
	if err != nil {
		return "", false, err
	}
	spans, err := s.accountSpans()
	if err != nil {
		return "", false, err
	}
	if s.types != nil || s.regions != nil || len(spans) > 100 {
		where := s.cellWhere(args)
		return fmt.Sprintf(`(SELECT id, account_no AS cell_account FROM entity_cell WHERE %s) AS c JOIN entity ON row_id BETWEEN c.id << %d AND (c.id << %[2]d) + %d%s WHERE %s`,
			where, memberBits, memberMask, sameAccount(s.tx, "account_no", "cell_account"), hasAttribute), false, nil
	}
	terms := []string{"FALSE"}
	for _, each := range spans {
		terms = append(terms, fmt.Sprintf("row_id BETWEEN %d AND %d", each.from, each.to))
	}
	return "entity WHERE " + hasAttribute + " AND (" + strings.Join(terms, " OR ") + ")" + s.inShards(), false, nil
}

// attributeCondition returns the condition that rows have an attribute. If fewer rows have it
// than a tenth of the selected ones, the condition uses the GIN index. Otherwise it is one that is
// fast to evaluate in a scan.
//
// The number of rows that have the attribute is the planner's estimate from EXPLAIN: it reads only
// statistics, while counting would read the index entries of every matching row first.
func (s *selection) attributeCondition(a posture.Attribute) (string, error) {
	t, ok := s.presenceToken(a)
	if !ok {
		return "TRUE", nil
	}
	indexed := hit(t).where()
	if s.tx.Distributed() { // Citus does not estimate
		return indexed, nil
	}
	var explained []struct {
		Plan struct {
			Rows float64 `json:"Plan Rows"`
		}
	}
	text, err := sqldb.QueryOne(s.tx, sqldb.Scalar[string], `EXPLAIN (FORMAT JSON) SELECT row_id FROM entity WHERE `+indexed)
	if err != nil {
		return "", err
	}
	if err := fromJSON([]byte(text), &explained); err != nil {
		return "", err
	}
	all, err := s.count()
	if err != nil {
		return "", err
	}
	if len(explained) == 1 && explained[0].Plan.Rows < float64(all)/10 {
		return indexed, nil
	}
	return s.tokenInterval(a).has(), nil
}

// accountSpans returns the row ranges of the selected accounts.
func (s *selection) accountSpans() (spans []span, err error) {
	accountNos := s.accountNos
	if accountNos == nil {
		if accountNos, err = sqldb.Query(s.tx, sqldb.Scalar[int64], `SELECT account_no FROM entity_partition WHERE org = $1 ORDER BY account_no`, s.org); err != nil {
			return nil, err
		}
	}
	for _, accountNo := range s.present(accountNos) {
		spans = appendSpan(spans, accountSpan(accountNo))
	}
	return spans, nil
}

// A groupKey collects the GROUP BY expressions of an aggregation.
type groupKey struct {
	selection *selection
	cell      []string // columns of entity_cell
	values    []string // expressions over tokens
	names     []string // aliases of values
}

// add adds the expressions of an aggregation and of those nested in it.
func (k *groupKey) add(a posture.Aggregation) {
	switch {
	case a.Of.Kind != posture.FieldAttribute || a.Of.Name == posture.FieldName:
		n := k.selection.tokenInterval(a.Of)
		first, several := fmt.Sprintf("v%d", len(k.values)), fmt.Sprintf("v%d", len(k.values)+1)
		k.values = append(k.values, n.first()+" AS "+first, n.several()+" AS "+several)
		k.names = append(k.names, first, several)
	case a.Of.Name == posture.FieldAccount || a.Of.Name == posture.FieldPartition:
		k.cell = append(k.cell, "c.account_no")
	case a.Of.Name == posture.FieldRegion:
		k.cell = append(k.cell, "c.region")
	default: // type, service and provider
		k.cell = append(k.cell, "c.type")
	}
	for _, sub := range a.Sub {
		k.add(sub)
	}
}

// tokenInterval finds the tokens of all values of an attribute within the sorted array
// of a row in PostgreSQL, where width_bucket does a binary search. Rows are grouped by
// first and several: most have at most one of these tokens, and a number is faster to
// compare than an array.
type tokenInterval struct{ after, to token }

func (s *selection) tokenInterval(a posture.Attribute) (n tokenInterval) {
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

// nth returns the SQL expression of the i-th token above the interval's lower bound,
// counted from 1.
func (n tokenInterval) nth(i int) string {
	return fmt.Sprintf("tokens[width_bucket(%d::bigint, tokens) + %d]", n.after, i)
}

// has returns the condition that the row has a token in the interval.
func (n tokenInterval) has() string { return fmt.Sprintf("%s <= %d", n.nth(1), n.to) }

// first returns the SQL expression of the first token in the interval, or NULL.
func (n tokenInterval) first() string {
	return fmt.Sprintf("CASE WHEN %s THEN %s END", n.has(), n.nth(1))
}

// several returns the SQL expression of all tokens in the interval if there are at least
// two, or NULL.
func (n tokenInterval) several() string {
	return fmt.Sprintf("CASE WHEN %s <= %d THEN tokens[width_bucket(%d::bigint, tokens) + 1 : width_bucket(%[2]d::bigint, tokens)] END", n.nth(2), n.to, n.after)
}
