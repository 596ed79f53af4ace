package exec

import (
	"vigil/graph"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/internal/value"
)

// pathFilter keeps paths that are simple, or those that are not.
func (r *run) pathFilter(s *plan.PathFilter, next op) (op, error) {
	bys, err := r.projectors(s.Bys)
	if err != nil {
		return nil, err
	}
	plain := len(s.Bys) == 0 && s.From == "" && s.To == ""
	return r.filterer(next, func(in *batch, i int) (bool, error) {
		if err := r.meter.spend(in.way(i).length()); err != nil {
			return false, err
		}
		if plain {
			return simple(in.way(i)) == s.Simple, r.glance(in.value(i))
		}
		p, ok, err := r.pathOf(in.way(i), s.From, s.To, bys)
		if err != nil || !ok {
			return false, err
		}
		var seen value.Keys
		for _, v := range p.Objects {
			seen.Put(v)
		}
		return (seen.Len() == len(p.Objects)) == s.Simple, nil
	}), nil
}

// simple reports whether no object occurs twice on a path.
func simple(p *node) bool {
	if p.length() > 16 {
		var seen value.Keys
		for ; p != nil; p = p.prev {
			if _, fresh := seen.Put(p.val); !fresh {
				return false
			}
		}
		return true
	}
	for ; p != nil; p = p.prev {
		for q := p.prev; q != nil; q = q.prev {
			if equal(p.val, q.val) {
				return false
			}
		}
	}
	return true
}

// pathOf makes a path value, each object as its by() sees it. It reports false
// if a by() finds nothing.
func (r *run) pathOf(way *node, from, to string, bys []projector) (*value.Path, bool, error) {
	if from != "" || to != "" {
		nodes, err := way.between(from, to)
		if err != nil {
			return nil, false, err
		}
		way = nil
		for _, n := range nodes {
			way = extend(way, n.val, n.labels)
		}
	}
	n := way.length()
	p := &value.Path{Objects: make([]graph.Value, n)}
	for ; way != nil; way = way.prev {
		i := int(way.size) - 1
		v, ok, err := bys[i%len(bys)].of(way.val)
		if err != nil || !ok {
			return nil, false, err
		}
		p.Objects[i] = v
		if len(way.labels) > 0 {
			if p.Labels == nil {
				p.Labels = make([][]string, n)
			}
			p.Labels[i] = way.labels
		}
	}
	return p, true, nil
}

// pathStep goes to the path.
func (r *run) pathStep(s *plan.PathOf, next op) (op, error) {
	bys, err := r.projectors(s.Bys)
	if err != nil {
		return nil, err
	}
	return r.mapper(s, next, func(in *batch, i int) (graph.Value, bool, error) {
		way := in.way(i)
		if err := r.meter.spend(way.length()); err != nil {
			return graph.Null, false, err
		}
		if max := r.opt.Limits.Path; max > 0 && int64(way.length()) > max {
			return graph.Null, false, &LimitError{Name: "path length", Allowed: max}
		}
		p, ok, err := r.pathOf(way, s.From, s.To, bys)
		if err != nil || !ok {
			return graph.Null, false, err
		}
		return graph.Opaque(p), true, nil
	}), nil
}

// treeMaker puts paths into a tree.
type treeMaker struct {
	run  *run
	bys  []projector
	tree *value.Tree
}

// add puts the path of a row into the tree and returns how many keys it added.
// An object for which its by() finds nothing is left out.
func (t *treeMaker) add(tree *value.Tree, in *batch, i int) (int, error) {
	added := 0
	for k, n := range in.way(i).nodes() {
		v, ok, err := t.bys[k%len(t.bys)].of(n.val)
		if err != nil {
			return added, err
		}
		if !ok {
			continue
		}
		if err := t.run.glance(v); err != nil {
			return added, err
		}
		sub, fresh := tree.Put(freeze(v))
		if fresh {
			added++
		}
		tree = sub
	}
	return added, nil
}

// treeOp collects all paths in one tree.
type treeOp struct {
	output
	treeMaker
}

func (o *treeOp) push(b *batch) error {
	n := b.len()
	for i := range n {
		if err := o.output.run.meter.spend(1 + b.way(i).length()); err != nil {
			return err
		}
		added, err := o.add(o.tree, b, i)
		if err != nil {
			return err
		}
		if err := o.hold(treeBytes * int64(added)); err != nil {
			return err
		}
	}
	return nil
}

func (o *treeOp) finish() error {
	t := o.tree
	o.tree = &value.Tree{}
	if err := o.fresh(graph.Opaque(t)); err != nil {
		return err
	}
	return o.flush()
}

func (o *treeOp) reset() {
	o.tree = &value.Tree{}
	o.output.reset()
}
