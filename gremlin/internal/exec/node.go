package exec

import (
	"math"
	"slices"

	"vigil/graph"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/internal/value"
)

// A node is the last object of a path, linked to the preceding path. Paths share
// their prefixes and are immutable.
type node struct {
	prev   *node
	val    graph.Value
	labels []string
	size   int32  // number of objects up to this one
	bytes  uint32 // memory of their values, saturated at 4 GiB
}

// extend returns the path p with one more object of known size.
func extend(p *node, v graph.Value, labels []string, bytes int64) *node {
	n := &node{prev: p, val: v, labels: labels, size: 1}
	if p != nil {
		n.size = p.size + 1
		bytes += int64(p.bytes)
	}
	n.bytes = uint32(min(bytes, math.MaxUint32))
	return n
}

// lengthen returns the path p with one more object and computes its size.
func (r *run) lengthen(p *node, v graph.Value, labels []string) (*node, error) {
	bytes, err := r.sizeOf(v)
	return extend(p, v, labels, bytes), err
}

// weight returns the memory to reserve for a stored path.
func (n *node) weight() int64 {
	if n == nil {
		return 0
	}
	return nodeBytes*int64(n.size) + int64(n.bytes)
}

// tailBytes returns the memory of the last objects of a path.
func (n *node) tailBytes(objects int64) int64 {
	bytes := nodeBytes * objects
	for ; objects > 0 && n != nil; objects-- {
		bytes += n.ownBytes()
		n = n.prev
	}
	return bytes
}

// ownBytes returns the memory of the last object.
func (n *node) ownBytes() int64 {
	if n.prev == nil {
		return int64(n.bytes)
	}
	return int64(n.bytes - n.prev.bytes)
}

// attach returns the path p with more labels on its last object.
func attach(p *node, labels []string) *node {
	n := *p
	n.labels = slices.Concat(p.labels, labels)
	return &n
}

// without returns the path without some labels. Objects without remaining labels are removed, too.
func (n *node) without(labels []string) *node {
	if n == nil {
		return nil
	}
	prev := n.prev.without(labels)
	var rest []string
	for _, l := range n.labels {
		if !slices.Contains(labels, l) {
			rest = append(rest, l)
		}
	}
	if len(rest) == 0 {
		return prev
	}
	return extend(prev, n.val, rest, n.ownBytes())
}

func (n *node) length() int {
	if n == nil {
		return 0
	}
	return int(n.size)
}

func (n *node) has(label string) bool {
	for ; n != nil; n = n.prev {
		if slices.Contains(n.labels, label) {
			return true
		}
	}
	return false
}

// get returns the object with a label: the last, the first, all as a list, or,
// for mixed, the object if there is one and a list if there are more.
func (n *node) get(label string, pop plan.Pop) (graph.Value, bool) {
	var found []graph.Value
	for ; n != nil; n = n.prev {
		if slices.Contains(n.labels, label) {
			if pop == plan.PopLast {
				return n.val, true
			}
			found = append(found, n.val)
		}
	}
	switch {
	case len(found) == 0:
		return graph.Null, false
	case pop == plan.PopFirst:
		return found[len(found)-1], true
	case pop == plan.PopMixed && len(found) == 1:
		return found[0], true
	}
	slices.Reverse(found)
	return graph.List(found...), true
}

// nodes returns the path from its first object on.
func (n *node) nodes() []*node {
	out := make([]*node, n.length())
	for ; n != nil; n = n.prev {
		out[n.size-1] = n
	}
	return out
}

// between cuts a path to the part from one label to another. If several objects have the
// label, the last one counts. A label that is not given does not cut; one that the path
// does not have is an error.
func (n *node) between(from, to string) ([]*node, error) {
	all := n.nodes()
	lo, hi := 0, len(all)
	if from != "" {
		if lo = lastWith(from, all); lo < 0 {
			return nil, value.Errorf("The provided from-label does not exist: %s", from)
		}
	}
	if to != "" {
		i := lastWith(to, all)
		if i < 0 {
			return nil, value.Errorf("The provided to-label does not exist: %s", to)
		}
		hi = i + 1
	}
	if lo >= hi {
		return nil, value.Errorf("The provided from-label occurs after the to-label: %s, %s", from, to)
	}
	return all[lo:hi], nil
}

// lastWith returns the index of the last node with a label, or -1.
func lastWith(label string, nodes []*node) int {
	i := len(nodes) - 1
	for i >= 0 && !slices.Contains(nodes[i].labels, label) {
		i--
	}
	return i
}

// samePath reports whether two paths have equal objects and labels.
func samePath(a, b *node) bool {
	for ; a != nil && b != nil; a, b = a.prev, b.prev {
		if a == b {
			return true
		}
		if a.size != b.size || !value.Equal(a.val, b.val) || !slices.Equal(a.labels, b.labels) {
			return false
		}
	}
	return a == b
}

// hash returns a hash of the objects of a path.
func (n *node) hash() uint64 {
	h := uint64(17)
	for ; n != nil; n = n.prev {
		h = h*31 + value.Hash(n.val)
	}
	return h
}
