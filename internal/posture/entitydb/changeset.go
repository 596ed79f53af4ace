package entitydb

import (
	"encoding/binary"
	"encoding/json"
	"maps"
	"slices"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// A changeSet holds the changes of one transaction to the entities of one type of an
// account. Together they form one generation of the account.
type changeSet struct {
	tx         *sqldb.Tx
	scope      posture.Scope
	part       partition
	generation int64 // of these changes
	changedAt  int64
	cells      []*cell        // of the type
	dirty      map[int64]bool // ids of the cells to save
	tokens     *tokenizer
	rows       *rowWriter
	ledger     *ledger
	tally      map[string]int64 // change of the number of entities, by region
	changed    []int64          // row ids
	removed    []posture.EntityID
	feed       feedEntry
}

// change begins a change set. It locks the account.
func (s *Store) change(tx *sqldb.Tx, scope posture.Scope) (*changeSet, error) {
	p, err := lockPartition(tx, scope.Org, scope.Account)
	if err != nil {
		return nil, err
	}
	c := &changeSet{
		tx: tx, scope: scope, part: p, generation: p.generation + 1, changedAt: sqldb.Millis(s.now()),
		dirty: map[int64]bool{}, tokens: newTokenizer(tx.Dialect(), p.org), rows: &rowWriter{tx: tx}, ledger: &ledger{tx: tx}, tally: map[string]int64{},
	}
	cells, err := cellsOf(tx, p.accountNo, scope.Type)
	for i := range cells {
		c.cells = append(c.cells, &cells[i])
	}
	return c, err
}

// cell returns the cell of a region, creating it if there is none.
func (c *changeSet) cell(region string) (*cell, error) {
	for _, each := range c.cells {
		if each.scope == c.scope.Region && each.region == region {
			return each, nil
		}
	}
	if c.part.cells+1 >= 1<<cellBits {
		return nil, fault.New(fault.Internal, "account %q has entities of too many types and regions", c.part.account)
	}
	created := &cell{
		id: c.part.accountNo<<cellBits | c.part.cells, typ: c.scope.Type, scope: c.scope.Region, region: region,
	}
	c.part.cells++
	c.cells = append(c.cells, created)
	return created, nil
}

// cellAt returns the cell of a row.
func (c *changeSet) cellAt(rowID int64) *cell {
	for _, each := range c.cells {
		if each.id == cellOf(rowID) {
			return each
		}
	}
	return &cell{id: cellOf(rowID), typ: c.scope.Type}
}

// count adds n entities to a cell.
func (c *changeSet) count(in *cell, n int64) {
	in.count += n
	c.tally[in.region] += n
	c.dirty[in.id] = true
}

// newRow returns the row of an entity that is new in its cell, and adds the entity to the
// counts and the ledger.
func (c *changeSet) newRow(s stagedEntity, created int64) (entityRow, error) {
	in, err := c.cell(s.region)
	if err != nil {
		return entityRow{}, err
	}
	if in.made > memberMask {
		return entityRow{}, fault.New(fault.Internal, "there were too many entities of type %s in %s", in.typ, in.region)
	}
	tokens, err := c.tokens.tokenize(s.doc, in.contextIn(c.part))
	if err != nil {
		return entityRow{}, err
	}
	r := entityRow{
		rowID: in.id<<memberBits | in.made, idHash: idHashOf(c.part.accountNo, s.id), created: created, updated: c.changedAt, doc: s.doc, tokens: tokens,
	}
	in.made++
	c.count(in, 1)
	c.changed = append(c.changed, r.rowID)
	return r, c.ledger.set(r.rowID, entry{s.id, s.hash})
}

// add inserts new entities.
func (c *changeSet) add(items []stagedEntity) error {
	rows := make([]entityRow, len(items))
	for i, s := range items {
		var err error
		if rows[i], err = c.newRow(s, c.changedAt); err != nil {
			return err
		}
		c.feed.add(posture.Added, rows[i].idHash)
	}
	return c.rows.insert(rows)
}

// update writes changed entities. One whose region changed moves to another cell and
// gets another row id.
func (c *changeSet) update(items []stagedEntity) error {
	rowIDs := make([]int64, len(items))
	for i, u := range items {
		rowIDs[i] = u.rowID
	}
	old, err := readRows(c.tx, rowIDs)
	if err != nil {
		return err
	}
	var changed, moved, vacated []entityRow // vacated: the old rows of moved
	var log [][]any
	for _, u := range items {
		oldRow, ok := old[u.rowID]
		if !ok {
			continue
		}
		in := c.cellAt(u.rowID)
		before, err := readDoc(oldRow.doc, in.contextIn(c.part))
		if err != nil {
			return err
		}
		to := *in
		to.region = u.region
		after, err := readDoc(u.doc, to.contextIn(c.part))
		if err != nil {
			return err
		}
		if oldRow.oldTokens, err = c.oldTokens(oldRow, in); err != nil {
			return err
		}
		row := entityRow{rowID: u.rowID, idHash: oldRow.idHash, created: oldRow.created, updated: c.changedAt, doc: u.doc, oldTokens: oldRow.oldTokens}
		if u.region == in.region {
			if row.tokens, err = c.tokens.tokenize(u.doc, to.contextIn(c.part)); err != nil {
				return err
			}
			changed = append(changed, row)
			c.dirty[in.id] = true
			c.changed = append(c.changed, u.rowID)
			if err := c.ledger.set(u.rowID, entry{u.id, u.hash}); err != nil {
				return err
			}
		} else {
			if row, err = c.newRow(u, oldRow.created); err != nil {
				return err
			}
			moved, vacated = append(moved, row), append(vacated, oldRow)
			c.count(in, -1)
			if err := c.ledger.remove(u.rowID); err != nil {
				return err
			}
		}
		if diff := posture.Compare(before, after); !diff.Empty() {
			// In the order of changeColumns; only removals set gone and created.
			log = append(log, []any{row.idHash, c.generation, row.rowID, c.changedAt, false, int64(0), appendChange(nil, after.ID, diff)})
			c.feed.add(posture.Updated, row.idHash)
		}
	}
	if err := c.rows.update(changed); err != nil {
		return err
	}
	if err := c.rows.insert(moved); err != nil {
		return err
	}
	if err := c.rows.remove(vacated); err != nil {
		return err
	}
	return c.log(log)
}

// oldTokens returns the tokens that a row is indexed by, which SQLite needs to change the
// index. For PostgreSQL, which has the tokens in the row, it returns nil.
func (c *changeSet) oldTokens(row entityRow, in *cell) ([]token, error) {
	if c.tx.Dialect() == sqldb.Postgres {
		return nil, nil
	}
	return c.tokens.tokenize(row.doc, in.contextIn(c.part))
}

var changeColumns = []string{"id_hash", "generation", "row_id", "at", "gone", "created", "body"}

// log writes change log entries.
func (c *changeSet) log(rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	return load(c.tx, "entity_change", changeColumns, accountShift, slices.Values(rows))
}

// remove removes entities.
func (c *changeSet) remove(rowIDs []int64) error {
	for chunk := range slices.Chunk(rowIDs, batch) {
		old, err := readRows(c.tx, chunk)
		if err != nil {
			return err
		}
		var log [][]any
		var rows []entityRow
		for rowID, oldRow := range old {
			in := c.cellAt(rowID)
			e, err := readDoc(oldRow.doc, in.contextIn(c.part))
			if err != nil {
				return err
			}
			if oldRow.oldTokens, err = c.oldTokens(oldRow, in); err != nil {
				return err
			}
			rows = append(rows, oldRow)
			c.removed = append(c.removed, e.ID)
			c.count(in, -1)
			if err := c.ledger.remove(rowID); err != nil {
				return err
			}
			log = append(log, []any{oldRow.idHash, c.generation, rowID, c.changedAt, true, oldRow.created, oldRow.doc})
			c.feed.add(posture.Deleted, oldRow.idHash)
		}
		if err := c.rows.remove(rows); err != nil {
			return err
		}
		if err := c.log(log); err != nil {
			return err
		}
	}
	return nil
}

// finish writes ledger, cells, generation and totals. Without changes it writes
// nothing, and the account stays at its generation.
func (c *changeSet) finish() error {
	if len(c.changed) == 0 && len(c.removed) == 0 {
		c.generation--
		return nil
	}
	for _, step := range []func() error{c.ledger.save, c.saveCells, c.saveDelta, c.saveFeed, c.saveGeneration, c.rows.finish, c.saveTally} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (c *changeSet) saveCells() error {
	var rows [][]any
	for _, each := range c.cells {
		if c.dirty[each.id] {
			rows = append(rows, []any{
				each.id, c.part.accountNo, c.part.org, each.typ, each.scope, each.region, each.made, each.count, c.generation,
			})
		}
	}
	_, err := c.tx.ExecEach(`
		INSERT INTO entity_cell (id, account_no, org, type, scope, region, made, count, version)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (account_no, type, scope, region) DO UPDATE
		SET made = excluded.made, count = excluded.count, version = excluded.version`, slices.Values(rows))
	return err
}

// deltasKept is the number of generations that ChangesSince can go back.
const deltasKept = 4096

func (c *changeSet) saveDelta() error {
	slices.Sort(c.changed)
	removed, err := json.Marshal(c.removed)
	if err != nil {
		return err
	}
	if _, err := c.tx.Exec(`
		INSERT INTO entity_delta (account_no, generation, changed, gone)
		VALUES ($1, $2, $3, $4)`, c.part.accountNo, c.generation, packRows(c.changed), removed); err != nil {
		return err
	}
	if c.generation%64 != 0 { // delete in batches
		return nil
	}
	_, err = c.tx.Exec(`DELETE FROM entity_delta WHERE account_no = $1 AND generation <= $2`, c.part.accountNo, c.generation-deltasKept)
	return err
}

func (c *changeSet) saveGeneration() error {
	return saveState(c.tx, c.part.accountNo, c.generation, c.part.cells)
}

// saveTally must be the last step: the totals are shared by all accounts of an organisation, so
// their row locks should be held briefly.
func (c *changeSet) saveTally() error {
	return addTally(c.tx, c.part.org, map[posture.EntityType]map[string]int64{c.scope.Type: c.tally})
}

// addTally adds to the totals of an organisation.
func addTally(tx *sqldb.Tx, org posture.OrgID, deltas map[posture.EntityType]map[string]int64) error {
	var rows [][]any
	for _, t := range slices.Sorted(maps.Keys(deltas)) { // sorted, to avoid deadlocks
		for _, region := range slices.Sorted(maps.Keys(deltas[t])) {
			if n := deltas[t][region]; n != 0 {
				rows = append(rows, []any{org, t, region, n})
			}
		}
	}
	if len(rows) == 0 {
		return nil
	}
	_, err := tx.ExecEach(`
		INSERT INTO entity_tally (org, type, region, count)
		VALUES ($1, $2, $3, $4)
		ON CONFLICT (org, type, region) DO UPDATE
		SET count = entity_tally.count + excluded.count`, slices.Values(rows))
	return err
}

// packRows delta-encodes sorted row ids.
func packRows(rowIDs []int64) []byte {
	b, last := []byte{}, int64(0)
	for _, rowID := range rowIDs {
		b = binary.AppendUvarint(b, uint64(rowID-last))
		last = rowID
	}
	return b
}

// unpackRows decodes packRows.
func unpackRows(b []byte) []int64 {
	var rowIDs []int64
	for last := int64(0); len(b) > 0; {
		d, n := binary.Uvarint(b)
		if n <= 0 {
			return rowIDs
		}
		last += int64(d)
		rowIDs, b = append(rowIDs, last), b[n:]
	}
	return rowIDs
}
