package store

import (
	"context"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// StreamJobs enqueues jobs within the transaction that stores the messages.
type StreamJobs interface {
	// Stream enqueues a job that executes the pending reads of an account.
	Stream(tx *sqldb.Tx, org posture.OrgID, id posture.AccountID) error
}

// Streams implements [posture.StreamStore].
type Streams struct {
	db   *sqldb.DB
	jobs StreamJobs
	now  func() time.Time
}

// NewStreams returns a store over a migrated database.
func NewStreams(db *sqldb.DB, jobs StreamJobs, now func() time.Time) *Streams {
	return &Streams{db: db, jobs: jobs, now: now}
}

var _ posture.StreamStore = (*Streams)(nil)

const streamColumns = `s.org, s.account, a.provider, s.handle, s.created, s.rotated, s.last_event, s.last_beat, s.accepted, s.duplicates, s.unmapped`

func scanStream(r sqldb.Row) (s posture.Stream, err error) {
	var created, rotated, event, beat int64
	err = r.Scan(&s.Org, &s.Account, &s.Provider, &s.Handle, &created, &rotated, &event, &beat, &s.Accepted, &s.Duplicates, &s.Unmapped)
	s.Created, s.Rotated, s.LastEvent, s.LastBeat = sqldb.Time(created), sqldb.Time(rotated), timeOrZero(event), timeOrZero(beat)
	return s, err
}

// timeOrZero returns the time of a column in which 0 means never.
func timeOrZero(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return sqldb.Time(ms)
}

// find returns the stream that matches a condition.
func (s *Streams) find(ctx context.Context, where string, args ...any) (found posture.Stream, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		found, err = findStream(tx, where, args...)
		return err
	})
	return found, err
}

func findStream(tx *sqldb.Tx, where string, args ...any) (posture.Stream, error) {
	found, err := sqldb.QueryOne(tx, scanStream, `
		SELECT `+streamColumns+`
		FROM stream s
		JOIN account a ON a.org = s.org AND a.id = s.account
		WHERE `+where, args...)
	return found, notFoundIfMissing(err, "there is no such event stream")
}

// Stream implements [posture.StreamStore].
func (s *Streams) Stream(ctx context.Context, org posture.OrgID, id posture.AccountID) (found posture.Stream, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		if found, err = findStream(tx, `s.org = $1 AND s.account = $2`, org, id); err != nil {
			return err
		}
		// The column "again" marks second reads, which only confirm the first read of a target.
		// They are not counted.
		found.Pending, err = sqldb.QueryOne(tx, sqldb.Scalar[int64], `
			SELECT count(*) FROM stream_reread WHERE org = $1 AND account = $2 AND NOT again`, org, id)
		return err
	})
	return found, err
}

// StreamOf implements [posture.StreamStore].
func (s *Streams) StreamOf(ctx context.Context, handle string) (posture.Stream, error) {
	return s.find(ctx, `s.handle = $1`, handle)
}

// StreamWith implements [posture.StreamStore].
func (s *Streams) StreamWith(ctx context.Context, d posture.StreamDigest) (posture.Stream, error) {
	return s.find(ctx, `s.secret = $1`, d[:])
}

// OpenStream implements [posture.StreamStore].
func (s *Streams) OpenStream(ctx context.Context, org posture.OrgID, id posture.AccountID, d posture.StreamDigest) (stream posture.Stream, fresh bool, err error) {
	now := sqldb.Millis(s.now())
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if _, err := account(tx, org, id); err != nil {
			return err
		}
		n, err := tx.Exec(`
			INSERT INTO stream (org, account, handle, secret, created, rotated, last_event, last_beat, accepted, duplicates, unmapped, busy)
			VALUES ($1, $2, $3, $4, $5, $5, 0, 0, 0, 0, 0, FALSE)
			ON CONFLICT (org, account) DO NOTHING`, org, id, posture.NewHandle(), d[:], now)
		if err != nil {
			return err
		}
		fresh = n == 1
		if !fresh {
			if _, err := tx.Exec(`UPDATE stream SET secret = $3, rotated = $4 WHERE org = $1 AND account = $2`, org, id, d[:], now); err != nil {
				return err
			}
		}
		stream, err = findStream(tx, `s.org = $1 AND s.account = $2`, org, id)
		return err
	})
	return stream, fresh, err
}

// CloseStream implements [posture.StreamStore].
func (s *Streams) CloseStream(ctx context.Context, org posture.OrgID, id posture.AccountID) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		n, err := tx.Exec(`DELETE FROM stream WHERE org = $1 AND account = $2`, org, id)
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.New(fault.NotFound, "cloud account %q has no event stream", id)
		}
		return s.setStatus(tx, org, id, posture.StreamDisconnected)
	})
}

// SetStream implements [posture.StreamStore].
func (s *Streams) SetStream(ctx context.Context, org posture.OrgID, p posture.Provider, id posture.AccountID, status posture.StreamStatus) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		a, err := account(tx, org, id)
		if err != nil {
			return err
		}
		if a.Provider != p {
			return fault.New(fault.NotFound, "cloud account %q was not found", id)
		}
		return s.setStatus(tx, org, id, status)
	})
}

// setStatus sets the status of an account's stream. It does not change the account
// (nor its ETag) when the status is the same.
func (s *Streams) setStatus(tx *sqldb.Tx, org posture.OrgID, id posture.AccountID, status posture.StreamStatus) error {
	if err := tx.Lock("onboard/" + string(org)); err != nil { // Store.Onboard changes accounts, too
		return err
	}
	t := &onboardTx{tx: tx, org: org}
	a, err := t.Account(id)
	if err != nil || a.Stream.Value == status {
		return err
	}
	return t.SaveAccount(a.WithStream(status, s.now()))
}
