package store

import (
	"context"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/entitydb"
	"vigil/internal/posture/notify"
	"vigil/internal/sqldb"
)

// stuckAfter is how long a read may be due in a busy account before the account's
// worker is taken for dead and another job is enqueued.
const stuckAfter = 10 * time.Minute

// MaintainStreams implements [posture.StreamStore].
func (s *Streams) MaintainStreams(ctx context.Context, t posture.StreamTimeouts) ([]posture.AccountRef, error) {
	now := s.now()
	if err := s.resume(ctx, now); err != nil {
		return nil, err
	}
	if err := s.deleteSeen(ctx, now.Add(-t.Dedup)); err != nil {
		return nil, err
	}
	silent, err := s.silentAccounts(ctx, now, t)
	if err != nil {
		return nil, err
	}
	for _, ref := range silent {
		err := s.db.Write(ctx, func(tx *sqldb.Tx) error {
			if err := s.setStatus(tx, ref.Org, ref.Account, posture.StreamDisconnected); err != nil {
				return err
			}
			return recordEvents(tx, ref.Org, []notify.Event{{Kind: notify.StreamSilent, At: now, Account: ref.Account}})
		})
		if err != nil {
			return nil, err
		}
	}
	return silent, nil
}

func scanRef(r sqldb.Row) (ref posture.AccountRef, err error) {
	err = r.Scan(&ref.Org, &ref.Account)
	return ref, err
}

// resume enqueues jobs for accounts that have due reads and no worker.
func (s *Streams) resume(ctx context.Context, now time.Time) error {
	var idle []posture.AccountRef
	err := s.db.Read(ctx, func(tx *sqldb.Tx) (err error) {
		idle, err = sqldb.Query(tx, scanRef, `
			SELECT DISTINCT r.org, r.account
			FROM stream_reread r
			JOIN stream s ON s.org = r.org AND s.account = r.account
			WHERE r.due <= $1 AND (NOT s.busy OR r.due <= $2)`, sqldb.Millis(now), sqldb.Millis(now.Add(-stuckAfter)))
		return err
	})
	if err != nil {
		return err
	}
	for _, ref := range idle {
		err := s.db.Write(ctx, func(tx *sqldb.Tx) error {
			n, err := tx.Exec(`UPDATE stream SET busy = TRUE WHERE org = $1 AND account = $2`, ref.Org, ref.Account)
			if err != nil || n == 0 {
				return err
			}
			// Restart the timeout, so that the next job is enqueued only after stuckAfter.
			if _, err := tx.Exec(`UPDATE stream_reread SET due = $3 WHERE org = $1 AND account = $2 AND due <= $4`,
				ref.Org, ref.Account, sqldb.Millis(now), sqldb.Millis(now.Add(-stuckAfter))); err != nil {
				return err
			}
			return s.jobs.Stream(tx, ref.Org, ref.Account)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// deleteBatch bounds the rows deleted in one transaction, so that other writers do
// not wait long.
const deleteBatch = 5000

// deleteSeen deletes the ids of messages that were received before a time.
func (s *Streams) deleteSeen(ctx context.Context, before time.Time) error {
	for {
		old := false
		err := s.db.Read(ctx, func(tx *sqldb.Tx) (err error) {
			old, err = sqldb.QueryOne(tx, sqldb.Scalar[bool], `SELECT EXISTS (SELECT 1 FROM stream_seen WHERE at < $1)`, sqldb.Millis(before))
			return err
		})
		if err != nil || !old {
			return err
		}
		err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
			_, err := tx.Exec(`
				DELETE FROM stream_seen
				WHERE at < $1 AND (org, account, id) IN (SELECT org, account, id FROM stream_seen WHERE at < $1 LIMIT $2)`,
				sqldb.Millis(before), deleteBatch)
			return err
		})
		if err != nil {
			return err
		}
	}
}

// silentAccounts returns the accounts whose stream is marked as connected and has missed
// its heartbeat, or has sent nothing while collections found changes.
func (s *Streams) silentAccounts(ctx context.Context, now time.Time, t posture.StreamTimeouts) (refs []posture.AccountRef, err error) {
	type candidate struct {
		posture.AccountRef
		event, beat, since int64
	}
	scan := func(r sqldb.Row) (c candidate, err error) {
		err = r.Scan(&c.Org, &c.Account, &c.event, &c.beat, &c.since)
		return c, err
	}
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		found, err := sqldb.Query(tx, scan, `
			SELECT s.org, s.account, s.last_event, s.last_beat, a.stream_since
			FROM stream s
			JOIN account a ON a.org = s.org AND a.id = s.account
			WHERE a.stream = 'connected' AND a.stream_since < $1
				AND (s.last_beat > 0 AND s.last_beat < $1 OR s.last_event < $2)`,
			sqldb.Millis(now.Add(-t.Heartbeat)), sqldb.Millis(now.Add(-t.Silence)))
		if err != nil {
			return err
		}
		for _, c := range found {
			quietSince := max(c.event, c.since)
			silent := c.beat > 0 && c.beat < sqldb.Millis(now.Add(-t.Heartbeat)) // missed its heartbeat
			if !silent && quietSince < sqldb.Millis(now.Add(-t.Silence)) {
				// Changes stored up to an hour after the last message do not count: they may come from
				// the reads that the message caused.
				if silent, err = entitydb.ChangedSince(tx, c.AccountRef, quietSince+int64(time.Hour/time.Millisecond)); err != nil {
					return err
				}
			}
			if silent {
				refs = append(refs, c.AccountRef)
			}
		}
		return nil
	})
	return refs, err
}
