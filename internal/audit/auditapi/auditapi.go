// Package auditapi connects package audit to HTTP: it records every request
// that changes something, and serves the records of an organisation to its
// admins.
package auditapi

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"vigil/internal/audit"
	"vigil/internal/auth"
	"vigil/internal/auth/authapi"
	"vigil/internal/cursor"
	"vigil/internal/fault"
	"vigil/internal/httpapi"
)

// Recorder returns an auditor that writes the records of a server's requests.
func Recorder(l *audit.Log) httpapi.Auditor { return &recorder{log: l, sample: newSampler(time.Now)} }

type recorder struct {
	log    *audit.Log
	sample *sampler
}

// Attach implements [httpapi.Auditor].
func (r *recorder) Attach(ctx context.Context, p httpapi.Pending) context.Context {
	return r.log.Attach(ctx, audit.Attachment{
		Record: func() (audit.Record, bool) {
			e, hasEvent := p.Event()
			return record(e), hasEvent
		},
		Committed: p.Committed,
		Note:      p.Note,
	})
}

// Append implements [httpapi.Auditor]. It samples refused and failed requests,
// because anybody can send any number of them.
func (r *recorder) Append(ctx context.Context, e httpapi.Event) error {
	rec := record(e)
	if rec.Outcome == audit.Success {
		return r.log.Append(ctx, rec)
	}
	write, ended := r.sample.take(rec)
	var errs []error
	if write {
		errs = append(errs, r.log.Append(ctx, rec))
	}
	for _, rec := range ended {
		errs = append(errs, r.log.Append(ctx, rec))
	}
	return errors.Join(errs...)
}

// record converts a request to an audit record.
func record(e httpapi.Event) audit.Record {
	r := audit.Record{
		Time: e.Time, Request: e.RequestID, Org: e.Caller.Org, ActorName: e.Caller.Name, Token: e.Caller.ID,
		Source: e.Source, Operation: e.Operation, Status: e.Status, Outcome: outcome(e),
		Actor: e.Notes[authapi.NoteActor], Cause: e.Notes[authapi.NoteCause],
	}
	if names := e.Notes[authapi.NoteChanged]; names != "" {
		r.Changed = strings.Split(names, ",")
	}
	targets := maps.Clone(e.Target)
	for name, value := range e.Notes {
		switch name {
		case authapi.NoteActor, authapi.NoteCause, authapi.NoteChanged:
		default:
			if targets == nil {
				targets = make(map[string]string)
			}
			targets[name] = value
		}
	}
	if len(targets) > 0 {
		r.Targets = targets
	}
	return r
}

func outcome(e httpapi.Event) audit.Outcome {
	switch {
	case e.Notes[authapi.NoteCause] != "": // whatever the status: a refused login may redirect to the login page
		return audit.Denied
	case e.Status < 400:
		return audit.Success
	case e.Status == http.StatusUnauthorized, e.Status == http.StatusForbidden:
		return audit.Denied
	}
	return audit.Failure
}

// API handles the requests of this package.
type API struct {
	Log     *audit.Log
	Cursors *cursor.Cursors
}

// Routes returns the routes of this package.
func (a *API) Routes() []httpapi.Route {
	return []httpapi.Route{
		{Pattern: "GET /v1/audit", Need: auth.Admin.String(), Operation: "listAuditRecords", Handler: httpapi.JSON(a.list)},
	}
}

type listRequest struct {
	Operation string `query:"operation"`
	Actor     string `query:"actor"`
	Target    string `query:"target"`
	Outcome   string `query:"outcome" enum:"success,denied,failure"`
	From      string `query:"from"`
	To        string `query:"to"`
	PageSize  *int   `query:"pageSize"`
	Token     string `query:"continuationToken"`
}

const (
	defaultPage = 100
	maxPage     = 1000
)

// filter validates the parameters and returns the filter.
func (in listRequest) filter() (audit.Filter, error) {
	f := audit.Filter{Operation: in.Operation, Actor: in.Actor, Target: in.Target, Outcome: audit.Outcome(in.Outcome), Limit: defaultPage}
	if in.PageSize != nil {
		f.Limit = *in.PageSize
	}
	if f.Limit < 1 || f.Limit > maxPage {
		return f, fault.Field("pageSize", "must be from 1 to %d", maxPage)
	}
	var err error
	if f.From, err = parseTime("from", in.From); err != nil {
		return f, err
	}
	f.To, err = parseTime("to", in.To)
	return f, err
}

func parseTime(name, s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return t, fault.Field(name, "must be a time such as 2026-01-31T12:00:00Z")
	}
	return t, nil
}

type page struct {
	Results []wireRecord `json:"results"`
	Token   string       `json:"continuationToken,omitempty"`
}

func (a *API) list(ctx context.Context, in listRequest) (page, error) {
	caller, ok := auth.CallerFrom(ctx)
	if !ok {
		return page{}, errors.New("a guarded route was called without a caller")
	}
	f, err := in.filter()
	if err != nil {
		return page{}, err
	}
	f.Org = string(caller.Org)
	hash, err := cursor.Hash(in.Operation, in.Actor, in.Target, in.Outcome, in.From, in.To)
	if err != nil {
		return page{}, err
	}
	q := cursor.Query{Org: f.Org, Name: "audit", Filter: hash}
	if in.Token != "" {
		position, err := a.Cursors.Open(ctx, q, in.Token)
		if err != nil {
			return page{}, err
		}
		if f.Before, err = strconv.ParseInt(string(position), 10, 64); err != nil {
			return page{}, err
		}
	}
	return a.read(ctx, q, f)
}

// read returns one page, and the token of the next if there is one.
func (a *API) read(ctx context.Context, q cursor.Query, f audit.Filter) (page, error) {
	size := f.Limit
	f.Limit++ // one more shows whether there is a next page
	records, err := a.Log.Page(ctx, f)
	if err != nil {
		return page{}, err
	}
	var next string
	if len(records) > size {
		records = records[:size]
		next, err = a.Cursors.Seal(ctx, q, strconv.AppendInt(nil, records[size-1].Number, 10))
	}
	return page{httpapi.Each(records, wire), next}, err
}

// wireRecord is the JSON form of a record.
type wireRecord struct {
	ID        string            `json:"id"`
	Time      httpapi.Time      `json:"time"`
	RequestID string            `json:"requestId,omitempty"`
	Actor     string            `json:"actor,omitempty"`
	ActorName string            `json:"actorName,omitempty"`
	TokenID   string            `json:"tokenId,omitempty"`
	Source    string            `json:"source,omitempty"`
	Operation string            `json:"operation"`
	Targets   map[string]string `json:"targets"`
	Outcome   audit.Outcome     `json:"outcome"`
	Status    int               `json:"status,omitempty"`
	Cause     string            `json:"cause,omitempty"`
	Changed   []string          `json:"changed"`
	Count     int64             `json:"count,omitempty"`
}

func wire(r audit.Record) wireRecord {
	w := wireRecord{
		ID: r.ID, Time: httpapi.Time{Time: r.Time}, RequestID: r.Request, Actor: r.Actor,
		ActorName: r.ActorName, TokenID: r.Token, Source: r.Source, Operation: r.Operation, Targets: r.Targets,
		Outcome: r.Outcome, Status: r.Status, Cause: r.Cause, Changed: r.Changed, Count: r.Count,
	}
	if w.Targets == nil {
		w.Targets = map[string]string{}
	}
	if w.Changed == nil {
		w.Changed = []string{}
	}
	return w
}
