package syntax

import "slices"

// Connect rewrites infix connectives to the prefix form: a().or().b().and().c()
// becomes or(a(), and(b(), c())). and has higher precedence than or. The steps
// are those of one traversal; nested traversals are not changed. If root is true,
// they are the steps of a whole query, whose first step with its labels stays in
// front. Steps without infix connectives are returned unchanged.
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
	connected := connect(steps[from:to], "or", func(part []Step) []Step { return connect(part, "and", nil) })
	return slices.Concat(steps[:from], connected, steps[to:])
}

// connect splits steps at the connective and combines the parts in one step.
func connect(steps []Step, name string, then func([]Step) []Step) []Step {
	i := slices.IndexFunc(steps, infix(name))
	if i < 0 {
		if then != nil {
			return then(steps)
		}
		return steps
	}
	combined := Step{Span: Span{steps[0].Pos, steps[len(steps)-1].End}, Name: name}
	for rest := steps; ; i = slices.IndexFunc(rest, infix(name)) {
		part := rest
		if i >= 0 {
			part = rest[:i]
		}
		if then != nil {
			part = then(part)
		}
		combined.Args = append(combined.Args, operand(part, combined.Span))
		if i < 0 {
			return []Step{combined}
		}
		rest = rest[i+1:]
	}
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
