package store

import (
	"slices"
	"sync"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// maxPlaces bounds how many cells are remembered. The memory is some hundred
// bytes each.
const maxPlaces = 200_000

// places remembers what the numbers of accounts and cells stand for. That never
// changes, so what was read once need not be read again.
type places struct {
	mu    sync.RWMutex
	accts map[posture.AccountRef]int64
	cells map[int64]home
}

func newPlaces() *places {
	return &places{accts: map[posture.AccountRef]int64{}, cells: map[int64]home{}}
}

// partitions returns those of the accounts that are known.
func (p *places) partitions(org posture.OrgID, accounts []string) (accts []int64) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	for _, a := range accounts {
		if at, ok := p.accts[posture.AccountRef{Org: org, Account: posture.AccountID(a)}]; ok {
			accts = append(accts, at)
		}
	}
	return accts
}

func (p *places) addPartition(at partition) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.accts) >= maxPlaces {
		clear(p.accts)
	}
	p.accts[posture.AccountRef{Org: at.org, Account: at.account}] = at.acct
}

// homes returns what is known of cells, and which are not known.
func (p *places) homes(cells []int64) (known map[int64]home, unknown []int64) {
	known = make(map[int64]home, len(cells))
	p.mu.RLock()
	defer p.mu.RUnlock()
	for _, c := range cells {
		if h, ok := p.cells[c]; ok {
			known[c] = h
		} else {
			unknown = append(unknown, c)
		}
	}
	return known, unknown
}

func (p *places) addHomes(all []cellHome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.cells)+len(all) > maxPlaces {
		clear(p.cells)
	}
	for _, h := range all {
		p.cells[h.cell] = h.home
	}
}

// homesOf returns what the cells of rows say of their entities.
func (s *Store) homesOf(tx *sqldb.Tx, rows []entityRow) (map[int64]home, error) {
	cells := make([]int64, len(rows))
	for i, row := range rows {
		cells[i] = cellOf(row.rid)
	}
	slices.Sort(cells)
	homes, unknown := s.seen.homes(slices.Compact(cells))
	for part := range slices.Chunk(unknown, 1000) {
		var args []any
		found, err := sqldb.Query(tx, scanHome, `
			SELECT c.id, p.account, p.provider, c.type, c.region
			FROM entity_cell c JOIN entity_partition p ON p.acct = c.acct
			WHERE c.id IN `+sqldb.List(&args, part), args...)
		if err != nil {
			return nil, err
		}
		for _, h := range found {
			homes[h.cell] = h.home
		}
		s.seen.addHomes(found)
	}
	return homes, nil
}

// A cellHome is a cell and what it says of its entities.
type cellHome struct {
	cell int64
	home
}

func scanHome(r sqldb.Row) (h cellHome, err error) {
	err = r.Scan(&h.cell, &h.account, &h.provider, &h.typ, &h.region)
	return h, err
}
