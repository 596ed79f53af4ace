package store

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"vigil/internal/desktop/alert"
	"vigil/internal/sqldb"
)

// Apply implements [alert.Store].
func (s *Store) Apply(ctx context.Context, changes []alert.Transition) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		// Serialise processes: each compares the alerts it read with the stored ones.
		if err := tx.Lock("desktop_alert"); err != nil {
			return err
		}
		for _, t := range changes {
			if err := apply(tx, t); err != nil {
				return err
			}
		}
		return nil
	})
}

func apply(tx *sqldb.Tx, t alert.Transition) error {
	a := t.Alert
	old, err := sqldb.QueryOne(tx, scanAlert, `
		SELECT `+alertColumns+`
		FROM desktop_alert
		WHERE rule_id = $1
		  AND subject = $2
		ORDER BY since DESC
		LIMIT 1`, a.RuleID, a.Key())
	if err != nil && !sqldb.Missing(err) {
		return err
	}
	before := old.State
	if before == alert.Resolved {
		before = "" // the stored one is resolved: this is a new alert
	}
	// A repeated notification that another process has recorded meanwhile.
	repeated := t.Was == alert.Firing && a.State == alert.Firing && !old.NotifiedAt.Before(a.NotifiedAt)
	if before != t.Was || repeated {
		return nil
	}
	version, err := sqldb.QueryOne(tx, sqldb.Scalar[int64], `SELECT version FROM desktop_alert_rule WHERE id = $1`+tx.ForUpdate(), a.RuleID)
	if sqldb.Missing(err) || err == nil && version != t.RuleVersion {
		return nil // the next evaluation uses the new rule
	}
	if err != nil {
		return err
	}
	if t.Gone {
		_, err := tx.Exec(`
			DELETE FROM desktop_alert
			WHERE rule_id = $1
			  AND subject = $2
			  AND resolved_at = 0`, a.RuleID, a.Key())
		return err
	}
	if err := putAlert(tx, a); err != nil {
		return err
	}
	for _, d := range t.Send {
		if err := putDelivery(tx, d); err != nil {
			return err
		}
	}
	return nil
}

func putAlert(tx *sqldb.Tx, a alert.Alert) error {
	_, err := tx.Exec(`
		INSERT INTO desktop_alert (`+alertColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
		ON CONFLICT (rule_id, subject, since) DO UPDATE
		SET name = excluded.name, state = excluded.state, summary = excluded.summary, fired_at = excluded.fired_at, notified_at = excluded.notified_at, resolved_at = excluded.resolved_at`,
		a.RuleID, a.Key(), a.Subject.Ref.Kind, a.Subject.Ref.ID, a.Subject.Ref.Name, a.Subject.Part, a.State, a.Summary,
		millis(a.Since), millis(a.FiredAt), millis(a.NotifiedAt), millis(a.ResolvedAt),
		a.Cause.Kind, a.Cause.ID, a.Cause.Name)
	return err
}

// queuedNotice is the JSON of a notice with the target of its delivery.
type queuedNotice struct {
	alert.Notice
	Target string `json:",omitempty"`
}

// deliveryColumns are the columns of a delivery except queue, which is empty for deliveries that older versions stored.
const deliveryColumns = `id, rule_id, channel, notice, attempts, next_at, expire_at, last_error`

func putDelivery(tx *sqldb.Tx, d alert.Delivery) error {
	// The new notice must not wait for a long backoff of earlier ones in its queue: retry these
	// now, and soon again if they fail (attempts = 0). A next_at within two leases of d.NextAt
	// stays, because it may be the end of a lease: d.NextAt is when the evaluation began, a claim
	// may be later, and its lease ends at most alert.Lease after the claim. If the attempts of a
	// claimed delivery are set to zero, Postpone does not postpone the delivery.
	_, err := tx.Exec(`
		UPDATE desktop_delivery
		SET next_at = CASE WHEN next_at > $3 THEN $2 ELSE next_at END, attempts = 0
		WHERE queue = $1
		  AND (next_at > $3 OR attempts >= $4)`, d.Queue(), millis(d.NextAt), millis(d.NextAt.Add(2*alert.Lease)), alert.ShortRetries)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`
		INSERT INTO desktop_delivery (`+deliveryColumns+`, queue)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		d.ID, d.RuleID, d.Channel, toJSON(queuedNotice{d.Notice, d.Target}), d.Attempts, millis(d.NextAt), millis(d.ExpireAt), d.Error, d.Queue())
	return err
}

func scanDelivery(r sqldb.Row) (d alert.Delivery, err error) {
	var notice string
	err = r.Scan(&d.ID, &d.RuleID, &d.Channel, &notice, &d.Attempts, moment{&d.NextAt}, moment{&d.ExpireAt}, &d.Error)
	if err != nil {
		return d, err
	}
	var queued queuedNotice
	err = fromJSON(notice, &queued)
	d.Notice, d.Target = queued.Notice, queued.Target
	return d, err
}

