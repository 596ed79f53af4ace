package store

import (
	"context"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

func scanReread(r sqldb.Row) (w posture.Reread, err error) {
	var since int64
	err = r.Scan(&w.Type, &w.Region, &w.Name, &w.Version, &w.Depth, &w.Tries, &w.Again, &since)
	w.Since = sqldb.Time(since)
	return w, err
}

// Rereads implements [posture.StreamStore].
func (s *Streams) Rereads(ctx context.Context, org posture.OrgID, id posture.AccountID, limit int) (due []posture.Reread, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		due, err = sqldb.Query(tx, scanReread, `
			SELECT type, region, name, version, depth, tries, again, since
			FROM stream_reread
			WHERE org = $1 AND account = $2 AND due <= $3
			ORDER BY since, type, region, name
			LIMIT $4`, org, id, sqldb.Millis(s.now()), limit)
		return err
	})
	return due, err
}

// Settle implements [posture.StreamStore].
func (s *Streams) Settle(ctx context.Context, org posture.OrgID, id posture.AccountID, set posture.Settlement) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		for _, w := range set.Done {
			if err := s.done(tx, org, id, w, set); err != nil {
				return err
			}
		}
		for _, w := range set.Failed {
			if _, err := tx.Exec(`
				UPDATE stream_reread
				SET tries = tries + 1, due = $7
				WHERE org = $1 AND account = $2 AND type = $3 AND region = $4 AND name = $5 AND version = $6`,
				org, id, w.Type, w.Region, w.Name, w.Version, sqldb.Millis(set.Retry)); err != nil {
				return err
			}
		}
		return s.name(tx, org, id, set.Spread, 1, sqldb.Millis(s.now()))
	})
}

// done removes a target that was read, or has it looked at once more: what a
// cloud answers right after a change need not be the last word. One that was
// named again meanwhile stays.
func (s *Streams) done(tx *sqldb.Tx, org posture.OrgID, id posture.AccountID, w posture.Reread, set posture.Settlement) error {
	args := []any{org, id, w.Type, w.Region, w.Name, w.Version}
	const same = ` WHERE org = $1 AND account = $2 AND type = $3 AND region = $4 AND name = $5 AND version = $6`
	if w.Again || set.Second.IsZero() {
		_, err := tx.Exec(`DELETE FROM stream_reread`+same, args...)
		return err
	}
	at := sqldb.Millis(set.Second)
	_, err := tx.Exec(`UPDATE stream_reread SET again = TRUE, tries = 0, since = $7, due = $7`+same, append(args, at)...)
	return err
}

// Rest implements [posture.StreamStore].
func (s *Streams) Rest(ctx context.Context, org posture.OrgID, id posture.AccountID) (rests bool, err error) {
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		// The row is locked first, so that no message comes in between.
		_, err := sqldb.QueryOne(tx, sqldb.Scalar[bool], `SELECT busy FROM stream WHERE org = $1 AND account = $2`+tx.ForUpdate(), org, id)
		if sqldb.Missing(err) {
			rests = true
			return nil
		}
		if err != nil {
			return err
		}
		due, err := sqldb.QueryOne(tx, sqldb.Scalar[bool], `
			SELECT EXISTS (SELECT 1 FROM stream_reread WHERE org = $1 AND account = $2 AND due <= $3)`, org, id, sqldb.Millis(s.now()))
		if rests = !due; err != nil || due {
			return err
		}
		_, err = tx.Exec(`UPDATE stream SET busy = FALSE WHERE org = $1 AND account = $2`, org, id)
		return err
	})
	return rests, err
}
