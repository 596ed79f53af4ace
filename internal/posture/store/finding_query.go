package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// findingFields maps the lower-case names of fields in the API to the columns for
// sorting and counting. Levels are sorted by severityOrder.
var findingFields = map[string]string{
	"id": "id", "ruleid": "rule", "cloudaccountid": "account", "cloudprovider": "provider", "entityid": "object", "objectid": "local_id", "objectxid": "xid",
	"objectname": "name", "objecttype": "type",
	"service": "service", "region": "region", "level": "level", "status": "status", "riskscore": "risk",
	"creationtime": "created", "lastupdatetime": "updated",
}

// severityOrder is the sort column of the field level: High comes after Medium and Low.
const severityOrder = "CASE level WHEN 'High' THEN 3 WHEN 'Medium' THEN 2 ELSE 1 END"

// findingField returns the column of a field by its name in the API.
func findingField(name string) (string, bool) {
	column, ok := findingFields[strings.ToLower(name)]
	return column, ok
}

// findingWhere returns the SQL condition of a filter. The caller must filter tags,
// which are JSON in the database. dims are the columns that the condition uses: they
// decide which stored counts can answer it.
func findingWhere(tx *sqldb.Tx, org posture.OrgID, f posture.FindingFilter, now time.Time) (where string, args []any, dims []string) {
	args = []any{org}
	terms := []string{"org = $1"}
	in := func(column, expression string, values []string) {
		if len(values) > 0 {
			terms = append(terms, expression+" IN "+tx.Dialect().TextList(&args, values))
			dims = append(dims, column)
		}
	}
	in("service", "lower(service)", sqldb.Lower(f.Services))
	in("level", "level", sqldb.Strings(f.Levels))
	in("account", "lower(account)", sqldb.Lower(f.Accounts))
	in("provider", "provider", sqldb.Strings(f.Providers))
	in("region", "lower(region)", sqldb.Lower(f.Regions))
	if len(f.Objects) > 0 {
		list := sqldb.List(&args, f.Objects)
		terms = append(terms, fmt.Sprintf("(object IN %s OR local_id IN %s OR xid IN %s)", list, list, list))
		dims = append(dims, "object")
	}
	in("status", "status", sqldb.Strings(f.Statuses))
	in("id", "id", sqldb.Strings(f.IDs))
	if f.MinRisk > 0 {
		args = append(args, f.MinRisk)
		terms, dims = append(terms, fmt.Sprintf("risk >= $%d", len(args))), append(dims, "risk")
	}
	within := func(column string, s posture.Span) {
		if s.IsZero() {
			return
		}
		terms, dims = append(terms, column+" <> 0"), append(dims, column) // 0 means never
		if !s.From.IsZero() {
			args = append(args, sqldb.Millis(s.From))
			terms = append(terms, fmt.Sprintf("%s >= $%d", column, len(args)))
		}
		if !s.To.IsZero() {
			args = append(args, sqldb.Millis(s.To))
			terms = append(terms, fmt.Sprintf("%s < $%d", column, len(args)))
		}
	}
	within("created", f.Created)
	within("resolved", f.Resolved)
	if f.Rules != nil { // an empty list selects nothing
		terms = append(terms, "rule IN "+tx.Dialect().TextList(&args, sqldb.Strings(f.Rules)))
		dims = append(dims, "rule")
	}
	if f.Suppressed != nil {
		if *f.Suppressed {
			terms = append(terms, isSuppressed(&args, now))
		} else {
			args = append(args, sqldb.Millis(now))
			terms = append(terms, fmt.Sprintf("aside_till <= $%d", len(args)))
		}
		dims = append(dims, "aside_till")
	}
	if f.Text != "" {
		terms = append(terms, textTerm(tx, &args, strings.ToLower(f.Text)))
		dims = append(dims, "words")
	}
	return strings.Join(terms, " AND "), args, dims
}

// Findings implements [posture.FindingStore].
func (s *Store) Findings(ctx context.Context, org posture.OrgID, f posture.FindingFilter, sorts []posture.FindingSort, p posture.Page, now time.Time) (page posture.FindingPage, err error) {
	order, err := findingOrder(sorts)
	if err != nil {
		return page, err
	}
	page.Findings = []posture.Finding{}
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		if page.Total, err = countFindings(tx, org, f, now); err != nil {
			return err
		}
		where, args, _ := findingWhere(tx, org, f, now)
		ranges, err := order.after(p.After, args)
		if err != nil {
			return err
		}
		r := &pageReader{tx: tx, filter: f, order: order, size: p.Size, page: &page}
		for _, s := range ranges {
			if more, err := r.read(where, s); err != nil || !more {
				return err
			}
		}
		return nil
	})
	return page, err
}

// A pageReader fills a page.
type pageReader struct {
	tx       *sqldb.Tx
	filter   posture.FindingFilter
	order    findingSorts
	size     int // 0 for no limit
	page     *posture.FindingPage
	position string // of the last finding
}

