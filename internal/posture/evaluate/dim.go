package evaluate

import (
	"slices"
	"strings"

	"vigil/graph"
	"vigil/internal/posture"
	"vigil/internal/posture/graphcache"
)

// A need is what a query follows from entities of a type: labels of edges, and
// what stands for tags.
type need struct {
	of     posture.EntityType
	labels []string
	alone  bool // who misses it makes no other entity unknown
}

// dim makes unknown what depends on edges or tags that could not be read. Where
// edges lead to nobody knows. When no entity's answer depends on the edges of
// another of its type, those that miss edges are unknown; otherwise everything is
// that the rule is about in their region, or that has none.
func (j *judging) dim(q *query, v *verdict) {
	own, regions := map[graph.Handle]bool{}, map[string]bool{}
	for _, n := range q.needs {
		for _, h := range j.withUnknown([]posture.EntityType{n.of}, n.labels) {
			if own[h] = n.alone; !n.alone {
				regions[j.region(h)] = true
			}
		}
	}
	if len(own) == 0 {
		return
	}
	dark := func(h graph.Handle) bool {
		region := j.region(h)
		return own[h] || regions[region] || regions[posture.Global] || region == posture.Global && len(regions) > 0
	}
	for _, h := range slices.Concat(v.yes, j.subjects(v.subjects)) {
		if dark(h) {
			v.unknown = append(v.unknown, h)
		}
	}
	slices.Sort(v.unknown)
	v.unknown = slices.Compact(v.unknown)
	v.yes = slices.DeleteFunc(slices.Clone(v.yes), dark)
}

// needs works out what a query follows.
func (s *Schema) needs(q *query) (all []need) {
	onward := s.onward(q)
	for _, t := range q.reads.Types {
		n := need{of: t, alone: onward && slices.Contains(q.reads.Subjects, t)}
		for label := range s.out[t] {
			if q.follows(label) {
				n.labels = append(n.labels, label)
			}
		}
		if q.asksTags() {
			n.labels = append(n.labels, posture.TagsUnread)
		}
		if len(n.labels) > 0 {
			all = append(all, n)
		}
	}
	return all
}

// asksTags reports whether the query asks for tags.
func (q *query) asksTags() bool {
	return q.touches.AllKeys || slices.ContainsFunc(q.touches.Keys, func(k string) bool { return strings.HasPrefix(k, graphcache.TagPrefix) })
}

// follows reports whether the query follows edges of a label.
func (q *query) follows(label string) bool {
	return q.touches.AllEdges || slices.Contains(q.touches.Edges, label)
}

// onward reports whether a query only goes along edges, and never to a type that
// it finds: then what it says of an entity does not depend on the edges of others
// of that type.
func (s *Schema) onward(q *query) bool {
	if q.reads.back {
		return false
	}
	for _, t := range q.reads.Types {
		for label, to := range s.out[t] {
			if q.follows(label) && slices.ContainsFunc(to, func(t posture.EntityType) bool { return slices.Contains(q.reads.Subjects, t) }) {
				return false
			}
		}
	}
	return true
}
