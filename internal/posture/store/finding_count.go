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

// A sumTable is a table with the numbers of findings by some fields.
type sumTable struct {
	table  string
	fields []string
}

// sumTables lists the tables from the smallest to the largest. Changes of findings update
// them incrementally. The large finding_cell is rarely read: for every pair of account, rule
// and region, an earlier table has both columns.
var sumTables = []sumTable{
	{"finding_kind", []string{"rule", "provider", "service", "level", "status"}},
	{"finding_place", []string{"account", "provider", "service", "region", "level", "status"}},
	{"finding_spot", []string{"rule", "region", "provider", "service", "level", "status"}},
	{"finding_duty", []string{"account", "rule", "provider", "service", "level", "status"}},
	{"finding_cell", []string{"account", "rule", "region", "provider", "service", "level", "status"}},
}

// sumTableFor returns the smallest table that has the given columns.
func sumTableFor(columns []string) (table string, ok bool) {
	for _, t := range sumTables {
		lacks := func(column string) bool { return !slices.Contains(t.fields, column) }
		if !slices.ContainsFunc(columns, lacks) {
			return t.table, true
		}
	}
	return "", false
}

// counts collects the changes of the numbers of findings.
type counts struct{ deltas map[countKey]int }

// countKey holds the values of all counted fields, in the order of finding_cell.
type countKey [7]string

// add adds a finding (delta is 1) or removes it (-1).
func (c *counts) add(f posture.Finding, delta int) {
	if c.deltas == nil {
		c.deltas = map[countKey]int{}
	}
	c.deltas[countKey{string(f.Account), string(f.Rule), f.Region, string(f.Provider), f.Service, string(f.Level), string(f.Status)}] += delta
}

// save adds the changes to the tables.
func (c *counts) save(tx *sqldb.Tx, org posture.OrgID) error {
	all := sumTables[len(sumTables)-1].fields // of finding_cell
	for _, table := range sumTables {
		sums := map[countKey]int{}
		for k, n := range c.deltas {
			var part countKey
			for i, field := range table.fields {
				part[i] = k[slices.Index(all, field)]
			}
			sums[part] += n
		}
		if err := table.save(tx, org, sums); err != nil {
			return err
		}
	}
	return nil
}

func (t sumTable) save(tx *sqldb.Tx, org posture.OrgID, sums map[countKey]int) error {
	// Write in sorted order, so that concurrent transactions do not deadlock.
	keys := slices.SortedFunc(maps.Keys(sums), func(a, b countKey) int { return slices.Compare(a[:], b[:]) })
	var rows [][]any
	for _, k := range keys {
		if sums[k] == 0 {
			continue
		}
		row := []any{org}
		for i := range t.fields {
			row = append(row, k[i])
		}
		rows = append(rows, append(row, sums[k]))
	}
	if len(rows) == 0 {
		return nil
	}
	columns := "org, " + strings.Join(t.fields, ", ")
	values := []string{"$1", "$2", "$3", "$4", "$5", "$6", "$7", "$8", "$9"}[:len(t.fields)+2]
	_, err := tx.ExecEach(`
		INSERT INTO `+t.table+` (`+columns+`, total)
		VALUES (`+strings.Join(values, ", ")+`)
		ON CONFLICT (`+columns+`) DO UPDATE
		SET total = `+t.table+`.total + excluded.total`, slices.Values(rows))
	return err
}

// isSuppressed returns the condition for findings that are suppressed at a time. Its second
// part lets the database use the partial index.
func isSuppressed(args *[]any, now time.Time) string {
	*args = append(*args, sqldb.Millis(now))
	return fmt.Sprintf("aside_till > $%d AND aside_till <> 0", len(*args))
}

// countFindings returns the number of findings that a filter selects. It uses the
// tables of sums if possible. Few findings are suppressed, so it counts unsuppressed
// ones as all minus the suppressed ones.
func countFindings(tx *sqldb.Tx, org posture.OrgID, f posture.FindingFilter, now time.Time) (int, error) {
	where, args, dims := findingWhere(tx, org, f, now)
	if len(f.Tags) > 0 {
		return countTagged(tx, f, where, args)
	}
	if table, ok := sumTableFor(dims); ok {
		return sqldb.QueryOne(tx, sqldb.Scalar[int], `SELECT CAST(coalesce(sum(total), 0) AS BIGINT) FROM `+table+` WHERE `+where, args...)
	}
	if f.Suppressed != nil && !*f.Suppressed {
		all, suppressed := splitSuppressed(f)
		if _, _, dims := findingWhere(tx, org, all, now); isCounted(dims) {
			total, err := countFindings(tx, org, all, now)
			if err != nil {
				return 0, err
			}
			suppressedCount, err := countFindings(tx, org, suppressed, now)
			return total - suppressedCount, err
		}
	}
	return sqldb.QueryOne(tx, sqldb.Scalar[int], `SELECT count(*) FROM finding WHERE `+where, args...)
}

// isCounted reports whether a table of sums has the given columns.
func isCounted(columns []string) bool {
	_, ok := sumTableFor(columns)
	return ok
}

// splitSuppressed returns two filters for a filter of unsuppressed findings: one for all
// and one for the suppressed ones.
func splitSuppressed(f posture.FindingFilter) (all, suppressed posture.FindingFilter) {
	yes := true
	all, suppressed = f, f
	all.Suppressed, suppressed.Suppressed = nil, &yes
	return all, suppressed
}

// countTagged counts by tags in this process, because tags are JSON in the database.
func countTagged(tx *sqldb.Tx, f posture.FindingFilter, where string, args []any) (int, error) {
	total := 0
	for row, err := range sqldb.Each(tx, scanFinding, `SELECT `+findingColumns+` FROM finding WHERE `+where, args...) {
		if err != nil {
			return 0, err
		}
		if hasTags(row.Tags, f.Tags) {
			total++
		}
	}
	return total, nil
}
