package entitydb

import (
	"context"
	"fmt"
	"slices"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// A feedCommit is a row of table entity_commit.
type feedCommit struct {
	changedAt, accountNo, generation int64
	event                            bool
	origin                           posture.ChangeOrigin
	changes                          []byte
}

func scanCommit(r sqldb.Row) (c feedCommit, err error) {
	err = r.Scan(&c.changedAt, &c.accountNo, &c.generation, &c.event, &c.origin.Actor, &c.origin.Operation, &c.changes)
	return c, err
}

// cause returns how Vigil learned of the commit's changes.
func (c feedCommit) cause() posture.ChangeCause {
	if c.event {
		return posture.CausedByEvent
	}
	return posture.CausedByCollection
}

// A feedPosition is the position of a change in the feed.
type feedPosition struct {
	changedAt, accountNo, generation int64
	index                            int // within the commit
}

func (p feedPosition) String() string {
	return fmt.Sprintf("%d.%d.%d.%d", p.changedAt, p.accountNo, p.generation, p.index)
}

func parseFeedPosition(text string) (p feedPosition, err error) {
	if n, err := fmt.Sscanf(text, "%d.%d.%d.%d", &p.changedAt, &p.accountNo, &p.generation, &p.index); n != 4 || err != nil || p.index < 0 || p.String() != text {
		return p, fault.New(fault.Invalid, "malformed position in the change feed")
	}
	return p, nil
}

// Feed implements [posture.EntityStore].
func (s *Store) Feed(ctx context.Context, org posture.OrgID, f posture.FeedFilter, p posture.Page) (page posture.FeedPage, err error) {
	if p.Size == 0 {
		p.Size = posture.MaxPage
	}
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		where, args, err := feedCondition(tx, org, f)
		if err != nil || where == "" {
			return err
		}
		var from feedPosition
		if p.After != "" {
			if from, err = parseFeedPosition(p.After); err != nil {
				return err
			}
			args = append(args, from.changedAt, from.accountNo, from.generation)
			where += fmt.Sprintf(" AND (at, account_no, generation) <= ($%d, $%d, $%d)", len(args)-2, len(args)-1, len(args))
		}
		args = append(args, p.Size+1)
		commits, err := sqldb.Query(tx, scanCommit, `
			SELECT at, account_no, generation, event, actor, operation, changes
			FROM entity_commit
			WHERE `+where+fmt.Sprintf(`
			ORDER BY at DESC, account_no DESC, generation DESC
			LIMIT $%d`, len(args)), args...)
		if err != nil {
			return err
		}
		listed, next, err := listChanges(commits, from, p.Size)
		if err != nil {
			return err
		}
		page.Next = next
		page.Changes, err = s.readFeed(tx, listed)
		return err
	})
	return page, err
}

// FeedCounts implements [posture.EntityStore].
func (s *Store) FeedCounts(ctx context.Context, org posture.OrgID, f posture.FeedFilter, step time.Duration) (counts []posture.FeedCount, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		where, args, err := feedCondition(tx, org, f)
		if err != nil || where == "" {
			return err
		}
		ms := step.Milliseconds()
		counts, err = sqldb.Query(tx, func(r sqldb.Row) (c posture.FeedCount, err error) {
			var number int64
			err = r.Scan(&number, &c.Added, &c.Updated, &c.Deleted)
			c.From = sqldb.Time(number * ms)
			return c, err
		}, fmt.Sprintf(`
			SELECT at / %d AS step, CAST(sum(added) AS BIGINT), CAST(sum(updated) AS BIGINT), CAST(sum(removed) AS BIGINT)
			FROM entity_commit
			WHERE %s
			GROUP BY at / %d
			ORDER BY step`, ms, where, ms), args...)
		return err
	})
	return counts, err
}

// feedCondition returns the condition of a filter; empty if nothing can match.
func feedCondition(tx *sqldb.Tx, org posture.OrgID, f posture.FeedFilter) (where string, args []any, err error) {
	args = []any{org}
	where = "org = $1"
	if len(f.Accounts) > 0 {
		names := []any{org}
		accountNos, err := sqldb.Query(tx, sqldb.Scalar[int64], `
			SELECT account_no
			FROM entity_partition
			WHERE org = $1 AND lower(account) IN `+tx.Dialect().TextList(&names, sqldb.Lower(storable(f.Accounts))), names...)
		if err != nil || len(accountNos) == 0 {
			return "", nil, err
		}
		where += " AND account_no IN " + sqldb.List(&args, accountNos)
	}
	if len(f.Types) > 0 {
		where += " AND lower(type) IN " + tx.Dialect().TextList(&args, sqldb.Lower(storable(f.Types)))
	}
	if !f.When.From.IsZero() {
		args = append(args, sqldb.Millis(f.When.From))
		where += fmt.Sprintf(" AND at >= $%d", len(args))
	}
	if !f.When.To.IsZero() {
		args = append(args, sqldb.Millis(f.When.To))
		where += fmt.Sprintf(" AND at < $%d", len(args))
	}
	return where, args, nil
}

// A feedItem is a listed change with its commit.
type feedItem struct {
	feedCommit
	listedChange
}

// listChanges returns up to size changes of the commits, beginning at from, and the position
// of the next change. The previous page may already have some changes of the first commit.
func listChanges(commits []feedCommit, from feedPosition, size int) (items []feedItem, next string, err error) {
	for _, c := range commits {
		listed, err := readListed(c.accountNo, c.changes)
		if err != nil {
			return nil, "", err
		}
		skip := 0
		if c.changedAt == from.changedAt && c.accountNo == from.accountNo && c.generation == from.generation {
			skip = min(from.index, len(listed))
		}
		for i, l := range listed[skip:] {
			if len(items) == size {
				return items, feedPosition{c.changedAt, c.accountNo, c.generation, skip + i}.String(), nil
			}
			items = append(items, feedItem{c, l})
		}
	}
	return items, "", nil
}

