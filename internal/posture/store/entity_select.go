package store

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// A selection is a filter in the terms of the tables. Without a plan it is about
// whole cells: of these accounts, types and regions, where nil means all.
type selection struct {
	store   *Store
	tx      *sqldb.Tx
	org     posture.OrgID
	filter  posture.EntityFilter
	accts   []int64
	types   []posture.EntityType
	regions []string
	plan    plan // nil for none
	empty   bool // nothing can match
}

// selectEntities finds out what a filter means.
func (s *Store) selectEntities(tx *sqldb.Tx, org posture.OrgID, f posture.EntityFilter) (*selection, error) {
	sel := &selection{store: s, tx: tx, org: org, filter: f}
	return sel, sel.resolve()
}

// resolve finds out which accounts, types and regions are meant.
func (s *selection) resolve() error {
	f := s.filter
	if len(f.Accounts) > 0 {
		if err := s.selectAccounts(); err != nil {
			return err
		}
	}
	byType := len(f.Types)+len(f.Services)+len(f.Providers) > 0
	tokens := len(f.Names) > 0 || f.Where != nil
	var types []posture.EntityType
	var err error
	if byType || f.Where != nil && asksForTypes(f.Where) {
		if types, err = s.typesInUse(); err != nil {
			return err
		}
	}
	if byType {
		s.types = kept(types, func(t posture.EntityType) bool {
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
		s.regions = kept(regions, func(r string) bool {
			return posture.EntityFilter{Regions: f.Regions}.Matches(&posture.Entity{Region: r})
		})
		s.empty = s.empty || len(s.regions) == 0
	}
	if tokens {
		s.makePlan(planner{s.org, types})
	}
	return nil
}

// typesInUse returns the types that the organisation has entities of, or had:
// the index alone tells. Only those of the providers that are asked for matter.
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
	case len(s.filter.Providers) > 0:
		return nil, nil
	}
	return sqldb.Query(s.tx, sqldb.Scalar[posture.EntityType], `SELECT DISTINCT type FROM entity_tally WHERE org = $1`+where+` ORDER BY type`, args...)
}

// regionsInUse returns the regions that the organisation has entities in, or had.
func (s *selection) regionsInUse() ([]string, error) {
	return sqldb.Query(s.tx, sqldb.Scalar[string], `SELECT DISTINCT region FROM entity_tally WHERE org = $1 ORDER BY region`, s.org)
}

// asksForTypes reports whether a condition can only be answered by somebody who
// knows which types there are.
func asksForTypes(c posture.Condition) (asks bool) {
	c.Ask(func(a posture.Attribute) {
		asks = asks || a.Kind == posture.FieldAttribute && (a.Name == posture.FieldService || a.Name == posture.FieldProvider)
	})
	return asks
}

// kept returns the values that f lets through. It is not nil.
func kept[T any](values []T, f func(T) bool) []T {
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
	s.accts, err = sqldb.Query(s.tx, sqldb.Scalar[int64], `
		SELECT acct
		FROM entity_partition
		WHERE org = $1 AND lower(account) IN `+s.tx.Dialect().TextList(&args, lowered(readable(s.filter.Accounts)))+`
		ORDER BY acct`, args...)
	s.empty = len(s.accts) == 0
	return err
}

// readable leaves out texts that no database can have, and that PostgreSQL
// refuses to look for.
func readable(values []string) []string {
	return slices.DeleteFunc(slices.Clone(values), func(v string) bool {
		return strings.ContainsRune(v, 0) || v != strings.ToValidUTF8(v, "")
	})
}

// makePlan turns everything but a single account, which is a range of rows, into
// tokens.
func (s *selection) makePlan(p planner) {
	all := []plan{}
	if len(s.filter.Names) > 0 {
		all = append(all, p.one(nameToken, s.filter.Names))
	}
	if s.filter.Where != nil {
		all = append(all, p.condition(s.filter.Where, true))
	}
	if s.types != nil {
		all = append(all, p.one(typeToken, texts(s.types)))
	}
	if s.regions != nil {
		all = append(all, p.one(regionToken, s.regions))
	}
	if len(s.accts) > 1 {
		all = append(all, p.one(acctToken, s.filter.Accounts))
	}
	s.plan = and(all...)
	s.empty = s.empty || s.plan == always(false)
}

// rows returns the range that a plan looks at.
func (s *selection) rows() span {
	if len(s.accts) == 1 {
		return acctSpan(s.accts[0])
	}
	return everywhere
}

// cellWhere writes the condition for the cells of the selection.
func (s *selection) cellWhere(args *[]any) string {
	terms := []string{"count > 0"}
	if s.accts != nil { // that they are of the organisation would only lead to all of its cells
		terms = append(terms, "acct IN "+sqldb.List(args, s.accts))
	} else {
		*args = append(*args, s.org)
		terms = append(terms, "org = $"+strconv.Itoa(len(*args)))
	}
	if s.types != nil {
		terms = append(terms, "type IN "+s.tx.Dialect().TextList(args, texts(s.types)))
	}
	if s.regions != nil {
		terms = append(terms, "region IN "+s.tx.Dialect().TextList(args, s.regions))
	}
	return strings.Join(terms, " AND ")
}

// count returns how many entities are selected.
func (s *selection) count() (int, error) {
	switch {
	case s.empty:
		return 0, nil
	case s.plan != nil:
		var args []any
		text := `SELECT count(*) FROM ` + source(s.tx.Dialect(), s.org, s.plan, s.rows(), &args)
		return sqldb.QueryOne(s.tx, sqldb.Scalar[int], text, args...)
	}
	var args []any
	text := `SELECT CAST(coalesce(sum(count), 0) AS BIGINT) FROM `
	if s.accts != nil {
		text += `entity_cell WHERE ` + s.cellWhere(&args)
	} else {
		text += `entity_tally WHERE ` + s.cellWhere(&args)
	}
	return sqldb.QueryOne(s.tx, sqldb.Scalar[int], text, args...)
}
