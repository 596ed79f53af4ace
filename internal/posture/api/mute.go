package api

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
	"vigil/internal/posture"
)

type (
	muteScope struct {
		RuleIDs          []string            `json:"ruleIds" maxItems:"1000"`
		CloudAccountIDs  []string            `json:"cloudAccountIds" maxItems:"1000"`
		CloudTags        map[string][]string `json:"cloudTags" maxItems:"50"`
		ResourcePatterns []string            `json:"resourcePatterns" maxItems:"100"`
	}
	muteBody struct {
		Name   string                      `json:"name" required:"true"`
		Scope  muteScope                   `json:"scope" required:"true"`
		Reason string                      `json:"reason" required:"true"`
		Until  httpapi.Optional[time.Time] `json:"until"`
	}
	addMuteIn struct {
		muteBody
		Warnings httpapi.Warnings
	}
	previewMuteIn struct {
		Scope    muteScope `json:"scope" required:"true"`
		Warnings httpapi.Warnings
	}
	mutePath struct {
		ID string `path:"mute_rule_id"`
	}
	putMuteIn struct {
		mutePath
		muteBody
		IfMatch  httpapi.Match `header:"If-Match"`
		Warnings httpapi.Warnings
	}
	deleteMuteIn struct {
		mutePath
		IfMatch httpapi.Match `header:"If-Match"`
	}
	mute struct {
		ID             string        `json:"id"`
		Name           string        `json:"name"`
		Scope          muteScope     `json:"scope"`
		Reason         string        `json:"reason"`
		By             string        `json:"by"`
		Until          *httpapi.Time `json:"until,omitempty"`
		InForce        bool          `json:"inForce"`
		ETag           string        `json:"eTag"`
		CreationTime   httpapi.Time  `json:"creationTime"`
		LastUpdateTime httpapi.Time  `json:"lastUpdateTime"`
	}
	mutePage struct {
		TotalCount int    `json:"totalCount"`
		Results    []mute `json:"results"`
	}
	mutePreview struct {
		MatchedCount    int            `json:"matchedCount"`
		SuppressedCount int            `json:"suppressedCount"`
		Levels          map[string]int `json:"levels"`
		Sample          []finding      `json:"sample"`
	}
)

// scope validates and returns a scope.
func (s muteScope) scope() (out posture.MuteScope, err error) {
	checkLength := func(path, value string) {
		if err == nil && (strings.TrimSpace(value) == "" || len(value) > 500) {
			err = fault.Field(path, "must have from 1 to 500 bytes")
		}
	}
	for i, id := range s.RuleIDs {
		checkLength(fmt.Sprintf("scope.ruleIds[%d]", i), id)
		out.Rules = append(out.Rules, posture.RuleID(id))
	}
	for i, id := range s.CloudAccountIDs {
		checkLength(fmt.Sprintf("scope.cloudAccountIds[%d]", i), id)
		out.Accounts = append(out.Accounts, posture.AccountID(id))
	}
	for i, p := range s.ResourcePatterns {
		checkLength(fmt.Sprintf("scope.resourcePatterns[%d]", i), p)
	}
	for name, values := range s.CloudTags {
		checkLength("scope.cloudTags", name)
		if err == nil && len(values) == 0 {
			err = fault.Field("scope.cloudTags", "must have a value for each name")
		}
	}
	out.Tags, out.Resources = s.CloudTags, s.ResourcePatterns
	if err == nil && out.IsZero() {
		err = fault.Field("scope", "must choose findings by ruleIds, cloudAccountIds, cloudTags or resourcePatterns")
	}
	return out, err
}

// muteRule validates a mute rule and returns it with a new ETag.
func (a *API) muteRule(ctx context.Context, id string, b muteBody, warnings []string) (posture.MuteRule, error) {
	now := a.Now()
	m := posture.MuteRule{
		ID: posture.MuteRuleID(id), Name: strings.TrimSpace(b.Name), Reason: strings.TrimSpace(b.Reason), By: a.Caller(ctx),
		ETag: uuid.NewString(), Created: now, Updated: now,
	}
	switch {
	case len(warnings) > 0: // an unknown member of the scope would mute too much
		return m, fault.New(fault.Invalid, "%s", warnings[0])
	case m.Name == "" || len(m.Name) > 100:
		return m, fault.Field("name", "must have from 1 to 100 bytes")
	case m.Reason == "" || len(m.Reason) > 1000:
		return m, fault.Field("reason", "must say why, in at most 1000 bytes")
	}
	until, err := futureTime(b.Until, now)
	if err != nil {
		return m, err
	}
	m.Until = until.UTC()
	m.Scope, err = b.Scope.scope()
	return m, err
}

