package entitydb

import (
	"slices"
	"sync"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// maxCached bounds the entries of each cache, of about a hundred bytes each.
const maxCached = 200_000

// idCache caches which account or cell a number stands for. Committed numbers are never
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
		if accountNo, ok := ids.accountNos[posture.AccountRef{Org: org, Account: posture.AccountID(a)}]; ok {
			accountNos = append(accountNos, accountNo)
		}
	}
	return accountNos
}

// afterCommit calls add at once if the transaction is read-only, else after its commit:
// a rollback frees the numbers that the transaction assigned.
func afterCommit(tx *sqldb.Tx, add func()) {
	if tx.ReadOnly() {
		add()
	} else {
		tx.AfterCommit(add)
	}
}

func (ids *idCache) addPartition(part partition) {
	ids.mu.Lock()
	defer ids.mu.Unlock()
	if len(ids.accountNos) >= maxCached {
		clear(ids.accountNos)
	}
	ids.accountNos[posture.AccountRef{Org: part.org, Account: part.account}] = part.accountNo
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
		where := `id IN ` + sqldb.List(&args, part) + inCells(tx, &args, part)
		found, err := readContexts(tx, where, args)
		if err != nil {
			return nil, err
		}
		for _, h := range found {
			contexts[h.cell] = h.cellContext
		}
		afterCommit(tx, func() { s.ids.addContexts(found) })
	}
	return contexts, nil
}

// readContexts returns the contexts of the cells that a condition selects. Distributed
// cells are not joined with the accounts, which are on the coordinator: Citus would send
// all of them to every shard.
func readContexts(tx *sqldb.Tx, where string, args []any) ([]cellContextRow, error) {
	if !tx.Distributed() {
		return sqldb.Query(tx, scanCellContext, `
			SELECT c.id, p.account, p.provider, c.type, c.region
			FROM (SELECT id, account_no, type, region FROM entity_cell WHERE `+where+`) AS c
			JOIN entity_partition p ON p.account_no = c.account_no`, args...)
	}
	all, err := sqldb.Query(tx, scanCellContext, `SELECT id, '', '', type, region FROM entity_cell WHERE `+where, args...)
	if err != nil {
		return nil, err
	}
	accountNos := make([]int64, len(all))
	for i, h := range all {
		accountNos[i] = h.cell >> cellBits
	}
	parts, err := readPartitions(tx, accountNos)
	for i, h := range all {
		p := parts[h.cell>>cellBits]
		all[i].account, all[i].provider = p.account, p.provider
	}
	return all, err
}

// readPartitions returns the partitions with the given numbers, without generation and
// cells if they are distributed.
func readPartitions(tx *sqldb.Tx, accountNos []int64) (map[int64]partition, error) {
	slices.Sort(accountNos)
	parts := map[int64]partition{}
	for chunk := range slices.Chunk(slices.Compact(accountNos), 1000) {
		var args []any
		text := `SELECT ` + partitionColumns + ` FROM entity_partition WHERE account_no IN ` + sqldb.List(&args, chunk)
		found, err := sqldb.Query(tx, scanPartition, text, args...)
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			parts[p.accountNo] = p
		}
	}
	return parts, nil
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

// inCells is inAccounts for the accounts of cells.
func inCells(tx *sqldb.Tx, args *[]any, cells []int64) string {
	rowIDs := make([]int64, len(cells))
	for i, cell := range cells {
		rowIDs[i] = cell << memberBits
	}
	return inAccounts(tx, args, rowIDs)
}
