package api

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"vigil/internal/desktop"
	"vigil/internal/desktop/alert"
	"vigil/internal/fault"
	"vigil/internal/httpapi"
)

// alertQuery selects alerts.
type alertQuery struct {
	Since int64  `query:"since"`
	State string `query:"state"`
	Limit int    `query:"limit"`
}

const maxAlerts = 1000

// Validate checks the filter.
func (q *alertQuery) Validate() error {
	q.State = strings.ToUpper(q.State)
	switch {
	case q.Since < 0:
		return fault.Field("since", "must not be negative")
	case q.Limit < 0 || q.Limit > maxAlerts:
		return fault.Field("limit", "must be from 1 to 1000")
	}
	for state := range strings.SplitSeq(q.State, ",") {
		switch alert.State(state) {
		case "", alert.Pending, alert.Firing, alert.Resolved:
		default:
			return fault.Field("state", "must be one of PENDING, FIRING, RESOLVED")
		}
	}
	return nil
}

// since returns the time after which a resolved alert must have ended to be listed.
func (q alertQuery) since(now time.Time) time.Time {
	if q.Since == 0 {
		return now.Add(-24 * time.Hour)
	}
	return desktop.Millis(q.Since).Time()
}

type alertRecord struct {
	RuleID     string         `json:"rule_id"`
	Group      string         `json:"group_id"`
	Kind       desktop.Kind   `json:"kind"`
	ID         desktop.ID     `json:"component_id"`
	Name       string         `json:"name"`
	Part       string         `json:"part,omitempty"`
	Cause      desktop.Ref    `json:"cause"`
	State      alert.State    `json:"state"`
	Summary    string         `json:"summary"`
	Since      desktop.Millis `json:"since"`
	FiredAt    desktop.Millis `json:"fired_at,omitempty"`
	ResolvedAt desktop.Millis `json:"resolved_at,omitempty"`
}

func (a *API) alertRecordOf(v alert.Alert) alertRecord {
	ref := v.Subject.Ref
	return alertRecord{
		RuleID: v.RuleID, Group: v.Group(), Kind: ref.Kind, ID: a.Board.PublicID(ref.Kind, ref.ID), Name: ref.Name, Part: v.Subject.Part,
		Cause: a.public(v.Cause), State: v.State, Summary: v.Summary, Since: desktop.MillisOf(v.Since),
		FiredAt: desktop.MillisOf(v.FiredAt), ResolvedAt: desktop.MillisOf(v.ResolvedAt),
	}
}

func (a *API) listAlerts(ctx context.Context, q alertQuery) ([]alertRecord, error) {
	all, err := a.Rules.Alerts(ctx, q.since(a.Now()))
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(v alert.Alert) bool { return !listContains(q.State, string(v.State)) })
	all = all[:min(len(all), cmp.Or(q.Limit, maxAlerts))]
	return httpapi.Each(all, a.alertRecordOf), nil
}

type acknowledgement struct {
	By      string         `json:"by"`
	At      desktop.Millis `json:"at"`
	Comment string         `json:"comment"`
}

type silence struct {
	By     string         `json:"by"`
	Until  desktop.Millis `json:"until"`
	Reason string         `json:"reason"`
}

type alertGroup struct {
	ID           string           `json:"id"`
	RuleID       string           `json:"rule_id"`
	RuleName     string           `json:"rule_name"`
	Cause        desktop.Ref      `json:"cause"`
	State        alert.State      `json:"state"`
	Summary      string           `json:"summary"`
	Since        desktop.Millis   `json:"since"`
	ResolvedAt   desktop.Millis   `json:"resolved_at,omitempty"`
	Count        int              `json:"count"`
	OpenCount    int              `json:"open_count"`
	Acknowledged *acknowledgement `json:"acknowledgement,omitempty"`
	Silenced     *silence         `json:"silence,omitempty"`
	Alerts       []alertRecord    `json:"alerts"`
}

// maxGroupAlerts limits the alerts of a group in a response.
const maxGroupAlerts = 50

func (a *API) listAlertGroups(ctx context.Context, q alertQuery) ([]alertGroup, error) {
	alerts, err := a.Rules.Alerts(ctx, q.since(a.Now()))
	if err != nil {
		return nil, err
	}
	describe, err := a.groupEncoder(ctx)
	if err != nil {
		return nil, err
	}
	out := []alertGroup{}
	for _, e := range alert.Episodes(alerts) {
		if listContains(q.State, string(e.State)) && len(out) < cmp.Or(q.Limit, maxAlerts) {
			out = append(out, describe(e))
		}
	}
	return out, nil
}

// groupEncoder returns a function that converts an episode to its wire form, with
// the name of its rule and the note on its group.
func (a *API) groupEncoder(ctx context.Context) (func(alert.Episode) alertGroup, error) {
	rules, err := a.Rules.Rules(ctx)
	if err != nil {
		return nil, err
	}
	names := make(map[string]string)
	for _, r := range rules {
		names[r.ID] = r.Name
	}
	all, err := a.Rules.Notes(ctx)
	if err != nil {
		return nil, err
	}
	notes := make(map[string]alert.Note)
	for _, n := range all {
		notes[n.Group] = n
	}
	return func(e alert.Episode) alertGroup {
		g := a.alertGroupOf(e)
		g.RuleName = names[e.RuleID]
		// The note is about the open episode of the group, not about earlier ones.
		if e.State != alert.Resolved {
			g.note(notes[e.Group], a.Now())
		}
		return g
	}, nil
}

