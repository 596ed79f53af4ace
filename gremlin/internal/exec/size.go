package exec

import (
	"vigil/graph"
	"vigil/gremlin/internal/value"
)

// Estimated sizes. Slices grow by doubling, so their elements count twice.
const (
	idBytes    = 8  // a stored handle
	valBytes   = 48 // a stored value, without memory that it refers to
	bulkBytes  = 16
	listBytes  = 48  // one item of a list
	keyBytes   = 96  // one entry of a hash table of values
	groupBytes = 160 // one group, without its rows
	treeBytes  = 256 // one key of a tree
	nodeBytes  = 72  // one object of a path

	subgraphEdgeBytes = 96 // one edge of a subgraph, with its end points
)

// maxNodes limits the size of a nested value. Values may share parts, so that a
// value with little memory can have an excessive number of parts.
const maxNodes = 1 << 22

// Visiting nodesPerUnit contained values is one unit of work. The work of nodesPerTick values is
// counted at once.
const (
	nodesPerUnit = 4
	nodesPerTick = 4096
)

// isComposite reports whether v contains other values.
func isComposite(v graph.Value) bool { return v.Kind() >= graph.KindSet }

// sizer computes the size of a value: the number of contained values and their bytes.
type sizer struct {
	meter *meter
	nodes int64
	bytes int64
}

func (s *sizer) add(v graph.Value) {
	s.nodes++
	if s.nodes > maxNodes {
		return
	}
	if s.nodes%nodesPerTick == 0 && !s.meter.tick(nodesPerTick/nodesPerUnit) {
		s.nodes = maxNodes // the budget is exceeded: stop
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

func (s *sizer) all(vs []graph.Value) {
	for _, v := range vs {
		s.add(v)
		if s.nodes > maxNodes {
			return
		}
	}
}

func (s *sizer) opaque(o any) {
	s.bytes += 64
	switch o := o.(type) {
	case *value.Path:
		s.bytes += 24 * int64(len(o.Labels))
		s.all(o.Objects)
	case *value.BulkSet:
		// Iterating over a bulk set visits each value as often as its bulk says.
		s.nodes += min(o.Size(), maxNodes+1)
		s.bytes += keyBytes * int64(o.Len())
	case *value.Tree:
		s.tree(o)
	}
}

func (s *sizer) tree(t *value.Tree) {
	for i := range t.Len() {
		s.add(t.Key(i))
		if s.nodes > maxNodes {
			return
		}
		s.tree(t.Sub(i))
	}
}

// sizeOf returns the bytes of a stored value, without the Value itself, and
// counts the visit as work. It fails when the value is too large.
func (r *run) sizeOf(v graph.Value) (int64, error) {
	switch v.Kind() {
	case graph.KindString:
		return int64(v.Len()), nil
	case graph.KindUUID, graph.KindBigInt, graph.KindBigDecimal:
		return v.Bytes(), nil
	}
	if !isComposite(v) {
		return 0, nil
	}
	if p, ok := value.As[*value.Path](v); ok {
		if bytes, ok := flatPath(p); ok {
			return bytes, r.meter.spend(len(p.Objects) / nodesPerUnit)
		}
	}
	s := sizer{meter: r.meter}
	s.add(v)
	if r.meter.err != nil {
		return 0, r.meter.err
	}
	if s.nodes > maxNodes {
		return 0, &LimitError{Name: "parts", Allowed: maxNodes}
	}
	return s.bytes, r.meter.spend(int(s.nodes%nodesPerTick) / nodesPerUnit) // sizer.add has counted the complete ticks
}

// flatPath returns the bytes of a path without nested values, or false.
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

// maxText limits the length of a string, so that all operations on strings are fast.
const maxText = 8 << 20

// checkLength checks that a string of this length may be created.
func (r *run) checkLength(length int64) error {
	if length > maxText {
		return &LimitError{Name: "text", Allowed: maxText}
	}
	return r.meter.checkSize(length)
}

// checkSize returns the size of a new value, and fails when it is too large.
func (r *run) checkSize(v graph.Value) (int64, error) {
	bytes, err := r.sizeOf(v)
	if err != nil {
		return 0, err
	}
	return bytes, r.meter.checkSize(bytes)
}

// countVisit counts visiting a value, for example to hash it, as work.
func (r *run) countVisit(v graph.Value) error {
	if !isComposite(v) {
		return nil
	}
	_, err := r.sizeOf(v)
	return err
}

// visitParts is countVisit for an operation that reads all items of a value.
func (r *run) visitParts(v graph.Value) error {
	if err := r.countVisit(v); err != nil {
		return err
	}
	return r.checkBulk(v)
}

// checkBulk checks that the list of all items of v fits into memory, if v is a bulk set: it
// has little memory of its own, but value.Elems returns each value as often as its bulk says.
func (r *run) checkBulk(v graph.Value) error {
	s, ok := value.As[*value.BulkSet](v)
	if !ok {
		return nil
	}
	if _, err := r.sizeOf(v); err != nil {
		return err
	}
	if err := r.meter.checkItems(s.Size(), listBytes); err != nil {
		return err
	}
	return r.meter.spend(int(s.Size() / 16))
}

// text formats a value as text, if the length is within the limits.
func (r *run) text(v graph.Value) (string, error) {
	if isComposite(v) {
		bytes, err := r.sizeOf(v)
		if err != nil {
			return "", err
		}
		if err := r.checkLength(2 * bytes); err != nil {
			return "", err
		}
		if err := r.meter.spend(int(bytes / 64)); err != nil {
			return "", err
		}
	}
	return value.Text(r, v), nil
}

// rowCost returns the memory to reserve for a stored row.
func (r *run) rowCost(in *batch, i int) (int64, error) {
	bytes := int64(idBytes)
	if in.kind == graph.KindNull {
		more, err := r.sizeOf(in.vals[i])
		if err != nil {
			return 0, err
		}
		bytes = valBytes + more
	}
	if in.bulk != nil {
		bytes += bulkBytes
	}
	if in.path != nil {
		bytes += 16 + in.pathOf(i).weight()
	}
	if in.sack != nil {
		more, err := r.sizeOf(in.sack[i])
		if err != nil {
			return 0, err
		}
		bytes += valBytes + more
	}
	return bytes, nil
}
