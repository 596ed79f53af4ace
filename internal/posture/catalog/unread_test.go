package catalog_test

import (
	"slices"
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
)

// TestDeniedPropertyNeverDecides makes each property of the entities of every case
// unknown. A violation or a pass may become unknown, but a violation must not become a
// pass, nor a pass a violation.
func TestDeniedPropertyNeverDecides(t *testing.T) {
	t.Parallel()
	b := newBench()
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
					for _, p := range found[i].Properties {
						after := b.judge(t, e, c, deny(found, i, p.Name))
						for _, id := range before.Unknown {
							if !slices.Contains(after.Unknown, id) {
								t.Errorf("case %q without %s of %s: %s was unknown and is not", c.Name, p.Name, found[i].Name, id)
							}
						}
						for _, id := range objects(before.Violating) {
							if !slices.Contains(objects(after.Violating), id) && !slices.Contains(after.Unknown, id) {
								t.Errorf("case %q without %s of %s: %s passes", c.Name, p.Name, found[i].Name, id)
							}
						}
						for _, id := range objects(after.Violating) {
							if !slices.Contains(objects(before.Violating), id) {
								t.Errorf("case %q without %s of %s: %s violates", c.Name, p.Name, found[i].Name, id)
							}
						}
					}
				}
			}
		})
	}
}

// deny returns entities with a property of one of them denied.
func deny(es []posture.Entity, i int, name string) []posture.Entity {
	es = slices.Clone(es)
	var remaining []posture.Property
	for _, p := range es[i].Properties {
		if p.Name != name {
			remaining = append(remaining, p)
		}
	}
	es[i].Properties = append(remaining, posture.Unknown(name, "access denied"))
	es[i].Normalize()
	return es
}

// TestUnreadScopeNeitherRaisesNorResolves makes the last read of each type that a rule
// uses fail: denied, throttled, timed out or interrupted. No finding may be raised and
// no open finding may be resolved.
func TestUnreadScopeNeitherRaisesNorResolves(t *testing.T) {
	t.Parallel()
	b := newBench()
	seen := map[posture.Provider]int{}
	for _, e := range product(t).Rules {
		seen[e.Provider]++
		t.Run(string(e.ID), func(t *testing.T) {
			t.Parallel()
			reads, err := b.schema.Read(e.Query.Text)
			if err != nil || !slices.Contains(reads.Types, e.Type) {
				t.Fatalf("it reads %v, %v", reads.Types, err)
			}
			for _, c := range e.Cases {
				c, found, _ := b.build(t, e, c)
				for _, kind := range reads.Types {
					failed := c
					failed.Unread = []catalog.Unread{{Type: kind}}
					got := b.judge(t, e, failed, found)
					if len(got.Violating) > 0 {
						t.Errorf("case %q without %s raises %v", c.Name, kind, objects(got.Violating))
					}
					for _, f := range found {
						if f.Type == e.Type && (got.Trusted(f.ID) || !slices.Contains(got.Unknown, f.ID)) {
							t.Errorf("case %q without %s: a pass of %s would resolve its finding", c.Name, kind, f.ID)
						}
					}
				}
			}
		})
	}
	for _, p := range posture.Providers {
		if seen[p] < 40 {
			t.Errorf("%d rules of %s", seen[p], p)
		}
	}
}
