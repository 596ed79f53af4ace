package evaluate

import (
	"slices"
	"strings"

	"vigil/graph"
	"vigil/internal/posture"
	"vigil/internal/posture/graphcache"
)

// A need lists the edges that a query follows from entities of a type, and
// posture.TagsUnread when it asks for tags.
type need struct {
	owner  posture.EntityType
	labels []string
	alone  bool // an entity whose edges or tags are unread makes no other entity unknown
}

// markUnread makes verdicts unknown that depend on edges or tags that could not be read.
// If these can change only the verdict on their own entity (need.alone), only that entity
// is unknown. Otherwise every entity that the rule applies to is unknown if it is in the
// same region, or if one of the two entities has no region.
func (j *judging) markUnread(q *query, v *verdict) {
	alone := map[graph.Handle]bool{} // entities that are unknown alone
	regions := map[string]bool{}     // regions in which every entity is unknown
	for _, n := range q.needs {
		for _, h := range j.withUnknown([]posture.EntityType{n.owner}, n.labels) {
			if n.alone {
				alone[h] = true
			} else {
				regions[j.region(h)] = true
			}
		}
	}
	if len(alone)+len(regions) == 0 {
		return
	}
	unreadable := func(h graph.Handle) bool {
		region := j.region(h)
		return alone[h] || regions[region] || regions[posture.Global] || region == posture.Global && len(regions) > 0
	}
	for _, h := range slices.Concat(v.yes, j.subjects(v.subjects)) {
		if unreadable(h) {
			v.unknown = append(v.unknown, h)
		}
	}
	slices.Sort(v.unknown)
	v.unknown = slices.Compact(v.unknown)
	v.yes = slices.DeleteFunc(slices.Clone(v.yes), unreadable)
}

// needs returns the edges that a query follows, by type.
func (s *Schema) needs(q *query) (all []need) {
	followsOutward := s.followsOnlyOut(q)
	for _, t := range q.reads.Types {
		n := need{owner: t, alone: followsOutward && slices.Contains(q.reads.Subjects, t)}
		for label := range s.out[t] {
			if q.followsEdge(label) {
				n.labels = append(n.labels, label)
			}
		}
		if q.readsTags() {
			n.labels = append(n.labels, posture.TagsUnread)
		}
		if len(n.labels) > 0 {
			all = append(all, n)
		}
	}
	return all
}

// readsTags reports whether the query asks for tags.
func (q *query) readsTags() bool {
	return q.touches.AllKeys || slices.ContainsFunc(q.touches.Keys, func(k string) bool { return strings.HasPrefix(k, graphcache.TagPrefix) })
}

// followsEdge reports whether the query follows edges of a label.
func (q *query) followsEdge(label string) bool {
	return q.touches.AllEdges || slices.Contains(q.touches.Edges, label)
}

// followsOnlyOut reports whether a query follows edges only in their direction, and
// never to a type that it finds: then its verdict on an entity does not depend on the
// edges of other entities of that type.
func (s *Schema) followsOnlyOut(q *query) bool {
	if q.reads.back {
		return false
	}
	for _, t := range q.reads.Types {
		for label, to := range s.out[t] {
			if q.followsEdge(label) && slices.ContainsFunc(to, func(t posture.EntityType) bool { return slices.Contains(q.reads.Subjects, t) }) {
				return false
			}
		}
	}
	return true
}
