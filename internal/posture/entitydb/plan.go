package entitydb

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// A plan is a boolean query over tokens in negation normal form: only single tokens
// are negated. Three-valued logic requires it: an unknown property matches neither a
// condition nor its negation.
type plan interface {
	// matchQuery returns the plan as an FTS5 query. FTS5 has no unary NOT, so a
	// negation is written as "allToken NOT token"; every entity has allToken.
	matchQuery(allToken token) string

	// where returns the plan as an SQL condition for PostgreSQL.
	where() string
}

type (
	hit    token  // has the token
	miss   token  // does not have it
	allOf  []plan // conjunction; never empty
	anyOf  []plan // disjunction; never empty
	always bool   // true: all entities; false: none
)

func (h hit) matchQuery(token) string { return string(token(h).appendWord(nil)) }

func (m miss) matchQuery(allToken token) string { return allOf{m}.matchQuery(allToken) }

func (a allOf) matchQuery(allToken token) string {
	var with, without []string
	for _, p := range a {
		if m, ok := p.(miss); ok {
			without = append(without, hit(m).matchQuery(allToken))
		} else {
			with = append(with, p.matchQuery(allToken))
		}
	}
	if len(with) == 0 {
		with = []string{hit(allToken).matchQuery(allToken)}
	}
	text := "(" + strings.Join(with, " AND ") + ")"
	if len(without) > 0 {
		text = "(" + text + " NOT (" + strings.Join(without, " OR ") + "))"
	}
	return text
}

func (a anyOf) matchQuery(allToken token) string {
	parts := make([]string, len(a))
	for i, p := range a {
		parts[i] = p.matchQuery(allToken)
	}
	return "(" + strings.Join(parts, " OR ") + ")"
}

// matchQuery of always(false) is not called: a selection with this plan is empty.
func (a always) matchQuery(allToken token) string { return hit(allToken).matchQuery(allToken) }

func (h hit) where() string { return tokenArray("tokens @> ", []token{token(h)}) }

func (m miss) where() string { return "NOT (" + hit(m).where() + ")" }

func (a allOf) where() string {
	var with, without []token
	var parts []string
	for _, p := range a {
		switch p := p.(type) {
		case hit:
			with = append(with, token(p))
		case miss:
			without = append(without, token(p))
		default:
			parts = append(parts, p.where())
		}
	}
	if len(with) > 0 {
		parts = append(parts, tokenArray("tokens @> ", with))
	}
	if len(without) > 0 {
		parts = append(parts, "NOT ("+tokenArray("tokens && ", without)+")")
	}
	return "(" + strings.Join(parts, " AND ") + ")"
}

func (a anyOf) where() string {
	var hits []token
	var parts []string
	for _, p := range a {
		if h, ok := p.(hit); ok {
			hits = append(hits, token(h))
		} else {
			parts = append(parts, p.where())
		}
	}
	if len(hits) > 0 {
		parts = append(parts, tokenArray("tokens && ", hits))
	}
	return "(" + strings.Join(parts, " OR ") + ")"
}

func (a always) where() string { return strconv.FormatBool(bool(a)) }

// tokenArray returns an operator followed by tokens as an array literal. Literals let
// PostgreSQL use the statistics of the tokens; they are numbers, so nothing needs escaping.
func tokenArray(operator string, ts []token) string {
	b := []byte(operator + "'{")
	for i, t := range ts {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(t), 10)
	}
	return string(append(b, "}'::bigint[]"...))
}

// and returns the conjunction of plans.
func and(ps ...plan) plan {
	var all allOf
	for _, p := range ps {
		switch p := p.(type) {
		case always:
			if !p {
				return p
			}
		case allOf:
			all = append(all, p...)
		default:
			all = append(all, p)
		}
	}
	all = withoutDuplicates(all)
	switch len(all) {
	case 0:
		return always(true)
	case 1:
		return all[0]
	}
	return all
}

// or returns the disjunction of plans.
func or(ps ...plan) plan {
	var parts anyOf
	for _, p := range ps {
		switch p := p.(type) {
		case always:
			if p {
				return p
			}
		case anyOf:
			parts = append(parts, p...)
		default:
			parts = append(parts, p)
		}
	}
	parts = withoutDuplicates(parts)
	switch len(parts) {
	case 0:
		return always(false)
	case 1:
		return parts[0]
	}
	return parts
}

// withoutDuplicates removes duplicate plans.
func withoutDuplicates(ps []plan) []plan {
	if len(ps) < 2 {
		return ps
	}
	seen := make(map[string]bool, len(ps))
	return slices.DeleteFunc(ps, func(p plan) bool {
		text := p.where()
		repeated := seen[text]
		seen[text] = true
		return repeated
	})
}

// A planner translates filters and conditions of one organisation into plans.
type planner struct {
	org   posture.OrgID
	types []posture.EntityType // that the organisation has entities of
}

// hasAny returns the plan for entities with any of the values.
func (p planner) hasAny(kind byte, values []string) plan {
	ps := make([]plan, len(values))
	for i, v := range values {
		ps[i] = hit(newToken(p.org, kind, "", v))
	}
	return or(ps...)
}

// nameWords returns the plan for entities whose names have, for each of words, a word that
// begins with it. Words that differ only after their first maxWordPrefix characters match too.
func (p planner) nameWords(words []string) plan {
	ps := make([]plan, len(words))
	for i, w := range words {
		ps[i] = hit(newToken(p.org, wordToken, "", firstRunes(w, maxWordPrefix)))
	}
	return and(ps...)
}

