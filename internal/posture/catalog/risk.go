package catalog

import (
	"vigil/internal/posture/evaluate"
	"vigil/internal/posture/resource"
)

// addRisk adds the facts about risk in the declaration of a type.
func addRisk(k *evaluate.Kind, t *resource.Type) {
	k.Sensitive = t.Sensitive
	for a := range t.Answers() {
		for _, p := range a.AllProperties() {
			if p.Exposed != "" {
				k.Exposed = append(k.Exposed, evaluate.Fact{Property: p.Name, Values: p.ExposedIf, Why: p.Exposed})
			}
			if p.Powerful {
				k.Powerful = append(k.Powerful, p.Name)
			}
		}
	}
}
