package entitydb

import (
	"context"
	"encoding/binary"
	"time"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// maxFeedChanges is how many changes of a commit the feed lists.
const maxFeedChanges = 1000

// A feedEntry is what the feed says about one commit.
type feedEntry struct {
	event                   bool // caused by an event
	origin                  posture.ChangeOrigin
	added, updated, removed int64
	listed                  int
	changes                 []byte // change type and id hash of those that are listed
}

// idHashMask selects the hash in an id hash, which begins with the account number.
const idHashMask = 1<<accountShift - 1

// add counts a change and lists it.
func (e *feedEntry) add(t posture.ChangeType, idHash int64) {
	switch t {
	case posture.Added:
		e.added++
	case posture.Updated:
		e.updated++
	case posture.Deleted:
		e.removed++
	}
	if e.listed == maxFeedChanges {
		return
	}
	e.listed++
	e.changes = binary.AppendUvarint(append(e.changes, changeCode(t)), uint64(idHash&idHashMask))
}

// A listedChange is one change of a commit.
type listedChange struct {
	typ    posture.ChangeType
	idHash int64
}

// readListed decodes the changes of a commit.
func readListed(accountNo int64, b []byte) (all []listedChange, err error) {
	for len(b) > 0 {
		hash, n := binary.Uvarint(b[1:])
		if int(b[0]) >= len(changeTypes) || n <= 0 || hash > idHashMask {
			return nil, errDamaged
		}
		all = append(all, listedChange{changeTypes[b[0]], accountNo<<accountShift | int64(hash)})
		b = b[1+n:]
	}
	return all, nil
}

// saveFeed adds the commit to the feed. The first collection of a scope is left out:
// the entities that it finds are not new.
func (c *changeSet) saveFeed() error {
	e := &c.feed
	if !e.event {
		read, err := sqldb.QueryOne(c.tx, sqldb.Scalar[bool], `
			SELECT EXISTS (SELECT 1 FROM entity_coverage WHERE account_no = $1 AND type = $2 AND scope = $3 AND succeeded > 0)`,
			c.part.accountNo, c.scope.Type, c.scope.Region)
		if err != nil || !read {
			return err
		}
	}
	if e.listed == 0 {
		return nil
	}
	_, err := c.tx.Exec(`
		INSERT INTO entity_commit (org, at, account_no, generation, type, event, actor, operation, added, updated, removed, changes)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		c.part.org, c.changedAt, c.part.accountNo, c.generation, c.scope.Type, e.event, e.origin.Actor, e.origin.Operation, e.added, e.updated, e.removed, e.changes)
	return err
}

// forgetFeed deletes the feed before a time.
func (s *Store) forgetFeed(ctx context.Context, before time.Time) error {
	for {
		n := int64(0)
		err := s.db.Write(ctx, func(tx *sqldb.Tx) error {
			var err error
			n, err = tx.Exec(`
				DELETE FROM entity_commit
				WHERE (org, at, account_no, generation) IN (
					SELECT org, at, account_no, generation FROM entity_commit WHERE at < $1 LIMIT $2)`,
				sqldb.Millis(before), forgetBatch)
			return err
		})
		if err != nil || n < forgetBatch {
			return err
		}
	}
}
