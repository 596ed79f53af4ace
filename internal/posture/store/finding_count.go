package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// A sumTable is a table that knows how many findings there are by some fields.
type sumTable struct {
	table  string
	fields []string
}

// sumTables are kept as findings change, the smallest first. Between them they
// know any two of account, rule and region without a look at every cell.
var sumTables = []sumTable{
	{"finding_kind", []string{"rule", "provider", "service", "level", "status"}},
	{"finding_place", []string{"account", "provider", "service", "region", "level", "status"}},
	{"finding_spot", []string{"rule", "region", "provider", "service", "level", "status"}},
	{"finding_duty", []string{"account", "rule", "provider", "service", "level", "status"}},
	{"finding_cell", []string{"account", "rule", "region", "provider", "service", "level", "status"}},
}

// sumTableFor returns the smallest table that knows the given columns.
func sumTableFor(dims []string) (table string, ok bool) {
	for _, c := range sumTables {
		if !slices.ContainsFunc(dims, func(d string) bool { return !slices.Contains(c.fields, d) }) {
			return c.table, true
		}
	}
	return "", false
}

// counts gathers by how much the numbers of findings change.
type counts struct{ by map[countKey]int }

// countKey is the values of all fields that are counted by, as in finding_cell.
type countKey [7]string

// add counts a finding in, or out with -1.
func (c *counts) add(f posture.Finding, by int) {
	if c.by == nil {
		c.by = map[countKey]int{}
	}
	c.by[countKey{string(f.Account), string(f.Rule), f.Region, string(f.Provider), f.Service, string(f.Level), string(f.Status)}] += by
}

// save writes the differences.
func (c *counts) save(tx *sqldb.Tx, org posture.OrgID) error {
	all := sumTables[len(sumTables)-1].fields
	for _, into := range sumTables {
		sums := map[countKey]int{}
		for k, n := range c.by {
			var part countKey
			for i, field := range into.fields {
				part[i] = k[slices.Index(all, field)]
			}
			sums[part] += n
		}
		if err := into.save(tx, org, sums); err != nil {
			return err
		}
	}
	return nil
}

func (c sumTable) save(tx *sqldb.Tx, org posture.OrgID, sums map[countKey]int) error {
	// In one order, so that two who count at once do not wait for each other in a
	// circle.
	keys := slices.SortedFunc(maps.Keys(sums), func(a, b countKey) int { return slices.Compare(a[:], b[:]) })
	var rows [][]any
	for _, k := range keys {
		if sums[k] == 0 {
			continue
		}
		row := []any{org}
		for i := range c.fields {
			row = append(row, k[i])
		}
		rows = append(rows, append(row, sums[k]))
	}
	if len(rows) == 0 {
		return nil
	}
	columns := "org, " + strings.Join(c.fields, ", ")
	values := []string{"$1", "$2", "$3", "$4", "$5", "$6", "$7", "$8", "$9"}[:len(c.fields)+2]
	_, err := tx.ExecEach(`
		INSERT INTO `+c.table+` (`+columns+`, total)
		VALUES (`+strings.Join(values, ", ")+`)
		ON CONFLICT (`+columns+`) DO UPDATE
		SET total = `+c.table+`.total + excluded.total`, slices.Values(rows))
	return err
}

// isAside is the condition for findings that are suppressed at a time. The second
// part lets it be looked up.
func isAside(args *[]any, now time.Time) string {
	*args = append(*args, sqldb.Millis(now))
	return fmt.Sprintf("aside_till > $%d AND aside_till <> 0", len(*args))
}

// countFindings returns how many findings a filter lets through, from the
// tables of sums where they know. Few findings are suppressed at a time: those that are
// not are all without those that are.
func countFindings(tx *sqldb.Tx, org posture.OrgID, f posture.FindingFilter, now time.Time) (int, error) {
	where, args, dims := findingWhere(tx, org, f, now)
	if len(f.Tags) > 0 {
		return countTagged(tx, f, where, args)
	}
	if table, ok := sumTableFor(dims); ok {
		return sqldb.QueryOne(tx, sqldb.Scalar[int], `SELECT CAST(coalesce(sum(total), 0) AS BIGINT) FROM `+table+` WHERE `+where, args...)
	}
	if f.Suppressed != nil && !*f.Suppressed {
		all, aside := withoutAside(f)
		if _, _, dims := findingWhere(tx, org, all, now); counted(dims) {
			total, err := countFindings(tx, org, all, now)
			if err != nil {
				return 0, err
			}
			less, err := countFindings(tx, org, aside, now)
			return total - less, err
		}
	}
	return sqldb.QueryOne(tx, sqldb.Scalar[int], `SELECT count(*) FROM finding WHERE `+where, args...)
}

func counted(dims []string) bool {
	_, ok := sumTableFor(dims)
	return ok
}

// withoutAside splits a filter for findings that are not suppressed into one for
// all and one for those that are.
func withoutAside(f posture.FindingFilter) (all, aside posture.FindingFilter) {
	yes := true
	all, aside = f, f
	all.Suppressed, aside.Suppressed = nil, &yes
	return all, aside
}

// countTagged counts by tags, which are text to the database.
func countTagged(tx *sqldb.Tx, f posture.FindingFilter, where string, args []any) (int, error) {
	total := 0
	for row, err := range sqldb.Each(tx, scanFinding, `SELECT `+findingColumns+` FROM finding WHERE `+where, args...) {
		if err != nil {
			return 0, err
		}
		if tagged(row.Tags, f.Tags) {
			total++
		}
	}
	return total, nil
}
