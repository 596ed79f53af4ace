package syntax

import (
	"maps"
	"slices"
	"strings"
)

// aliases are names from older versions and other dialects, with what to write
// today.
var aliases = map[string]string{
	"incr": "asc", "decr": "desc", "textContains": "containing", "textPrefix": "startingWith", "textRegex": "regex",
	"contains": "containing", "startsWith": "startingWith", "endsWith": "endingWith", "matches": "regex", "in_": "in",
	"groupBy": "group", "orderBy": "order", "distinct": "dedup", "size": "count", "first": "limit(1)", "avg": "mean", "average": "mean",
	"each": "unfold", "collect": "fold", "last": "tail(1)", "ne": "neq", "ge": "gte", "le": "lte", "equals": "eq", "as_": "as",
	"from_": "from", "is_": "is", "not_": "not", "or_": "or", "and_": "and", "min_": "min", "max_": "max", "sum_": "sum",
	"filter_": "filter", "id_": "id", "range_": "range", "all_": "all", "any_": "any", "set_": "set", "list_": "list", "with_": "with",
	"hasProperty": "has", "property_map": "propertyMap", "value_map": "valueMap", "element_map": "elementMap", "has_label": "hasLabel",
	"group_count": "groupCount", "has_not": "hasNot", "has_id": "hasId", "simple_path": "simplePath", "out_e": "outE", "in_e": "inE",
}

// suggest returns a hint for an unknown name, or nothing. candidates are the
// names that may stand at the place; call adds "()" to them.
func suggest(name string, candidates []string, call bool) string {
	parens := ""
	if call {
		parens = "()"
	}
	if alias, ok := aliases[name]; ok && slices.Contains(candidates, strings.TrimSuffix(alias, "(1)")) {
		if strings.HasSuffix(alias, ")") {
			parens = ""
		}
		return "did you mean " + alias + parens + "?"
	}
	best, bestDistance := "", 0
	limit := 1 + len(name)/3
	for _, c := range candidates {
		if diff := len(c) - len(name); diff > limit || -diff > limit {
			continue
		}
		if d := distance(name, c); d <= limit && (best == "" || d < bestDistance) {
			best, bestDistance = c, d
		}
	}
	if best == "" {
		return ""
	}
	return "did you mean " + best + parens + "?"
}

// distance is the number of single-letter changes between a and b: one letter
// put in, left out, replaced or swapped with its neighbour. A change of case
// alone costs nothing, so that "hasid" is nearest to hasId.
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
		prev2, prev, cur := &rows[(i+1)%3], &rows[(i-1)%3], &rows[i%3]
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

// stepNames returns the names a step may have, in order; refused ones are never
// suggested.
func stepNames(source bool) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(words)) {
		w := words[name]
		s := w.step
		if source {
			s = w.source
			if s == nil && w.step != nil && w.step.Start {
				s = w.step
			}
		}
		if s != nil && s.Category < MutatingStep {
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
