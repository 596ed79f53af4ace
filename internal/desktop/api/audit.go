package api

import (
	"cmp"
	"context"
	"strconv"

	"vigil/internal/audit"
	"vigil/internal/desktop"
	"vigil/internal/fault"
	"vigil/internal/httpapi"
)

// AuditScope is the desktop server's scope in the audit log, where the posture
// server has its organisations.
const AuditScope = "desktop"

type auditQuery struct {
	Operation string `query:"operation"`
	Actor     string `query:"actor"`
	Target    string `query:"target"`
	Outcome   string `query:"outcome" enum:"success,denied,failure"`
	Since     int64  `query:"since"`
	Until     int64  `query:"until"`
	Cursor    int64  `query:"cursor"`
	Limit     int    `query:"limit"`
}

// Validate checks the filter.
func (q auditQuery) Validate() error {
	switch {
	case q.Limit < 0 || q.Limit > 1000:
		return fault.Field("limit", "must be from 1 to 1000")
	case q.Since < 0:
		return fault.Field("since", "must not be negative")
	case q.Until < 0:
		return fault.Field("until", "must not be negative")
	case q.Cursor < 0:
		return fault.Field("cursor", "must be a next_cursor of an earlier page")
	}
	return nil
}

type auditRecord struct {
	ID        string            `json:"id"`
	Timestamp desktop.Millis    `json:"timestamp"`
	RequestID string            `json:"request_id,omitempty"`
	Actor     string            `json:"actor,omitempty"` // SID of the user
	ActorName string            `json:"actor_name,omitempty"`
	Source    string            `json:"source,omitempty"`
	Operation string            `json:"operation"`
	Targets   map[string]string `json:"targets"`
	Outcome   audit.Outcome     `json:"outcome"`
	Status    int               `json:"status,omitempty"`
	Cause     string            `json:"cause,omitempty"`
}

type auditPage struct {
	Records []auditRecord `json:"records"`
	Next    string        `json:"next_cursor,omitempty"`
}

func (a *API) listAudit(ctx context.Context, q auditQuery) (auditPage, error) {
	size := cmp.Or(q.Limit, 100)
	found, err := a.Audit(ctx, audit.Filter{
		Org: AuditScope, Operation: q.Operation, Actor: q.Actor, Target: q.Target, Outcome: audit.Outcome(q.Outcome), Before: q.Cursor, Limit: size + 1,
		From: desktop.Millis(q.Since).Time(), To: desktop.Millis(q.Until).Time(),
	})
	if err != nil {
		return auditPage{}, err
	}
	var next string
	if len(found) > size {
		found = found[:size]
		next = strconv.FormatInt(found[size-1].Number, 10)
	}
	return auditPage{httpapi.Each(found, auditRecordOf), next}, nil
}

func auditRecordOf(r audit.Record) auditRecord {
	out := auditRecord{
		ID: r.ID, Timestamp: desktop.MillisOf(r.Time), RequestID: r.Request, Actor: r.Actor, ActorName: r.ActorName, Source: r.Source,
		Operation: r.Operation, Targets: r.Targets, Outcome: r.Outcome, Status: r.Status, Cause: r.Cause,
	}
	if out.Targets == nil {
		out.Targets = map[string]string{}
	}
	return out
}
