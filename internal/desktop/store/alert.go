package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"vigil/internal/desktop/alert"
	"vigil/internal/fault"
	"vigil/internal/secret"
	"vigil/internal/sqldb"
)

// definition is the JSON of a rule, without its secrets.
type definition struct {
	Condition alert.Condition
	For       time.Duration
	Repeat    time.Duration
	Channels  []channel
	TypeSince time.Time `json:",omitzero"`
}

type channel struct {
	Type alert.ChannelType
	URL  string   `json:",omitempty"`
	To   []string `json:",omitempty"`
}

// split separates a rule into its JSON and the sealed secrets of its channels.
func (s *Store) split(ctx context.Context, r alert.Rule) (text string, sealed []byte, err error) {
	d := definition{Condition: r.Condition, For: r.For, Repeat: r.Repeat, TypeSince: r.TypeSince}
	secrets := make([]string, len(r.Channels))
	for i, ch := range r.Channels {
		d.Channels = append(d.Channels, channel{ch.Type, ch.URL, ch.To})
		secrets[i] = ch.Secret.Reveal()
	}
	sealed, err = s.box.Seal(ctx, cell(ruleTable, r.ID), []byte(toJSON(secrets)))
	return toJSON(d), sealed, err
}

// storedRule is a rule with sealed secrets.
type storedRule struct {
	rule   alert.Rule
	sealed []byte
}

const ruleColumns = `id, name, enabled, definition, sealed, version, created_at, updated_at`

func scanRule(r sqldb.Row) (v storedRule, err error) {
	var text string
	err = r.Scan(&v.rule.ID, &v.rule.Name, &v.rule.Enabled, &text, &v.sealed, &v.rule.Version,
		moment{&v.rule.CreatedAt}, moment{&v.rule.UpdatedAt})
	if err != nil {
		return v, err
	}
	var d definition
	if err := fromJSON(text, &d); err != nil {
		return v, err
	}
	v.rule.Condition, v.rule.For, v.rule.Repeat, v.rule.TypeSince = d.Condition, d.For, d.Repeat, d.TypeSince
	for _, ch := range d.Channels {
		v.rule.Channels = append(v.rule.Channels, alert.Channel{Type: ch.Type, URL: ch.URL, To: ch.To})
	}
	return v, nil
}

// open decrypts the secrets. It reads keys from the database, and must
// therefore not run within a transaction.
func (s *Store) open(ctx context.Context, v storedRule) (alert.Rule, error) {
	plaintext, err := s.box.Open(ctx, cell(ruleTable, v.rule.ID), v.sealed)
	if err != nil {
		return alert.Rule{}, err
	}
	var secrets []string
	if err := json.Unmarshal(plaintext, &secrets); err != nil || len(secrets) != len(v.rule.Channels) {
		return alert.Rule{}, fmt.Errorf("alert rule %s does not have one secret per channel", v.rule.ID)
	}
	for i, text := range secrets {
		if text != "" {
			v.rule.Channels[i].Secret = secret.NewText(text)
		}
	}
	return v.rule, nil
}

// Rules implements [alert.Store].
func (s *Store) Rules(ctx context.Context) ([]alert.Rule, error) {
	rows, err := list(ctx, s, scanRule, `SELECT `+ruleColumns+` FROM desktop_alert_rule ORDER BY id`)
	if err != nil {
		return nil, err
	}
	rules := make([]alert.Rule, len(rows))
	for i, row := range rows {
		if rules[i], err = s.open(ctx, row); err != nil {
			return nil, err
		}
	}
	return rules, nil
}

// Rule implements [alert.Store].
func (s *Store) Rule(ctx context.Context, id string) (alert.Rule, error) {
	row, err := one(ctx, s, "alert rule", scanRule, `
		SELECT `+ruleColumns+`
		FROM desktop_alert_rule
		WHERE id = $1`, id)
	if err != nil {
		return alert.Rule{}, err
	}
	return s.open(ctx, row)
}

// AddRule implements [alert.Store].
func (s *Store) AddRule(ctx context.Context, r alert.Rule) error {
	text, sealed, err := s.split(ctx, r)
	if err != nil {
		return err
	}
	_, err = s.change(ctx, `
		INSERT INTO desktop_alert_rule (`+ruleColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		r.ID, r.Name, r.Enabled, text, sealed, r.Version, millis(r.CreatedAt), millis(r.UpdatedAt))
	return err
}

// ReplaceRule implements [alert.Store].
func (s *Store) ReplaceRule(ctx context.Context, r alert.Rule, version int64) error {
	text, sealed, err := s.split(ctx, r)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		stored, err := sqldb.QueryOne(tx, scanRule, `
			SELECT `+ruleColumns+`
			FROM desktop_alert_rule
			WHERE id = $1`+tx.ForUpdate(), r.ID)
		if err != nil {
			return notFoundIfMissing(err, "alert rule")
		}
		if stored.rule.Version != version {
			return fault.New(fault.Stale, "the rule has changed meanwhile")
		}
		_, err = tx.Exec(`
			UPDATE desktop_alert_rule
			SET name = $2, enabled = $3, definition = $4, sealed = $5, version = $6, updated_at = $7
			WHERE id = $1`,
			r.ID, r.Name, r.Enabled, text, sealed, r.Version, millis(r.UpdatedAt))
		if err != nil {
			return err
		}
		if err := retarget(tx, r, stored.rule.Channels); err != nil {
			return err
		}
		return s.incrementRevision(tx)
	})
}

// DeleteRule implements [alert.Store].
func (s *Store) DeleteRule(ctx context.Context, id string) error {
	n, err := s.change(ctx, `DELETE FROM desktop_alert_rule WHERE id = $1`, id)
	return requireChanged(n, err, "alert rule")
}

const alertColumns = `rule_id, subject, kind, component, name, part, state, summary, since, fired_at, notified_at, resolved_at, cause_kind, cause_id, cause_name`

func scanAlert(r sqldb.Row) (a alert.Alert, err error) {
	var key string // not needed: a.Key() computes it
	err = r.Scan(&a.RuleID, &key, &a.Subject.Ref.Kind, &a.Subject.Ref.ID, &a.Subject.Ref.Name, &a.Subject.Part,
		&a.State, &a.Summary, moment{&a.Since}, moment{&a.FiredAt}, moment{&a.NotifiedAt}, moment{&a.ResolvedAt},
		&a.Cause.Kind, &a.Cause.ID, &a.Cause.Name)
	return a, err
}

// Alerts implements [alert.Store].
func (s *Store) Alerts(ctx context.Context, endedAfter time.Time) ([]alert.Alert, error) {
	return list(ctx, s, scanAlert, `
		SELECT `+alertColumns+`
		FROM desktop_alert
		WHERE resolved_at = 0
		   OR resolved_at > $1
		ORDER BY since DESC, rule_id, subject`, millis(endedAfter))
}
