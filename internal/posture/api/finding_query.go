package api

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
	"vigil/internal/posture"
)

type (
	findingFilters struct {
		Services               []string                  `json:"services"`
		Levels                 []string                  `json:"levels"`
		CapitalLevels          []string                  `json:"Levels"` // as the document spells it
		CloudAccountIDs        []string                  `json:"cloudAccountIds"`
		CloudProviders         []string                  `json:"cloudProviders"`
		CloudProvider          httpapi.OneOrMany[string] `json:"cloudProvider"`
		CloudTags              map[string][]string       `json:"cloudTags"`
		Regions                []string                  `json:"regions"`
		RuleIDs                []string                  `json:"ruleIds"`
		ObjectIDs              []string                  `json:"objectIds"`
		ComplianceFrameworkIDs []string                  `json:"complianceFrameworkIds"`
		Status                 httpapi.OneOrMany[string] `json:"status"`
		IsSuppressed           *bool                     `json:"isSuppressed"`
		QueryString            string                    `json:"queryString"`
	}
	findingSort struct {
		FieldName string `json:"fieldName" required:"true"`
		Order     string `json:"order" enum:"asc,desc"`
	}
	findingQuery struct {
		Filters      findingFilters                `json:"filters"`
		Sorts        []findingSort                 `json:"sorts"`
		Aggregations map[string]findingAggregation `json:"aggregations"`
		Pagination   *pagination                   `json:"paginationInfo"`
	}
	findingAggregation struct {
		FieldName       string                        `json:"fieldName" required:"true"`
		AggregationType string                        `json:"aggregationType" enum:"Terms"`
		TermsCount      *int                          `json:"termsCount"`
		SubAggregations map[string]findingAggregation `json:"subAggregations"`
	}
	findingBucket struct {
		Count           int                       `json:"count"`
		SubAggregations map[string]findingBuckets `json:"subAggregations,omitempty"`
	}
	findingBuckets struct {
		BucketCount int                      `json:"bucketCount"`
		Buckets     map[string]findingBucket `json:"buckets"`
	}
	findingPage struct {
		TotalCount        int                       `json:"totalCount"`
		PageCount         int                       `json:"pageCount"`
		Results           []finding                 `json:"results"`
		Aggregations      map[string]findingBuckets `json:"aggregations,omitempty"`
		ContinuationToken string                    `json:"continuationToken,omitempty"`
	}
	trendsIn struct {
		Filters  findingFilters `json:"filters"`
		Interval string         `json:"interval" required:"true" enum:"day,week,month"`
	}
	trendCount struct {
		Count int `json:"count"`
	}
	trendBuckets struct {
		Buckets map[string]trendCount `json:"buckets"`
	}
	trendsOut struct {
		Results struct {
			Open     trendBuckets `json:"Open"`
			New      trendBuckets `json:"New"`
			Resolved trendBuckets `json:"Resolved"`
		} `json:"results"`
	}
)

// filter reads what a caller asks for.
func (a *API) findingFilter(ctx context.Context, f findingFilters) (posture.FindingFilter, error) {
	var bad []fault.Detail
	levels := func(path string, values []string) []posture.FindingLevel {
		values = slices.Clone(values)
		for i, v := range values {
			if strings.EqualFold(v, string(posture.Med)) {
				values[i] = string(posture.LevelMedium)
			}
		}
		return known(path, values, posture.FindingLevels, &bad)
	}
	out := posture.FindingFilter{
		Services:   f.Services,
		Levels:     append(levels("filters.levels", f.Levels), levels("filters.Levels", f.CapitalLevels)...),
		Accounts:   f.CloudAccountIDs,
		Providers:  append(known("filters.cloudProviders", f.CloudProviders, posture.Providers, &bad), known("filters.cloudProvider", f.CloudProvider, posture.Providers, &bad)...),
		Regions:    f.Regions,
		Objects:    f.ObjectIDs,
		Tags:       f.CloudTags,
		Statuses:   known("filters.status", f.Status, posture.FindingStatuses, &bad),
		Suppressed: f.IsSuppressed,
		Text:       f.QueryString,
	}
	if len(bad) > 0 {
		return out, fault.Fields(bad...)
	}
	if len(f.RuleIDs) > 0 {
		for _, id := range f.RuleIDs {
			out.Rules = append(out.Rules, posture.RuleID(id))
		}
	}
	if len(f.ComplianceFrameworkIDs) == 0 {
		return out, nil
	}
	rules, err := a.Book.Rules(ctx, a.Org(ctx))
	if err != nil {
		return out, err
	}
	of := []posture.RuleID{}
	for _, r := range rules {
		if (posture.RuleFilter{Frameworks: f.ComplianceFrameworkIDs}).Matches(r) && (out.Rules == nil || slices.Contains(out.Rules, r.ID)) {
			of = append(of, r.ID)
		}
	}
	out.Rules = of
	return out, nil
}

