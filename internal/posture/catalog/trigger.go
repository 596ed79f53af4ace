package catalog

import (
	"maps"
	"slices"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/evaluate"
)

// WithTriggers returns a copy of the catalog in which the rules have triggers: the events of
// all types that their queries read.
func (c *Catalog) WithTriggers(declared []collect.Declaration, schema *evaluate.Schema) (*Catalog, error) {
	out := *c
	out.Rules = slices.Clone(c.Rules)
	events := make(map[posture.EntityType][]collect.Event, len(declared))
	for _, d := range declared {
		events[d.Type] = d.Events
	}
	for i := range out.Rules {
		rule := &out.Rules[i]
		reads, err := schema.Read(rule.Query.Text)
		if err != nil {
			return nil, wrap(rule.File, err)
		}
		namesBySource := map[string]map[string]bool{}
		for _, t := range reads.Types {
			for _, event := range events[t] {
				if namesBySource[event.Source] == nil {
					namesBySource[event.Source] = map[string]bool{}
				}
				for _, n := range event.Names {
					namesBySource[event.Source][n] = true
				}
			}
		}
		rule.Triggers = make(map[string][]string, len(namesBySource))
		for source, names := range namesBySource {
			rule.Triggers[source] = slices.Sorted(maps.Keys(names))
		}
	}
	return &out, nil
}
