package api

import (
	"context"
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
		ObjectID       string            `json:"objectId"`
		ObjectXID      string            `json:"objectXid"`
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
	findingEvent struct {
		Time httpapi.Time `json:"time"`
		What string       `json:"what"`
		By   string       `json:"by,omitempty"`
	}
	findingHistory struct {
		Results []findingEvent `json:"results"`
	}
)

func (a *API) findingOf(f posture.Finding) finding {
	w := finding{
		ID: string(f.ID), Type: "violation", RuleID: string(f.Rule), CloudAccountID: string(f.Account), CloudProvider: string(f.Provider),
		ObjectID: string(f.Object), ObjectXID: f.XID, Service: f.Service, Region: f.Region, Level: string(f.Level),
		CreationTime: httpapi.Time{Time: f.Created}, LastUpdateTime: httpapi.Time{Time: f.Updated}, ResolvedTime: optionalTime(f.Resolved),
		RiskScore: f.Risk.Score, RiskParts: httpapi.Each(f.Risk.Parts, func(p posture.RiskPart) riskPart { return riskPart(p) }),
		CloudTags: f.Tags, Status: string(f.Status), IsSuppressed: f.Suppressed(a.Now()),
	}
	if w.ObjectXID == "" {
		w.ObjectXID = w.ObjectID
	}
	if s := f.Suppression; s != nil {
		w.Suppression = &suppression{s.By, s.Reason, httpapi.Time{Time: s.Since}, optionalTime(s.Until)}
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
		return findingEvent{httpapi.Time{Time: e.At}, e.What, e.By}
	})}, err
}

// Validate refuses a suppression without a reason, or one that has ended.
func (in *suppressIn) Validate() error {
	if in.Reason == "" {
		return fault.Field("reason", "must say why")
	}
	return nil
}

func (a *API) suppress(ctx context.Context, in suppressIn) (finding, error) {
	now := a.Now()
	s := &posture.Suppression{By: a.Caller(ctx), Reason: in.Reason, Since: now}
	if in.Until.Set() {
		if !in.Until.Value.After(now) {
			return finding{}, fault.Field("until", "must lie in the future")
		}
		s.Until = in.Until.Value
	}
	f, err := a.Findings.Suppress(ctx, a.Org(ctx), posture.FindingID(in.ID), s, now)
	return a.findingOf(f), err
}

func (a *API) release(ctx context.Context, in findingPath) (finding, error) {
	f, err := a.Findings.Suppress(ctx, a.Org(ctx), posture.FindingID(in.ID), nil, a.Now())
	return a.findingOf(f), err
}