// read adds the findings of a range of the list. If another finding follows a full
// page, it sets the cursor of the next page and returns false.
func (r *pageReader) read(where string, s keyRange) (bool, error) {
	text := `SELECT ` + findingColumns + r.order.columns() + ` FROM finding WHERE ` + where + s.where + ` ORDER BY ` + r.order.String()
	args := s.args
	// With a filter of tags, which are compared below, the number of rows to read is not known.
	if len(r.filter.Tags) == 0 && r.size > 0 {
		args = append(args, r.size+1-len(r.page.Findings))
		text += fmt.Sprintf(" LIMIT $%d", len(args))
	}
	for row, err := range sqldb.Each(r.tx, r.order.scan, text, args...) {
		if err != nil {
			return false, err
		}
		if !hasTags(row.finding.Tags, r.filter.Tags) {
			continue
		}
		if r.size > 0 && len(r.page.Findings) == r.size {
			r.page.Next = r.position
			return false, nil
		}
		r.page.Findings = append(r.page.Findings, row.finding)
		if r.position, err = row.position(); err != nil {
			return false, err
		}
	}
	return true, nil
}

// hasTags reports whether tags have one of the wanted values for every name.
func hasTags(tags map[string]string, want map[string][]string) bool {
	return posture.AccountFilter{Tags: want}.Matches(posture.Account{Tags: tags})
}

// findingSorts is the order of a list. The last column makes it unique.
type findingSorts []findingSort

type findingSort struct {
	column string
	desc   bool
}

// findingOrder returns the order for sort keys; without any, by risk. It appends the id, unless
// the id is a sort key.
func findingOrder(sorts []posture.FindingSort) (findingSorts, error) {
	if len(sorts) == 0 {
		return findingSorts{{"risk", true}, {"id", false}}, nil
	}
	var order findingSorts
	for i, s := range sorts {
		column, ok := findingField(s.Field)
		if !ok {
			return nil, fault.Field(fmt.Sprintf("sorts[%d].fieldName", i), "is not a field that findings are sorted by")
		}
		if column == "level" {
			column = severityOrder
		}
		if !slices.ContainsFunc(order, func(o findingSort) bool { return o.column == column }) {
			order = append(order, findingSort{column, s.Desc})
		}
	}
	if !slices.ContainsFunc(order, func(o findingSort) bool { return o.column == "id" }) {
		// The direction is opposite to that of the column before, as in the indexes.
		order = append(order, findingSort{"id", !order[len(order)-1].desc})
	}
	return order, nil
}

func (o findingSorts) String() string {
	parts := make([]string, len(o))
	for i, s := range o {
		parts[i] = s.column
		if s.desc {
			parts[i] += " DESC"
		}
	}
	return strings.Join(parts, ", ")
}

// columns returns the sort columns for the SELECT list, from which the cursor of a row
// is made.
func (o findingSorts) columns() string {
	text := ""
	for _, s := range o {
		text += ", " + s.column
	}
	return text
}

// sortedFinding is a finding and pointers to the values of its sort columns.
type sortedFinding struct {
	finding posture.Finding
	values  []any
}

func (o findingSorts) scan(row sqldb.Row) (f sortedFinding, err error) {
	f.values = make([]any, len(o))
	for i, s := range o {
		switch s.column {
		case "risk", "created", "updated", severityOrder:
			f.values[i] = new(int64)
		default:
			f.values[i] = new(string)
		}
	}
	err = scanFindingInto(row, &f.finding, f.values...)
	return f, err
}

// position returns the cursor of the finding.
func (f sortedFinding) position() (string, error) {
	text, err := json.Marshal(f.values)
	return string(text), err
}

// A keyRange is a range of the list that one index scan returns in order.
type keyRange struct {
	where string // appended to other conditions
	args  []any  // of all conditions
}

// after returns the ranges that follow a cursor (keyset pagination): rows that are
// equal in all columns but the last and greater in it, then rows that are equal in all
// but the last two, and so on. Without a cursor it returns the whole list. The database
// finds each range with an index lookup, so deep pages are as fast as the first.
func (o findingSorts) after(position string, args []any) ([]keyRange, error) {
	if position == "" {
		return []keyRange{{"", args}}, nil
	}
	var values []json.RawMessage
	if err := json.Unmarshal([]byte(position), &values); err != nil || len(values) != len(o) {
		return nil, fault.New(fault.Invalid, "the page does not exist")
	}
	var all []keyRange
	equal := ""
	args = slices.Clip(args) // append must not write into the array of the caller
	for i, s := range o {
		var number int64
		var text string
		var value any
		if json.Unmarshal(values[i], &number) == nil {
			value = number
		} else if json.Unmarshal(values[i], &text) == nil {
			value = text
		}
		args = append(args, value)
		parameter := fmt.Sprintf("$%d", len(args))
		beyond := " > "
		if s.desc {
			beyond = " < "
		}
		all = append(all, keyRange{equal + " AND " + s.column + beyond + parameter, slices.Clone(args)})
		equal += " AND " + s.column + " = " + parameter
	}
	slices.Reverse(all)
	return all, nil
}
