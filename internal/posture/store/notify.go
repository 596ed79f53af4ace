package store

import (
	"context"
	"slices"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/notify"
	"vigil/internal/secret"
	"vigil/internal/sqldb"
)

func channelCell(org posture.OrgID, id string) secret.Cell {
	return secret.Cell{Org: string(org), Table: "notify_channel", Row: id, Field: "secrets"}
}

// channelColumns are the columns that scanChannel reads. The last two are the number of dead
// letters and the state of the delivery that ended last.
const channelColumns = `record, failures, resume_at,
	(SELECT count(*) FROM notify_delivery d WHERE d.org = notify_channel.org AND d.channel = notify_channel.id AND d.state = 'Dead'),
	coalesce((
		SELECT d.state
		FROM notify_delivery d
		WHERE d.org = notify_channel.org AND d.channel = notify_channel.id AND d.ended <> 0
		ORDER BY d.ended DESC, d.id
		LIMIT 1), '')`

func scanChannel(row sqldb.Row, more ...any) (c notify.Channel, err error) {
	var (
		text   string
		resume int64
	)
	if err := row.Scan(append([]any{&text, &c.Failures, &resume, &c.DeadCount, &c.LastState}, more...)...); err != nil {
		return c, err
	}
	if resume != 0 {
		c.Resume = sqldb.Time(resume)
	}
	err = fromJSON(text, &c)
	return c, err
}

// Channels implements [notify.Store].
func (s *Store) Channels(ctx context.Context, org posture.OrgID) (all []notify.Channel, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		all, err = sqldb.Query(tx, func(row sqldb.Row) (notify.Channel, error) { return scanChannel(row) }, `
			SELECT `+channelColumns+` FROM notify_channel WHERE org = $1 ORDER BY name, id`, org)
		return err
	})
	return all, err
}

// Channel implements [notify.Store]. It decrypts the secrets.
func (s *Store) Channel(ctx context.Context, org posture.OrgID, id string) (c notify.Channel, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		c, err = s.channel(ctx, tx, org, id)
		return err
	})
	return c, err
}

func (s *Store) channel(ctx context.Context, tx *sqldb.Tx, org posture.OrgID, id string) (notify.Channel, error) {
	var sealed []byte
	c, err := sqldb.QueryOne(tx, func(row sqldb.Row) (notify.Channel, error) { return scanChannel(row, &sealed) },
		`SELECT `+channelColumns+`, secrets FROM notify_channel WHERE org = $1 AND id = $2`, org, id)
	if sqldb.Missing(err) {
		return c, notify.NotFound("notification channel", id)
	}
	if err != nil {
		return c, err
	}
	plaintext, err := s.box.Open(ctx, channelCell(org, id), sealed)
	if err != nil {
		return c, err
	}
	err = fromJSON(string(plaintext), &c.Secrets)
	return c, err
}

// saveChannel adds or replaces a channel. It clears a pause, because the change may
// have fixed the problem.
func (s *Store) saveChannel(ctx context.Context, tx *sqldb.Tx, org posture.OrgID, c notify.Channel) error {
	sealed, err := s.box.Seal(ctx, channelCell(org, c.ID), []byte(toJSON(c.Secrets)))
	if err != nil {
		return err
	}
	_, err = tx.Exec(`
		INSERT INTO notify_channel (org, id, name, enabled, record, secrets, failures, resume_at)
		VALUES ($1, $2, $3, $4, $5, $6, 0, 0)
		ON CONFLICT (org, id) DO UPDATE
		SET name = excluded.name, enabled = excluded.enabled, record = excluded.record, secrets = excluded.secrets, failures = 0, resume_at = 0`,
		org, c.ID, c.Name, c.Enabled, toJSON(c), sealed)
	return err
}

// AddChannel implements [notify.Store].
func (s *Store) AddChannel(ctx context.Context, org posture.OrgID, c notify.Channel) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if err := roomInOrg(tx, org, "notify_channel", notify.MaxChannels, "notification channels"); err != nil {
			return err
		}
		return s.saveChannel(ctx, tx, org, c)
	})
}

// notifyLock is the lock of an organisation's channels and notification rules. It
// prevents a rule from using a channel that is being deleted.
func notifyLock(org posture.OrgID) string { return "notify/" + string(org) }

// roomInOrg takes notifyLock and fails with fault.Conflict if an organisation has the
// maximum number of rows.
func roomInOrg(tx *sqldb.Tx, org posture.OrgID, table string, limit int, what string) error {
	if err := tx.Lock(notifyLock(org)); err != nil {
		return err
	}
	n, err := sqldb.QueryOne(tx, sqldb.Scalar[int], `SELECT count(*) FROM `+table+` WHERE org = $1`, org)
	if err == nil && n >= limit {
		return fault.New(fault.Conflict, "there are %d %s; delete one first", n, what)
	}
	return err
}

