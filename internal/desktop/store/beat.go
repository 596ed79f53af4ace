package store

import (
	"context"

	"vigil/internal/desktop/heartbeat"
	"vigil/internal/sqldb"
)

// Record implements [heartbeat.Store].
func (s *Store) Record(ctx context.Context, beats []heartbeat.Beat) ([]heartbeat.Verdict, error) {
	verdicts := make([]heartbeat.Verdict, len(beats))
	err := s.db.Write(ctx, func(tx *sqldb.Tx) error {
		for i, b := range beats {
			var err error
			if verdicts[i], err = record(tx, b); err != nil {
				return err
			}
		}
		return nil
	})
	return verdicts, err
}

// record checks the sequence number in the statement that writes it, so that
// two processes cannot both accept a number.
func record(tx *sqldb.Tx, b heartbeat.Beat) (heartbeat.Verdict, error) {
	n, err := tx.Exec(`
		INSERT INTO desktop_beat (kind, component, serial, sequence, received_at, payload)
		SELECT kind, component, serial, CAST($4 AS BIGINT), CAST($5 AS BIGINT), CAST($6 AS TEXT)
		FROM desktop_agent_certificate
		WHERE serial = $3
		  AND kind = $1
		  AND component = $2
		  AND revoked_at = 0
		ON CONFLICT (kind, component) DO UPDATE
		SET serial = excluded.serial, sequence = excluded.sequence,
			received_at = excluded.received_at, payload = excluded.payload
		WHERE desktop_beat.sequence < excluded.sequence`,
		b.Agent.Kind, b.Agent.ID, b.Serial, b.Sequence, millis(b.At), string(b.Payload))
	if err != nil || n == 1 {
		return heartbeat.Accepted, err
	}
	// Nothing was written: the certificate is not valid for the agent, or the sequence number is not new.
	valid, err := sqldb.QueryOne(tx, sqldb.Scalar[int], `
		SELECT count(*)
		FROM desktop_agent_certificate
		WHERE serial = $1
		  AND kind = $2
		  AND component = $3
		  AND revoked_at = 0`, b.Serial, b.Agent.Kind, b.Agent.ID)
	if valid == 0 {
		return heartbeat.Revoked, err
	}
	return heartbeat.Replayed, err
}

const beatColumns = `kind, component, serial, sequence, received_at, payload`

func scanBeat(r sqldb.Row) (b heartbeat.Beat, err error) {
	var payload string
	err = r.Scan(&b.Agent.Kind, &b.Agent.ID, &b.Serial, &b.Sequence, moment{&b.At}, &payload)
	b.Payload = []byte(payload)
	return b, err
}

// Beats implements [heartbeat.Store].
func (s *Store) Beats(ctx context.Context) ([]heartbeat.Beat, error) {
	return list(ctx, s, scanBeat, `
		SELECT `+beatColumns+`
		FROM desktop_beat
		ORDER BY kind, component`)
}

// LastBeat implements [heartbeat.Store].
func (s *Store) LastBeat(ctx context.Context, a heartbeat.Agent) (heartbeat.Beat, error) {
	return one(ctx, s, "beat", scanBeat, `
		SELECT `+beatColumns+`
		FROM desktop_beat
		WHERE kind = $1
		  AND component = $2`, a.Kind, a.ID)
}