func (in findingQuery) sorts() []posture.FindingSort {
	var sorts []posture.FindingSort
	for _, s := range in.Sorts {
		sorts = append(sorts, posture.FindingSort{Field: s.FieldName, Desc: s.Order == "desc"})
	}
	return sorts
}

func (a *API) queryFindings(ctx context.Context, in findingQuery) (findingPage, error) {
	filter, err := a.findingFilter(ctx, in.Filters)
	if err != nil {
		return findingPage{}, err
	}
	list, err := a.listing(ctx, "findings", in.Filters, in.Sorts)
	if err != nil {
		return findingPage{}, err
	}
	want, err := a.page(ctx, list, in.Pagination, defaultPage)
	if err != nil {
		return findingPage{}, err
	}
	found, err := a.Findings.Findings(ctx, a.Org(ctx), filter, in.sorts(), want, a.Now())
	if err != nil {
		return findingPage{}, err
	}
	out := findingPage{TotalCount: found.Total, PageCount: len(found.Findings), Results: httpapi.Each(found.Findings, a.findingOf)}
	if found.Next != "" {
		if out.ContinuationToken, err = a.Cursors.Seal(ctx, list, []byte(found.Next)); err != nil {
			return findingPage{}, err
		}
	}
	if len(in.Aggregations) > 0 {
		out.Aggregations, err = a.aggregateFindings(ctx, filter, in.Aggregations)
	}
	return out, err
}

func (a *API) aggregateFindings(ctx context.Context, f posture.FindingFilter, asked map[string]findingAggregation) (map[string]findingBuckets, error) {
	room := posture.MaxAggregations
	as, err := findingAggregations("aggregations", asked, 1, &room)
	if err != nil {
		return nil, err
	}
	_, found, err := a.Findings.AggregateFindings(ctx, a.Org(ctx), f, as, a.Now())
	if err != nil {
		return nil, err
	}
	return findingBucketsOf(found), nil
}

// findingAggregations reads nested aggregations. There is room for so many of
// them.
func findingAggregations(path string, asked map[string]findingAggregation, depth int, room *int) (map[string]posture.Aggregation, error) {
	if len(asked) == 0 {
		return nil, nil
	}
	if err := roomFor(path, len(asked), depth, room); err != nil {
		return nil, err
	}
	out := map[string]posture.Aggregation{}
	for name, a := range asked {
		at := path + "." + name
		agg := posture.Aggregation{Of: posture.Attribute{Name: a.FieldName}}
		for _, prefix := range []string{"tag.", "cloudTags."} {
			if n := len(prefix); len(a.FieldName) > n && strings.EqualFold(a.FieldName[:n], prefix) {
				agg.Of = posture.Attribute{Kind: posture.TagAttribute, Name: a.FieldName[n:]}
			}
		}
		if a.TermsCount != nil {
			if *a.TermsCount < 1 {
				return nil, fault.Field(at+".termsCount", "must be at least 1")
			}
			agg.Limit = *a.TermsCount
		}
		var err error
		if agg.Sub, err = findingAggregations(at+".subAggregations", a.SubAggregations, depth+1, room); err != nil {
			return nil, err
		}
		out[name] = agg
	}
	return out, nil
}

func findingBucketsOf(found map[string]posture.Buckets) map[string]findingBuckets {
	out := map[string]findingBuckets{}
	for name, buckets := range found {
		w := findingBuckets{len(buckets), map[string]findingBucket{}}
		for key, b := range buckets {
			one := findingBucket{Count: b.Count}
			if b.Sub != nil {
				one.SubAggregations = findingBucketsOf(b.Sub)
			}
			w.Buckets[key] = one
		}
		out[name] = w
	}
	return out
}

func (a *API) queryTrends(ctx context.Context, in trendsIn) (trendsOut, error) {
	var out trendsOut
	filter, err := a.findingFilter(ctx, in.Filters)
	if err != nil {
		return out, err
	}
	trends, err := a.Findings.Trends(ctx, a.Org(ctx), filter, in.Interval, a.Now())
	if err != nil {
		return out, err
	}
	r := &out.Results
	for _, b := range []*trendBuckets{&r.Open, &r.New, &r.Resolved} {
		b.Buckets = map[string]trendCount{}
	}
	for _, t := range trends {
		at, err := httpapi.Time{Time: t.Start}.MarshalText()
		if err != nil {
			return out, fmt.Errorf("write the time of a trend: %w", err)
		}
		r.Open.Buckets[string(at)] = trendCount{t.Open}
		r.New.Buckets[string(at)] = trendCount{t.New}
		r.Resolved.Buckets[string(at)] = trendCount{t.Resolved}
	}
	return out, nil
}
