package api

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
	"vigil/internal/posture"
	"vigil/internal/posture/queryfault"
	"vigil/internal/posture/search"
)

type (
	entityFilters struct {
		CloudAccountIDs []string `json:"cloudAccountIds"`
		EntityNames     []string `json:"entityNames"`
		EntityTypes     []string `json:"entityTypes"`
		Providers       []string `json:"providers"`
		Regions         []string `json:"regions"`
		Services        []string `json:"services"`
		NameSearch      string   `json:"nameSearch"`
		Query           string   `json:"query"`
		EntityIDs       []string `json:"entityIds" maxItems:"200"`
	}
	// entityList determines which entities are listed, and their order.
	entityList struct {
		Filters entityFilters `json:"filters" null:"absent"`
		Sorts   []entitySort  `json:"sorts" null:"absent" maxItems:"1"`
	}
	entitySort struct {
		FieldName string `json:"fieldName" required:"true"`
		Order     string `json:"order" enum:"asc,desc"`
	}
	entityQuery struct {
		entityList
		Pagination *pagination `json:"paginationInfo"`
		Warnings   httpapi.Warnings

		IncludeFindings bool `json:"includeFindings"`
	}
	entityPage struct {
		TotalCount        int      `json:"totalCount"`
		Results           []entity `json:"results"`
		ContinuationToken string   `json:"continuationToken,omitempty"`
		Warnings          []string `json:"warnings,omitempty"`
	}

	entityAggregation struct {
		FieldName       string                       `json:"fieldName" required:"true"`
		AggregationType string                       `json:"aggregationType" required:"true" enum:"Terms"`
		TermsCount      *int                         `json:"termsCount"`
		SubAggregations map[string]entityAggregation `json:"subAggregations" maxItems:"100"`
	}
	aggregationsIn struct {
		Aggregations map[string]entityAggregation `json:"aggregations" maxItems:"100"`
		Filters      entityFilters                `json:"filters" null:"absent"`
		Pagination   *pagination                  `json:"paginationInfo"` // only validated
		Warnings     httpapi.Warnings
	}
	aggregationsOut struct {
		TotalCount   int                       `json:"totalCount"`
		Aggregations map[string]findingBuckets `json:"aggregations"`
		Warnings     []string                  `json:"warnings,omitempty"`
	}
)

// maxFilterValues limits the total number of values in the lists of a filter.
const maxFilterValues = 2000

func (f entityFilters) filter() (posture.EntityFilter, error) {
	var bad []fault.Detail
	providers := checkKnown("filters.providers", f.Providers, posture.Providers, &bad)
	out := posture.EntityFilter{
		Accounts: f.CloudAccountIDs, Names: f.EntityNames, Types: f.EntityTypes, Regions: f.Regions, Services: f.Services,
	}
	for _, p := range providers {
		out.Providers = append(out.Providers, string(p))
	}
	if n := len(out.Accounts) + len(out.Names) + len(out.Types) + len(out.Regions) + len(out.Services) + len(out.Providers); n > maxFilterValues {
		bad = append(bad, fault.Detail{Path: "filters", Message: fmt.Sprintf("has %d values; at most %d are allowed", n, maxFilterValues)})
	}
	if strings.TrimSpace(f.NameSearch) != "" {
		out.NameWords = posture.SearchWords(f.NameSearch)
		if n := len(out.NameWords); n == 0 || n > posture.MaxNameWords {
			bad = append(bad, fault.Detail{Path: "filters.nameSearch", Message: fmt.Sprintf("has %d words; it must have 1 to %d, of letters and digits", n, posture.MaxNameWords)})
		}
	}
	if strings.TrimSpace(f.Query) != "" {
		var err error
		if out.Where, err = search.Parse(f.Query); err != nil {
			message := err.Error()
			if e, ok := errors.AsType[*search.Error](err); ok {
				message = "is not understood at " + e.Error()
			}
			bad = append(bad, queryfault.Detail("filters.query", message, err))
		}
	}
	if len(bad) > 0 {
		return out, fault.Fields(bad...)
	}
	return out, nil
}

func (a *API) queryEntities(ctx context.Context, in entityQuery) (entityPage, error) {
	// The name "entities" is taken: continuation tokens of older versions have it and contain only filters.
	list := listing{"sortable entities", &in.entityList}
	want, err := a.page(ctx, list, in.Pagination, defaultPage)
	if err != nil {
		return entityPage{}, err
	}
	filter, err := in.Filters.filter()
	if err != nil {
		return entityPage{}, err
	}
	found, err := a.listEntities(ctx, in.entityList, filter, want)
	if err != nil {
		return entityPage{}, err
	}
	out := entityPage{TotalCount: found.Total, Results: httpapi.Each(found.Entities, entityOf), Warnings: in.Warnings}
	if found.Next != "" {
		if out.ContinuationToken, err = a.token(ctx, list, found.Next); err != nil {
			return entityPage{}, err
		}
	}
	if in.IncludeFindings {
		err = a.addFindings(ctx, out.Results)
	}
	return out, err
}

