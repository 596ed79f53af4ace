package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

// namesAreFoundByTheirWords searches for words that differ only after the prefix that is in
// the index. Pages are full nevertheless, which the function pages checks. A search for a single
// character finds only names that have it as a word.
func namesAreFoundByTheirWords(t *testing.T, f EntityFixture) {
	var es []posture.Entity
	for i := range 40 {
		for _, name := range []string{"application-", "applicable-"} {
			e := newEntity(east, fmt.Sprintf("%s%02d", name, i))
			e.Name = fmt.Sprintf("Prod%s%02d", strings.ToUpper(name[:1])+name[1:], i)
			es = append(es, e)
		}
	}
	record(t, f.Store, newScope(instance, east), es...)
	for search, want := range map[string]int{
		"application": 40, "APPLICABLE": 40, "applicat 07": 1, "prodapp": 80, "applications": 0, "appl": 80, "0": 0, "07": 2, "pli": 0,
	} {
		found, _ := pages(t, f.Store, org, posture.EntityFilter{NameWords: posture.SearchWords(search)}, 15)
		if len(found) != want {
			t.Errorf("%q finds %d entities, want %d", search, len(found), want)
		}
	}
}

// sortsOrderAllEntities compares sorted pages with a sort of all entities.
func sortsOrderAllEntities(t *testing.T, f EntityFixture) {
	all := fill(t, f, org, 3, 60)
	for i := range 25 { // numbers, with ties and gaps
		name := fmt.Sprintf("n-%02d", i)
		e := newEntity(east, name) // without a size
		if i%7 != 0 {
			e = newEntity(east, name, set(posture.Number("size", int64(i%5*1000-2000))))
		}
		all = append(all, e)
	}
	record(t, f.Store, newScope(instance, east), all[len(all)-25:]...)
	sizeOf := func(e posture.Entity) (int64, bool) {
		for _, p := range e.Properties {
			if p.Name == "size" && p.Type == posture.LongProperty {
				return p.Long, true
			}
		}
		return 0, false
	}
	field := func(name string) posture.EntitySort {
		a, _ := posture.ParseAttribute(name)
		return posture.EntitySort{By: a}
	}
	for name, compare := range map[string]func(a, b posture.Entity) int{
		"entityName": func(a, b posture.Entity) int { return strings.Compare(posture.Fold(a.Name), posture.Fold(b.Name)) },
		"entityType": func(a, b posture.Entity) int {
			return strings.Compare(posture.Fold(string(a.Type)), posture.Fold(string(b.Type)))
		},
		"property.size": func(a, b posture.Entity) int {
			x, hasX := sizeOf(a)
			y, hasY := sizeOf(b)
			if !hasX || !hasY {
				return 0
			}
			return cmp.Compare(x, y)
		},
	} {
		for _, filter := range []posture.EntityFilter{{}, {Types: []string{string(instance)}}, {NameWords: []string{"n"}}} {
			for _, desc := range []bool{false, true} {
				by := field(name)
				by.Desc = desc
				found := sortedPages(t, f.Store, filter, by, 17)
				if got, want := idsOf(found), matchingIDs(all, filter); !slices.Equal(got, want) {
					t.Errorf("%s desc=%v %+v: %d entities, or others than the %d that match", name, desc, filter, len(got), len(want))
				}
				direction := 1
				if desc {
					direction = -1
				}
				for i := 1; i < len(found); i++ {
					a, b := found[i-1], found[i]
					_, hasA := sizeOf(a)
					_, hasB := sizeOf(b)
					// Entities without a size are last in both directions.
					if compare(a, b)*direction > 0 || name == "property.size" && !hasA && hasB {
						t.Errorf("%s desc=%v: %q is before %q", name, desc, a.Name, b.Name)
					}
				}
			}
		}
	}
	if _, err := f.Store.SortedEntities(t.Context(), org, posture.EntityFilter{}, field("entityName"), posture.Page{After: "?"}); !fault.Is(err, fault.Invalid) {
		t.Errorf("a malformed cursor: %v, want a fault of kind Invalid", err)
	}
}

func sortedPages(t *testing.T, s EntityStore, f posture.EntityFilter, by posture.EntitySort, size int) (found []posture.Entity) {
	t.Helper()
	for p := (posture.Page{Size: size}); ; {
		page, err := s.SortedEntities(t.Context(), org, f, by, p)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, page.Entities...)
		if page.Next == "" {
			if page.Total != len(found) {
				t.Errorf("the total is %d, but the pages have %d entities", page.Total, len(found))
			}
			return found
		}
		p.After = page.Next
	}
}
