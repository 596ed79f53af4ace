package store

import (
	"context"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

func scanPendingRead(r sqldb.Row) (w posture.PendingRead, err error) {
	var since int64
	err = r.Scan(&w.Type, &w.Region, &w.Name, &w.Version, &w.Depth, &w.Tries, &w.Confirm, &since, &w.Trace, &w.Actor, &w.Operation)
	w.Since = sqldb.Time(since)
	return w, err
}

// PendingReads implements [posture.StreamStore].
func (s *Streams) PendingReads(ctx context.Context, org posture.OrgID, id posture.AccountID, limit int) (due []posture.PendingRead, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		due, err = sqldb.Query(tx, scanPendingRead, `
			SELECT type, region, name, version, depth, tries, again, since, trace, actor, operation
			FROM stream_reread
			WHERE org = $1 AND account = $2 AND due <= $3
			ORDER BY since, type, region, name
			LIMIT $4`, org, id, sqldb.Millis(s.now()), limit)
		return err
	})
	return due, err
}

// RecordReads implements [posture.StreamStore].
func (s *Streams) RecordReads(ctx context.Context, org posture.OrgID, id posture.AccountID, results posture.ReadResults) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		for _, w := range results.Done {
			if err := s.finish(tx, org, id, w, results); err != nil {
				return err
			}
		}
		for _, w := range results.Failed {
			if _, err := tx.Exec(`
				UPDATE stream_reread
				SET tries = tries + 1, due = $7
				WHERE org = $1 AND account = $2 AND type = $3 AND region = $4 AND name = $5 AND version = $6`,
				org, id, w.Type, w.Region, w.Name, w.Version, sqldb.Millis(results.RetryAt)); err != nil {
				return err
			}
		}
		// Neighbours are named by no message, so they have no trace and no origin.
		return s.addPending(tx, org, id, results.Neighbours, depthNeighbour, sqldb.Millis(s.now()), "", posture.ChangeOrigin{})
	})
}

// finish deletes a pending read, or schedules its second read: the clouds are
// eventually consistent, and an answer right after a change may be out of date. It
// leaves a read whose version has changed: a message named the target again in the
// meantime.
func (s *Streams) finish(tx *sqldb.Tx, org posture.OrgID, id posture.AccountID, w posture.PendingRead, results posture.ReadResults) error {
	args := []any{org, id, w.Type, w.Region, w.Name, w.Version}
	const whereRead = ` WHERE org = $1 AND account = $2 AND type = $3 AND region = $4 AND name = $5 AND version = $6`
	if w.Confirm || results.ConfirmAt.IsZero() {
		_, err := tx.Exec(`DELETE FROM stream_reread`+whereRead, args...)
		return err
	}
	at := sqldb.Millis(results.ConfirmAt)
	_, err := tx.Exec(`UPDATE stream_reread SET again = TRUE, tries = 0, since = $7, due = $7`+whereRead, append(args, at)...)
	return err
}

// ReleaseIfIdle implements [posture.StreamStore].
func (s *Streams) ReleaseIfIdle(ctx context.Context, org posture.OrgID, id posture.AccountID) (idle bool, err error) {
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		// Lock the row, so that no message is accepted between the check and the update.
		_, err := sqldb.QueryOne(tx, sqldb.Scalar[bool], `SELECT busy FROM stream WHERE org = $1 AND account = $2`+tx.ForUpdate(), org, id)
		if sqldb.Missing(err) {
			idle = true
			return nil
		}
		if err != nil {
			return err
		}
		due, err := sqldb.QueryOne(tx, sqldb.Scalar[bool], `
			SELECT EXISTS (SELECT 1 FROM stream_reread WHERE org = $1 AND account = $2 AND due <= $3)`, org, id, sqldb.Millis(s.now()))
		idle = !due
		if err != nil || due {
			return err
		}
		_, err = tx.Exec(`UPDATE stream SET busy = FALSE WHERE org = $1 AND account = $2`, org, id)
		return err
	})
	return idle, err
}
