package catalog

import (
	"maps"
	"slices"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/evaluate"
)

// WithTriggers returns the catalog with events for the rules that list none: the events
// of the types that their queries read.
func (c *Catalog) WithTriggers(declared []collect.Declaration, schema *evaluate.Schema) (*Catalog, error) {
	out := *c
	out.Rules = slices.Clone(c.Rules)
	events := make(map[posture.EntityType][]collect.Event, len(declared))
	for _, d := range declared {
		events[d.Type] = d.Events
	}
	for i := range out.Rules {
		e := &out.Rules[i]
		if len(e.Triggers) > 0 {
			continue
		}
		reads, err := schema.Read(e.Query.Text)
		if err != nil {
			return nil, wrap(e.File, err)
		}
		names := map[string]map[string]bool{}
		for _, t := range reads.Types {
			for _, event := range events[t] {
				if names[event.Source] == nil {
					names[event.Source] = map[string]bool{}
				}
				for _, n := range event.Names {
					names[event.Source][n] = true
				}
			}
		}
		e.Triggers = make(map[string][]string, len(names))
		for source, set := range names {
			e.Triggers[source] = slices.Sorted(maps.Keys(set))
		}
	}
	return &out, nil
}