// ReplaceChannel implements [notify.Store].
func (s *Store) ReplaceChannel(ctx context.Context, org posture.OrgID, c notify.Channel, check func(etag string) error) (notify.Channel, error) {
	err := s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if err := tx.Lock(notifyLock(org)); err != nil {
			return err
		}
		old, err := s.channel(ctx, tx, org, c.ID)
		if err != nil {
			return err
		}
		if err := check(old.ETag); err != nil {
			return err
		}
		if old.Type != c.Type {
			return fault.Field("type", "cannot be changed; add another channel")
		}
		if err := c.KeepSecrets(old); err != nil {
			return err
		}
		c.DeadCount, c.LastState = old.DeadCount, old.LastState
		return s.saveChannel(ctx, tx, org, c)
	})
	return c, err
}

// DeleteChannel implements [notify.Store].
func (s *Store) DeleteChannel(ctx context.Context, org posture.OrgID, id string, check func(etag string) error) (old notify.Channel, err error) {
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if err := tx.Lock(notifyLock(org)); err != nil {
			return err
		}
		if old, err = s.channel(ctx, tx, org, id); err != nil {
			return err
		}
		if err := check(old.ETag); err != nil {
			return err
		}
		rules, err := sqldb.Query(tx, scanNotifyRule, `SELECT record FROM notify_rule WHERE org = $1`, org)
		if err != nil {
			return err
		}
		for _, r := range rules {
			if slices.Contains(r.Channels, id) {
				return fault.New(fault.Conflict, "the notification rule %q sends to this channel; change or delete it first", r.Name)
			}
		}
		if _, err := tx.Exec(`DELETE FROM notify_channel WHERE org = $1 AND id = $2`, org, id); err != nil {
			return err
		}
		_, err = tx.Exec(`DELETE FROM notify_delivery WHERE org = $1 AND channel = $2`, org, id)
		return err
	})
	return old, err
}

func scanNotifyRule(row sqldb.Row) (r notify.Rule, err error) {
	var text string
	if err := row.Scan(&text); err != nil {
		return r, err
	}
	err = fromJSON(text, &r)
	return r, err
}

// NotifyRules implements [notify.Store].
func (s *Store) NotifyRules(ctx context.Context, org posture.OrgID) (all []notify.Rule, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		all, err = sqldb.Query(tx, scanNotifyRule, `SELECT record FROM notify_rule WHERE org = $1 ORDER BY name, id`, org)
		return err
	})
	return all, err
}

func saveNotifyRule(tx *sqldb.Tx, org posture.OrgID, r notify.Rule) error {
	for _, id := range r.Channels {
		n, err := sqldb.QueryOne(tx, sqldb.Scalar[int], `SELECT count(*) FROM notify_channel WHERE org = $1 AND id = $2`, org, id)
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.Field("channelIds", "has a channel that does not exist")
		}
	}
	_, err := tx.Exec(`
		INSERT INTO notify_rule (org, id, name, enabled, record)
		VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (org, id) DO UPDATE
		SET name = excluded.name, enabled = excluded.enabled, record = excluded.record`, org, r.ID, r.Name, r.Enabled, toJSON(r))
	return err
}

// AddNotifyRule implements [notify.Store].
func (s *Store) AddNotifyRule(ctx context.Context, org posture.OrgID, r notify.Rule) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if err := roomInOrg(tx, org, "notify_rule", notify.MaxRules, "notification rules"); err != nil {
			return err
		}
		return saveNotifyRule(tx, org, r)
	})
}

func notifyRule(tx *sqldb.Tx, org posture.OrgID, id string, check func(etag string) error) (notify.Rule, error) {
	r, err := sqldb.QueryOne(tx, scanNotifyRule, `SELECT record FROM notify_rule WHERE org = $1 AND id = $2`+tx.ForUpdate(), org, id)
	if sqldb.Missing(err) {
		return r, notify.NotFound("notification rule", id)
	}
	if err == nil {
		err = check(r.ETag)
	}
	return r, err
}

// ReplaceNotifyRule implements [notify.Store].
func (s *Store) ReplaceNotifyRule(ctx context.Context, org posture.OrgID, r notify.Rule, check func(etag string) error) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if err := tx.Lock(notifyLock(org)); err != nil {
			return err
		}
		if _, err := notifyRule(tx, org, r.ID, check); err != nil {
			return err
		}
		return saveNotifyRule(tx, org, r)
	})
}

// DeleteNotifyRule implements [notify.Store].
func (s *Store) DeleteNotifyRule(ctx context.Context, org posture.OrgID, id string, check func(etag string) error) (old notify.Rule, err error) {
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if old, err = notifyRule(tx, org, id, check); err != nil {
			return err
		}
		_, err := tx.Exec(`DELETE FROM notify_rule WHERE org = $1 AND id = $2`, org, id)
		return err
	})
	return old, err
}
