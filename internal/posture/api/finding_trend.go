package api

import (
	"context"
	"fmt"

	"vigil/internal/httpapi"
	"vigil/internal/posture"
)

type (
	trendsIn struct {
		Filters  findingFilters `json:"filters" null:"absent"`
		Interval string         `json:"interval" required:"true" enum:"day,week,month"`
		GroupBy  string         `json:"groupBy" enum:",level,cloudProvider,cloudAccountId,service,ruleId"`
		Warnings httpapi.Warnings
	}
	trendCount struct {
		Count int `json:"count"`
	}
	trendBuckets struct {
		Buckets map[string]trendCount `json:"buckets"`
	}
	trends struct {
		Open     trendBuckets `json:"Open"`
		New      trendBuckets `json:"New"`
		Resolved trendBuckets `json:"Resolved"`
	}
	trendsOut struct {
		Results  trends            `json:"results"`
		Groups   map[string]trends `json:"groups,omitempty"`
		Warnings []string          `json:"warnings,omitempty"`
	}
)

func (a *API) queryTrends(ctx context.Context, in trendsIn) (trendsOut, error) {
	filter, err := a.findingFilter(ctx, in.Filters)
	if err != nil {
		return trendsOut{}, err
	}
	found, err := a.Findings.Trends(ctx, a.Org(ctx), filter, in.Interval, in.GroupBy, a.Now())
	if err != nil {
		return trendsOut{}, err
	}
	out := trendsOut{Warnings: in.Warnings}
	if out.Results, err = trendsOf(found.All); err != nil {
		return out, err
	}
	if found.Groups != nil {
		out.Groups = map[string]trends{}
	}
	for name, group := range found.Groups {
		if out.Groups[name], err = trendsOf(group); err != nil {
			return out, err
		}
	}
	return out, nil
}

func trendsOf(found []posture.Trend) (trends, error) {
	var out trends
	for _, b := range []*trendBuckets{&out.Open, &out.New, &out.Resolved} {
		b.Buckets = map[string]trendCount{}
	}
	for _, t := range found {
		start, err := httpapi.Time{Time: t.Start}.MarshalText()
		if err != nil {
			return out, fmt.Errorf("write the time of a trend: %w", err)
		}
		out.Open.Buckets[string(start)] = trendCount{t.Open}
		out.New.Buckets[string(start)] = trendCount{t.New}
		out.Resolved.Buckets[string(start)] = trendCount{t.Resolved}
	}
	return out, nil
}
