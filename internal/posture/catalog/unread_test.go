package catalog_test

import (
	"slices"
	"strings"
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
)

// TestDeniedPropertyNeverDecides makes each property of the entities of every case
// unknown. It does so one by one for the properties that the query names, and at once for
// all others of an entity. A violation or a pass may become unknown, but a violation must
// not become a pass, nor a pass a violation.
func TestDeniedPropertyNeverDecides(t *testing.T) {
	t.Parallel()
	b := sharedBench()
	for _, e := range product(t).Rules {
		t.Run(string(e.ID), func(t *testing.T) {
			t.Parallel()
			for _, c := range e.Cases {
				c, found, _ := b.build(t, e, c)
				if len(c.Unread) > 0 {
					continue
				}
				before := b.judge(t, e, c, found)
				for i := range found {
					for _, names := range denials(e.Query.Text, found[i]) {
						after := b.judge(t, e, c, deny(found, i, names))
						for _, id := range before.Unknown {
							if !slices.Contains(after.Unknown, id) {
								t.Errorf("case %q without %s of %s: %s was unknown and is not", c.Name, names, found[i].Name, id)
							}
						}
						for _, id := range objects(before.Violating) {
							if !slices.Contains(objects(after.Violating), id) && !slices.Contains(after.Unknown, id) {
								t.Errorf("case %q without %s of %s: %s passes", c.Name, names, found[i].Name, id)
							}
						}
						for _, id := range objects(after.Violating) {
							if !slices.Contains(objects(before.Violating), id) {
								t.Errorf("case %q without %s of %s: %s violates", c.Name, names, found[i].Name, id)
							}
						}
					}
				}
			}
		})
	}
}

// denials returns the groups of properties that are denied together.
func denials(query string, e posture.Entity) [][]string {
	var groups [][]string
	var unused []string
	for _, p := range e.Properties {
		if strings.Contains(query, p.Name) {
			groups = append(groups, []string{p.Name})
		} else {
			unused = append(unused, p.Name)
		}
	}
	if len(unused) > 0 {
		groups = append(groups, unused)
	}
	return groups
}

// deny returns entities, with the named properties of the entity at index i denied.
func deny(es []posture.Entity, i int, names []string) []posture.Entity {
	es = slices.Clone(es)
	es[i].Properties = slices.DeleteFunc(slices.Clone(es[i].Properties), func(p posture.Property) bool { return slices.Contains(names, p.Name) })
	for _, name := range names {
		es[i].Properties = append(es[i].Properties, posture.Unknown(name, "access denied"))
	}
	es[i].Normalize()
	return es
}

// TestUnreadScopeNeitherRaisesNorResolves makes the last read of each type that a rule
// uses fail. If a case has entities of the type, no finding may be raised; otherwise only
// findings that a complete read raises too. No open finding may be resolved.
func TestUnreadScopeNeitherRaisesNorResolves(t *testing.T) {
	t.Parallel()
	b := sharedBench()
	seen := map[posture.Provider]int{}
	for _, e := range product(t).Rules {
		seen[e.Provider]++
		t.Run(string(e.ID), func(t *testing.T) {
			t.Parallel()
			reads, err := b.schema.Read(e.Query.Text)
			if err != nil || !slices.Contains(reads.Types, e.Type) {
				t.Fatalf("it reads %v, which must include %s: %v", reads.Types, e.Type, err)
			}
			for _, c := range e.Cases {
				c, found, _ := b.build(t, e, c)
				whole := c
				whole.Unread = nil
				complete := objects(b.judge(t, e, whole, found).Violating)
				for _, kind := range reads.Types {
					failed := c
					failed.Unread = []catalog.Unread{{Type: kind}}
					got := b.judge(t, e, failed, found)
					violating := objects(got.Violating)
					// Entities of the failed type are known from an earlier read.
					stale := slices.ContainsFunc(found, func(f posture.Entity) bool { return f.Type == kind })
					if len(violating) > 0 && (stale || !isSubset(violating, complete)) {
						t.Errorf("case %q without %s raises %v", c.Name, kind, violating)
					}
					for _, f := range found {
						passes := !slices.Contains(got.Unknown, f.ID) && !slices.Contains(violating, f.ID)
						if f.Type == e.Type && (passes || got.Trusted(f.ID)) {
							t.Errorf("case %q without %s: a pass of %s would resolve its finding", c.Name, kind, f.ID)
						}
					}
				}
			}
		})
	}
	for _, p := range posture.Providers {
		if seen[p] < 40 {
			t.Errorf("%d rules of %s, want at least 40", seen[p], p)
		}
	}
}

// isSubset reports whether all of some entities are among others.
func isSubset(some, others []posture.EntityID) bool {
	return !slices.ContainsFunc(some, func(id posture.EntityID) bool { return !slices.Contains(others, id) })
}
