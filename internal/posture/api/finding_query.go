package api

import (
	"context"
	"slices"
	"strings"
	"time"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
	"vigil/internal/posture"
)

type (
	findingFilters struct {
		Services               []string                  `json:"services"`
		Levels                 []string                  `json:"levels"`
		CapitalLevels          []string                  `json:"Levels"` // spelled as in the OpenAPI document
		CloudAccountIDs        []string                  `json:"cloudAccountIds"`
		CloudAccountID         httpapi.OneOrMany[string] `json:"cloudAccountId"` // synonym of the member above, like cloudProvider, ruleId, frameworkIds and statuses
		CloudProviders         []string                  `json:"cloudProviders"`
		CloudProvider          httpapi.OneOrMany[string] `json:"cloudProvider"`
		CloudTags              map[string][]string       `json:"cloudTags" maxItems:"50"`
		Regions                []string                  `json:"regions"`
		RuleIDs                []string                  `json:"ruleIds"`
		RuleID                 httpapi.OneOrMany[string] `json:"ruleId"`
		ObjectIDs              []string                  `json:"objectIds"`
		FindingIDs             []string                  `json:"findingIds"`
		ComplianceFrameworkIDs []string                  `json:"complianceFrameworkIds"`
		FrameworkIDs           httpapi.OneOrMany[string] `json:"frameworkIds"`
		Status                 httpapi.OneOrMany[string] `json:"status"`
		Statuses               httpapi.OneOrMany[string] `json:"statuses"`
		IsSuppressed           *bool                     `json:"isSuppressed"`
		QueryString            string                    `json:"queryString"`
		MinRiskScore           *int                      `json:"minRiskScore"`
		ComplianceControlIDs   []string                  `json:"complianceControlIds"`
		CreatedFrom            *time.Time                `json:"createdFrom"`
		CreatedTo              *time.Time                `json:"createdTo"`
		ResolvedFrom           *time.Time                `json:"resolvedFrom"`
		ResolvedTo             *time.Time                `json:"resolvedTo"`
	}
	findingSort struct {
		FieldName string `json:"fieldName" required:"true"`
		Order     string `json:"order" enum:"asc,desc"`
	}
	// findingList determines which findings are listed, and their order.
	findingList struct {
		Filters findingFilters                 `json:"filters" null:"absent"`
		Sorts   []findingSort                  `json:"sorts" null:"absent" maxItems:"20"`
		Sort    httpapi.OneOrMany[findingSort] `json:"sort" null:"absent" maxItems:"20"` // synonym of sorts
	}
	findingQuery struct {
		findingList
		Aggregations map[string]findingAggregation `json:"aggregations" maxItems:"100"`
		Facets       []string                      `json:"facets" maxItems:"20"`
		Pagination   *pagination                   `json:"paginationInfo"`
		Warnings     httpapi.Warnings
	}
	findingAggregation struct {
		FieldName       string                        `json:"fieldName" required:"true"`
		AggregationType string                        `json:"aggregationType" enum:"Terms"`
		TermsCount      *int                          `json:"termsCount"`
		SubAggregations map[string]findingAggregation `json:"subAggregations" maxItems:"100"`
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
		Facets            map[string]findingBuckets `json:"facets,omitempty"`
		ContinuationToken string                    `json:"continuationToken,omitempty"`
		Warnings          []string                  `json:"warnings,omitempty"`
	}
)

// findingFilter parses the filters of a request.
func (a *API) findingFilter(ctx context.Context, f findingFilters) (posture.FindingFilter, error) {
	var bad []fault.Detail
	// A rule has the level Med, its findings have Medium. Filters may use either.
	levels := func(path string, values []string) []posture.FindingLevel {
		values = slices.Clone(values)
		for i, v := range values {
			if strings.EqualFold(v, string(posture.Med)) {
				values[i] = string(posture.LevelMedium)
			}
		}
		return checkKnown(path, values, posture.FindingLevels, &bad)
	}
	out := posture.FindingFilter{
		Services:   f.Services,
		Levels:     append(levels("filters.levels", f.Levels), levels("filters.Levels", f.CapitalLevels)...),
		Accounts:   slices.Concat(f.CloudAccountIDs, f.CloudAccountID),
		Providers:  append(checkKnown("filters.cloudProviders", f.CloudProviders, posture.Providers, &bad), checkKnown("filters.cloudProvider", f.CloudProvider, posture.Providers, &bad)...),
		Regions:    f.Regions,
		Objects:    f.ObjectIDs,
		Tags:       f.CloudTags,
		Statuses:   append(checkKnown("filters.status", f.Status, posture.FindingStatuses, &bad), checkKnown("filters.statuses", f.Statuses, posture.FindingStatuses, &bad)...),
		Suppressed: f.IsSuppressed,
		Text:       f.QueryString,
		Created:    span(f.CreatedFrom, f.CreatedTo),
		Resolved:   span(f.ResolvedFrom, f.ResolvedTo),
	}
	for _, id := range f.FindingIDs {
		out.IDs = append(out.IDs, posture.FindingID(id))
	}
	if f.MinRiskScore != nil {
		out.MinRisk = *f.MinRiskScore
		if out.MinRisk < 0 || out.MinRisk > 100 {
			bad = append(bad, fault.Detail{Path: "filters.minRiskScore", Message: "must be from 0 to 100"})
		}
	}
	if len(bad) > 0 {
		return out, fault.Fields(bad...)
	}
	for _, id := range slices.Concat(f.RuleIDs, f.RuleID) {
		out.Rules = append(out.Rules, posture.RuleID(id))
	}
	frameworks := slices.Concat(f.ComplianceFrameworkIDs, f.FrameworkIDs)
	if len(frameworks) == 0 && len(f.ComplianceControlIDs) == 0 {
		return out, nil
	}
	rules, err := a.Book.Rules(ctx, a.Org(ctx))
	if err != nil {
		return out, err
	}
	ruleIDs := []posture.RuleID{} // not nil: if no rule matches, the filter selects no finding
	for _, r := range rules {
		if (posture.RuleFilter{Frameworks: frameworks, Controls: f.ComplianceControlIDs}).Matches(r) && (out.Rules == nil || slices.Contains(out.Rules, r.ID)) {
			ruleIDs = append(ruleIDs, r.ID)
		}
	}
	out.Rules = ruleIDs
	return out, nil
}

