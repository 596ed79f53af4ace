package plan

import (
	"fmt"
	"slices"

	"vigil/graph"
	"vigil/gremlin/internal/value"
	"vigil/gremlin/syntax"
)

// modulate applies steps that modify the previous step. It returns false for other steps.
func (b *builder) modulate(t *Traversal, s syntax.Step, sc scope) (bool, error) {
	switch s.Name {
	case "as":
		return true, b.label(t, s)
	case "by":
		return true, b.addBy(t, s, sc)
	case "emit", "until", "times", "repeat":
		return true, b.loop(t, s, sc)
	case "option":
		return true, b.option(t, s, sc)
	case "with":
		return true, b.with(t, s)
	case "from", "to":
		if _, isMove := token(s.Args[0], syntax.Direction); isMove {
			return false, nil
		}
		return true, b.bound(t, s)
	}
	return false, nil
}

// last returns the step that a modulator modifies.
func last(t *Traversal) Step {
	if len(t.Steps) == 0 {
		return nil
	}
	return t.Steps[len(t.Steps)-1]
}

func (b *builder) label(t *Traversal, s syntax.Step) error {
	names, err := b.names(s.Args)
	if err != nil {
		return err
	}
	if len(t.Steps) == 0 {
		t.Steps = append(t.Steps, &Identity{Meta{Name: "as"}})
	}
	m := last(t).Info()
	for _, n := range names {
		if n == "" {
			return fmt.Errorf("a label must not be empty")
		}
		if !slices.Contains(m.Labels, n) {
			m.Labels = append(m.Labels, n)
		}
	}
	return nil
}

// by builds a By from the arguments of a by().
func (b *builder) by(args []syntax.Arg, sc scope) (By, error) {
	by := By{}
	if len(args) > 0 {
		if o, ok := token(args[len(args)-1], syntax.Order); ok {
			by.Sort, by.Ordered = map[string]Sort{"asc": Asc, "desc": Desc, "shuffle": Shuffle}[o], true
			args = args[:len(args)-1]
		}
	}
	if len(args) == 0 {
		return by, nil
	}
	switch a := args[0].(type) {
	case *syntax.Token:
		by.Kind = ByPart
		by.Part = partOf(a)
		return by, nil
	case *syntax.Traversal:
		t, err := b.child(a, sc)
		if err != nil {
			return by, err
		}
		by.Kind, by.Traversal = ByTraversal, t
		by.Productive = b.allProduce && len(t.Steps) > 0 && !isReducing(last(t)) // TinkerPop leaves out reducing steps, too
		return by, nil
	}
	key, _, err := b.name(args[0])
	by.Kind, by.Key = ByKey, key
	by.Productive = b.allProduce || len(b.productive) > 0 && !slices.Contains(b.productive, key)
	return by, err
}

func partOf(t *syntax.Token) Part {
	switch t.Name {
	case "id":
		return PartID
	case "label":
		return PartLabel
	case "key":
		return PartKey
	case "value":
		return PartValue
	case "keys":
		return PartKeys
	}
	return PartValues
}

// addBy adds a by() to the previous step.
func (b *builder) addBy(t *Traversal, s syntax.Step, sc scope) error {
	by, err := b.by(s.Args, sc)
	if err != nil {
		return err
	}
	step := last(t)
	if by.Ordered && !isSorting(step) {
		return fmt.Errorf("The by()-modulating step does not support traversal/comparator-based modulation: %s()", s.Name)
	}
	if list := byList(step); list != nil {
		*list = append(*list, by)
		return nil
	}
	if g, ok := step.(*Group); ok {
		return groupBy(g, by)
	}
	slot, stepName := bySlot(step)
	if slot == nil {
		if step == nil {
			return fmt.Errorf("by() has no step to modulate")
		}
		return fmt.Errorf("%s() cannot be modulated with by()", step.Info().Name)
	}
	if *slot != nil {
		return fmt.Errorf("%s step can only have one by modulator", stepName)
	}
	*slot = &by
	return nil
}

func isSorting(s Step) bool {
	switch s.(type) {
	case *Order, *OrderLocal:
		return true
	}
	return false
}

// byList returns the by() list of a step that accepts several.
func byList(s Step) *[]By {
	switch s := s.(type) {
	case *WherePred:
		return &s.Bys
	case *PathFilter:
		return &s.Bys
	case *Order:
		return &s.Bys
	case *OrderLocal:
		return &s.Bys
	case *PathOf:
		return &s.Bys
	case *Project:
		return &s.Bys
	case *Select:
		return &s.Bys
	case *TreeOf:
		return &s.Bys
	case *Math:
		return &s.Bys
	case *Format:
		return &s.Bys
	}
	return nil
}

// bySlot returns the field for the only by() of a step.
func bySlot(s Step) (slot **By, stepName string) {
	switch s := s.(type) {
	case *Dedup:
		return &s.By, "Dedup"
	case *Sample:
		return &s.By, "Sample"
	case *GroupCount:
		return &s.By, "GroupCount"
	case *Aggregate:
		return &s.By, "Aggregate"
	case *SackPut:
		return &s.By, "Sack"
	case *SelectBy:
		return &s.By, "Select"
	case *PropertyMap:
		if s.Mode != ElementMap {
			return &s.By, "valueMap()/propertyMap()"
		}
	}
	return nil, ""
}

func groupBy(g *Group, by By) error {
	switch {
	case g.Key == nil:
		g.Key = &by
	case g.Value == nil:
		g.Value = &by
	default:
		return fmt.Errorf("The key and value traversals for group()-step have already been set")
	}
	return nil
}

