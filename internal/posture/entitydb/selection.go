package entitydb

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// A selection is a filter resolved against the tables. Without a plan it selects whole cells by
// account, type and region. A nil list of accounts, types or regions stands for all.
type selection struct {
	store      *Store
	tx         *sqldb.Tx
	org        posture.OrgID
	filter     posture.EntityFilter
	accountNos []int64
	types      []posture.EntityType
	regions    []string
	removing   []int64 // accounts whose rows are being removed
	plan       plan    // nil for none
	empty      bool    // nothing can match
}

// selectEntities resolves a filter.
func (s *Store) selectEntities(tx *sqldb.Tx, org posture.OrgID, f posture.EntityFilter) (*selection, error) {
	sel := &selection{store: s, tx: tx, org: org, filter: f}
	return sel, sel.resolve()
}

// resolve determines accounts, types, regions and plan of the filter.
func (s *selection) resolve() (err error) {
	if s.removing, err = accountsInRemoval(s.tx, s.org); err != nil {
		return err
	}
	f := s.filter
	if len(f.Accounts) > 0 {
		if err := s.selectAccounts(); err != nil {
			return err
		}
	}
	byType := len(f.Types)+len(f.Services)+len(f.Providers) > 0
	needsPlan := len(f.Names)+len(f.NameWords) > 0 || f.Where != nil
	var types []posture.EntityType
	if byType || f.Where != nil && needsTypes(f.Where) {
		if types, err = s.typesInUse(); err != nil {
			return err
		}
	}
	if byType {
		s.types = filtered(types, func(t posture.EntityType) bool {
			return posture.EntityFilter{Types: f.Types, Services: f.Services, Providers: f.Providers}.
				Matches(&posture.Entity{Type: t, Service: t.Service(), Provider: t.Provider()})
		})
		s.empty = s.empty || len(s.types) == 0
	}
	if len(f.Regions) > 0 {
		regions, err := s.regionsInUse()
		if err != nil {
			return err
		}
		s.regions = filtered(regions, func(r string) bool {
			return posture.EntityFilter{Regions: f.Regions}.Matches(&posture.Entity{Region: r})
		})
		s.empty = s.empty || len(s.regions) == 0
	}
	if needsPlan {
		s.makePlan(planner{s.org, types})
	}
	return nil
}

// typesInUse returns the types that the organisation has or had entities of,
// restricted to the providers of the filter.
func (s *selection) typesInUse() ([]posture.EntityType, error) {
	args := []any{s.org}
	var terms []string
	for _, p := range s.filter.Providers {
		prefix := posture.Provider(posture.Fold(p)).TypePrefix()
		if prefix == "" {
			continue
		}
		args = append(args, prefix, prefix+"\x7f")
		terms = append(terms, fmt.Sprintf("type BETWEEN $%d AND $%d", len(args)-1, len(args)))
	}
	where := ""
	switch {
	case len(terms) > 0:
		where = " AND (" + strings.Join(terms, " OR ") + ")"
	case len(s.filter.Providers) > 0: // all of them are unknown
		return nil, nil
	}
	return sqldb.Query(s.tx, sqldb.Scalar[posture.EntityType], `SELECT DISTINCT type FROM entity_tally WHERE org = $1`+where+` ORDER BY type`, args...)
}

// regionsInUse returns the regions that the organisation has or had entities in.
func (s *selection) regionsInUse() ([]string, error) {
	return sqldb.Query(s.tx, sqldb.Scalar[string], `SELECT DISTINCT region FROM entity_tally WHERE org = $1 ORDER BY region`, s.org)
}

// needsTypes reports whether planning a condition requires the list of types in use.
func needsTypes(c posture.Condition) (found bool) {
	c.EachAttribute(func(a posture.Attribute) {
		found = found || a.Kind == posture.FieldAttribute && (a.Name == posture.FieldService || a.Name == posture.FieldProvider)
	})
	return found
}

// filtered returns the values that f accepts. The result is never nil.
func filtered[T any](values []T, f func(T) bool) []T {
	all := []T{}
	for _, v := range values {
		if f(v) {
			all = append(all, v)
		}
	}
	return all
}

func (s *selection) selectAccounts() error {
	args := []any{s.org}
	var err error
	s.accountNos, err = sqldb.Query(s.tx, sqldb.Scalar[int64], `
		SELECT account_no
		FROM entity_partition
		WHERE org = $1 AND lower(account) IN `+s.tx.Dialect().TextList(&args, sqldb.Lower(storable(s.filter.Accounts)))+`
		ORDER BY account_no`, args...)
	s.accountNos = s.present(s.accountNos)
	s.empty = len(s.accountNos) == 0
	return err
}