// span returns the interval between two optional times.
func span(from, to *time.Time) (s posture.Span) {
	if from != nil {
		s.From = *from
	}
	if to != nil {
		s.To = *to
	}
	return s
}

func (in findingList) sorts() []posture.FindingSort {
	var sorts []posture.FindingSort
	for _, s := range slices.Concat(in.Sorts, in.Sort) {
		sorts = append(sorts, posture.FindingSort{Field: s.FieldName, Desc: s.Order == "desc"})
	}
	return sorts
}

func (a *API) queryFindings(ctx context.Context, in findingQuery) (findingPage, error) {
	list := listing{"findings", &in.findingList}
	want, err := a.page(ctx, list, in.Pagination, defaultPage)
	if err != nil {
		return findingPage{}, err
	}
	filter, err := a.findingFilter(ctx, in.Filters)
	if err != nil {
		return findingPage{}, err
	}
	found, err := a.Findings.Findings(ctx, a.Org(ctx), filter, in.sorts(), want, a.Now())
	if err != nil {
		return findingPage{}, err
	}
	out := findingPage{
		TotalCount: found.Total, PageCount: len(found.Findings), Results: httpapi.Each(found.Findings, a.findingOf), Warnings: in.Warnings,
	}
	if found.Next != "" {
		if out.ContinuationToken, err = a.token(ctx, list, found.Next); err != nil {
			return findingPage{}, err
		}
	}
	if len(in.Aggregations) > 0 {
		if out.Aggregations, err = a.aggregateFindings(ctx, filter, in.Aggregations); err != nil {
			return findingPage{}, err
		}
	}
	if len(in.Facets) > 0 {
		out.Facets, err = a.findingFacets(ctx, in.Filters, in.Facets)
	}
	return out, err
}

func (a *API) aggregateFindings(ctx context.Context, f posture.FindingFilter, requested map[string]findingAggregation) (map[string]findingBuckets, error) {
	remaining := posture.MaxAggregations
	aggregations, err := findingAggregations("aggregations", requested, 1, &remaining)
	if err != nil {
		return nil, err
	}
	rows, err := a.Findings.FindingAggregationCost(ctx, a.Org(ctx), f, aggregations, a.Now())
	if err != nil {
		return nil, err
	}
	leave, err := a.admitCost(ctx, rows)
	if err != nil {
		return nil, err
	}
	defer leave()
	_, found, err := a.Findings.AggregateFindings(ctx, a.Org(ctx), f, aggregations, a.Now())
	if err != nil {
		return nil, err
	}
	return findingBucketsOf(found), nil
}

// findingAggregations parses nested aggregations. remaining is the number of further
// aggregations that the request may have.
func findingAggregations(path string, requested map[string]findingAggregation, depth int, remaining *int) (map[string]posture.Aggregation, error) {
	if len(requested) == 0 {
		return nil, nil
	}
	if err := checkAggregationLimits(path, len(requested), depth, remaining); err != nil {
		return nil, err
	}
	out := map[string]posture.Aggregation{}
	for name, a := range requested {
		subpath := path + "." + name
		agg := posture.Aggregation{Of: posture.Attribute{Name: a.FieldName}}
		for _, prefix := range []string{"tag.", "cloudTags."} {
			if n := len(prefix); len(a.FieldName) > n && strings.EqualFold(a.FieldName[:n], prefix) {
				agg.Of = posture.Attribute{Kind: posture.TagAttribute, Name: a.FieldName[n:]}
			}
		}
		if a.TermsCount != nil {
			if *a.TermsCount < 1 {
				return nil, fault.Field(subpath+".termsCount", "must be at least 1")
			}
			agg.Limit = *a.TermsCount
		}
		var err error
		if agg.Sub, err = findingAggregations(subpath+".subAggregations", a.SubAggregations, depth+1, remaining); err != nil {
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
			bucket := findingBucket{Count: b.Count}
			if b.Sub != nil {
				bucket.SubAggregations = findingBucketsOf(b.Sub)
			}
			w.Buckets[key] = bucket
		}
		out[name] = w
	}
	return out
}
