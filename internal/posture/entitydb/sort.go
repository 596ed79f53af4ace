package entitydb

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// A sortKey is the position of an entity in a sorted list. The value is a text that is ordered
// like the values of the entities, or "" if the entity has none. Keys with equal values are
// ordered by row id.
type sortKey struct {
	value string
	rowID int64
}

// maxSortText is the number of characters of a text that the order takes into account.
const maxSortText = 64

// SortedEntities implements [posture.EntityStore]. There is no index in any order but
// that of row ids, so it reads the value of every selected entity.
func (s *Store) SortedEntities(ctx context.Context, org posture.OrgID, f posture.EntityFilter, by posture.EntitySort, p posture.Page) (page posture.EntityPage, err error) {
	after, err := parseSortKey(p.After)
	if err != nil {
		return page, err
	}
	limit := cmp.Or(p.Size, posture.MaxPage)
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		sel, err := s.selectEntities(tx, org, f)
		if err != nil || sel.empty {
			return err
		}
		total, err := sel.count()
		if err != nil {
			return err
		}
		if err := checkSortable(total); err != nil {
			return err
		}
		first := firstKeys{size: limit + 1, order: func(a, b sortKey) int { return a.compare(b, by.Desc) }}
		for k, err := range sel.sortKeys(by) {
			if err != nil {
				return err
			}
			page.Total++
			if p.After == "" || first.order(k, after) > 0 {
				first.add(k)
			}
		}
		keys := first.sorted()
		if len(keys) > limit {
			keys = keys[:limit]
			page.Next = keys[limit-1].String()
		}
		page.Entities, err = sel.readSorted(keys)
		return err
	})
	return page, err
}

// checkSortable refuses to sort too many entities.
func checkSortable(total int) error {
	if total <= posture.MaxSortedEntities {
		return nil
	}
	return fault.Field("sorts", "%d entities match, and at most %d can be sorted; filter by account or type", total, posture.MaxSortedEntities)
}

// compare orders keys. Entities without a value are last.
func (k sortKey) compare(other sortKey, desc bool) int {
	if k.value != other.value {
		switch {
		case k.value == "":
			return 1
		case other.value == "":
			return -1
		case desc:
			return cmp.Compare(other.value, k.value)
		}
		return cmp.Compare(k.value, other.value)
	}
	return cmp.Compare(k.rowID, other.rowID)
}

// String returns the key as a position of a page.
func (k sortKey) String() string { return strconv.FormatInt(k.rowID, 36) + ":" + k.value }

func parseSortKey(after string) (sortKey, error) {
	if after == "" {
		return sortKey{}, nil
	}
	rowID, value, ok := strings.Cut(after, ":")
	if !ok {
		return sortKey{}, fault.New(fault.Invalid, "invalid position in a sorted list of entities")
	}
	n, err := parsePosition(rowID)
	return sortKey{value, n}, err
}

// firstKeys keeps the first keys of an order.
type firstKeys struct {
	size  int
	order func(a, b sortKey) int
	keys  []sortKey
}

func (f *firstKeys) add(k sortKey) {
	f.keys = append(f.keys, k)
	if len(f.keys) >= 4*f.size+1000 {
		f.cut()
	}
}

func (f *firstKeys) cut() {
	slices.SortFunc(f.keys, f.order)
	f.keys = f.keys[:min(f.size, len(f.keys))]
}

// sorted returns the keys in order.
func (f *firstKeys) sorted() []sortKey {
	f.cut()
	return f.keys
}

// sortKeys yields the keys of all selected entities.
func (s *selection) sortKeys(by posture.EntitySort) iter.Seq2[sortKey, error] {
	return func(yield func(sortKey, error) bool) {
		contexts, err := s.allContexts()
		if err != nil {
			yield(sortKey{}, err)
			return
		}
		var fields projection
		if !by.Updated {
			fields.addAttribute(by.By)
		}
		if s.plan != nil {
			fields.addFilter(s.filter)
		}
		columns, scan := rowColumns, scanRow
		if s.plan == nil && fields.isEmpty() { // the cell has all that is needed: do not read the documents
			columns, scan = `row_id, updated`, scanUpdated
		}
		var args []any
		text := s.scan(columns, &args)
		for row, err := range sqldb.Each(s.tx, scan, text, args...) {
			if err != nil {
				yield(sortKey{}, err)
				return
			}
			e, err := readForSort(row, contexts[cellOf(row.rowID)], &fields)
			if err != nil {
				yield(sortKey{}, err)
				return
			}
			if s.plan != nil && !s.filter.Matches(&e) {
				continue
			}
			key := sortKey{rowID: row.rowID}
			if by.Updated {
				key.value = sortNumber(row.updated)
			} else {
				key.value = sortValue(by.By, &e)
			}
			if !yield(key, nil) {
				return
			}
		}
	}
}

// readForSort decodes the fields of the projection. Without a document it returns the
// fields of the cell.
func readForSort(row entityRow, h cellContext, fields *projection) (posture.Entity, error) {
	if row.doc == nil {
		return h.entity(), nil
	}
	return readProjected(row.doc, h, fields)
}

// scanUpdated reads rows without their documents.
func scanUpdated(r sqldb.Row) (row entityRow, err error) {
	err = r.Scan(&row.rowID, &row.updated)
	return row, err
}

// sortValue returns the value of an attribute as text that is ordered like the values:
// numbers by size and before texts, texts ignoring case. The first of several values counts.
func sortValue(a posture.Attribute, e *posture.Entity) string {
	if a.Kind == posture.PropertyAttribute {
		for _, p := range e.Properties {
			if p.Type == posture.LongProperty && posture.Fold(p.Name) == posture.Fold(a.Name) {
				return sortNumber(p.Long)
			}
		}
	}
	values := a.Values(e)
	if len(values) == 0 {
		return ""
	}
	return "t" + firstRunes(posture.Fold(strings.ToValidUTF8(values[0], "\uFFFD")), maxSortText)
}

// firstRunes returns the first n characters of a text, or all if it has fewer.
func firstRunes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	if r := []rune(text); len(r) > n {
		return string(r[:n])
	}
	return text
}

// sortNumber returns a text of fixed length that is ordered like the numbers. Flipping the
// sign bit puts the negative numbers first.
func sortNumber(n int64) string { return fmt.Sprintf("n%016x", uint64(n)^1<<63) }

// readSorted decodes the entities of keys, in their order.
func (s *selection) readSorted(keys []sortKey) ([]posture.Entity, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	rowIDs := make([]int64, len(keys))
	place := make(map[int64]int, len(keys))
	for i, k := range keys {
		rowIDs[i], place[k.rowID] = k.rowID, i
	}
	var args []any
	text := `SELECT ` + rowColumns + ` FROM entity WHERE row_id IN ` + sqldb.List(&args, rowIDs) + inAccounts(s.tx, &args, rowIDs)
	rows, err := sqldb.Query(s.tx, scanRow, text, args...)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(rows, func(a, b entityRow) int { return cmp.Compare(place[a.rowID], place[b.rowID]) })
	return s.store.readEntities(s.tx, rows)
}
