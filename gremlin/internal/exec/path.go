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
	unmodulated := len(s.Bys) == 0 && s.From == "" && s.To == ""
	return r.newFilterOp(next, func(in *batch, i int) (bool, error) {
		if err := r.meter.spend(in.pathOf(i).length()); err != nil {
			return false, err
		}
		if unmodulated {
			err := r.countVisit(in.value(i)) // simple compares the parts of the value
			return simple(in.pathOf(i)) == s.Simple, err
		}
		p, ok, err := r.projectPath(in.pathOf(i), s.From, s.To, bys)
		if err != nil || !ok {
			return false, err
		}
		var seen value.Keys
		for _, v := range p.path.Objects {
			seen.Put(v)
		}
		return (seen.Len() == len(p.path.Objects)) == s.Simple, nil
	}), nil
}

// simple reports whether a path has no repeated object.
func simple(p *node) bool {
	if p.length() > 16 { // a hash table is faster than comparing all pairs
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

// projectPath returns the part of a path between two labels, see node.between, with each
// object replaced by the value of its by(). It returns false if a by() has no value.
func (r *run) projectPath(end *node, from, to string, bys []projector) (*inlinePath, bool, error) {
	if from != "" || to != "" {
		nodes, err := end.between(from, to)
		if err != nil {
			return nil, false, err
		}
		end = nil
		for _, n := range nodes { // a new path, whose sizes count from its own start
			end = extend(end, n.val, n.labels, n.ownBytes())
		}
	}
	n := end.length()
	p := newPath(n)
	for ; end != nil; end = end.prev {
		i := int(end.size) - 1
		v, ok, err := bys[i%len(bys)].project(end.val)
		if err != nil || !ok {
			return nil, false, err
		}
		p.path.Objects[i] = v
		if len(end.labels) > 0 {
			if p.path.Labels == nil {
				p.path.Labels = make([][]string, n)
			}
			p.path.Labels[i] = end.labels
		}
	}
	return p, true, nil
}

// lastBy caches the result of a by() for the last object: consecutive paths have most of their
// objects in common.
type lastBy struct {
	projector
	obj graph.Value
	val graph.Value // the result for obj, if ok is true
	ok  bool
}

func (b *lastBy) project(v graph.Value) (graph.Value, bool, error) {
	if b.obj.Kind() == graph.KindVertex && v.Kind() == graph.KindVertex && b.obj.Handle() == v.Handle() {
		return b.val, b.ok, nil
	}
	w, ok, err := b.projector.project(v)
	if err == nil {
		b.obj, b.val, b.ok = v, w, ok
	}
	return w, ok, err
}

// withCaches repeats the projectors of a path step and wraps each by(key) in a cache of its own.
// The by() of a path are used in turn, so neighbouring objects do not share a cache.
func withCaches(bys []projector) []projector {
	const repetitions = 4
	var out []projector
	for range repetitions {
		for _, by := range bys {
			if k, ok := by.(*keyBy); ok {
				by = &lastBy{projector: k}
			}
			out = append(out, by)
		}
	}
	return out
}

// inlinePath is a path with inline storage for its objects, so that it needs a
// single allocation. carrier is the target of the opaque value that refers to
// the path.
type inlinePath struct {
	carrier any
	path    value.Path
	objects [4]graph.Value
}

// newPath returns a path of n objects.
func newPath(n int) *inlinePath {
	s := &inlinePath{}
	s.path.Objects = s.objects[:min(n, len(s.objects))]
	if n > len(s.objects) {
		s.path.Objects = make([]graph.Value, n)
	}
	s.carrier = &s.path
	return s
}

// pathStep emits the path.
func (r *run) pathStep(s *plan.PathOf, next op) (op, error) {
	bys, err := r.projectors(s.Bys)
	if err != nil {
		return nil, err
	}
	cached := withCaches(bys)
	return r.newMapOp(s, next, func(in *batch, i int) (graph.Value, bool, error) {
		path := in.pathOf(i)
		if err := r.meter.spend(path.length()); err != nil {
			return graph.Null, false, err
		}
		if max := r.opt.Limits.Path; max > 0 && int64(path.length()) > max {
			return graph.Null, false, &LimitError{Name: "path length", Allowed: max}
		}
		p, ok, err := r.projectPath(path, s.From, s.To, cached)
		if err != nil || !ok {
			return graph.Null, false, err
		}
		return graph.OpaqueAt(&p.carrier), true, nil
	}), nil
}

// treeMaker adds paths to a tree.
type treeMaker struct {
	run *run
	bys []projector
}

// add adds the path of a row to a tree and returns the memory used. It skips
// objects whose by() has no value.
func (t *treeMaker) add(tree *value.Tree, in *batch, i int) (int64, error) {
	added := int64(0)
	for k, n := range in.pathOf(i).nodes() {
		v, ok, err := t.bys[k%len(t.bys)].project(n.val)
		if err != nil {
			return added, err
		}
		if !ok {
			continue
		}
		bytes, err := t.run.sizeOf(v)
		if err != nil {
			return added, err
		}
		sub, fresh := tree.Put(freeze(v))
		if fresh {
			added += treeBytes + bytes
		}
		tree = sub
	}
	return added, nil
}

// treeOp collects all paths in one tree.
type treeOp struct {
	output
	treeMaker
	tree *value.Tree
}

func (o *treeOp) push(b *batch) error {
	n := b.len()
	for i := range n {
		if err := o.output.run.meter.spend(1 + b.pathOf(i).length()); err != nil {
			return err
		}
		added, err := o.add(o.tree, b, i)
		if err != nil {
			return err
		}
		if err := o.reserve(added); err != nil {
			return err
		}
	}
	return nil
}

func (o *treeOp) finish() error {
	t := o.tree
	o.tree = &value.Tree{}
	if err := o.emitReduced(graph.Opaque(t)); err != nil {
		return err
	}
	return o.flush()
}

func (o *treeOp) reset() {
	o.tree = &value.Tree{}
	o.output.reset()
}
