package exec

import (
	"vigil/graph"
	"vigil/gremlin/internal/value"
)

// What things cost, by account. Slices grow by doubling, so what they hold counts
// twice.
const (
	idBytes    = 8  // a handle that is kept
	valBytes   = 48 // a value that is kept, without what it refers to
	bulkBytes  = 16
	listBytes  = 48  // one item of a list
	keyBytes   = 96  // one entry of a hash table of values
	groupBytes = 160 // one group, without its rows
	treeBytes  = 256 // one key of a tree
	nodeBytes  = 72  // one object of a path
)

// maxNodes bounds how large a nested value may be. Values may share parts, so
// that a small one can stand for one that is far too large to look at.
const maxNodes = 1 << 22

// composite reports whether looking at v means looking at other values.
func composite(v graph.Value) bool { return v.Kind() >= graph.KindSet }

// scale weighs a value: how many values it holds, and their bytes.
type scale struct {
	meter *meter
	nodes int64
	bytes int64
}

func (s *scale) add(v graph.Value) {
	if s.nodes++; s.nodes > maxNodes {
		return
	}
	if s.nodes&4095 == 0 && !s.meter.tick(1024) {
		s.nodes = maxNodes // the budget is used up: get to the end
		return
	}
	s.bytes += 24
	switch v.Kind() {
	case graph.KindString:
		s.bytes += int64(v.Len())
	case graph.KindUUID:
		s.bytes += 16
	case graph.KindBigInt, graph.KindBigDecimal:
		s.bytes += v.Bytes()
	case graph.KindList, graph.KindSet:
		s.all(v.Elems())
	case graph.KindMap:
		for _, e := range v.Entries() {
			s.add(e.Key)
			s.add(e.Value)
			if s.nodes > maxNodes {
				return
			}
		}
	case graph.KindEntry:
		s.add(v.Entry().Key)
		s.add(v.Entry().Value)
	case graph.KindOpaque:
		s.opaque(v.Opaque())
	}
}

func (s *scale) all(vs []graph.Value) {
	for _, v := range vs {
		if s.add(v); s.nodes > maxNodes {
			return
		}
	}
}

func (s *scale) opaque(o any) {
	s.bytes += 64
	switch o := o.(type) {
	case *value.Path:
		s.bytes += 24 * int64(len(o.Labels))
		s.all(o.Objects)
	case *value.BulkSet:
		// Looking at one means looking at each value as often as it is there.
		s.nodes += min(o.Size(), maxNodes+1)
		s.bytes += keyBytes * int64(o.Len())
	case *value.Tree:
		s.tree(o)
	}
}

func (s *scale) tree(t *value.Tree) {
	for i := range t.Len() {
		if s.add(t.Key(i)); s.nodes > maxNodes {
			return
		}
		s.tree(t.Sub(i))
	}
}

// weigh returns the bytes of a value that is kept, without the Value itself, and
// counts looking at it as work. A value that is too large is an error.
func (r *run) weigh(v graph.Value) (int64, error) {
	switch v.Kind() {
	case graph.KindString:
		return int64(v.Len()), nil
	case graph.KindUUID, graph.KindBigInt, graph.KindBigDecimal:
		return v.Bytes(), nil
	}
	if !composite(v) {
		return 0, nil
	}
	if p, ok := value.As[*value.Path](v); ok {
		if bytes, ok := flatPath(p); ok {
			return bytes, r.meter.spend(len(p.Objects) / 4)
		}
	}
	s := scale{meter: r.meter}
	if s.add(v); r.meter.err != nil {
		return 0, r.meter.err
	}
	if s.nodes > maxNodes {
		return 0, &LimitError{Name: "memory", Allowed: max(r.meter.limits.Memory, 1)}
	}
	return s.bytes, r.meter.spend(int(s.nodes&4095) / 4)
}

// flatPath returns the bytes of a path that holds no nested values.
func flatPath(p *value.Path) (int64, bool) {
	bytes := 224 + 24*int64(len(p.Labels)+len(p.Objects))
	for _, v := range p.Objects {
		switch k := v.Kind(); {
		case k == graph.KindString:
			bytes += int64(v.Len())
		case k >= graph.KindSet || k == graph.KindUUID || k == graph.KindBigInt || k == graph.KindBigDecimal:
			return 0, false
		}
	}
	return bytes, true
}

// maxText bounds how long a string may be, so that whatever is done to one does
// not take long.
const maxText = 8 << 20

// room checks that a string of a length may be made.
func (r *run) room(length int64) error {
	if length > maxText {
		return &LimitError{Name: "memory", Allowed: max(r.meter.limits.Memory, 1)}
	}
	return r.meter.once(length)
}

// fits weighs a value that was just made of others, and checks that it is not
// too large.
func (r *run) fits(v graph.Value) (int64, error) {
	bytes, err := r.weigh(v)
	if err != nil {
		return 0, err
	}
	return bytes, r.meter.once(bytes)
}

// glance counts looking at a value, as to hash it, as work.
func (r *run) glance(v graph.Value) error {
	if !composite(v) {
		return nil
	}
	_, err := r.weigh(v)
	return err
}

// text writes a value as text, if there is room for it.
func (r *run) text(v graph.Value) (string, error) {
	if composite(v) {
		bytes, err := r.weigh(v)
		if err != nil {
			return "", err
		}
		if err := r.room(2 * bytes); err != nil {
			return "", err
		}
	}
	return value.Text(r, v), nil
}

// rowCost is the account of a row that is kept.
func (r *run) rowCost(in *batch, i int) (int64, error) {
	bytes := int64(idBytes)
	if in.kind == graph.KindNull {
		more, err := r.weigh(in.vals[i])
		if err != nil {
			return 0, err
		}
		bytes = valBytes + more
	}
	if in.bulk != nil {
		bytes += bulkBytes
	}
	if in.path != nil {
		bytes += 16 + in.way(i).weight()
	}
	if in.sack != nil {
		more, err := r.weigh(in.sack[i])
		if err != nil {
			return 0, err
		}
		bytes += valBytes + more
	}
	return bytes, nil
}
