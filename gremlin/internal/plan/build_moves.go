package plan

import (
	"fmt"

	"vigil/graph"
	"vigil/gremlin/syntax"
)

// moves builds the steps that traverse the graph.
func (b *builder) moves(s syntax.Step, _ scope, first bool) (Step, error) {
	switch s.Name {
	case "V", "E":
		ids, err := b.flat(s.Args)
		return &Graph{Edges: s.Name == "E", ByID: len(s.Args) > 0, IDs: ids, Mid: !first}, err
	case "out", "outE":
		return b.move(Out, s.Name == "outE", s.Args)
	case "in", "inE":
		return b.move(In, s.Name == "inE", s.Args)
	case "both", "bothE":
		return b.move(Both, s.Name == "bothE", s.Args)
	case "to", "toE":
		d, _ := token(s.Args[0], syntax.Direction)
		return b.move(direction(d), s.Name == "toE", s.Args[1:])
	case "outV":
		return &EdgeEnd{Dir: Out}, nil
	case "inV":
		return &EdgeEnd{Dir: In}, nil
	case "bothV":
		return &EdgeEnd{Dir: Both}, nil
	case "toV":
		d, _ := token(s.Args[0], syntax.Direction)
		return &EdgeEnd{Dir: direction(d)}, nil
	case "otherV":
		return &OtherEnd{}, nil
	case "properties", "values":
		keys, err := b.names(s.Args)
		return &Properties{Values: s.Name == "values", Some: len(s.Args) > 0, Keys: keys}, err
	case "element":
		return &Owner{}, nil
	case "id":
		return &ElementPart{Part: PartID}, nil
	case "label":
		return &ElementPart{Part: PartLabel}, nil
	case "key":
		return &ElementPart{Part: PartKey}, nil
	case "value":
		return &ElementPart{Part: PartValue}, nil
	case "valueMap", "propertyMap", "elementMap":
		return b.propertyMap(s)
	}
	return nil, nil
}

func direction(name string) Direction {
	return map[string]Direction{"OUT": Out, "IN": In, "BOTH": Both}[name]
}

func (b *builder) move(d Direction, toEdge bool, labels []syntax.Arg) (Step, error) {
	names, err := b.names(labels)
	return &Move{Dir: d, ToEdge: toEdge, ByLabel: len(labels) > 0, EdgeLabels: names}, err
}

func (b *builder) propertyMap(s syntax.Step) (Step, error) {
	m := &PropertyMap{}
	args := s.Args
	switch s.Name {
	case "propertyMap":
		m.Mode = PropertyMapOf
	case "elementMap":
		m.Mode, m.Tokens = ElementMap, WithAll
	default:
		if len(args) > 0 {
			if l, ok := args[0].(*syntax.Literal); ok {
				if tokens, isBool := l.Value.(bool); isBool {
					args = args[1:]
					if tokens {
						m.Tokens = WithAll
					}
				}
			}
		}
	}
	keys, err := b.names(args)
	m.Some, m.Keys = len(args) > 0, keys
	return m, err
}

// filters builds the filters that test the current object.
func (b *builder) filters(s syntax.Step, sc scope, _ bool) (Step, error) {
	switch s.Name {
	case "has":
		return b.has(s.Args)
	case "hasNot":
		key, ok, err := b.name(s.Args[0])
		return &HasNot{Key: key, Null: !ok}, err
	case "hasLabel":
		return b.hasPart(PartLabel, s.Args)
	case "hasId":
		return b.hasPart(PartID, s.Args)
	case "hasKey":
		return b.hasPart(PartKey, s.Args)
	case "hasValue":
		return b.hasPart(PartValue, s.Args)
	case "is":
		p, err := b.predArg(s.Args[0])
		return &Is{Pred: p}, err
	case "filter":
		if p, ok := s.Args[0].(*syntax.Predicate); ok {
			pred, err := b.pred(p)
			return &Is{Pred: pred}, err
		}
		t, err := b.child(s.Args[0], sc)
		return &Filter{Traversal: t}, err
	case "not":
		t, err := b.child(s.Args[0], sc)
		return &Not{Traversal: t}, err
	case "and":
		ts, err := b.children(s.Args, sc)
		return &And{Traversals: ts}, err
	case "or":
		ts, err := b.children(s.Args, sc)
		return &Or{Traversals: ts}, err
	case "all", "any", "none":
		p, err := b.predArg(s.Args[0])
		q := map[string]Quantifier{"all": AllItems, "any": AnyItem, "none": NoItem}[s.Name]
		return &Items{Quantifier: q, Pred: p}, err
	case "discard":
		return &Discard{}, nil
	}
	return b.cuts(s)
}

