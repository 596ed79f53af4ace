package store

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"vigil/internal/posture"
	"vigil/internal/posture/notify"
	"vigil/internal/sqldb"
)

// recordEvents writes events to the outbox in the transaction of their cause. It writes
// nothing for organisations without notification rules.
func recordEvents(tx *sqldb.Tx, org posture.OrgID, events []notify.Event) error {
	if len(events) == 0 {
		return nil
	}
	rules, err := sqldb.QueryOne(tx, sqldb.Scalar[int], `SELECT count(*) FROM notify_rule WHERE org = $1 AND enabled`, org)
	if err != nil || rules == 0 {
		return err
	}
	rows := make([][]any, len(events))
	for i, e := range events {
		id, err := uuid.NewV7() // increases with time, which is the order of the outbox
		if err != nil {
			return err
		}
		e.ID = id.String()
		rows[i] = []any{string(org), e.ID, toJSON(e)}
	}
	_, err = tx.Load("notify_outbox", []string{"org", "id", "event"}, slices.Values(rows))
	return err
}

// findingEvent returns an event about a finding, with the members that messages use.
func findingEvent(kind notify.Kind, at time.Time, f posture.Finding) notify.Event {
	f.Risk.Parts, f.Suppression = nil, nil
	return notify.Event{Kind: kind, At: at, Account: f.Account, Finding: &f}
}

// notices returns the events of an observation, except those of suppressed findings.
func (o *observation) notices() (all []notify.Event) {
	add := func(kind notify.Kind, f posture.Finding, detail string) {
		if !f.Suppressed(o.at) {
			e := findingEvent(kind, o.at, f)
			e.Detail = detail
			all = append(all, e)
		}
	}
	for _, a := range o.added {
		add(notify.FindingRaised, a.finding, "")
	}
	for _, c := range o.changed {
		if c.reopened {
			add(notify.FindingRaised, c.finding, "")
		}
	}
	for _, r := range o.resolved {
		add(notify.FindingResolved, r.finding, r.reason)
	}
	return all
}

// RecordEndedSuppressions implements [notify.Outbox]. The condition aside_till <> 0 lets
// the query use the partial index finding_aside.
func (s *Store) RecordEndedSuppressions(ctx context.Context, now time.Time) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if err := tx.Lock("notify-suppression"); err != nil {
			return err
		}
		since, err := sqldb.QueryOne(tx, sqldb.Scalar[int64], `SELECT until FROM notify_suppression WHERE one = 1`)
		if sqldb.Missing(err) { // the first call
			_, err := tx.Exec(`INSERT INTO notify_suppression (one, until) VALUES (1, $1)`, sqldb.Millis(now))
			return err
		}
		if err != nil || since >= sqldb.Millis(now) {
			return err
		}
		events := map[posture.OrgID][]notify.Event{}
		type owned struct {
			org     posture.OrgID
			finding posture.Finding
		}
		for o, err := range sqldb.Each(tx, func(row sqldb.Row) (o owned, err error) {
			err = scanFindingInto(row, &o.finding, &o.org)
			return o, err
		}, `
			SELECT `+findingColumns+`, org
			FROM finding
			WHERE org IN (SELECT org FROM notify_rule WHERE enabled) AND aside_till <> 0 AND aside_till > $1 AND aside_till <= $2 AND status = 'Open'
			ORDER BY n`, since, sqldb.Millis(now)) {
			if err != nil {
				return err
			}
			events[o.org] = append(events[o.org], findingEvent(notify.SuppressionEnded, now, o.finding))
		}
		for org, orgEvents := range events {
			if err := recordEvents(tx, org, orgEvents); err != nil {
				return err
			}
		}
		_, err = tx.Exec(`UPDATE notify_suppression SET until = $1 WHERE one = 1`, sqldb.Millis(now))
		return err
	})
}

// OutboxOrgs implements [notify.Outbox].
func (s *Store) OutboxOrgs(ctx context.Context) (orgs []posture.OrgID, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		orgs, err = sqldb.Query(tx, sqldb.Scalar[posture.OrgID], `SELECT DISTINCT org FROM notify_outbox ORDER BY org`)
		return err
	})
	return orgs, err
}

// dispatchBatch is the number of events that one transaction groups into messages.
const dispatchBatch = 2000

// Dispatch implements [notify.Outbox].
func (s *Store) Dispatch(ctx context.Context, org posture.OrgID, link string, now time.Time) (more bool, err error) {
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if err := tx.Lock("notify-dispatch/" + string(org)); err != nil {
			return err
		}
		events, err := sqldb.Query(tx, func(row sqldb.Row) (e notify.Event, err error) {
			var text string
			if err := row.Scan(&text); err != nil {
				return e, err
			}
			err = fromJSON(text, &e)
			return e, err
		}, `SELECT event FROM notify_outbox WHERE org = $1 ORDER BY id LIMIT $2`, org, dispatchBatch)
		if err != nil || len(events) == 0 {
			return err
		}
		more = len(events) == dispatchBatch
		rows, err := deliveriesOf(tx, org, events, link, now)
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			if _, err := tx.Load("notify_delivery", deliveryFields, slices.Values(rows)); err != nil {
				return err
			}
		}
		// Delete exactly these events: another transaction may have committed one with
		// an id in between.
		for chunk := range slices.Chunk(events, 500) {
			args := []any{org}
			ids := make([]string, len(chunk))
			for i, e := range chunk {
				ids[i] = e.ID
			}
			text := `DELETE FROM notify_outbox WHERE org = $1 AND id IN ` + sqldb.List(&args, ids)
			if _, err := tx.Exec(text, args...); err != nil {
				return err
			}
		}
		return nil
	})
	return more, err
}

// deliveriesOf returns the rows of the messages that an organisation's rules make of
// events. Disabled channels get none.
func deliveriesOf(tx *sqldb.Tx, org posture.OrgID, events []notify.Event, link string, now time.Time) (rows [][]any, err error) {
	rules, err := sqldb.Query(tx, scanNotifyRule, `SELECT record FROM notify_rule WHERE org = $1 AND enabled ORDER BY id`, org)
	if err != nil {
		return nil, err
	}
	channels, err := sqldb.Query(tx, sqldb.Scalar[string], `SELECT id FROM notify_channel WHERE org = $1 AND enabled`, org)
	if err != nil {
		return nil, err
	}
	for _, r := range rules {
		chosen := slices.DeleteFunc(slices.Clone(events), func(e notify.Event) bool { return !r.Filter.Matches(e) })
		for chunk := range slices.Chunk(chosen, notify.MaxItems) {
			m := notify.Message{RuleName: r.Name, At: now, Link: link, Events: chunk}
			for _, channel := range r.Channels {
				if !slices.Contains(channels, channel) {
					continue
				}
				m.ID = uuid.NewString()
				rows = append(rows, []any{
					string(org), m.ID, channel, string(notify.Waiting), int64(0), sqldb.Millis(now), sqldb.Millis(now.Add(notify.GiveUpAfter)), int64(0),
					int64(len(m.Events)), m.Title(), "", toJSON(m),
				})
			}
		}
	}
	return rows, nil
}
