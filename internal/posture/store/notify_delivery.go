package store

import (
	"context"
	"fmt"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/notify"
	"vigil/internal/sqldb"
)

// deliveryFields are the columns that Dispatch fills.
var deliveryFields = []string{"org", "id", "channel", "state", "attempts", "created", "give_up", "ended", "events", "title", "error", "message"}

// deliveryColumns are the columns that scanDelivery reads.
const deliveryColumns = `id, channel, state, attempts, created, give_up, ended, events, title, error`

func scanDelivery(row sqldb.Row, more ...any) (d notify.Delivery, err error) {
	var created, giveUp, ended int64
	if err := row.Scan(append([]any{&d.ID, &d.Channel, &d.State, &d.Attempts, &created, &giveUp, &ended, &d.Count, &d.Title, &d.Error}, more...)...); err != nil {
		return d, err
	}
	d.Created, d.GiveUp = sqldb.Time(created), sqldb.Time(giveUp)
	if ended != 0 {
		d.Ended = sqldb.Time(ended)
	}
	return d, nil
}

// DueChannels implements [notify.Outbox].
func (s *Store) DueChannels(ctx context.Context, now time.Time) (due []notify.Ref, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		due, err = sqldb.Query(tx, func(row sqldb.Row) (r notify.Ref, err error) {
			err = row.Scan(&r.Org, &r.Channel)
			return r, err
		}, `
			SELECT d.org, d.channel
			FROM notify_delivery d
			JOIN notify_channel c ON c.org = d.org AND c.id = d.channel
			WHERE d.state = 'Waiting' AND c.enabled AND c.resume_at <= $1
			GROUP BY d.org, d.channel
			ORDER BY min(d.created), d.org, d.channel`, sqldb.Millis(now))
		return err
	})
	return due, err
}

// NextDelivery implements [notify.Outbox].
func (s *Store) NextDelivery(ctx context.Context, r notify.Ref) (d notify.Delivery, found bool, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		d, err = sqldb.QueryOne(tx, func(row sqldb.Row) (notify.Delivery, error) {
			var text string
			d, err := scanDelivery(row, &text)
			if err == nil {
				err = fromJSON(text, &d.Message)
			}
			return d, err
		}, `
			SELECT `+deliveryColumns+`, message
			FROM notify_delivery
			WHERE org = $1 AND channel = $2 AND state = 'Waiting'
			ORDER BY attempts, created, id
			LIMIT 1`, r.Org, r.Channel)
		found = err == nil
		if sqldb.Missing(err) {
			return nil
		}
		return err
	})
	return d, found, err
}

// SentSince implements [notify.Outbox]. The condition ended <> 0 lets the query use the
// partial index notify_delivery_ended.
func (s *Store) SentSince(ctx context.Context, r notify.Ref, since time.Time) (n int, first time.Time, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		_, err := sqldb.QueryOne(tx, func(row sqldb.Row) (struct{}, error) {
			var at int64
			err := row.Scan(&n, &at)
			first = sqldb.Time(at)
			return struct{}{}, err
		}, `
			SELECT count(*), coalesce(min(ended), 0)
			FROM notify_delivery
			WHERE org = $1 AND channel = $2 AND ended <> 0 AND ended > $3 AND state = 'Delivered'`, r.Org, r.Channel, sqldb.Millis(since))
		return err
	})
	return n, first, err
}

// SaveAttempt implements [notify.Outbox]. It deletes the text of a delivered message.
func (s *Store) SaveAttempt(ctx context.Context, r notify.Ref, d notify.Delivery, failures int, resume time.Time) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		ended := int64(0)
		if !d.Ended.IsZero() {
			ended = sqldb.Millis(d.Ended)
		}
		if _, err := tx.Exec(`
			UPDATE notify_delivery
			SET state = $3, attempts = $4, ended = $5, error = $6, message = CASE WHEN $3 = 'Delivered' THEN '' ELSE message END
			WHERE org = $1 AND id = $2`, r.Org, d.ID, string(d.State), d.Attempts, ended, d.Error); err != nil {
			return err
		}
		return setPause(tx, r, failures, resume)
	})
}

// PauseChannel implements [notify.Outbox].
func (s *Store) PauseChannel(ctx context.Context, r notify.Ref, failures int, resume time.Time) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error { return setPause(tx, r, failures, resume) })
}

