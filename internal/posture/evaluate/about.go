package evaluate

import (
	"context"
	"slices"
	"strings"

	"vigil/graph"
	"vigil/gremlin/syntax"
	"vigil/internal/posture"
)

// perhapsMark is the label of the as() step after the part of a query that finds the
// resources which may violate the rule. Resources that only this part finds, and not the
// whole query, are unknown. In g.V().hasLabel('T').has('v', without(supported)).as('perhaps')
// .has('v', within(ended)) they are the resources whose version is in neither list.
const perhapsMark = "perhaps"

// aboutMark is the label of the as() step after the part of a query that selects the
// resources which the rule applies to. In g.V().hasLabel('T').has('a', 1).as('about')
// .has('b', 2) they are the resources of type T whose a is 1. To other resources of the
// type the rule is not applicable: they neither violate it nor pass.
const aboutMark = "about"

// splitAt returns the part of a query before as(mark), empty if there is none, and the
// query to run: the same query with spaces instead of the mark, because marks make the
// engine keep paths. The spaces keep the positions of the other steps.
func splitAt(mark, text string) (before, run string, err error) {
	q, err := syntax.Parse(text, syntax.Options{Limits: queryLimits})
	if err != nil {
		return "", "", err
	}
	uses := 0
	syntax.Walk(q, func(a syntax.Arg) {
		if isMark(a, mark) {
			uses++
		}
	})
	for i := range q.Steps {
		s := &q.Steps[i]
		if i == 0 || s.Name != "as" || len(s.Args) != 1 || !isMark(s.Args[0], mark) {
			continue
		}
		from := strings.LastIndexByte(text[:s.Pos.Offset+1], '.') // the dot before as()
		to := int(s.End.Offset)
		before, run = strings.TrimSpace(text[:from]), text
		if uses == 1 { // no select() or where() refers to it
			run = text[:from] + strings.Repeat(" ", to-from) + text[to:]
		}
		return before, run, nil
	}
	return "", text, nil
}

func isMark(a syntax.Arg, mark string) bool {
	l, ok := a.(*syntax.Literal)
	return ok && l.Value == mark
}

// runAbout returns the resources that a rule applies to. Rules with the same part before
// as('about') share the result.
func (j *judging) runAbout(ctx context.Context, q *query, last *verdict) (*verdict, error) {
	if v := j.abouts[q.key]; v != nil {
		return v, nil
	}
	v, err := j.run(ctx, q, last)
	if err != nil {
		return nil, err
	}
	if j.abouts == nil {
		j.abouts = map[posture.RuleQuery]*verdict{}
	}
	j.abouts[q.key] = &v
	return &v, nil
}

// runPerhaps marks as unknown the resources that the part before as('perhaps') finds, or may
// find, and the whole query does not.
func (j *judging) runPerhaps(ctx context.Context, q *query, last, v *verdict) error {
	perhaps, err := j.run(ctx, q, last)
	if err != nil {
		return err
	}
	v.perhaps = &perhaps
	v.work += perhaps.work
	for _, h := range slices.Concat(perhaps.yes, perhaps.unknown) {
		if !contains(v.yes, h) {
			v.unknown = append(v.unknown, h)
		}
	}
	slices.Sort(v.unknown)
	v.unknown = slices.Compact(v.unknown)
	return nil
}

// An outcome is the verdict of a rule on an account after scopes that could not be read
// have been marked as unknown.
type outcome struct {
	violating, unknown []graph.Handle
	passing            int
	notApplicable      int
	outside            func(graph.Handle) bool // the rule is certainly not applicable to it
}

// settle turns a verdict into an outcome. In a region that was not read completely,
// every resource that the rule may apply to is unknown, unless it certainly violates the rule.
func (j *judging) settle(v verdict) outcome {
	out := outcome{outside: func(graph.Handle) bool { return false }}
	reliable := j.trust.reliableFor(v.reads)
	out.violating, out.unknown = j.classify(v, reliable)
	subjects := j.count(v.subjects)
	if v.about != nil {
		j.applyAbout(v.about, reliable, &out)
		out.notApplicable = j.countOutside(v, reliable, out.outside)
		if out.notApplicable > 0 {
			out.unknown = slices.DeleteFunc(slices.Clone(out.unknown), out.outside)
		}
	}
	out.passing = max(0, subjects-out.notApplicable-len(out.violating)-len(out.unknown))
	return out
}

// applyAbout sets out.outside: a resource is outside if about does not select it and
// everything that the rule reads was read in its region. It also marks as unknown the resources
// that about may select, except those that violate the rule.
func (j *judging) applyAbout(about *verdict, reliable reliableRegions, out *outcome) {
	out.outside = func(h graph.Handle) bool {
		_, yes := slices.BinarySearch(about.yes, h)
		_, maybe := slices.BinarySearch(about.unknown, h)
		return !yes && !maybe && reliable.includes(j.region(h))
	}
	more := slices.DeleteFunc(slices.Clone(about.unknown), func(h graph.Handle) bool {
		_, violates := slices.BinarySearch(out.violating, h)
		return violates
	})
	if len(more) > 0 {
		all := slices.Concat(out.unknown, more)
		slices.Sort(all)
		out.unknown = slices.Compact(all)
	}
}

// countOutside counts the resources that a rule is not applicable to.
func (j *judging) countOutside(v verdict, reliable reliableRegions, outside func(graph.Handle) bool) int {
	if reliable.all && slices.Equal(v.about.subjects, v.subjects) { // every resource that about does not select is outside
		return max(0, j.count(v.subjects)-len(v.about.yes)-len(v.about.unknown))
	}
	n := 0
	for _, h := range j.subjects(v.subjects) {
		if outside(h) {
			n++
		}
	}
	return n
}
