package evaluate

import (
	"slices"

	"vigil/gremlin/syntax"
	"vigil/internal/posture"
)

// isCertain reports whether violations in a region that was not read completely are certain.
// They are if two conditions hold: the entities that the next collection adds can only add
// violations, and the graph has no entity of a type that the query reads and that is not
// current, because its values may be out of date.
func (j *judging) isCertain(v verdict, region string) bool {
	return v.grows && !slices.ContainsFunc(v.reads, func(t posture.EntityType) bool {
		return !j.trust.isCurrent(t, region) && j.count([]posture.EntityType{t}) > 0
	})
}

// onlyGrows reports whether a query keeps every result when entities and edges are added to the
// graph. That does not hold if it asks for the absence, the number or the first of something.
func onlyGrows(text string) bool {
	q, err := syntax.Parse(text, syntax.Options{Limits: queryLimits})
	return err == nil && chainGrows(syntax.Connect(q.Steps, true))
}

// chainGrows is onlyGrows for a chain of steps.
func chainGrows(steps []syntax.Step) bool {
	for i, s := range steps {
		if !stepGrows(s) || s.Name == "dedup" && i+1 < len(steps) && steps[i+1].Name == "by" {
			return false
		}
	}
	return true
}

func stepGrows(s syntax.Step) bool {
	switch s.Name {
	case "not", "by":
		return eachChain(s, isStatic)
	case "where", "filter", "and", "or": // each traverser is decided by itself
		return eachChain(s, func(steps []syntax.Step) bool { return isStatic(steps) || chainGrows(steps) })
	case "dedup":
		return len(s.Args) == 0 // dedup('a') keeps the first traverser of each 'a', which an added entity can replace
	case "V", "hasLabel", "has", "hasNot", "hasId", "as", "identity", "select",
		"out", "in", "both", "outE", "inE", "bothE", "outV", "inV", "otherV", "union",
		"values", "is", "asDate", "dateAdd", "dateDiff", "math", "constant":
		return eachChain(s, chainGrows)
	}
	return false
}

// isStatic reports whether a chain reads nothing but properties of the element that it starts at,
// which do not change when entities are added.
func isStatic(steps []syntax.Step) bool {
	return !slices.ContainsFunc(steps, func(s syntax.Step) bool {
		switch s.Name {
		case "hasLabel", "has", "hasNot", "hasId", "as", "identity", "where", "filter", "and", "or", "not", "by",
			"values", "is", "asDate", "dateAdd", "dateDiff", "math", "constant", "count", "coalesce":
			return !eachChain(s, isStatic)
		}
		return true
	})
}

// eachChain reports whether a condition holds for all traversals in the arguments of a step.
func eachChain(s syntax.Step, holds func([]syntax.Step) bool) bool {
	return !slices.ContainsFunc(s.Args, func(a syntax.Arg) bool {
		t, ok := a.(*syntax.Traversal)
		return ok && !holds(syntax.Connect(t.Steps, false))
	})
}
