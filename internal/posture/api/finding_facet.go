package api

import (
	"context"
	"strings"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

// facetOfFrameworks is the facet that counts findings by the frameworks of their rules.
// A finding may count in several frameworks.
const facetOfFrameworks = "complianceFrameworkId"

// findingFacets counts findings by each field, ignoring the filters on that field. The
// counts show what another filter on the field would find.
func (a *API) findingFacets(ctx context.Context, f findingFilters, fields []string) (map[string]findingBuckets, error) {
	out := map[string]findingBuckets{}
	for i, field := range fields {
		others, known := f.without(field)
		if !known {
			return nil, fault.Field(index("facets", i), "is not a field that findings are filtered by")
		}
		filter, err := a.findingFilter(ctx, others)
		if err != nil {
			return nil, err
		}
		counted := field
		if strings.EqualFold(field, facetOfFrameworks) { // count by rule; byFramework adds up the counts
			counted = "ruleId"
		}
		found, err := a.aggregateFindings(ctx, filter, map[string]findingAggregation{field: {FieldName: counted}})
		if err != nil {
			return nil, err
		}
		out[field] = found[field]
		if counted != field {
			if out[field], err = a.byFramework(ctx, found[field]); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// without returns the filters except those on a field. It returns false if findings cannot
// be filtered by the field.
func (f findingFilters) without(field string) (findingFilters, bool) {
	lower := strings.ToLower(field)
	switch lower {
	case "level":
		f.Levels, f.CapitalLevels = nil, nil
	case "service":
		f.Services = nil
	case "region":
		f.Regions = nil
	case "cloudaccountid":
		f.CloudAccountIDs, f.CloudAccountID = nil, nil
	case "cloudprovider":
		f.CloudProviders, f.CloudProvider = nil, nil
	case "ruleid":
		f.RuleIDs, f.RuleID = nil, nil
	case "status":
		f.Status, f.Statuses = nil, nil
	case "issuppressed":
		f.IsSuppressed = nil
	case "entityid", "objectid":
		f.ObjectIDs = nil
	case "objecttype": // no filter is on this field
	case strings.ToLower(facetOfFrameworks):
		f.ComplianceFrameworkIDs, f.FrameworkIDs = nil, nil
	default:
		return f.withoutTag(lower)
	}
	return f, true
}

// withoutTag returns the filters except the one on a tag. The field is tag.name or
// cloudtags.name; for any other field, withoutTag returns false.
func (f findingFilters) withoutTag(field string) (findingFilters, bool) {
	tag, ok := strings.CutPrefix(field, "tag.")
	if !ok {
		tag, ok = strings.CutPrefix(field, "cloudtags.")
	}
	if !ok || tag == "" {
		return f, false
	}
	others := map[string][]string{}
	for name, values := range f.CloudTags {
		if !strings.EqualFold(name, tag) {
			others[name] = values
		}
	}
	f.CloudTags = others
	return f, true
}

// byFramework adds up counts by rule to counts by framework.
func (a *API) byFramework(ctx context.Context, byRule findingBuckets) (findingBuckets, error) {
	rules, err := a.Book.Rules(ctx, a.Org(ctx))
	if err != nil {
		return findingBuckets{}, err
	}
	frameworks, err := a.Book.Frameworks(ctx, a.Org(ctx))
	if err != nil {
		return findingBuckets{}, err
	}
	out := findingBuckets{Buckets: map[string]findingBucket{}}
	for _, f := range frameworks {
		n := 0
		for _, r := range rules {
			if (posture.RuleFilter{Frameworks: []string{f.ID}}).Matches(r) {
				n += byRule.Buckets[string(r.ID)].Count
			}
		}
		if n > 0 {
			out.Buckets[f.ID] = findingBucket{Count: n}
		}
	}
	out.BucketCount = len(out.Buckets)
	return out, nil
}
