package api

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"vigil/internal/desktop"
	"vigil/internal/fault"
	"vigil/internal/httpapi"
)

type changeQuery struct {
	Kind   string `query:"kind"`
	ID     string `query:"id"`
	Since  int64  `query:"since"`
	Until  int64  `query:"until"`
	Status string `query:"status"`
	Text   string `query:"q"`
	Cursor string `query:"cursor"`
	Limit  int    `query:"limit"`
}

// Validate checks the filter.
func (q *changeQuery) Validate() error {
	q.Kind, q.Status = strings.ToUpper(q.Kind), strings.ToUpper(q.Status)
	switch {
	case strings.Count(q.Status, ",") >= 50:
		return fault.Field("status", "must name at most 50 statuses")
	case utf8.RuneCountInString(q.Text) > 200:
		return fault.Field("q", "must have at most 200 characters")
	case q.Kind != "" && !slices.Contains(desktop.Kinds(), desktop.Kind(q.Kind)):
		return fault.Field("kind", "is not a kind of component")
	case q.Limit < 0 || q.Limit > 1000:
		return fault.Field("limit", "must be from 1 to 1000")
	case q.Since < 0:
		return fault.Field("since", "must not be negative")
	case q.Until < 0:
		return fault.Field("until", "must not be negative")
	}
	if _, err := uuid.Parse(q.Cursor); q.Cursor != "" && err != nil {
		return fault.Field("cursor", "must be a next_cursor of an earlier page")
	}
	return nil
}

type change struct {
	Timestamp  desktop.Millis `json:"timestamp"`
	Kind       desktop.Kind   `json:"kind"`
	ID         desktop.ID     `json:"id"`
	Name       string         `json:"name"`
	Part       string         `json:"part,omitempty"`
	From       string         `json:"from_status"`
	To         string         `json:"to_status"`
	FromHealth desktop.Health `json:"from_health"`
	ToHealth   desktop.Health `json:"to_health"`
	Reasons    []string       `json:"reasons"`
	Cause      desktop.Ref    `json:"cause"`
}

type changePage struct {
	Changes []change `json:"changes"`
	Next    string   `json:"next_cursor,omitempty"`
}

func (a *API) changeOf(c desktop.Change) change {
	wire := change{
		Timestamp: desktop.MillisOf(c.At), Kind: c.Ref.Kind, ID: a.Board.PublicID(c.Ref.Kind, c.Ref.ID), Name: c.Ref.Name,
		Part: c.Part, From: c.From, To: c.To, Reasons: c.Reasons, Cause: a.public(c.Cause),
		FromHealth: desktop.HealthOf(c.Ref.Kind, c.Part, c.From), ToHealth: desktop.HealthOf(c.Ref.Kind, c.Part, c.To),
	}
	if c.Cause.Kind == "" {
		wire.Cause = a.public(c.Ref)
	}
	if wire.Reasons == nil {
		wire.Reasons = []string{}
	}
	return wire
}

// public returns a component with the id that the API uses.
func (a *API) public(r desktop.Ref) desktop.Ref {
	r.ID = a.Board.PublicID(r.Kind, r.ID)
	return r
}

func (a *API) filter(q changeQuery) desktop.ChangeFilter {
	f := desktop.ChangeFilter{
		Kind: desktop.Kind(q.Kind), ID: a.Board.ComponentID(desktop.ID(q.ID)), After: q.Cursor, Limit: cmp.Or(q.Limit, 100),
		Since: desktop.Millis(q.Since).Time(), Until: desktop.Millis(q.Until).Time(), Text: q.Text,
	}
	if q.Status != "" {
		f.Statuses = strings.Split(q.Status, ",")
	}
	return f
}

func (a *API) listChanges(ctx context.Context, q changeQuery) (changePage, error) {
	found, next, err := a.History.Changes(ctx, a.filter(q))
	return changePage{httpapi.Each(found, a.changeOf), next}, err
}

type changeGroup struct {
	ID         string         `json:"id"`
	Cause      desktop.Ref    `json:"cause"`
	First      desktop.Millis `json:"first_timestamp"`
	Last       desktop.Millis `json:"last_timestamp"`
	Health     desktop.Health `json:"health"`
	Reasons    []string       `json:"reasons"`
	Count      int            `json:"count"`
	Components int            `json:"component_count"`
	Changes    []change       `json:"changes"`
}

type changeGroupPage struct {
	Groups []changeGroup `json:"groups"`
	Next   string        `json:"next_cursor,omitempty"`
}

// maxGroupChanges limits the changes of a group in a response.
const maxGroupChanges = 50

func (a *API) listChangeGroups(ctx context.Context, q changeQuery) (changeGroupPage, error) {
	if q.Limit > 200 {
		return changeGroupPage{}, fault.Field("limit", "must be from 1 to 200")
	}
	found, next, err := a.History.ChangeGroups(ctx, a.filter(q))
	return changeGroupPage{httpapi.Each(found, a.changeGroupOf), next}, err
}

// changeGroupOf returns the wire form of a group. Its reasons are those of the
// cause's own change, if the group contains it, or else of the first change.
func (a *API) changeGroupOf(g desktop.ChangeGroup) changeGroup {
	changes := httpapi.Each(g.Changes, a.changeOf)
	out := changeGroup{ID: g.ID, Cause: changes[0].Cause, First: changes[0].Timestamp, Count: len(changes), Reasons: changes[0].Reasons}
	components := make(map[desktop.Ref]bool)
	rank := func(h desktop.Health) int { return slices.Index(desktop.Healths(), h) } // 0 is the worst
	for i, c := range changes {
		components[desktop.Ref{Kind: c.Kind, ID: c.ID}] = true
		out.Last = max(out.Last, c.Timestamp)
		if i == 0 || rank(c.ToHealth) < rank(out.Health) {
			out.Health = c.ToHealth
		}
		if c.Kind == out.Cause.Kind && c.ID == out.Cause.ID && c.Part == "" {
			out.Reasons = c.Reasons
		}
	}
	out.Components, out.Changes = len(components), changes[:min(len(changes), maxGroupChanges)]
	return out
}
