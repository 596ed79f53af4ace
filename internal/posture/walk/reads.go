package walk

import "vigil/gremlin"

// Reads returns the types, properties and edges that a query asks for by name.
func Reads(text string) (types, properties, edges []string, err error) {
	plan, err := gremlin.Compile(text, gremlin.CompileOptions{Budget: gremlin.RuleBudget})
	if err != nil {
		return nil, nil, nil, refused(err)
	}
	t := plan.Touches()
	return t.Labels, t.Keys, t.Edges, nil
}
