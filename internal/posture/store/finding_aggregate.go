package store

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// AggregateFindings implements [posture.FindingStore].
func (s *Store) AggregateFindings(ctx context.Context, org posture.OrgID, f posture.FindingFilter, aggregations map[string]posture.Aggregation, now time.Time) (total int, found map[string]posture.Buckets, err error) {
	fields, err := checkAggregations(aggregations)
	if err != nil {
		return 0, nil, err
	}
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		if total, err = countFindings(tx, org, f, now); err != nil {
			return err
		}
		g := &grouping{tx: tx, org: org, filter: f, now: now, fields: fields}
		found, err = g.all(aggregations)
		return err
	})
	return total, found, err
}

// checkAggregations validates the fields of aggregations and returns their columns.
func checkAggregations(aggregations map[string]posture.Aggregation) (map[string]string, error) {
	columns := map[string]string{}
	for name, a := range aggregations {
		field := fieldName(a.Of)
		column, ok := findingField(field)
		switch {
		case strings.EqualFold(field, "isSuppressed"):
			column = "aside_till"
		case a.Of.Kind == posture.TagAttribute:
			column = "tags"
		case !ok:
			return nil, fault.Field("aggregations."+name+".fieldName", "%q is not a field that findings are counted by", field)
		}
		columns[field] = column
		sub, err := checkAggregations(a.Sub)
		if err != nil {
			return nil, fault.Field("aggregations."+name+".subAggregations", "(%v)", err)
		}
		maps.Copy(columns, sub)
	}
	return columns, nil
}

// fieldName returns the field of an aggregation as in the API.
func fieldName(a posture.Attribute) string {
	if a.Kind == posture.TagAttribute {
		return "tag." + a.Name
	}
	return a.Name
}

// grouping counts findings, one query per chain of nested fields.
type grouping struct {
	tx     *sqldb.Tx
	org    posture.OrgID
	filter posture.FindingFilter
	now    time.Time
	fields map[string]string // column by field
}

// all computes top-level aggregations.
func (g *grouping) all(aggregations map[string]posture.Aggregation) (map[string]posture.Buckets, error) {
	found := map[string]posture.Buckets{}
	for name, a := range aggregations {
		buckets := posture.Buckets{}
		if err := g.chain(nil, name, a, buckets); err != nil {
			return nil, err
		}
		found[name] = limitBuckets(buckets, a)
	}
	return found, nil
}

// step is one level of a nested aggregation.
type step struct {
	name string
	a    posture.Aggregation
}

// chain counts by the fields of the levels above and this one, adds the counts to the
// tree at root, and continues with the nested levels.
func (g *grouping) chain(parents []step, name string, a posture.Aggregation, root posture.Buckets) error {
	levels := append(slices.Clip(parents), step{name, a})
	rows, err := g.group(levels, g.filter)
	if err != nil {
		return err
	}
	for _, r := range rows {
		put(root, levels, r.values, r.count)
	}
	for _, sub := range slices.Sorted(maps.Keys(a.Sub)) {
		if err := g.chain(levels, sub, a.Sub[sub], root); err != nil {
			return err
		}
	}
	return nil
}

// put adds a count to the tree at the path of values.
func put(buckets posture.Buckets, levels []step, values []string, count int) {
	for i := range levels[:len(levels)-1] {
		next := buckets[values[i]].Sub[levels[i+1].name]
		if next == nil {
			next = posture.Buckets{}
			b := buckets[values[i]]
			if b.Sub == nil {
				b.Sub = map[string]posture.Buckets{}
			}
			b.Sub[levels[i+1].name] = next
			buckets[values[i]] = b
		}
		buckets = next
	}
	last := values[len(levels)-1]
	b := buckets[last]
	b.Count += count
	buckets[last] = b
}

type group struct {
	values []string
	count  int
}

// group counts findings by the fields of the levels.
func (g *grouping) group(levels []step, f posture.FindingFilter) ([]group, error) {
	var columns, expressions []string
	for _, l := range levels {
		column := g.fields[fieldName(l.a.Of)]
		columns = append(columns, column)
		switch column {
		case "aside_till":
			expressions = append(expressions, fmt.Sprintf("CASE WHEN aside_till > %d THEN 'true' ELSE 'false' END", sqldb.Millis(g.now)))
		default:
			expressions = append(expressions, "CAST("+column+" AS TEXT)")
		}
	}
	if len(f.Tags) > 0 || slices.Contains(columns, "tags") {
		return g.groupByTags(levels, f)
	}
	where, args, dims := findingWhere(g.tx, g.org, f, g.now)
	table, ok := sumTableFor(slices.Concat(dims, columns))
	sum := "sum(total)"
	if !ok {
		if f.Suppressed != nil && !*f.Suppressed && isCounted(slices.Concat(columns, without(dims, "aside_till"))) {
			return g.groupUnsuppressed(levels, f)
		}
		table, sum = "finding", "count(*)"
	}
	return sqldb.Query(g.tx, func(row sqldb.Row) (r group, err error) {
		r.values = make([]string, len(levels))
		columns := make([]any, len(levels)+1)
		for i := range r.values {
			columns[i] = &r.values[i]
		}
		columns[len(levels)] = &r.count
		err = row.Scan(columns...)
		return r, err
	}, `SELECT `+strings.Join(expressions, ", ")+`, CAST(`+sum+` AS BIGINT) FROM `+table+` WHERE `+where+
		` GROUP BY `+strings.Join(expressions, ", ")+` HAVING `+sum+` > 0`, args...)
}

