package syntax

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// aliases are names of older versions and other dialects, with their current spelling.
var aliases = []struct{ old, modern string }{
	{"incr", "asc"}, {"decr", "desc"}, {"textContains", "containing"}, {"textPrefix", "startingWith"},
	{"textRegex", "regex"}, {"contains", "containing"}, {"startsWith", "startingWith"},
	{"endsWith", "endingWith"}, {"matches", "regex"}, {"in_", "in"}, {"groupBy", "group"}, {"orderBy", "order"},
	{"distinct", "dedup"}, {"size", "count"}, {"first", "limit(1)"}, {"avg", "mean"}, {"average", "mean"},
	{"each", "unfold"}, {"collect", "fold"}, {"last", "tail(1)"}, {"ne", "neq"}, {"ge", "gte"}, {"le", "lte"},
	{"equals", "eq"}, {"hasProperty", "has"}, {"property_map", "propertyMap"}, {"value_map", "valueMap"},
	{"element_map", "elementMap"}, {"has_label", "hasLabel"}, {"group_count", "groupCount"},
	{"has_not", "hasNot"}, {"has_id", "hasId"}, {"simple_path", "simplePath"}, {"out_e", "outE"},
	{"in_e", "inE"},
}

// suggest returns a hint for an unknown name, or "". candidates are the names
// that are allowed at the place.
func suggest(name string, candidates []string) string {
	best := closest(name, candidates)
	if best == "" {
		return ""
	}
	return "did you mean " + best + "?"
}

// suggestCall is suggest for the names of steps and predicates: the hint has "()"
// after the name.
func suggestCall(name string, candidates []string) string {
	best := closest(name, candidates)
	if best == "" {
		return ""
	}
	if !strings.HasSuffix(best, ")") { // unlike limit(1)
		best += "()"
	}
	return "did you mean " + best + "?"
}

// closest returns the candidate that is most similar to name, or the modern form of an alias that
// is even more similar. It returns "" if none is similar.
func closest(name string, candidates []string) string {
	// A candidate is similar only if its distance is below this initial bestDistance.
	best, bestDistance := "", min(2+len(name)/3, len(name))
	consider := func(spelling, means string) {
		if max(len(name)-len(spelling), len(spelling)-len(name)) >= bestDistance {
			return // the difference in length alone is not below the best distance
		}
		if d := distance(name, spelling); d < bestDistance {
			best, bestDistance = means, d
		}
	}
	for _, c := range candidates {
		consider(c, c)
	}
	for _, a := range aliases {
		if slices.Contains(candidates, strings.TrimSuffix(a.modern, "(1)")) {
			consider(a.old, a.modern)
		}
	}
	return best
}

// distance is the Damerau-Levenshtein distance of a and b: the number of
// inserted, deleted, replaced or swapped letters. A difference in case costs
// nothing, so that "hasid" is closest to hasId.
func distance(a, b string) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	var rows [3][65]int
	for j := range len(b) + 1 {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		prev2, prev, cur := &rows[(i+1)%3], &rows[(i-1)%3], &rows[i%3] // (i+1)%3 is the row of i-2
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
	}
	return rows[len(a)%3][len(b)]
}

// The sorted names of steps that can be suggested, without rejected steps. Callers must not change
// the results.
var (
	// chainStepNames returns the steps that may follow another step.
	chainStepNames = sync.OnceValue(func() []string {
		return namesOf(func(w word) *Signature { return w.step })
	})
	// sourceStepNames returns the steps that may follow g directly.
	sourceStepNames = sync.OnceValue(func() []string {
		return namesOf(func(w word) *Signature {
			if w.source == nil && w.step != nil && w.step.Start {
				return w.step
			}
			return w.source
		})
	})
)

func namesOf(step func(word) *Signature) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(words)) {
		if s := step(words[name]); s != nil && s.Category != MutatingStep && s.Category != RefusedStep {
			names = append(names, name)
		}
	}
	return names
}

func predicateNames() []string {
	names := make([]string, len(predicateShapes))
	for i, s := range predicateShapes {
		names[i] = s.name
	}
	return names
}
