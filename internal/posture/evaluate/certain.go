package evaluate

import (
	"slices"

	"vigil/gremlin/syntax"
	"vigil/internal/posture"
)

// isCertain reports whether violations in a region that was not read completely are certain.
// They are if two conditions hold:
//   - The query is monotonic: entities that the next collection adds can only add violations.
//   - The query reads no entity that may be out of date. An entity may be out of date if its
//     type is not current in the region.
func (j *judging) isCertain(v verdict, region string) bool {
	return v.monotonic && !slices.ContainsFunc(v.reads, func(t posture.EntityType) bool {
		return !j.trust.isCurrent(t, region) && j.count([]posture.EntityType{t}) > 0
	})
}

// isMonotonic reports whether a query keeps every result when entities and edges are added to
// the graph. A query that asks for the absence, the number or the first of something does not.
func isMonotonic(text string) bool {
	q, err := syntax.Parse(text, syntax.Options{Limits: queryLimits})
	if err != nil {
		return false
	}
	steps := syntax.Connect(q.Steps, ofQuery)
	// Of the traversers at an element, dedup keeps the first, which an added entity can replace
	// by one with another path.
	if containsStep(steps, isDedup) && containsStep(steps, readsPath) {
		return false
	}
	return isMonotonicChain(steps)
}

func isDedup(s syntax.Step) bool { return s.Name == "dedup" }

// readsPath reports whether the result of a step depends on the path of a traverser.
func readsPath(s syntax.Step) bool {
	switch s.Name {
	case "select", "otherV", "as":
		return true
	}
	return false
}

// containsStep reports whether a condition holds for a step of a chain or of a traversal in it.
func containsStep(steps []syntax.Step, holds func(syntax.Step) bool) bool {
	return slices.ContainsFunc(steps, func(s syntax.Step) bool {
		return holds(s) || anyChain(s, func(nested []syntax.Step) bool { return containsStep(nested, holds) })
	})
}

// isMonotonicChain is isMonotonic for a chain of steps.
func isMonotonicChain(steps []syntax.Step) bool {
	for i, s := range steps {
		if !isMonotonicStep(s) {
			return false
		}
		if s.Name == "dedup" && i+1 < len(steps) && steps[i+1].Name == "by" {
			return false // dedup().by() keeps the first traverser of each value, which an added entity can replace
		}
	}
	return true
}

// isMonotonicStep is isMonotonic for one step.
func isMonotonicStep(s syntax.Step) bool {
	switch s.Name {
	case "not", "by": // more results of their traversals can remove or replace a result
		return everyChain(s, isStatic)
	case "where", "filter", "and", "or": // they keep or drop each traverser independently of the others
		return everyChain(s, func(steps []syntax.Step) bool { return isStatic(steps) || isMonotonicChain(steps) })
	case "dedup":
		return len(s.Args) == 0 // dedup('a') keeps the first traverser of each 'a', which an added entity can replace
	case "V", "hasLabel", "has", "hasNot", "hasId", "as", "identity", "select",
		"out", "in", "both", "outE", "inE", "bothE", "outV", "inV", "otherV", "union",
		"values", "is", "asDate", "dateAdd", "dateDiff", "math", "constant":
		return everyChain(s, isMonotonicChain)
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
			return !everyChain(s, isStatic)
		}
		return true
	})
}

// everyChain reports whether a condition holds for all traversals in the arguments of a step.
func everyChain(s syntax.Step, holds func([]syntax.Step) bool) bool {
	return !anyChain(s, func(steps []syntax.Step) bool { return !holds(steps) })
}

// anyChain reports whether a condition holds for a traversal in the arguments of a step.
func anyChain(s syntax.Step, holds func([]syntax.Step) bool) bool {
	return slices.ContainsFunc(s.Args, func(a syntax.Arg) bool {
		t, ok := a.(*syntax.Traversal)
		return ok && holds(syntax.Connect(t.Steps, ofTraversal))
	})
}