// readFeed returns what the feed shows of changes. It omits changes whose change log has
// been deleted.
func (s *Store) readFeed(tx *sqldb.Tx, items []feedItem) ([]posture.FeedChange, error) {
	readers := map[int64]*feedReader{}
	for _, item := range items {
		r := readers[item.accountNo]
		if r == nil {
			r = &feedReader{store: s, tx: tx, accountNo: item.accountNo}
			readers[item.accountNo] = r
		}
		r.hashes, r.generations = append(r.hashes, item.idHash), append(r.generations, item.generation)
	}
	for _, r := range readers {
		if err := r.load(); err != nil {
			return nil, err
		}
	}
	all := []posture.FeedChange{}
	for _, item := range items {
		change, found, err := readers[item.accountNo].change(item)
		if err != nil {
			return nil, err
		}
		if found {
			all = append(all, change)
		}
	}
	return all, nil
}

// A feedReader reads the entities of one account that changes in a page of the feed refer to.
type feedReader struct {
	store       *Store
	tx          *sqldb.Tx
	accountNo   int64
	hashes      []int64
	generations []int64
	current     map[int64][]posture.Entity // by id hash
	changes     map[int64][]changeRow      // by id hash, oldest first
}

// load reads the entities and the entries of their change logs. Of removals it reads all: an
// entity that was added or updated may have been removed in a later generation.
func (r *feedReader) load() error {
	slices.Sort(r.hashes)
	slices.Sort(r.generations)
	r.hashes, r.generations = slices.Compact(r.hashes), slices.Compact(r.generations)
	r.current, r.changes = map[int64][]posture.Entity{}, map[int64][]changeRow{}
	var args []any
	text := `SELECT ` + rowColumns + ` FROM entity WHERE id_hash IN ` + sqldb.List(&args, r.hashes) + inAccount(r.tx, &args, r.accountNo)
	rows, err := sqldb.Query(r.tx, scanRow, text, args...)
	if err != nil {
		return err
	}
	entities, err := r.store.readEntities(r.tx, rows)
	if err != nil {
		return err
	}
	for i, row := range rows {
		r.current[row.idHash] = append(r.current[row.idHash], entities[i])
	}
	type hashedChange struct {
		idHash int64
		changeRow
	}
	args = nil
	changes, err := sqldb.Query(r.tx, func(row sqldb.Row) (c hashedChange, err error) {
		err = row.Scan(&c.idHash, &c.generation, &c.rowID, &c.changedAt, &c.removed, &c.created, &c.body)
		return c, err
	}, `
		SELECT id_hash, generation, row_id, at, gone, created, body
		FROM entity_change
		WHERE id_hash IN `+sqldb.List(&args, r.hashes)+` AND (gone OR generation IN `+sqldb.List(&args, r.generations)+`)`+inAccount(r.tx, &args, r.accountNo)+`
		ORDER BY id_hash, generation`, args...)
	for _, c := range changes {
		r.changes[c.idHash] = append(r.changes[c.idHash], c.changeRow)
	}
	return err
}

// change returns what the feed shows of a change.
func (r *feedReader) change(item feedItem) (change posture.FeedChange, found bool, err error) {
	var e posture.Entity
	switch item.typ {
	case posture.Updated:
		var id posture.EntityID
		if id, change.Change, found, err = r.update(item); err != nil || !found {
			return change, false, err
		}
		e, found, err = r.entity(item, func(e posture.Entity) bool { return e.ID == id })
	case posture.Deleted:
		e, found, err = r.removed(item, func(row changeRow, _ posture.Entity) bool { return row.generation == item.generation })
	default: // added: the change log has no entry, so the time of creation identifies the entity
		e, found, err = r.entity(item, func(e posture.Entity) bool { return sqldb.Millis(e.Created) == item.changedAt })
	}
	change.ChangeType, change.Change.Cause, change.Change.ChangeOrigin = item.typ, item.cause(), item.origin
	change.Entity, change.Name, change.EntityType, change.Account, change.Region = e.ID, e.Name, e.Type, e.Account, e.Region
	change.Change.At = sqldb.Time(item.changedAt)
	return change, found, err
}

// update returns the entity and the differences of an update.
func (r *feedReader) update(item feedItem) (posture.EntityID, posture.EntityChange, bool, error) {
	for _, row := range r.changes[item.idHash] {
		if row.generation == item.generation && !row.removed {
			id, c, err := readChange(row.body)
			return id, c, err == nil, err
		}
	}
	return "", posture.EntityChange{}, false, nil
}

// entity returns the entity of a change as it is now, or as it was when it was removed.
func (r *feedReader) entity(item feedItem, is func(posture.Entity) bool) (posture.Entity, bool, error) {
	for _, e := range r.current[item.idHash] {
		if is(e) {
			return e, true, nil
		}
	}
	return r.removed(item, func(row changeRow, e posture.Entity) bool { return row.generation > item.generation && is(e) })
}

// removed returns the last state of the first removed entity that matches.
func (r *feedReader) removed(item feedItem, is func(changeRow, posture.Entity) bool) (posture.Entity, bool, error) {
	l := logReader{store: r.store, tx: r.tx}
	for _, row := range r.changes[item.idHash] {
		if !row.removed {
			continue
		}
		e, err := l.removedEntity(row)
		if err != nil {
			return e, false, err
		}
		if is(row, e) {
			return e, true, nil
		}
	}
	return posture.Entity{}, false, nil
}
