package api

import (
	"context"
	"strconv"
	"strings"
	"time"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
	"vigil/internal/posture"
)

type (
	suppression struct {
		By     string        `json:"by"`
		Reason string        `json:"reason"`
		Since  httpapi.Time  `json:"since"`
		Until  *httpapi.Time `json:"until,omitempty"`
		Mute   string        `json:"muteRuleId,omitempty"`
	}
	riskPart struct {
		Name   string `json:"name"`
		Points int    `json:"points"`
		Why    string `json:"why"`
	}
	finding struct {
		ID             string            `json:"id"`
		Type           string            `json:"type"`
		RuleID         string            `json:"ruleId"`
		CloudAccountID string            `json:"cloudAccountId"`
		CloudProvider  string            `json:"cloudProvider"`
		EntityID       string            `json:"entityId"`
		ObjectID       string            `json:"objectId"` // name in the cloud: the last part of entityId
		ObjectXID      string            `json:"objectXid"`
		ObjectName     string            `json:"objectName"` // display name
		ObjectType     string            `json:"objectType"`
		Service        string            `json:"service"`
		Region         string            `json:"region"`
		Level          string            `json:"level"`
		CreationTime   httpapi.Time      `json:"creationTime"`
		LastUpdateTime httpapi.Time      `json:"lastUpdateTime"`
		ResolvedTime   *httpapi.Time     `json:"resolvedTime,omitempty"`
		RiskScore      int               `json:"riskScore"`
		RiskParts      []riskPart        `json:"riskParts"`
		CloudTags      map[string]string `json:"cloudTags"`
		Status         string            `json:"status"`
		IsSuppressed   bool              `json:"isSuppressed"`
		Suppression    *suppression      `json:"suppression,omitempty"`
		Parameters     map[string]any    `json:"parameterValues,omitempty"`
		CompleteBlob   string            `json:"completeBlob,omitempty"`
	}
	findingPath struct {
		ID string `path:"finding_id"`
	}
	suppressIn struct {
		findingPath
		Reason string                      `json:"reason" required:"true"`
		Until  httpapi.Optional[time.Time] `json:"until"`
	}
	// findingSelection selects the findings of a bulk change.
	findingSelection struct {
		FindingIDs []string        `json:"findingIds" maxItems:"10000"`
		Filters    *findingFilters `json:"filters"`
	}
	suppressManyIn struct {
		findingSelection
		Reason   string                      `json:"reason" required:"true"`
		Until    httpapi.Optional[time.Time] `json:"until"`
		Warnings httpapi.Warnings
	}
	releaseManyIn struct {
		findingSelection
		Warnings httpapi.Warnings
	}
	suppressedMany struct {
		MatchedCount int `json:"matchedCount"`
		ChangedCount int `json:"changedCount"`
	}
	findingEvent struct {
		Time   httpapi.Time `json:"time"`
		What   string       `json:"what"`
		By     string       `json:"by,omitempty"`
		Reason string       `json:"reason,omitempty"`
	}
	findingHistory struct {
		Results []findingEvent `json:"results"`
	}
)

func (a *API) findingOf(f posture.Finding) finding {
	w := finding{
		ID: string(f.ID), Type: "violation", RuleID: string(f.Rule), CloudAccountID: string(f.Account), CloudProvider: string(f.Provider),
		EntityID: string(f.Object), ObjectID: f.ObjectID(), ObjectXID: f.XID, ObjectName: f.Name, ObjectType: string(f.ObjectType()), Service: f.Service, Region: f.Region, Level: string(f.Level),
		CreationTime: httpapi.Time{Time: f.Created}, LastUpdateTime: httpapi.Time{Time: f.Updated}, ResolvedTime: optionalTime(f.Resolved),
		RiskScore: f.Risk.Score, RiskParts: httpapi.Each(f.Risk.Parts, func(p posture.RiskPart) riskPart { return riskPart(p) }),
		CloudTags: f.Tags, Parameters: f.Parameters, Status: string(f.Status), IsSuppressed: f.Suppressed(a.Now()),
	}
	if w.ObjectXID == "" {
		w.ObjectXID = w.EntityID
	}
	if w.ObjectName == "" {
		w.ObjectName = w.ObjectID
	}
	if s := f.Suppression; s != nil {
		w.Suppression = &suppression{s.By, s.Reason, httpapi.Time{Time: s.Since}, optionalTime(s.Until), string(s.MuteRule)}
	}
	return w
}

