package store

import (
	"context"
	"time"

	"vigil/internal/desktop/alert"
	"vigil/internal/sqldb"
)

const noteColumns = `group_id, rule_id, acknowledged_by, acknowledged_at, comment, silenced_by, silenced_until, silence_reason`

func scanNote(r sqldb.Row) (n alert.Note, err error) {
	err = r.Scan(&n.Group, &n.RuleID, &n.AcknowledgedBy, moment{&n.AcknowledgedAt}, &n.Comment,
		&n.SilencedBy, moment{&n.SilencedUntil}, &n.SilenceReason)
	return n, err
}

// Notes implements [alert.Store].
func (s *Store) Notes(ctx context.Context) ([]alert.Note, error) {
	return list(ctx, s, scanNote, `SELECT `+noteColumns+` FROM desktop_alert_note ORDER BY group_id`)
}

// ChangeNote implements [alert.Store].
func (s *Store) ChangeNote(ctx context.Context, group, ruleID string, now time.Time, change func(*alert.Note)) (n alert.Note, err error) {
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if err := tx.Lock("desktop_alert"); err != nil {
			return err
		}
		if _, err := sqldb.QueryOne(tx, sqldb.Scalar[string], `SELECT id FROM desktop_alert_rule WHERE id = $1`, ruleID); err != nil {
			return notFoundIfMissing(err, "alert rule")
		}
		n, err = sqldb.QueryOne(tx, scanNote, `SELECT `+noteColumns+` FROM desktop_alert_note WHERE group_id = $1`, group)
		if err != nil && !sqldb.Missing(err) {
			return err
		}
		n.Group, n.RuleID = group, ruleID
		change(&n)
		if n.AcknowledgedAt.IsZero() && !n.Silenced(now) {
			_, err := tx.Exec(`DELETE FROM desktop_alert_note WHERE group_id = $1`, group)
			return err
		}
		_, err = tx.Exec(`
			INSERT INTO desktop_alert_note (`+noteColumns+`)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
			ON CONFLICT (group_id) DO UPDATE
			SET acknowledged_by = excluded.acknowledged_by, acknowledged_at = excluded.acknowledged_at, comment = excluded.comment,
				silenced_by = excluded.silenced_by, silenced_until = excluded.silenced_until, silence_reason = excluded.silence_reason`,
			n.Group, n.RuleID, n.AcknowledgedBy, millis(n.AcknowledgedAt), n.Comment, n.SilencedBy, millis(n.SilencedUntil), n.SilenceReason)
		return err
	})
	return n, err
}