func (a *API) muteOf(m posture.MuteRule) mute {
	w := mute{
		ID: string(m.ID), Name: m.Name, Reason: m.Reason, By: m.By, Until: optionalTime(m.Until), InForce: m.InForce(a.Now()), ETag: m.ETag,
		CreationTime: httpapi.Time{Time: m.Created}, LastUpdateTime: httpapi.Time{Time: m.Updated},
		Scope: muteScope{CloudTags: m.Scope.Tags, ResourcePatterns: httpapi.Each(m.Scope.Resources, func(p string) string { return p })},
	}
	if w.Scope.CloudTags == nil {
		w.Scope.CloudTags = map[string][]string{}
	}
	w.Scope.RuleIDs = httpapi.Each(m.Scope.Rules, func(id posture.RuleID) string { return string(id) })
	w.Scope.CloudAccountIDs = httpapi.Each(m.Scope.Accounts, func(id posture.AccountID) string { return string(id) })
	return w
}

func (a *API) listMutes(ctx context.Context, _ httpapi.None) (mutePage, error) {
	all, err := a.Mutes.MuteRules(ctx, a.Org(ctx))
	return mutePage{len(all), httpapi.Each(all, a.muteOf)}, err
}

func (a *API) getMute(ctx context.Context, in mutePath) (httpapi.Reply, error) {
	m, err := a.Mutes.MuteRule(ctx, a.Org(ctx), posture.MuteRuleID(in.ID))
	if err != nil {
		return httpapi.Reply{}, err
	}
	return httpapi.Tagged(m.ETag, a.muteOf(m)), nil
}

func (a *API) previewMute(ctx context.Context, in previewMuteIn) (mutePreview, error) {
	if len(in.Warnings) > 0 {
		return mutePreview{}, fault.New(fault.Invalid, "%s", in.Warnings[0])
	}
	scope, err := in.Scope.scope()
	if err != nil {
		return mutePreview{}, err
	}
	p, err := a.Mutes.PreviewMute(ctx, a.Org(ctx), scope, a.Now())
	w := mutePreview{p.Matched, p.Suppressed, map[string]int{}, httpapi.Each(p.Sample, a.findingOf)}
	for level, n := range p.ByLevel {
		w.Levels[string(level)] = n
	}
	return w, err
}

func (a *API) addMute(ctx context.Context, in addMuteIn) (httpapi.Reply, error) {
	m, err := a.muteRule(ctx, uuid.NewString(), in.muteBody, in.Warnings)
	if err != nil {
		return httpapi.Reply{}, err
	}
	changed, err := a.Mutes.AddMuteRule(ctx, a.Org(ctx), m)
	if err != nil {
		return httpapi.Reply{}, err
	}
	httpapi.Note(ctx, "findings", strconv.Itoa(changed))
	return httpapi.Created("/v1/mute-rules/"+string(m.ID), m.ETag, a.muteOf(m)), nil
}

// putMute replaces a mute rule. The caller becomes its author.
func (a *API) putMute(ctx context.Context, in putMuteIn) (httpapi.Reply, error) {
	m, err := a.muteRule(ctx, in.ID, in.muteBody, in.Warnings)
	if err != nil {
		return httpapi.Reply{}, err
	}
	changed, replaced, err := a.Mutes.ReplaceMuteRule(ctx, a.Org(ctx), m, versionCheck(in.IfMatch))
	if err != nil {
		return httpapi.Reply{}, err
	}
	httpapi.Note(ctx, "findings", strconv.Itoa(changed))
	return httpapi.Tagged(replaced.ETag, a.muteOf(replaced)), nil
}

// versionCheck returns a function that fails if If-Match is missing or does not permit the
// version etag. Stores call this function after they have found the record. A record that does
// not exist is therefore reported first.
func versionCheck(m httpapi.Match) func(etag string) error {
	return func(etag string) error {
		if err := m.Require(); err != nil {
			return err
		}
		return m.Check(etag)
	}
}

func (a *API) deleteMute(ctx context.Context, in deleteMuteIn) (mute, error) {
	changed, old, err := a.Mutes.DeleteMuteRule(ctx, a.Org(ctx), posture.MuteRuleID(in.ID), in.IfMatch.Check, a.Now())
	httpapi.Note(ctx, "findings", strconv.Itoa(changed))
	return a.muteOf(old), err
}

// muteRoutes are the routes of mute rules. They require the same roles as suppressions.
func (a *API) muteRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Pattern: "GET /v1/mute-rules", Need: viewer, Operation: "listMuteRules", Limited: true, Handler: httpapi.JSON(a.listMutes)},
		{Pattern: "POST /v1/mute-rules", Need: analyst, Operation: "addMuteRule", Handler: httpapi.JSON(a.addMute)},
		{Pattern: "POST /v1/mute-rules/preview", Need: viewer, Operation: "previewMuteRule", Limited: true, Safe: true, Limits: httpapi.Limits{Rate: httpapi.RateHeavy}, Handler: httpapi.JSON(a.previewMute)},
		{Pattern: "GET /v1/mute-rules/{mute_rule_id}", Need: viewer, Operation: "getMuteRule", Limited: true, Handler: httpapi.JSON(a.getMute)},
		{Pattern: "PUT /v1/mute-rules/{mute_rule_id}", Need: analyst, Operation: "putMuteRule", Handler: httpapi.JSON(a.putMute)},
		{Pattern: "DELETE /v1/mute-rules/{mute_rule_id}", Need: analyst, Operation: "deleteMuteRule", Handler: httpapi.JSON(a.deleteMute)},
	}
}