func (g *alertGroup) note(n alert.Note, now time.Time) {
	if !n.AcknowledgedAt.IsZero() {
		g.Acknowledged = &acknowledgement{n.AcknowledgedBy, desktop.MillisOf(n.AcknowledgedAt), n.Comment}
	}
	if n.Silenced(now) {
		g.Silenced = &silence{n.SilencedBy, desktop.MillisOf(n.SilencedUntil), n.SilenceReason}
	}
}

func (a *API) alertGroupOf(e alert.Episode) alertGroup {
	g := alertGroup{
		ID: e.Group, RuleID: e.RuleID, Cause: a.public(e.Cause), State: e.State, Since: desktop.MillisOf(e.Since),
		ResolvedAt: desktop.MillisOf(e.Ended), Count: len(e.Alerts), Summary: e.Alerts[0].Summary,
	}
	for _, v := range e.Alerts {
		if v.Open() {
			g.OpenCount++
		}
		if v.Subject.Ref == v.Cause && v.Subject.Part == "" {
			g.Summary = v.Summary
		}
	}
	g.Alerts = httpapi.Each(e.Alerts[:min(len(e.Alerts), maxGroupAlerts)], a.alertRecordOf)
	return g
}

// noteGroup changes the note of an open group of alerts and returns the group.
func (a *API) noteGroup(ctx context.Context, group string, change func(*alert.Note)) (alertGroup, error) {
	// Read the same alerts as listAlertGroups does by default: the count includes resolved alerts, and the oldest alert may be resolved.
	alerts, err := a.Rules.Alerts(ctx, alertQuery{}.since(a.Now()))
	if err != nil {
		return alertGroup{}, err
	}
	episodes := alert.Episodes(alerts)
	i := slices.IndexFunc(episodes, func(e alert.Episode) bool { return e.Group == group && e.State != alert.Resolved })
	if i < 0 {
		return alertGroup{}, fault.New(fault.NotFound, "there is no such group of alerts, or it is resolved")
	}
	if _, err := a.Rules.ChangeNote(ctx, group, episodes[i].RuleID, a.Now(), change); err != nil {
		return alertGroup{}, err
	}
	a.Alerts.Wake()
	describe, err := a.groupEncoder(ctx)
	if err != nil {
		return alertGroup{}, err
	}
	return describe(episodes[i]), nil
}

type acknowledgeRequest struct {
	ID      string `path:"id"`
	Comment string `json:"comment"`
}

// Validate checks the comment.
func (r acknowledgeRequest) Validate() error { return checkComment("comment", r.Comment) }

func checkComment(path, text string) error {
	if utf8.RuneCountInString(text) > 500 {
		return fault.Field(path, "must have at most 500 characters")
	}
	return nil
}

func (a *API) acknowledgeGroup(ctx context.Context, in acknowledgeRequest) (alertGroup, error) {
	actor := callerOf(ctx).Name
	return a.noteGroup(ctx, in.ID, func(n *alert.Note) {
		n.AcknowledgedBy, n.AcknowledgedAt, n.Comment = actor, a.Now(), in.Comment
	})
}

func (a *API) unacknowledgeGroup(ctx context.Context, in idPath) (alertGroup, error) {
	return a.noteGroup(ctx, in.ID, func(n *alert.Note) {
		n.AcknowledgedBy, n.AcknowledgedAt, n.Comment = "", time.Time{}, ""
	})
}

type silenceRequest struct {
	ID     string         `path:"id"`
	Until  desktop.Millis `json:"until" required:"true"`
	Reason string         `json:"reason"`
}

// maxSilence limits how long a group can be silenced, so that a
// forgotten silence ends.
const maxSilence = 90 * 24 * time.Hour

// Validate checks the reason.
func (r silenceRequest) Validate() error { return checkComment("reason", r.Reason) }

func (a *API) silenceGroup(ctx context.Context, in silenceRequest) (alertGroup, error) {
	now, until := a.Now(), in.Until.Time()
	if !until.After(now) || until.After(now.Add(maxSilence)) {
		return alertGroup{}, fault.Field("until", "must be in the future, within 90 days")
	}
	actor := callerOf(ctx).Name
	return a.noteGroup(ctx, in.ID, func(n *alert.Note) {
		n.SilencedBy, n.SilencedUntil, n.SilenceReason = actor, until, in.Reason
	})
}

func (a *API) unsilenceGroup(ctx context.Context, in idPath) (alertGroup, error) {
	return a.noteGroup(ctx, in.ID, func(n *alert.Note) {
		n.SilencedBy, n.SilencedUntil, n.SilenceReason = "", time.Time{}, ""
	})
}
