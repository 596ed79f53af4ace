package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// Accept implements [posture.StreamStore].
func (s *Streams) Accept(ctx context.Context, ds []posture.Delivery) ([]posture.StreamOutcome, error) {
	// A fixed lock order prevents deadlocks between transactions.
	order := make([]int, len(ds))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := ds[a].Stream, ds[b].Stream
		return cmp.Or(cmp.Compare(x.Org, y.Org), cmp.Compare(x.Account, y.Account))
	})
	outcomes := make([]posture.StreamOutcome, len(ds))
	err := s.db.Write(ctx, func(tx *sqldb.Tx) error {
		for _, i := range order {
			var err error
			if outcomes[i], err = s.accept(tx, ds[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return outcomes, err
}

// accept stores one delivery.
func (s *Streams) accept(tx *sqldb.Tx, d posture.Delivery) (o posture.StreamOutcome, err error) {
	org, id, now := d.Stream.Org, d.Stream.Account, sqldb.Millis(s.now())
	busy, err := sqldb.QueryOne(tx, sqldb.Scalar[bool], `SELECT busy FROM stream WHERE org = $1 AND account = $2`+tx.ForUpdate(), org, id)
	if sqldb.Missing(err) {
		return posture.StreamOutcome{Gone: true}, nil
	}
	if err != nil {
		return o, err
	}
	var beat, unmapped int64
	work := false
	for _, m := range d.Messages {
		sum := sha256.Sum256([]byte(m.ID))
		n, err := tx.Exec(`
			INSERT INTO stream_seen (org, account, id, at)
			VALUES ($1, $2, $3, $4)
			ON CONFLICT DO NOTHING`, org, id, sum[:], now)
		if err != nil {
			return o, err
		}
		if n == 0 {
			o.Duplicates++
			continue
		}
		o.Fresh++
		switch {
		case m.Signal == posture.SignalHeartbeat:
			beat = now
		case m.Signal == posture.SignalEvent && len(m.Target) == 0:
			unmapped++
		}
		if err := s.addPending(tx, org, id, m.Target, depthNamed, now, d.Trace, m.ChangeOrigin); err != nil {
			return o, err
		}
		work = work || len(m.Target) > 0
		if err := s.updateStatus(tx, org, id, m); err != nil {
			return o, err
		}
	}
	if _, err := tx.Exec(`
		UPDATE stream
		SET last_event = CASE WHEN $3 > 0 THEN $4 ELSE last_event END, last_beat = CASE WHEN last_beat < $5 THEN $5 ELSE last_beat END,
			accepted = accepted + $3, duplicates = duplicates + $6, unmapped = unmapped + $7, busy = busy OR $8
		WHERE org = $1 AND account = $2`, org, id, o.Fresh, now, beat, o.Duplicates, unmapped, work); err != nil {
		return o, err
	}
	if work && !busy {
		err = s.jobs.Stream(tx, org, id)
	}
	return o, err
}

// Depths of pending reads.
const (
	depthNamed     = 0 // a message named the target
	depthNeighbour = 1 // the target is a neighbour of one that a message named
)

// addPending inserts pending reads of targets. A target that is pending already gets
// a new version instead of a second row. A read that was due only later, such as a retry
// or a second read, becomes due with the new one, and its wait starts again.
func (s *Streams) addPending(tx *sqldb.Tx, org posture.OrgID, id posture.AccountID, targets []posture.Target, depth int, due int64, trace string, origin posture.ChangeOrigin) error {
	for _, t := range targets {
		if _, err := tx.Exec(`
			INSERT INTO stream_reread (org, account, type, region, name, version, depth, tries, again, since, due, trace, actor, operation)
			VALUES ($1, $2, $3, $4, $5, 1, $6, 0, FALSE, $7, $7, $8, $9, $10)
			ON CONFLICT (org, account, type, region, name) DO UPDATE
			SET version = stream_reread.version + 1, tries = 0, again = FALSE,
				depth = CASE WHEN stream_reread.depth < excluded.depth THEN stream_reread.depth ELSE excluded.depth END,
				since = CASE WHEN stream_reread.due > excluded.due THEN excluded.since ELSE stream_reread.since END,
				due = CASE WHEN stream_reread.due > excluded.due THEN excluded.due ELSE stream_reread.due END,
				trace = CASE WHEN excluded.trace = '' THEN stream_reread.trace ELSE excluded.trace END,
				actor = CASE WHEN excluded.actor = '' AND excluded.operation = '' THEN stream_reread.actor ELSE excluded.actor END,
				operation = CASE WHEN excluded.actor = '' AND excluded.operation = '' THEN stream_reread.operation ELSE excluded.operation END`,
			org, id, t.Type, t.Region, t.Name, depth, due, trace, origin.Actor, origin.Operation); err != nil {
			return err
		}
	}
	return nil
}

// updateStatus sets the status of a stream according to a message. If the stream was
// connected before, messages that were sent before the last change of status have no
// effect: a late event does not reconnect a stream that was removed.
func (s *Streams) updateStatus(tx *sqldb.Tx, org posture.OrgID, id posture.AccountID, m posture.StreamMessage) error {
	status := posture.StreamConnected
	if m.Signal == posture.SignalDisconnected {
		status = posture.StreamDisconnected
	}
	type state struct {
		value posture.StreamStatus
		since int64
		seen  bool // whether the stream was ever connected
	}
	current, err := sqldb.QueryOne(tx, func(r sqldb.Row) (st state, err error) {
		err = r.Scan(&st.value, &st.since, &st.seen)
		return st, err
	}, `SELECT stream, stream_since, stream_seen FROM account WHERE org = $1 AND id = $2`, org, id)
	if err != nil || current.value == status || current.seen && sqldb.Millis(m.Time) < current.since {
		return err
	}
	return s.setStatus(tx, org, id, status)
}