// loop handles repeat() and its modulators, which may occur in any order.
func (b *builder) loop(t *Traversal, s syntax.Step, sc scope) error {
	// s belongs to the previous step if that is a repeat which does not have this part yet.
	// Otherwise, s begins a new repeat.
	r, _ := last(t).(*Repeat)
	fits := r != nil
	switch s.Name {
	case "repeat":
		fits = fits && r.Body == nil
	case "emit":
		fits = fits && r.Emit == nil && !r.EmitAll
	case "until", "times":
		fits = fits && r.Until == nil && r.Times < 0
	}
	if !fits {
		r = &Repeat{Meta: Meta{Name: s.Name}, Times: -1}
		t.Steps = append(t.Steps, r)
	}
	switch s.Name {
	case "repeat":
		return b.body(r, s, sc)
	case "times":
		n, err := b.int(s.Args[0])
		r.Times = max(n, 0) // TinkerPop tests loops >= n, so a negative n is like 0; here it would mean no times()
		r.UntilFirst = r.Body == nil
		return err
	case "until":
		var err error
		r.UntilFirst = r.Body == nil
		r.Until, err = b.child(s.Args[0], scope{inLoop: true})
		return err
	}
	r.EmitFirst = r.Body == nil
	r.EmitAll = len(s.Args) == 0
	if r.EmitAll {
		return nil
	}
	var err error
	r.Emit, err = b.child(s.Args[0], scope{inLoop: true})
	return err
}

func (b *builder) body(r *Repeat, s syntax.Step, sc scope) error {
	r.Name = "repeat"
	args := s.Args
	if len(args) == 2 {
		name, _, err := b.name(args[0])
		if err != nil {
			return err
		}
		r.Loop, args = name, args[1:]
	}
	trav, ok := args[0].(*syntax.Traversal)
	if !ok {
		return fmt.Errorf("repeat() takes a traversal")
	}
	var err error
	r.Body, err = b.chain(trav.Steps, scope{repeat: true, inLoop: true})
	return err
}

// option adds an option to choose() or branch().
func (b *builder) option(t *Traversal, s syntax.Step, sc scope) error {
	c, ok := last(t).(*Choose)
	if !ok || c.Test != nil {
		return fmt.Errorf("option() must follow choose() or branch()")
	}
	o := Option{Pick: PickAny}
	trav := s.Args[len(s.Args)-1]
	if len(s.Args) == 2 {
		if err := b.pick(&o, s.Args[0], sc); err != nil {
			return err
		}
	}
	var err error
	if o.Traversal, err = b.child(trav, sc); err != nil {
		return err
	}
	if c.First && o.Pick == PickTest {
		return fmt.Errorf("Traversal is not allowed as a Pick token for choose().option()")
	}
	if c.First && o.Pick == PickAny {
		return fmt.Errorf("Choose step can not have an any-option as only one option per traverser is allowed")
	}
	c.Options = append(c.Options, o)
	return nil
}

func (b *builder) pick(o *Option, a syntax.Arg, sc scope) error {
	if _, ok := a.(*syntax.Traversal); ok {
		var err error
		o.Pick = PickTest
		o.Test, err = b.child(a, sc)
		return err
	}
	if name, ok := token(a, syntax.Pick); ok {
		o.Pick = map[string]Pick{"any": PickAny, "none": PickNone, "unproductive": PickUnproductive}[name]
		return nil
	}
	p, err := b.predArg(a)
	o.Pick, o.Pred = PickPred, p
	return err
}

var mapTokens = map[string]int{
	"none": 0, "ids": WithIDs, "labels": WithLabels, "keys": WithKeys, "values": WithValues, "all": WithAll,
}

// with sets an option of a step.
func (b *builder) with(t *Traversal, s syntax.Step) error {
	key, _ := token(s.Args[0], syntax.WithOptions)
	switch step := last(t).(type) {
	case *PropertyMap:
		if key != "tokens" || step.Mode == ElementMap {
			return nil
		}
		if len(s.Args) == 1 {
			step.Tokens = WithAll
			return nil
		}
		if name, ok := token(s.Args[1], syntax.WithOptions); ok {
			step.Tokens |= mapTokens[name]
			return nil
		}
		v, err := b.value(s.Args[1])
		if err == nil && v.Kind() == graph.KindBool && v.Bool() {
			step.Tokens = WithAll
		}
		return err
	case *Index:
		if key != "indexer" || len(s.Args) < 2 {
			return nil
		}
		name, ok := token(s.Args[1], syntax.WithOptions)
		if !ok || name != "list" && name != "map" {
			return fmt.Errorf("WithOptions.indexer requires a single Integer argument (possible values are: WithOptions.[list|map])")
		}
		step.AsMap = name == "map"
	case nil:
		return fmt.Errorf("with() has no step to modulate")
	default:
		return fmt.Errorf("%s() cannot be modulated with with()", step.Info().Name)
	}
	return nil
}

// bound handles from() and to() of path steps.
func (b *builder) bound(t *Traversal, s syntax.Step) error {
	v, err := b.value(s.Args[0])
	if err != nil || v.Kind() != graph.KindString {
		return value.Errorf("%s() takes the label of a step here", s.Name)
	}
	var from, to *string
	switch step := last(t).(type) {
	case *PathOf:
		from, to = &step.From, &step.To
	case *PathFilter:
		from, to = &step.From, &step.To
	default:
		return fmt.Errorf("%s() has no step to modulate", s.Name)
	}
	if s.Name == "from" {
		*from = v.Str()
	} else {
		*to = v.Str()
	}
	return nil
}
