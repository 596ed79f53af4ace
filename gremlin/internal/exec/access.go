package exec

import (
	"fmt"
	"slices"
	"strings"

	"vigil/graph"
	"vigil/gremlin/internal/plan"
)

// access is the access path of a V() or E().
type access struct {
	accessBy accessKind
	ids      []graph.Handle // found by id
	labels   []graph.Label  // labels whose elements may satisfy the conditions
	all      bool           // all labels may satisfy them
	eq       *condition     // an equality condition on a property
	kind     graph.Kind
	run      *run
}

type accessKind uint8

const (
	byScan accessKind = iota
	byLabel
	byID
	byValue
)

// access selects the cheapest access path: by id, by the value of a property, by
// label, or a full scan.
func (o *graphOp) access() access {
	a := access{kind: o.kind, run: o.run}
	if o.step.ByID {
		a.accessBy, a.ids = byID, o.run.byIDs(o.step.IDs, o.kind)
		return a
	}
	if o.test == nil {
		a.all = true
		return a
	}
	for _, c := range o.test.conds {
		if ids, ok := o.run.idCond(c, o.kind); ok {
			a.accessBy, a.ids = byID, ids
			return a
		}
	}
	tt := o.test.table(o.kind)
	a.all = true
	for l := range tt.labels {
		if tt.mayMatch(graph.Label(l)) {
			a.labels = append(a.labels, graph.Label(l))
		} else {
			a.all = false
		}
	}
	a.accessBy = byLabel
	if a.all {
		a.accessBy = byScan
	}
	// In the other readings an unknown value may match, but an index does not contain it.
	if o.kind == graph.KindVertex && o.run.opt.Reading == Plain {
		for _, c := range o.test.conds {
			if c.part == plan.PartProperty && c.pred != nil && c.pred.Op == plan.Eq && !c.pred.Value.IsNull() && c.known {
				a.accessBy, a.eq = byValue, c
				break
			}
		}
	}
	return a
}

// idCond returns the elements that a condition on the id selects, if it is such a condition.
func (r *run) idCond(c *condition, kind graph.Kind) ([]graph.Handle, bool) {
	if c.part != plan.PartID {
		return nil, false
	}
	var ids []graph.Value
	switch c.pred.Op {
	case plan.Eq:
		ids = []graph.Value{c.pred.Value}
	case plan.Within:
		if c.pred.Set != nil {
			return nil, false
		}
		ids = c.pred.Values
	default:
		return nil, false
	}
	hs := r.byIDs(ids, kind)
	slices.Sort(hs)
	return slices.Compact(hs), true
}

// each calls fn with elements and the conditions that remain to be tested.
func (o *graphOp) each(fn func([]graph.Handle, *condTest) error) error {
	if from := o.run.opt.From; from != nil && o.step == o.run.root.Steps[0] {
		return fn(from, o.test)
	}
	a := o.access()
	g := o.run.g
	switch {
	case a.accessBy == byID:
		return fn(a.ids, o.test)
	case o.test == nil && o.kind == graph.KindEdge:
		return fn(g.Edges(), nil)
	case o.test == nil:
		return fn(g.Vertices(), nil)
	}
	rest := o.test
	if len(rest.conds) == 1 && rest.conds[0].part == plan.PartLabel {
		rest = nil
	}
	for _, l := range a.labels {
		var err error
		switch {
		case a.accessBy == byValue:
			err = fn(g.VerticesWith(nil, l, a.eq.key, a.eq.pred.Value), withoutLookup(rest))
		case o.kind == graph.KindEdge:
			err = fn(g.EdgesOf(l), rest)
		case rest == nil || len(o.test.table(o.kind).ids) > 0: // scan tests only properties, not ids
			err = fn(g.VerticesOf(l), rest)
		default:
			err = o.scan(l, fn)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// withoutLookup returns nil if the test has no condition besides the one that was looked up
// and conditions on the label. Otherwise it returns the test unchanged.
func withoutLookup(t *condTest) *condTest {
	others := 0 // conditions that are not on the label, including the one that was looked up
	for _, c := range t.conds {
		if c.part != plan.PartLabel {
			others++
		}
	}
	if others == 1 {
		return nil
	}
	return t
}

// scan tests all rows of a label.
func (o *graphOp) scan(l graph.Label, fn func([]graph.Handle, *condTest) error) error {
	lt := o.test.table(o.kind).label(l)
	if lt.limited {
		return o.scanFew(l, lt, fn)
	}
	var found [firstRows]graph.Handle
	n := 0
	rows := o.run.g.VertexRows(l)
	for from := 0; from < len(rows); from += batchRows {
		part := rows[from:min(len(rows), from+batchRows)]
		if err := o.run.meter.spend(len(part)); err != nil {
			return err
		}
		for i, h := range part {
			if h == graph.NoHandle || !lt.matchRow(uint32(from+i)) {
				continue
			}
			found[n] = h
			n++
			if n == len(found) {
				if err := fn(found[:], nil); err != nil {
					return err
				}
				n = 0
			}
		}
	}
	return fn(found[:n], nil)
}

// scanFew tests only the rows that have a value in a sparse column.
func (o *graphOp) scanFew(l graph.Label, lt *labelTest, fn func([]graph.Handle, *condTest) error) error {
	all := o.run.g.VertexRows(l)
	var found [firstRows]graph.Handle
	n := 0
	for i, row := range lt.rows {
		if i%batchRows == 0 {
			if err := o.run.meter.spend(min(batchRows, len(lt.rows)-i)); err != nil {
				return err
			}
		}
		if int(row) >= len(all) || all[row] == graph.NoHandle || !lt.matchRow(row) {
			continue
		}
		found[n] = all[row]
		n++
		if n == len(found) {
			if err := fn(found[:], nil); err != nil {
				return err
			}
			n = 0
		}
	}
	return fn(found[:n], nil)
}

// String describes the access path.
func (a access) String() string {
	g := a.run.g
	names := g.VertexLabels()
	all := "all vertices"
	if a.kind == graph.KindEdge {
		names, all = g.EdgeLabels(), "all edges"
	}
	var labels []string
	for _, l := range a.labels {
		labels = append(labels, names[l])
	}
	where := strings.Join(labels, ", ")
	if len(labels) > 4 {
		where = fmt.Sprintf("%d labels", len(labels))
	}
	switch a.accessBy {
	case byID:
		return fmt.Sprintf("by id: %d", len(a.ids))
	case byValue:
		return fmt.Sprintf("by value of %s in %s", g.Keys()[a.eq.key], where)
	case byLabel:
		return "by label: " + where
	}
	return all
}