// listEntities returns a page of a list.
func (a *API) listEntities(ctx context.Context, in entityList, filter posture.EntityFilter, want posture.Page) (posture.EntityPage, error) {
	switch {
	case len(in.Sorts) == 0 && len(in.Filters.EntityIDs) > 0:
		return a.entitiesByID(ctx, in.Filters.EntityIDs, filter)
	case len(in.Sorts) == 0:
		return a.Entities.Entities(ctx, a.Org(ctx), filter, want)
	case len(in.Filters.EntityIDs) > 0:
		return posture.EntityPage{}, fault.Field("sorts", "cannot be combined with entityIds")
	}
	sort := posture.EntitySort{Desc: in.Sorts[0].Order == "desc", Updated: in.Sorts[0].FieldName == "lastUpdateTime"}
	if !sort.Updated {
		var ok bool
		if sort.By, ok = posture.ParseAttribute(in.Sorts[0].FieldName); !ok {
			return posture.EntityPage{}, fault.Field("sorts[0].fieldName", "must be property.X, tag.X, lastUpdateTime or one of %s", join(posture.EntityFields))
		}
	}
	return a.Entities.SortedEntities(ctx, a.Org(ctx), filter, sort, want)
}

func (a *API) aggregateEntities(ctx context.Context, in aggregationsIn) (aggregationsOut, error) {
	if len(in.Filters.EntityIDs) > 0 {
		return aggregationsOut{}, fault.Field("filters.entityIds", "is allowed in lists and exports only")
	}
	filter, err := in.Filters.filter()
	if err != nil {
		return aggregationsOut{}, err
	}
	// There are no pages, but invalid pagination is refused as elsewhere.
	if _, err := a.page(ctx, listing{"aggregations", &in.Filters}, in.Pagination, defaultPage); err != nil {
		return aggregationsOut{}, err
	}
	remaining := posture.MaxAggregations
	checked, err := aggregations("aggregations", in.Aggregations, 1, &remaining)
	if err != nil {
		return aggregationsOut{}, err
	}
	rows, err := a.Entities.AggregationCost(ctx, a.Org(ctx), filter, checked)
	if err != nil {
		return aggregationsOut{}, err
	}
	leave, err := a.admitCost(ctx, rows)
	if err != nil {
		return aggregationsOut{}, err
	}
	defer leave()
	total, found, err := a.Entities.Aggregate(ctx, a.Org(ctx), filter, checked)
	return aggregationsOut{total, findingBucketsOf(found), in.Warnings}, err
}

// aggregations parses aggregations. remaining is the number of further aggregations that the
// request may have.
func aggregations(path string, requested map[string]entityAggregation, depth int, remaining *int) (map[string]posture.Aggregation, error) {
	if err := checkAggregationLimits(path, len(requested), depth, remaining); err != nil {
		return nil, err
	}
	all := make(map[string]posture.Aggregation, len(requested))
	for name, w := range requested {
		subpath := path + "." + name
		attribute, ok := posture.ParseAttribute(w.FieldName)
		if !ok {
			return nil, fault.Field(subpath+".fieldName", "must be property.X, tag.X or one of %s", join(posture.EntityFields))
		}
		limit := 0
		if w.TermsCount != nil {
			limit = *w.TermsCount
			if limit < 1 {
				return nil, fault.Field(subpath+".termsCount", "must be at least 1")
			}
		}
		sub, err := aggregations(subpath+".subAggregations", w.SubAggregations, depth+1, remaining)
		if err != nil {
			return nil, err
		}
		all[name] = posture.Aggregation{Of: attribute, Limit: limit, Sub: sub}
	}
	return all, nil
}

// checkAggregationLimits subtracts the n aggregations at a depth from remaining. It fails if
// the request has too many, or if they are nested too deep.
func checkAggregationLimits(path string, n, depth int, remaining *int) error {
	if n > 0 && depth > posture.MaxAggregationDepth {
		return fault.Field(path, "is nested deeper than %d", posture.MaxAggregationDepth)
	}
	*remaining -= n
	if *remaining < 0 {
		return fault.Field("aggregations", "has more than %d aggregations, including nested ones", posture.MaxAggregations)
	}
	return nil
}