func without(names []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
}

// groupUnsuppressed counts findings that are not suppressed: all minus the suppressed ones.
func (g *grouping) groupUnsuppressed(levels []step, f posture.FindingFilter) ([]group, error) {
	all, suppressed := splitSuppressed(f)
	rows, err := g.group(levels, all)
	if err != nil {
		return nil, err
	}
	suppressedGroups, err := g.group(levels, suppressed)
	if err != nil {
		return nil, err
	}
	suppressedCounts := map[string]int{}
	for _, r := range suppressedGroups {
		suppressedCounts[strings.Join(r.values, "\x00")] += r.count
	}
	for i, r := range rows {
		rows[i].count -= suppressedCounts[strings.Join(r.values, "\x00")]
	}
	return slices.DeleteFunc(rows, func(r group) bool { return r.count <= 0 }), nil
}

// groupByTags counts by tags in this process, because tags are JSON in the database.
func (g *grouping) groupByTags(levels []step, filter posture.FindingFilter) ([]group, error) {
	groups := map[string]*group{}
	where, args, _ := findingWhere(g.tx, g.org, filter, g.now)
	for f, err := range sqldb.Each(g.tx, scanFinding, `SELECT `+findingColumns+` FROM finding WHERE `+where, args...) {
		if err != nil {
			return nil, err
		}
		if !hasTags(f.Tags, filter.Tags) {
			continue
		}
		values, ok := g.values(f, levels)
		if !ok {
			continue
		}
		key := strings.Join(values, "\x00")
		if groups[key] == nil {
			groups[key] = &group{values: values}
		}
		groups[key].count++
	}
	rows := make([]group, 0, len(groups))
	for _, r := range groups {
		rows = append(rows, *r)
	}
	return rows, nil
}

// values returns the values of a finding in the fields of the levels. It returns false
// if a value is missing.
func (g *grouping) values(f posture.Finding, levels []step) ([]string, bool) {
	values := make([]string, len(levels))
	for i, l := range levels {
		field := fieldName(l.a.Of)
		switch column := g.fields[field]; column {
		case "tags":
			_, tag, _ := strings.Cut(field, ".")
			found := false
			for name, value := range f.Tags {
				if strings.EqualFold(name, tag) {
					values[i], found = value, true
				}
			}
			if !found {
				return nil, false
			}
		case "aside_till":
			values[i] = fmt.Sprint(f.Suppressed(g.now))
		default:
			values[i] = findingValue(f, column)
		}
	}
	return values, true
}

// findingValue returns a column of a finding as text.
func findingValue(f posture.Finding, column string) string {
	switch column {
	case "id":
		return string(f.ID)
	case "rule":
		return string(f.Rule)
	case "account":
		return string(f.Account)
	case "provider":
		return string(f.Provider)
	case "object":
		return string(f.Object)
	case "xid":
		return f.XID
	case "local_id":
		return f.ObjectID()
	case "type":
		return string(f.Type)
	case "name":
		return f.Name
	case "service":
		return f.Service
	case "region":
		return f.Region
	case "level":
		return string(f.Level)
	case "status":
		return string(f.Status)
	case "risk":
		return fmt.Sprint(f.Risk.Score)
	case "created":
		return fmt.Sprint(sqldb.Millis(f.Created))
	default:
		return fmt.Sprint(sqldb.Millis(f.Updated))
	}
}

// limitBuckets keeps the most frequent values, at every level.
func limitBuckets(b posture.Buckets, a posture.Aggregation) posture.Buckets {
	keys := slices.SortedFunc(maps.Keys(b), func(x, y string) int {
		return cmp.Or(cmp.Compare(b[y].Count, b[x].Count), cmp.Compare(x, y))
	})
	if a.Limit > 0 && len(keys) > a.Limit {
		keys = keys[:a.Limit]
	}
	out := posture.Buckets{}
	for _, k := range keys {
		bucket := b[k]
		for name, sub := range a.Sub {
			if bucket.Sub == nil {
				bucket.Sub = map[string]posture.Buckets{}
			}
			bucket.Sub[name] = limitBuckets(bucket.Sub[name], sub)
		}
		out[k] = bucket
	}
	return out
}
