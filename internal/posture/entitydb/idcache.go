package entitydb

import (
	"slices"
	"sync"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// maxCached bounds the entries of each cache, of about a hundred bytes each.
const maxCached = 200_000

// idCache caches which account or cell a number stands for. Numbers are never
// reassigned, so entries never become stale.
type idCache struct {
	mu         sync.RWMutex
	accountNos map[posture.AccountRef]int64
	cells      map[int64]cellContext
}

func newIDCache() *idCache {
	return &idCache{accountNos: map[posture.AccountRef]int64{}, cells: map[int64]cellContext{}}
}

// partitions returns the numbers of those accounts that are cached.
func (ids *idCache) partitions(org posture.OrgID, accounts []string) (accountNos []int64) {
	ids.mu.RLock()
	defer ids.mu.RUnlock()
	for _, a := range accounts {
		if at, ok := ids.accountNos[posture.AccountRef{Org: org, Account: posture.AccountID(a)}]; ok {
			accountNos = append(accountNos, at)
		}
	}
	return accountNos
}

func (ids *idCache) addPartition(at partition) {
	ids.mu.Lock()
	defer ids.mu.Unlock()
	if len(ids.accountNos) >= maxCached {
		clear(ids.accountNos)
	}
	ids.accountNos[posture.AccountRef{Org: at.org, Account: at.account}] = at.accountNo
}

// contexts returns the cached contexts of cells, and the cells that are not cached.
func (ids *idCache) contexts(cells []int64) (found map[int64]cellContext, missing []int64) {
	found = make(map[int64]cellContext, len(cells))
	ids.mu.RLock()
	defer ids.mu.RUnlock()
	for _, c := range cells {
		if h, ok := ids.cells[c]; ok {
			found[c] = h
		} else {
			missing = append(missing, c)
		}
	}
	return found, missing
}

func (ids *idCache) addContexts(all []cellContextRow) {
	ids.mu.Lock()
	defer ids.mu.Unlock()
	if len(ids.cells)+len(all) > maxCached {
		clear(ids.cells)
	}
	for _, h := range all {
		ids.cells[h.cell] = h.cellContext
	}
}

// contextsOf returns the contexts of the cells of rows, by cell.
func (s *Store) contextsOf(tx *sqldb.Tx, rows []entityRow) (map[int64]cellContext, error) {
	cells := make([]int64, len(rows))
	for i, row := range rows {
		cells[i] = cellOf(row.rowID)
	}
	slices.Sort(cells)
	contexts, unknown := s.ids.contexts(slices.Compact(cells))
	for part := range slices.Chunk(unknown, 1000) {
		var args []any
		found, err := sqldb.Query(tx, scanCellContext, `
			SELECT c.id, p.account, p.provider, c.type, c.region
			FROM entity_cell c JOIN entity_partition p ON p.account_no = c.account_no
			WHERE c.id IN `+sqldb.List(&args, part), args...)
		if err != nil {
			return nil, err
		}
		for _, h := range found {
			contexts[h.cell] = h.cellContext
		}
		s.ids.addContexts(found)
	}
	return contexts, nil
}

// A cellContextRow is a cell id with its context.
type cellContextRow struct {
	cell int64
	cellContext
}

func scanCellContext(r sqldb.Row) (h cellContextRow, err error) {
	err = r.Scan(&h.cell, &h.account, &h.provider, &h.typ, &h.region)
	return h, err
}