// retarget moves the queued notices of a changed rule to the new addresses of channels that were corrected.
func retarget(tx *sqldb.Tx, r alert.Rule, old []alert.Channel) error {
	corrected := r.Corrected(old)
	if len(corrected) == 0 {
		return nil
	}
	queued, err := sqldb.Query(tx, scanDelivery, `
		SELECT `+deliveryColumns+`
		FROM desktop_delivery
		WHERE rule_id = $1`+tx.ForUpdate(), r.ID)
	if err != nil {
		return err
	}
	for _, d := range queued {
		i, ok := corrected[d.Target]
		if !ok {
			continue
		}
		d.Channel, d.Target = i, r.Channels[i].Target()
		// Do not wait for a retry that was postponed because of the incorrect channel. A delivery that is due
		// within two leases may be claimed (see putDelivery) and keeps its time.
		if d.NextAt.After(r.UpdatedAt.Add(2 * alert.Lease)) {
			d.NextAt, d.Attempts = r.UpdatedAt, 0
		}
		_, err := tx.Exec(`
			UPDATE desktop_delivery
			SET channel = $2, notice = $3, queue = $4, next_at = $5, attempts = $6
			WHERE id = $1`,
			d.ID, d.Channel, toJSON(queuedNotice{d.Notice, d.Target}), d.Queue(), millis(d.NextAt), d.Attempts)
		if err != nil {
			return err
		}
	}
	return nil
}

// Claim implements [alert.Store].
func (s *Store) Claim(ctx context.Context, now time.Time, lease time.Duration, c alert.Capacity) (claimed []alert.Delivery, err error) {
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		claimed = nil // of an earlier attempt of the transaction
		// Serialise processes: a delivery that another is claiming must not count as due.
		if err := tx.Lock("desktop_delivery"); err != nil {
			return err
		}
		// A delivery is due when next_at has passed for it and for all earlier ones of its queue. Claim those that have been
		// due longest: if those that expire first were claimed, retries to a receiver that does not answer would delay all
		// others.
		due, err := sqldb.Query(tx, scanDueDelivery, `
			SELECT id, queue
			FROM desktop_delivery
			WHERE next_at <= $1
			  AND NOT EXISTS (
				SELECT 1
				FROM desktop_delivery earlier
				WHERE earlier.queue = desktop_delivery.queue
				  AND earlier.queue <> ''
				  AND earlier.expire_at < desktop_delivery.expire_at
				  AND earlier.next_at > $1)
			ORDER BY (
				SELECT MAX(same.next_at)
				FROM desktop_delivery same
				WHERE same.id = desktop_delivery.id
				   OR same.queue = desktop_delivery.queue AND same.queue <> '' AND same.expire_at < desktop_delivery.expire_at
			  ), expire_at, id`, millis(now))
		if err != nil {
			return err
		}
		for _, id := range within(c, due) {
			d, err := sqldb.QueryOne(tx, scanDelivery, `
				SELECT `+deliveryColumns+`
				FROM desktop_delivery
				WHERE id = $1
				  AND next_at <= $2`+tx.ForUpdate(), id, millis(now))
			if sqldb.Missing(err) {
				continue // the process whose lease on it has expired delivered, dropped or postponed it meanwhile
			}
			if err != nil {
				return err
			}
			if _, err := tx.Exec(`UPDATE desktop_delivery SET next_at = $2 WHERE id = $1`, id, millis(now.Add(lease))); err != nil {
				return err
			}
			claimed = append(claimed, d)
		}
		slices.SortStableFunc(claimed, func(a, b alert.Delivery) int { return a.ExpireAt.Compare(b.ExpireAt) })
		return nil
	})
	return claimed, err
}

// A dueDelivery is a delivery that can be claimed.
type dueDelivery struct{ id, receiver string }

func scanDueDelivery(r sqldb.Row) (d dueDelivery, err error) {
	var queue string
	err = r.Scan(&d.id, &queue)
	_, d.receiver, _ = strings.Cut(queue, "/") // see alert.Delivery.Queue
	return d, err
}

// within returns the ids of the first deliveries for which there is capacity.
func within(c alert.Capacity, due []dueDelivery) []string {
	var ids []string
	sending := maps.Clone(c.Sending)
	if sending == nil {
		sending = make(map[string]int)
	}
	for _, d := range due {
		if len(ids) == c.Total {
			break
		}
		if c.PerReceiver > 0 && sending[d.receiver] >= c.PerReceiver {
			continue
		}
		sending[d.receiver]++
		ids = append(ids, d.id)
	}
	return ids
}

// Delivered implements [alert.Store].
func (s *Store) Delivered(ctx context.Context, id string) error {
	_, err := s.exec(ctx, `DELETE FROM desktop_delivery WHERE id = $1`, id)
	return err
}

// Drop implements [alert.Store].
func (s *Store) Drop(ctx context.Context, d alert.Delivery) error {
	_, err := s.exec(ctx, `
		DELETE FROM desktop_delivery
		WHERE id = $1
		  AND queue IN ('', $2)`, d.ID, d.Queue())
	return err
}

// Postpone implements [alert.Store].
func (s *Store) Postpone(ctx context.Context, d alert.Delivery) error {
	_, err := s.exec(ctx, `
		UPDATE desktop_delivery
		SET attempts = $2, next_at = $3, last_error = $4
		WHERE id = $1
		  AND attempts + 1 = $2
		  AND queue IN ('', $5)`, d.ID, d.Attempts, millis(d.NextAt), d.Error, d.Queue())
	return err
}

// Forget implements [alert.Store].
func (s *Store) Forget(ctx context.Context, before, now time.Time) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if _, err := tx.Exec(`DELETE FROM desktop_alert WHERE resolved_at > 0 AND resolved_at < $1`, millis(before)); err != nil {
			return err
		}
		_, err := tx.Exec(`DELETE FROM desktop_delivery WHERE expire_at < $1`, millis(now))
		return err
	})
}
