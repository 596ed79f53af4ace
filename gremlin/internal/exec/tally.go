package exec

import (
	"vigil/graph"
	"vigil/gremlin/internal/plan"
)

// tally counts vertices by label or by a key without creating values: by label
// number and by string code. It falls back to the general implementation for
// other cases.
type tally struct {
	run       *run
	counts    *counts
	reserve   func(int64) error // reserves memory until the operator is reset
	byLabel   bool
	key       *keyBy           // the key whose values are counted, if not byLabel
	labels    []int64          // counts by vertex label
	order     []uint32         // codes in order of first occurrence
	cells     []int64          // their counts
	positions map[uint32]int32 // code -> index into order
	recent    [64]recentCell   // small direct-mapped cache of positions, by the low bits of the code
}

// recentCell is a cache entry: the index of a code.
type recentCell struct {
	code uint32
	cell int32 // index plus one
}

// newTally returns a tally for a key, or nil if the key has another form.
func (r *run) newTally(c *counts, reserve func(int64) error) *tally {
	t := &tally{run: r, counts: c, reserve: reserve}
	switch k := c.key.(type) {
	case *partOf:
		if k.part != plan.PartLabel {
			return nil
		}
		t.byLabel = true
		t.labels = make([]int64, len(r.g.VertexLabels()))
	case *keyBy:
		if !k.known {
			return nil
		}
		t.key = k
		t.positions = map[uint32]int32{}
	default:
		return nil
	}
	return t
}

// add counts a batch of vertices. It returns false if the batch has other objects.
func (t *tally) add(b *batch) (bool, error) {
	if b.kind != graph.KindVertex {
		return false, nil
	}
	if t.byLabel {
		for i, h := range b.ids {
			n := &t.labels[t.run.g.VertexLabel(h)]
			var err error
			if *n, err = addBulk(*n, b.count(i)); err != nil {
				return true, err
			}
		}
		return true, nil
	}
	return true, t.addKeys(b)
}

func (t *tally) addKeys(b *batch) error {
	g := t.run.g
	for i, h := range b.ids {
		l, row := g.VertexRow(h)
		c := t.key.cols[l]
		if c == nil {
			continue
		}
		if c.Kind() != graph.KindString {
			bytes, err := t.counts.add(b, i)
			if err != nil {
				return err
			}
			if err := t.reserve(bytes); err != nil {
				return err
			}
			continue
		}
		p := c.Place(row)
		if p < 0 {
			continue
		}
		code := c.Codes()[p]
		recent := &t.recent[code%uint32(len(t.recent))]
		if recent.code != code || recent.cell == 0 {
			cell, err := t.cell(code)
			if err != nil {
				return err
			}
			*recent = recentCell{code, cell + 1}
		}
		n := &t.cells[recent.cell-1]
		var err error
		if *n, err = addBulk(*n, b.count(i)); err != nil {
			return err
		}
	}
	return nil
}

// cell returns the index of a code and adds the code if it is new.
func (t *tally) cell(code uint32) (int32, error) {
	cell, ok := t.positions[code]
	if ok {
		return cell, nil
	}
	cell = int32(len(t.cells))
	t.positions[code] = cell
	t.order = append(t.order, code)
	t.cells = append(t.cells, 0)
	return cell, t.reserve(groupBytes)
}

// flush transfers all counts to the general implementation.
func (t *tally) flush() error {
	for l, n := range t.labels {
		if n > 0 {
			if _, err := t.counts.put(graph.String(t.run.g.VertexLabels()[l]), n); err != nil {
				return err
			}
		}
	}
	for i, code := range t.order {
		if _, err := t.counts.put(graph.String(t.run.g.StringOf(code)), t.cells[i]); err != nil {
			return err
		}
	}
	t.clear()
	return nil
}

// clear removes all counts.
func (t *tally) clear() {
	clear(t.labels)
	t.order, t.cells = t.order[:0], t.cells[:0]
	clear(t.positions)
	clear(t.recent[:])
}