// cuts builds the stateful and random filters.
func (b *builder) cuts(s syntax.Step) (Step, error) {
	local, args := scopeArg(s.Args)
	switch s.Name {
	case "limit", "range", "skip":
		return b.rangeOf(s.Name, local, args)
	case "tail":
		n := int64(1)
		var err error
		if len(args) > 0 {
			n, err = b.int(args[0])
		}
		if local {
			return &TailLocal{N: n}, err
		}
		return &Tail{N: n}, err
	case "dedup":
		if local {
			return &DedupLocal{}, nil
		}
		names, err := b.names(args)
		return &Dedup{Over: names}, err
	case "sample":
		n, err := b.int(args[0])
		if local {
			return &SampleLocal{N: n}, err
		}
		return &Sample{N: n}, err
	case "coin":
		v, err := b.value(args[0])
		if err != nil {
			return nil, err
		}
		return &Coin{Probability: probability(v)}, nil
	case "simplePath", "cyclicPath":
		return &PathFilter{Simple: s.Name == "simplePath"}, nil
	case "timeLimit":
		n, err := b.int(args[0])
		return &TimeLimit{Millis: n}, err
	}
	return nil, nil
}

func probability(v graph.Value) float64 {
	if v.IsInteger() {
		return float64(v.Int())
	}
	if k := v.Kind(); k == graph.KindFloat || k == graph.KindDouble {
		return v.Float()
	}
	return 0
}

func (b *builder) rangeOf(name string, local bool, args []syntax.Arg) (Step, error) {
	first, err := b.int(args[0])
	if err != nil {
		return nil, err
	}
	low, high := int64(0), first
	switch name {
	case "skip":
		low, high = first, -1
	case "range":
		low, high = first, 0
		if high, err = b.int(args[1]); err != nil {
			return nil, err
		}
	}
	if low != -1 && high != -1 && low > high { // -1 means no limit
		return nil, fmt.Errorf("Not a legal range: [%d, %d]", low, high)
	}
	low = max(low, 0) // the same range; with the smallest integer, high-low would overflow
	if high < -1 {
		high = 0 // an empty range, as in TinkerPop
	}
	if local {
		return &RangeLocal{Low: low, High: high}, nil
	}
	return &Range{Low: low, High: high}, nil
}

// has builds the forms of has().
func (b *builder) has(args []syntax.Arg) (Step, error) {
	h := &Has{}
	switch {
	case len(args) == 1:
		key, ok, err := b.name(args[0])
		h.Conds = []Cond{{Key: key, Null: !ok}}
		return h, err
	case len(args) == 3:
		label, err := b.labelCond(args[:1])
		if err != nil {
			return nil, err
		}
		h.Conds = append(h.Conds, label)
		args = args[1:]
	}
	if t, ok := args[0].(*syntax.Token); ok && t.Enum == syntax.T {
		return b.hasPart(partOf(t), args[1:])
	}
	key, ok, err := b.name(args[0])
	if err != nil {
		return nil, err
	}
	p, err := b.predArg(args[1])
	h.Conds = append(h.Conds, Cond{Key: key, Null: !ok, Pred: p})
	return h, err
}

func (b *builder) labelCond(args []syntax.Arg) (Cond, error) {
	p, err := b.partPred(args)
	return Cond{Part: PartLabel, Pred: p}, err
}

func (b *builder) hasPart(part Part, args []syntax.Arg) (Step, error) {
	p, err := b.partPred(args)
	return &Has{Conds: []Cond{{Part: part, Pred: p}}}, err
}

// partPred builds the predicate of hasLabel("a", "b") and similar steps: one
// value means equality, several mean membership, and a predicate is used as it
// is.
func (b *builder) partPred(args []syntax.Arg) (*Pred, error) {
	if p, ok := args[0].(*syntax.Predicate); ok && len(args) == 1 {
		return b.pred(p)
	}
	vs, err := b.flat(args)
	if err != nil {
		return nil, err
	}
	if len(vs) == 1 {
		return &Pred{Op: Eq, Value: vs[0]}, nil
	}
	return member(Within, vs), nil
}
