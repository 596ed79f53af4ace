package evaluate

import (
	"maps"
	"slices"

	"vigil/internal/posture"
)

// trust holds which types of an account were read, and where. A scope is what one collector reads of a
// type: its entities in a region, or in the whole account. See [posture.Coverage].
type trust struct {
	coverage map[posture.EntityType][]posture.Coverage
	regions  map[string]bool             // regions with at least one scope
	partial  bool                        // collections are limited to some regions
	complete map[posture.EntityType]bool // results of isComplete
}

// newTrust groups scopes by type. It does not copy the scopes of a type if they are consecutive.
func newTrust(all []posture.Coverage, partial bool) *trust {
	t := &trust{regions: map[string]bool{}, partial: partial, complete: map[posture.EntityType]bool{}}
	groups := 0
	for i, c := range all {
		if i == 0 || c.Type != all[i-1].Type {
			groups++
		}
		t.regions[c.Region] = true
	}
	t.coverage = make(map[posture.EntityType][]posture.Coverage, groups)
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].Type == all[0].Type {
			n++
		}
		if before := t.coverage[all[0].Type]; before != nil {
			t.coverage[all[0].Type] = append(before, all[:n]...)
		} else {
			t.coverage[all[0].Type] = all[:n:n]
		}
		all = all[n:]
	}
	return t
}

// isCurrent reports whether the last collection read a type in a region: there is a scope of the type
// that covers the region, and all such scopes are current. For posture.Global, all scopes of
// the type must be current. If collections are limited to some regions, a type with entities in regions is not
// current for posture.Global, because there may be entities in the regions that are not read.
func (t *trust) isCurrent(typ posture.EntityType, region string) bool {
	hasScope := false
	for _, c := range t.coverage[typ] {
		if region != posture.Global && !c.Covers(typ, region) {
			continue
		}
		if !c.Current() || region == posture.Global && t.partial && isRegional(c) {
			return false
		}
		hasScope = true
	}
	return hasScope
}

// isRegional reports whether a scope has entities in regions.
func isRegional(c posture.Coverage) bool {
	return c.Region != posture.Global || slices.ContainsFunc(c.Regions, func(r string) bool { return r != posture.Global })
}

// reliableFor returns the regions in which the verdict of a rule that reads some types is reliable.
func (t *trust) reliableFor(reads []posture.EntityType) reliableRegions {
	r := reliableRegions{trust: t, reads: reads, known: map[string]bool{}, all: len(t.regions) > 0}
	for _, typ := range reads {
		r.all = r.all && t.isComplete(typ)
	}
	return r
}

// isComplete reports whether a type is current in all regions.
func (t *trust) isComplete(typ posture.EntityType) bool {
	complete, ok := t.complete[typ]
	if !ok {
		complete = true
		for region := range t.regions {
			complete = complete && t.isCurrent(typ, region)
		}
		t.complete[typ] = complete
	}
	return complete
}

// changedTypes returns the types that are current in other regions than before. If the set of
// regions changed, it returns all types, because isComplete depends on that set.
func changedTypes(before, after *trust) types {
	changed := types{}
	regionsChanged := !maps.Equal(before.regions, after.regions)
	compare := func(t posture.EntityType) {
		differs := regionsChanged
		for region := range after.regions {
			differs = differs || before.isCurrent(t, region) != after.isCurrent(t, region)
		}
		if differs {
			changed[t] = true
		}
	}
	for t := range before.coverage {
		compare(t)
	}
	for t := range after.coverage {
		if _, compared := before.coverage[t]; !compared {
			compare(t)
		}
	}
	return changed
}

// reliableRegions is the set of regions in which the verdict of a rule is reliable.
type reliableRegions struct {
	trust *trust
	reads []posture.EntityType
	known map[string]bool // results of includes, by region
	all   bool            // includes every region with a scope
}

// includes reports whether everything that the rule reads is current in a region.
func (r reliableRegions) includes(region string) bool {
	if r.all && r.trust.regions[region] {
		return true
	}
	included, ok := r.known[region]
	if !ok {
		included = true
		for _, typ := range r.reads {
			if !r.trust.isCurrent(typ, region) {
				included = false
				break
			}
		}
		r.known[region] = included
	}
	return included
}
