package api

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"vigil/internal/desktop"
	"vigil/internal/fault"
)

type changeQuery struct {
	Kind   string `query:"kind"`
	ID     string `query:"id"`
	Since  int64  `query:"since"`
	Until  int64  `query:"until"`
	Cursor string `query:"cursor"`
	Limit  int    `query:"limit"`
}

// Validate checks the filter.
func (q *changeQuery) Validate() error {
	q.Kind = strings.ToUpper(q.Kind)
	switch {
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
	Timestamp desktop.Millis `json:"timestamp"`
	Kind      desktop.Kind   `json:"kind"`
	ID        desktop.ID     `json:"id"`
	Name      string         `json:"name"`
	Part      string         `json:"part,omitempty"`
	From      string         `json:"from_status"`
	To        string         `json:"to_status"`
	Reasons   []string       `json:"reasons"`
}

type changePage struct {
	Changes []change `json:"changes"`
	Next    string   `json:"next_cursor,omitempty"`
}

func (a *API) listChanges(ctx context.Context, q changeQuery) (changePage, error) {
	limit := q.Limit
	if limit == 0 {
		limit = 100
	}
	found, next, err := a.History.Changes(ctx, desktop.ChangeFilter{
		Kind: desktop.Kind(q.Kind), ID: desktop.ID(q.ID), After: q.Cursor, Limit: limit,
		Since: desktop.Millis(q.Since).Time(), Until: desktop.Millis(q.Until).Time(),
	})
	page := changePage{Changes: make([]change, len(found)), Next: next}
	for i, c := range found {
		reasons := c.Reasons
		if reasons == nil {
			reasons = []string{}
		}
		page.Changes[i] = change{desktop.MillisOf(c.At), c.Ref.Kind, c.Ref.ID, c.Ref.Name, c.Part, c.From, c.To, reasons}
	}
	return page, err
}
