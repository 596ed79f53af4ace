package syntax

import "slices"

// Connect rewrites infix connectives to the prefix form: a().or().b().and().c()
// becomes or(a(), and(b(), c())). The connective and has higher precedence than
// or. The steps are those of one traversal; nested traversals are not changed. If
// root is true, they are the steps of a whole query, whose first step with its
// labels stays in front. A first inject() and a last profile() stay where they are
// in any traversal. Steps without infix connectives are returned unchanged.
func Connect(steps []Step, root bool) []Step {
	if !slices.ContainsFunc(steps, infix("or")) && !slices.ContainsFunc(steps, infix("and")) {
		return steps
	}
	from, to := 0, len(steps)
	if root || steps[0].Name == "inject" {
		for from = 1; from < len(steps) && steps[from].Name == "as"; from++ {
		}
	}
	for to > from && steps[to-1].Name == "profile" {
		to--
	}
	connected := connect(steps[from:to], "or", func(part []Step) []Step {
		return connect(part, "and", func(part []Step) []Step { return part })
	})
	return slices.Concat(steps[:from], connected, steps[to:])
}

// connect splits steps at the connective, rewrites each part, and combines several parts in one step.
func connect(steps []Step, connective string, rewrite func([]Step) []Step) []Step {
	var parts [][]Step
	rest := steps
	for i := slices.IndexFunc(rest, infix(connective)); i >= 0; i = slices.IndexFunc(rest, infix(connective)) {
		parts = append(parts, rewrite(rest[:i]))
		rest = rest[i+1:]
	}
	last := rewrite(rest)
	if len(parts) == 0 {
		return last
	}
	combined := Step{Span: Span{steps[0].Pos, steps[len(steps)-1].End}, Name: connective}
	for _, part := range append(parts, last) {
		combined.Args = append(combined.Args, operand(part, combined.Span))
	}
	return []Step{combined}
}

// operand builds the traversal of one side; an empty side is always true.
func operand(steps []Step, span Span) *Traversal {
	if len(steps) == 0 {
		return &Traversal{Span: span, Steps: []Step{{Span: span, Name: "identity"}}}
	}
	return &Traversal{Span: Span{steps[0].Pos, steps[len(steps)-1].End}, Steps: steps}
}

func infix(name string) func(Step) bool {
	return func(s Step) bool { return s.Name == name && len(s.Args) == 0 }
}
