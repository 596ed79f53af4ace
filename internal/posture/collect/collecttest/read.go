package collecttest

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// Read is the result of reading an account.
type Read struct {
	Entities map[posture.EntityID]posture.Entity
	Problems map[posture.EntityType][]error // details that could not be read
	Failures map[posture.EntityType][]error // lists that could not be read
	Units    int
}

// EntitiesOf returns the entities of a type, ordered by id.
func (r Read) EntitiesOf(t posture.EntityType) []posture.Entity {
	var found []posture.Entity
	for _, e := range r.Entities {
		if e.Type == t {
			found = append(found, e)
		}
	}
	slices.SortFunc(found, func(a, b posture.Entity) int { return cmp.Compare(a.ID, b.ID) })
	return found
}

// Failure returns the errors of the lists of a type, or nil.
func (r Read) Failure(t posture.EntityType) error { return errors.Join(r.Failures[t]...) }

// All reads the given types of an account, or all types. It checks that every entity is read
// once, by the unit of its type and, on AWS, of its region. Units of the other clouds read all
// regions.
func All(t testing.TB, source collect.Source, a posture.Access, types ...posture.EntityType) Read {
	t.Helper()
	session, err := source.Open(t.Context(), a)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	defer session.Close()
	units, err := session.Units(t.Context())
	if err != nil {
		t.Fatalf("units: %v", err)
	}
	got := Read{Entities: map[posture.EntityID]posture.Entity{}, Problems: map[posture.EntityType][]error{}, Failures: map[posture.EntityType][]error{}}
	var mu sync.Mutex
	for _, u := range units {
		if len(types) > 0 && !slices.Contains(types, u.Type) {
			continue
		}
		got.Units++
		err := u.List(t.Context(), func(r *collect.Resource) error {
			mu.Lock()
			defer mu.Unlock()
			r.Normalize()
			if _, exists := got.Entities[r.ID]; exists {
				t.Errorf("%s was read twice", r.ID)
			}
			otherRegion := a.Account.Provider == posture.AWS && r.Region != u.Region
			if r.Type != u.Type || otherRegion || r.Account != a.Account.ID || r.Provider != a.Account.Provider {
				t.Errorf("%s has type %s, region %s and account %s of %s in the unit of %s in %s", r.ID, r.Type, r.Region, r.Account, r.Provider, u.Type, u.Region)
			}
			got.Entities[r.ID] = r.Entity
			if problems := r.Problems(); len(problems) > 0 {
				got.Problems[u.Type] = append(got.Problems[u.Type], problems...)
			}
			return nil
		})
		if err != nil {
			got.Failures[u.Type] = append(got.Failures[u.Type], err)
		}
	}
	return got
}