// planByTypes returns the plan for entities whose type f accepts. It lists the accepted or
// the rejected types, whichever are fewer.
func (p planner) planByTypes(f func(posture.EntityType) bool) plan {
	var names []string
	var others []plan
	for _, t := range p.types {
		if f(t) {
			names = append(names, string(t))
		} else {
			others = append(others, miss(newToken(p.org, typeToken, "", string(t))))
		}
	}
	if len(names) <= len(others) {
		return p.hasAny(typeToken, names)
	}
	return and(others...)
}

// condition returns the plan for entities for which a condition is true, or, if
// want is false, for which it is false.
func (p planner) condition(c posture.Condition, want bool) plan {
	switch c := c.(type) {
	case posture.AllOf: // true if all parts are true, false if any part is false
		conjunction := want
		return p.joinPlans(c, want, conjunction)
	case posture.AnyOf: // true if any part is true, false if all parts are false
		conjunction := !want
		return p.joinPlans(c, want, conjunction)
	case posture.Not:
		return p.condition(c.Part, !want)
	case posture.Equal:
		return p.equal(c, want)
	case posture.Exists:
		a := c.Attribute
		switch a.Kind {
		case posture.PropertyAttribute:
			return p.property(a.Name, newToken(p.org, hasToken, a.Name, ""), want)
		case posture.TagAttribute:
			return p.tag(newToken(p.org, hasTagToken, a.Name, ""), want)
		}
		return always(want)
	}
	return always(false)
}

// joinPlans returns the conjunction or disjunction of the plans of parts.
func (p planner) joinPlans(parts []posture.Condition, want, conjunction bool) plan {
	ps := make([]plan, len(parts))
	for i, part := range parts {
		ps[i] = p.condition(part, want)
	}
	if conjunction {
		return and(ps...)
	}
	return or(ps...)
}

func hitOrMiss(t token, want bool) plan {
	if want {
		return hit(t)
	}
	return miss(t)
}

// property returns the plan for entities that have a token of a property or, if want is false,
// that do not have it. The latter excludes entities whose property is unknown.
func (p planner) property(name string, t token, want bool) plan {
	if want {
		return hit(t)
	}
	return and(miss(t), miss(newToken(p.org, unknownToken, name, "")))
}

// tag is property for a token of a tag. If tags are unknown, so is the property TagsUnread.
func (p planner) tag(t token, want bool) plan { return p.property(posture.TagsUnread, t, want) }

func (p planner) equal(c posture.Equal, want bool) plan {
	a := c.Attribute
	switch a.Kind {
	case posture.PropertyAttribute:
		return p.property(a.Name, newToken(p.org, propertyToken, a.Name, c.Value), want)
	case posture.TagAttribute:
		return p.tag(newToken(p.org, tagToken, a.Name, c.Value), want)
	}
	accepts := func(v string) bool {
		equal := posture.Fold(v) == posture.Fold(c.Value)
		return equal == want
	}
	switch a.Name {
	case posture.FieldType:
		return hitOrMiss(newToken(p.org, typeToken, "", c.Value), want)
	case posture.FieldRegion:
		return hitOrMiss(newToken(p.org, regionToken, "", c.Value), want)
	case posture.FieldName:
		return hitOrMiss(newToken(p.org, nameToken, "", c.Value), want)
	case posture.FieldAccount, posture.FieldPartition:
		return hitOrMiss(newToken(p.org, accountToken, "", c.Value), want)
	case posture.FieldService:
		return p.planByTypes(func(t posture.EntityType) bool { return accepts(t.Service()) })
	case posture.FieldProvider:
		return p.planByTypes(func(t posture.EntityType) bool { return accepts(string(t.Provider())) })
	}
	return always(false)
}

// source returns the matching rows within a range as SQL to follow FROM: a table with
// a column row_id, and conditions.
func source(d sqldb.Dialect, org posture.OrgID, p plan, in span, args *[]any) string {
	if d == sqldb.Postgres {
		allToken := newToken(org, everyToken, "", "")
		if !isPositive(p) { // p alone also matches entities of other organisations
			p = and(hit(allToken), p)
		}
		return "entity WHERE " + p.where() + in.where()
	}
	*args = append(*args, in.from, in.to, p.matchQuery(newToken(org, everyToken, "", "")))
	n := len(*args)
	return fmt.Sprintf("(SELECT rowid AS row_id FROM entity_token WHERE entity_token MATCH $%d AND rowid BETWEEN $%d AND $%d) AS found WHERE TRUE", n, n-2, n-1)
}

// everywhere is the range of all rows.
var everywhere = span{0, 1<<63 - 1}

// where returns the range as a further SQL condition for PostgreSQL. The bounds are
// literals: for parameters the planner assumes a small range and scans it.
func (s span) where() string {
	if s == everywhere {
		return ""
	}
	return fmt.Sprintf(" AND row_id BETWEEN %d AND %d", s.from, s.to)
}

// isPositive reports whether every match of a plan has a token of the organisation.
func isPositive(p plan) bool {
	switch p := p.(type) {
	case hit:
		return true
	case allOf:
		return slices.ContainsFunc(p, isPositive)
	case anyOf:
		for _, each := range p {
			if !isPositive(each) {
				return false
			}
		}
		return true
	}
	return false
}