// storable removes texts that PostgreSQL rejects as parameters: invalid UTF-8 and NUL.
func storable(values []string) []string {
	return slices.DeleteFunc(slices.Clone(values), func(v string) bool {
		return strings.ContainsRune(v, 0) || v != strings.ToValidUTF8(v, "")
	})
}

// makePlan translates the filter into a plan. A single account is a range of rows and
// needs no token.
func (s *selection) makePlan(p planner) {
	all := []plan{}
	if len(s.filter.Names) > 0 {
		all = append(all, p.hasAny(nameToken, s.filter.Names))
	}
	if len(s.filter.NameWords) > 0 {
		all = append(all, p.nameWords(s.filter.NameWords))
	}
	if s.filter.Where != nil {
		const want = true
		all = append(all, p.condition(s.filter.Where, want))
	}
	if s.types != nil {
		all = append(all, p.hasAny(typeToken, sqldb.Strings(s.types)))
	}
	if s.regions != nil {
		all = append(all, p.hasAny(regionToken, s.regions))
	}
	if len(s.accountNos) > 1 {
		all = append(all, p.hasAny(accountToken, s.filter.Accounts))
	}
	s.plan = and(all...)
	s.empty = s.empty || s.plan == always(false)
}

// rows returns the range of row ids to search.
func (s *selection) rows() span {
	if len(s.accountNos) == 1 {
		return accountSpan(s.accountNos[0])
	}
	return everywhere
}

// source returns the rows that match the plan within a range as SQL to follow FROM.
func (s *selection) source(in span, args *[]any) string {
	text := source(s.tx.Dialect(), s.org, s.plan, in, args)
	for _, accountNo := range s.removing { // their cells are empty, but the index still has rows
		rows := accountSpan(accountNo)
		text += fmt.Sprintf(" AND NOT row_id BETWEEN %d AND %d", rows.from, rows.to)
	}
	return text + s.inShards()
}

// inShards returns a further condition that confines a statement to the shards of the
// selected accounts, if the tables are distributed. The numbers are literals, as those
// of ranges are.
func (s *selection) inShards() string {
	if !s.tx.Distributed() || len(s.accountNos) == 0 {
		return ""
	}
	var numbers []string
	for _, n := range s.accountNos {
		numbers = append(numbers, strconv.FormatInt(n, 10))
	}
	return " AND account_no IN (" + strings.Join(numbers, ", ") + ")"
}

// present returns the accounts whose rows are not being removed.
func (s *selection) present(accountNos []int64) []int64 {
	return slices.DeleteFunc(accountNos, func(n int64) bool { return slices.Contains(s.removing, n) })
}

// cellWhere returns the SQL condition for the cells of the selection.
func (s *selection) cellWhere(args *[]any) string {
	terms := []string{"count > 0"}
	if s.accountNos != nil { // an additional condition on org would make the planner read all its cells
		terms = append(terms, "account_no IN "+sqldb.List(args, s.accountNos))
	} else {
		*args = append(*args, s.org)
		terms = append(terms, "org = $"+strconv.Itoa(len(*args)))
	}
	if s.types != nil {
		terms = append(terms, "type IN "+s.tx.Dialect().TextList(args, sqldb.Strings(s.types)))
	}
	if s.regions != nil {
		terms = append(terms, "region IN "+s.tx.Dialect().TextList(args, s.regions))
	}
	return strings.Join(terms, " AND ")
}

// count returns the number of selected entities.
func (s *selection) count() (int, error) {
	switch {
	case s.empty:
		return 0, nil
	case s.plan != nil:
		var args []any
		text := `SELECT count(*) FROM ` + s.source(s.rows(), &args)
		return sqldb.QueryOne(s.tx, sqldb.Scalar[int], text, args...)
	}
	table := "entity_tally" // counts of all accounts; has all columns of cellWhere except account_no
	if s.accountNos != nil {
		table = "entity_cell"
	}
	var args []any
	text := `SELECT CAST(coalesce(sum(count), 0) AS BIGINT) FROM ` + table + ` WHERE ` + s.cellWhere(&args)
	return sqldb.QueryOne(s.tx, sqldb.Scalar[int], text, args...)
}