func optionalTime(t time.Time) *httpapi.Time {
	if t.IsZero() {
		return nil
	}
	return &httpapi.Time{Time: t}
}

func (a *API) getFinding(ctx context.Context, in findingPath) (finding, error) {
	f, blob, err := a.Findings.Finding(ctx, a.Org(ctx), posture.FindingID(in.ID))
	w := a.findingOf(f)
	w.CompleteBlob = blob
	return w, err
}

func (a *API) getFindingHistory(ctx context.Context, in findingPath) (findingHistory, error) {
	events, err := a.Findings.FindingHistory(ctx, a.Org(ctx), posture.FindingID(in.ID))
	return findingHistory{httpapi.Each(events, func(e posture.FindingEvent) findingEvent {
		return findingEvent{httpapi.Time{Time: e.At}, e.What, e.By, e.Reason}
	})}, err
}

func (a *API) suppress(ctx context.Context, in suppressIn) (finding, error) {
	s, err := a.newSuppression(ctx, in.Reason, in.Until)
	if err != nil {
		return finding{}, err
	}
	f, err := a.Findings.Suppress(ctx, a.Org(ctx), posture.FindingID(in.ID), s, s.By, s.Since)
	return a.findingOf(f), err
}

// newSuppression returns a suppression by the caller. It fails if the reason is blank, or if
// until is not in the future.
func (a *API) newSuppression(ctx context.Context, reason string, until httpapi.Optional[time.Time]) (*posture.Suppression, error) {
	s := &posture.Suppression{By: a.Caller(ctx), Reason: strings.TrimSpace(reason), Since: a.Now()}
	if s.Reason == "" {
		return nil, fault.Field("reason", "must say why")
	}
	var err error
	s.Until, err = futureTime(until, s.Since)
	return s, err
}

// futureTime returns the end of a suppression, mute rule or assessment: a time in the future, or
// zero for no end.
func futureTime(until httpapi.Optional[time.Time], now time.Time) (time.Time, error) {
	if until.Set() && !until.Value.After(now) {
		return time.Time{}, fault.Field("until", "must lie in the future")
	}
	return until.Value, nil
}

// Validate fails if a selection has neither ids nor filters, or has both. An empty list of ids is
// valid.
func (in findingSelection) Validate() error {
	if (in.FindingIDs == nil) == (in.Filters == nil) {
		return fault.Field("findingIds", "or filters must say which findings are meant, and not both")
	}
	return nil
}

// selectionFilter returns the filter of a selection.
func (a *API) selectionFilter(ctx context.Context, in findingSelection) (posture.FindingFilter, error) {
	if in.Filters != nil {
		return a.findingFilter(ctx, *in.Filters)
	}
	f := posture.FindingFilter{IDs: []posture.FindingID{"none"}} // no finding has the id none; a filter without ids would select everything
	for _, id := range in.FindingIDs {
		f.IDs = append(f.IDs, posture.FindingID(id))
	}
	return f, nil
}

func (a *API) suppressMany(ctx context.Context, in suppressManyIn) (suppressedMany, error) {
	s, err := a.newSuppression(ctx, in.Reason, in.Until)
	if err != nil {
		return suppressedMany{}, err
	}
	return a.suppressSelected(ctx, in.findingSelection, s, in.Warnings)
}

func (a *API) releaseMany(ctx context.Context, in releaseManyIn) (suppressedMany, error) {
	return a.suppressSelected(ctx, in.findingSelection, nil, in.Warnings)
}

// suppressSelected suppresses the selected findings. If s is nil, it ends their suppression.
func (a *API) suppressSelected(ctx context.Context, in findingSelection, s *posture.Suppression, warnings []string) (suppressedMany, error) {
	filter, err := a.selectionFilter(ctx, in)
	if err != nil {
		return suppressedMany{}, err
	}
	if len(warnings) > 0 { // an unknown filter would select too many findings
		return suppressedMany{}, fault.New(fault.Invalid, "%s", warnings[0])
	}
	matched, changed, err := a.Findings.SuppressAll(ctx, a.Org(ctx), filter, s, a.Caller(ctx), a.Now())
	httpapi.Note(ctx, "findings", strconv.Itoa(changed))
	return suppressedMany{matched, changed}, err
}

func (a *API) release(ctx context.Context, in findingPath) (finding, error) {
	f, err := a.Findings.Suppress(ctx, a.Org(ctx), posture.FindingID(in.ID), nil, a.Caller(ctx), a.Now())
	return a.findingOf(f), err
}
