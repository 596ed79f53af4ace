package rulecases

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
	"vigil/internal/posture/collect/cases"
)

// Build returns the entities of a case, including those that are read from its Answers,
// and their ids by key. Types that cannot be listed are added to Unread of the returned case.
func (r *Runner) Build(ctx context.Context, e catalog.Entry, c catalog.Case) (catalog.Case, []posture.Entity, map[string]posture.EntityID, error) {
	found, ids, err := c.Build()
	if err != nil || len(c.Answers) == 0 {
		return c, found, ids, err
	}
	reads, err := r.schema.Read(e.Query.Text)
	if err != nil {
		return c, nil, nil, err
	}
	reading, err := cases.ReadAll(ctx, r.types, reads.Types, c.Answers)
	if err != nil {
		return c, nil, nil, fmt.Errorf("case %q: %w", c.Name, err)
	}
	for kind := range reading.Failed {
		c.Unread = append(slices.Clone(c.Unread), catalog.Unread{Type: kind})
	}
	checked := 0
	for _, f := range reading.Entities {
		if f.Type == e.Type {
			checked++
			key := keyOf(c, f)
			if ids[key] != "" {
				return c, nil, nil, fmt.Errorf("case %q: two entities have the name %q; use region and name", c.Name, key)
			}
			ids[key] = f.ID
		}
		if f.Region != posture.Global && !slices.Contains(c.Regions, f.Region) {
			c.Regions = append(slices.Clone(c.Regions), f.Region)
		}
	}
	if checked == 0 && len(reading.Failed) == 0 {
		return c, nil, nil, fmt.Errorf("case %q: no %s was read from the answers", c.Name, e.Type)
	}
	for _, key := range slices.Concat(c.Violates, c.Unknown, c.NotApplicable) {
		if ids[key] == "" {
			return c, nil, nil, fmt.Errorf("case %q: there is no %s %q", c.Name, e.Type, key)
		}
	}
	return c, append(found, reading.Entities...), ids, nil
}

// keyOf returns the key of an entity that was read from the Answers of a case: region
// and name if the case uses them, else the name.
func keyOf(c catalog.Case, e posture.Entity) string {
	short := cases.ShortID(e)
	if slices.Contains(slices.Concat(c.Violates, c.Unknown, c.NotApplicable), short) {
		return short
	}
	_, name, _ := strings.Cut(short, " ")
	return name
}