// setPause saves the number of consecutive failures of a channel and the time of the next
// attempt. The zero time ends a pause.
func setPause(tx *sqldb.Tx, r notify.Ref, failures int, resume time.Time) error {
	at := int64(0)
	if !resume.IsZero() {
		at = sqldb.Millis(resume)
	}
	_, err := tx.Exec(`
		UPDATE notify_channel
		SET failures = $3, resume_at = $4
		WHERE org = $1 AND id = $2 AND (failures <> $3 OR resume_at <> $4)`, r.Org, r.Channel, failures, at)
	return err
}

func endPause(tx *sqldb.Tx, r notify.Ref) error { return setPause(tx, r, 0, time.Time{}) }

// ExpireDeliveries implements [notify.Outbox].
func (s *Store) ExpireDeliveries(ctx context.Context, now, forget time.Time) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if _, err := tx.Exec(`
			UPDATE notify_delivery
			SET state = 'Dead', ended = $1, error = CASE WHEN error = '' THEN 'it was not sent in time' ELSE error END
			WHERE state = 'Waiting' AND give_up <= $1`, sqldb.Millis(now)); err != nil {
			return err
		}
		_, err := tx.Exec(`DELETE FROM notify_delivery WHERE ended <> 0 AND ended < $1`, sqldb.Millis(forget))
		return err
	})
}

// Deliveries implements [notify.Store].
func (s *Store) Deliveries(ctx context.Context, org posture.OrgID, f notify.DeliveryFilter, limit int) (all []notify.Delivery, total int, err error) {
	condition, args := `org = $1`, []any{org}
	for _, c := range []struct{ column, value string }{{"channel", f.Channel}, {"state", string(f.State)}} {
		if c.value != "" {
			args = append(args, c.value)
			condition += fmt.Sprintf(` AND %s = $%d`, c.column, len(args))
		}
	}
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		total, err = sqldb.QueryOne(tx, sqldb.Scalar[int], `SELECT count(*) FROM notify_delivery WHERE `+condition, args...)
		if err != nil {
			return err
		}
		args = append(args, limit)
		all, err = sqldb.Query(tx, func(row sqldb.Row) (notify.Delivery, error) { return scanDelivery(row) }, fmt.Sprintf(`
			SELECT `+deliveryColumns+`
			FROM notify_delivery
			WHERE `+condition+`
			ORDER BY created DESC, id
			LIMIT $%d`, len(args)), args...)
		return err
	})
	return all, total, err
}

// RetryDelivery implements [notify.Store].
func (s *Store) RetryDelivery(ctx context.Context, org posture.OrgID, id string, now time.Time) (d notify.Delivery, err error) {
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		d, err = sqldb.QueryOne(tx, func(row sqldb.Row) (notify.Delivery, error) { return scanDelivery(row) },
			`SELECT `+deliveryColumns+` FROM notify_delivery WHERE org = $1 AND id = $2`+tx.ForUpdate(), org, id)
		if sqldb.Missing(err) {
			return notify.NotFound("delivery", id)
		}
		if err != nil {
			return err
		}
		if d.State != notify.Dead {
			return fault.New(fault.Conflict, "the delivery is %s; only dead letters can be retried", d.State)
		}
		d.State, d.Attempts, d.Ended, d.GiveUp = notify.Waiting, 0, time.Time{}, now.Add(notify.GiveUpAfter)
		if _, err := retryDead(tx, org, `id = $2`, id, now); err != nil {
			return err
		}
		return endPause(tx, notify.Ref{Org: org, Channel: d.Channel})
	})
	return d, err
}

// RetryChannel implements [notify.Store].
func (s *Store) RetryChannel(ctx context.Context, org posture.OrgID, id string, now time.Time) (n int, err error) {
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if _, err := s.channel(ctx, tx, org, id); err != nil {
			return err
		}
		n, err = retryDead(tx, org, `channel = $2`, id, now)
		if err != nil {
			return err
		}
		return endPause(tx, notify.Ref{Org: org, Channel: id})
	})
	return n, err
}

func retryDead(tx *sqldb.Tx, org posture.OrgID, where, id string, now time.Time) (int, error) {
	n, err := tx.Exec(`
		UPDATE notify_delivery
		SET state = 'Waiting', attempts = 0, ended = 0, give_up = $3
		WHERE org = $1 AND `+where+` AND state = 'Dead'`, org, id, sqldb.Millis(now.Add(notify.GiveUpAfter)))
	return int(n), err
}
