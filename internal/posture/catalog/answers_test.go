package catalog_test

import (
	"slices"
	"strings"
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
	"vigil/internal/posture/collect/cases"
	builtin "vigil/internal/posture/collect/declared"
)

// build returns the entities of a case, including those that are read from its
// Answers, and their ids by key. Types whose list fails are added to Unread.
func (b *bench) build(t *testing.T, e catalog.Entry, c catalog.Case) (catalog.Case, []posture.Entity, map[string]posture.EntityID) {
	t.Helper()
	found, ids, err := c.Build()
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Answers) == 0 {
		return c, found, ids
	}
	reads, err := b.schema.Read(e.Query.Text)
	if err != nil {
		t.Fatal(err)
	}
	reading, err := cases.ReadAll(t.Context(), builtin.Catalog(), reads.Types, c.Answers)
	if err != nil {
		t.Fatalf("case %q: %v", c.Name, err)
	}
	for kind := range reading.Failed {
		c.Unread = append(slices.Clone(c.Unread), catalog.Unread{Type: kind})
	}
	checked := 0
	for _, f := range reading.Entities {
		if f.Type == e.Type {
			checked++
			if key := keyOf(c, f); ids[key] == "" {
				ids[key] = f.ID
			} else {
				t.Fatalf("case %q: two entities have the name %q; use region and name", c.Name, key)
			}
		}
		if f.Region != posture.Global && !slices.Contains(c.Regions, f.Region) {
			c.Regions = append(slices.Clone(c.Regions), f.Region)
		}
	}
	if checked == 0 && len(reading.Failed) == 0 {
		t.Fatalf("case %q: no %s was read from the answers", c.Name, e.Type)
	}
	for _, key := range slices.Concat(c.Violates, c.Unknown) {
		if ids[key] == "" {
			t.Fatalf("case %q: there is no %s %q", c.Name, e.Type, key)
		}
	}
	return c, append(found, reading.Entities...), ids
}

// keyOf returns the key of an entity that was read from the Answers of a case: region
// and name if the case uses them, else the name.
func keyOf(c catalog.Case, e posture.Entity) string {
	short := cases.ShortID(e)
	if slices.Contains(slices.Concat(c.Violates, c.Unknown), short) {
		return short
	}
	_, name, _ := strings.Cut(short, " ")
	return name
}
