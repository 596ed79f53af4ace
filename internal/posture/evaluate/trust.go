package evaluate

import (
	"maps"
	"slices"

	"vigil/internal/posture"
)

// trust holds the coverage of the scopes of an account.
type trust struct {
	coverage map[posture.EntityType][]posture.Coverage
	regions  map[string]bool             // regions with at least one scope
	partial  bool                        // only some regions are read
	complete map[posture.EntityType]bool // results of isComplete
}

// newTrust groups scopes by type. It is fast if those of a type follow each other: they
// are not copied then.
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

// isCurrent reports whether the last collection read a type in a region: every scope of
// the type that covers the region is current. For posture.Global, every scope of the type
// must be. A type that no collection tried to read there is not current. If only some
// regions are read, a type with entities in regions is not current for posture.Global.
func (t *trust) isCurrent(typ posture.EntityType, region string) bool {
	tried := false
	for _, c := range t.coverage[typ] {
		if region != posture.Global && !c.Covers(typ, region) {
			continue
		}
		if !c.Current() || region == posture.Global && t.partial && isRegional(c) {
			return false
		}
		tried = true
	}
	return tried
}

// isRegional reports whether a scope has entities in regions.
func isRegional(c posture.Coverage) bool {
	return c.Region != posture.Global || slices.ContainsFunc(c.Regions, func(r string) bool { return r != posture.Global })
}

// scopeOf returns the regions in which the verdict of a rule that reads some types is
// reliable.
func (t *trust) scopeOf(reads []posture.EntityType) scope {
	s := scope{trust: t, reads: reads, known: map[string]bool{}, complete: true}
	for _, kind := range reads {
		if !t.isComplete(kind) {
			s.complete = false
			return s
		}
	}
	s.complete = len(t.regions) > 0
	return s
}

// isComplete reports whether a type is current in all regions.
func (t *trust) isComplete(kind posture.EntityType) bool {
	complete, ok := t.complete[kind]
	if !ok {
		complete = true
		for region := range t.regions {
			complete = complete && t.isCurrent(kind, region)
		}
		t.complete[kind] = complete
	}
	return complete
}

// changedTypes returns the types that are current in other regions than before. If the
// regions changed, all may be: a type is complete only if it was read in all of them.
func changedTypes(before, after *trust) types {
	changed, newRegions := types{}, !maps.Equal(before.regions, after.regions)
	compare := func(t posture.EntityType) {
		differs := newRegions
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

// A scope is the set of regions in which the verdict of a rule is reliable.
type scope struct {
	trust    *trust
	reads    []posture.EntityType
	known    map[string]bool // results of covers, by region
	complete bool            // reliable in every region with a scope
}

// covers reports whether everything that the rule reads is current in a region.
func (s scope) covers(region string) bool {
	if s.complete && s.trust.regions[region] {
		return true
	}
	covered, ok := s.known[region]
	if !ok {
		covered = true
		for _, kind := range s.reads {
			if !s.trust.isCurrent(kind, region) {
				covered = false
				break
			}
		}
		s.known[region] = covered
	}
	return covered
}
