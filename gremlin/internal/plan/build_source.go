package plan

import (
	"fmt"

	"vigil/graph"
	"vigil/gremlin/syntax"
)

// source handles the configuration steps before the first step.
func (b *builder) source(steps []syntax.Step) error {
	for _, s := range steps {
		if err := b.sourceStep(s); err != nil {
			return withPosition(s, err)
		}
	}
	return nil
}

func (b *builder) sourceStep(s syntax.Step) error {
	switch s.Name {
	case "withPath":
		b.root.FullPath = true
	case "withBulk":
		v, err := b.value(s.Args[0])
		b.root.NoBulk = err == nil && !v.Bool()
		return err
	case "withSack":
		v, err := b.value(s.Args[0])
		b.root.Sack = &Sack{Initial: v, Merge: operatorArg(s.Args, 1)}
		return err
	case "withSideEffect":
		key, _, err := b.name(s.Args[0])
		if err != nil {
			return err
		}
		v, err := b.value(s.Args[1])
		b.root.SideEffects = append(b.root.SideEffects, SideEffectInit{Key: key, Initial: v, Reduce: operatorArg(s.Args, 2)})
		return err
	case "withoutStrategies":
		for _, a := range s.Args {
			b.noConnect = b.noConnect || a.(*syntax.Strategy).Name == "ConnectiveStrategy"
		}
	case "withStrategies":
		for _, a := range s.Args {
			if err := b.strategy(a.(*syntax.Strategy)); err != nil {
				return err
			}
		}
	}
	return nil
}

func operatorArg(args []syntax.Arg, i int) Operator {
	if i >= len(args) {
		return ""
	}
	op, _ := token(args[i], syntax.Operator)
	return Operator(op)
}

// ignoredStrategies affect only how other engines run a query, not its meaning.
var ignoredStrategies = map[string]bool{
	"AdjacentToIncidentStrategy": true, "ByModulatorOptimizationStrategy": true, "ComputerFinalizationStrategy": true,
	"ComputerVerificationStrategy": true, "ConnectiveStrategy": true, "CountStrategy": true, "EarlyLimitStrategy": true,
	"ElementIdStrategy": true, "EventStrategy": true, "FilterRankingStrategy": true, "GraphFilterStrategy": true,
	"HaltedTraverserStrategy": true, "IdentityRemovalStrategy": true, "IncidentToAdjacentStrategy": true,
	"InlineFilterStrategy": true, "LambdaRestrictionStrategy": true, "LazyBarrierStrategy": true, "MatchAlgorithmStrategy": true,
	"MatchPredicateStrategy": true, "MessagePassingReductionStrategy": true, "OptionsStrategy": true, "OrderLimitStrategy": true,
	"PathProcessorStrategy": true, "PathRetractionStrategy": true, "ProfileStrategy": true, "ReadOnlyStrategy": true,
	"ReferenceElementStrategy": true, "RepeatUnrollStrategy": true, "RequirementsStrategy": true,
	"ReservedKeysVerificationStrategy": true, "SackStrategy": true, "SideEffectStrategy": true,
	"StandardVerificationStrategy": true, "VertexProgramRestrictionStrategy": true, "GValueReductionStrategy": true,
	"TinkerGraphCountStrategy": true, "TinkerGraphStepStrategy": true,
}

func (b *builder) strategy(s *syntax.Strategy) error {
	conf := map[string]syntax.Arg{}
	for _, e := range s.Config {
		key, _, err := b.name(e.Key)
		if err != nil {
			return err
		}
		conf[key] = e.Value
	}
	switch s.Name {
	case "SeedStrategy":
		return b.seed(conf)
	case "ProductiveByStrategy":
		return b.productiveBy(conf)
	case "SubgraphStrategy":
		return b.subgraph(conf)
	case "PartitionStrategy":
		return b.partition(conf)
	case "EdgeLabelVerificationStrategy":
		return b.edgeLabels(conf)
	}
	if s.Name == "VertexProgramStrategy" {
		return fmt.Errorf("%s: the TraversalSource does not allow the use of a GraphComputer", s.Name)
	}
	if !ignoredStrategies[s.Name] {
		return fmt.Errorf("strategy %s is not supported", s.Name)
	}
	return nil
}

func (b *builder) seed(conf map[string]syntax.Arg) error {
	a, ok := conf["seed"]
	if !ok {
		return fmt.Errorf("SeedStrategy configuration requires a 'seed' value")
	}
	n, err := b.int(a)
	b.root.Seed = &n
	return err
}

func (b *builder) productiveBy(conf map[string]syntax.Arg) error {
	a, ok := conf["productiveKeys"]
	if !ok {
		b.allProduce = true
		return nil
	}
	keys, err := b.names([]syntax.Arg{a})
	b.productive, b.allProduce = keys, len(keys) == 0
	return err
}

func (b *builder) edgeLabels(conf map[string]syntax.Arg) error {
	a, ok := conf["throwException"]
	if !ok {
		return nil
	}
	v, err := b.value(a)
	if err != nil || !isTrue(v) {
		return err
	}
	b.verify = append(b.verify, func(t *Traversal) error {
		for _, s := range t.Steps {
			if m, ok := s.(*Move); ok && !m.ByLabel {
				return fmt.Errorf("The provided traversal contains a vertex step without any specified edge label: %s()\nAlways specify edge labels which restrict traversal paths ensuring optimal performance.", m.Name)
			}
		}
		return nil
	})
	return nil
}

// partition restricts elements, and optionally their properties, to the readable partitions.
func (b *builder) partition(conf map[string]syntax.Arg) error {
	key, _, err := b.name(conf["partitionKey"])
	if err != nil {
		return err
	}
	var read []graph.Value
	if a, ok := conf["readPartitions"]; ok {
		if read, err = b.flat([]syntax.Arg{a}); err != nil {
			return err
		}
	}
	meta := false
	if a, ok := conf["includeMetaProperties"]; ok {
		v, err := b.value(a)
		if err != nil {
			return err
		}
		meta = isTrue(v)
	}
	inside := func() Cond { return Cond{Key: key, Pred: member(Within, read)} }
	b.decorate = append(b.decorate, func(t *Traversal) {
		t.Steps = insertAfter(t.Steps, func(s Step) []Step {
			switch s := s.(type) {
			case *Graph, *Move, *EdgeEnd, *OtherEnd:
				return []Step{&Has{Meta: Meta{Name: "has"}, Conds: []Cond{inside()}}}
			case *Properties:
				if meta {
					s.Filter = partitionFilter(key, inside())
				}
			case *PropertyMap:
				if meta {
					s.Filter = partitionFilter(key, inside())
				}
			}
			return nil
		})
	})
	return nil
}

// partitionFilter keeps the properties of the readable partitions, but not the property that
// names the partition.
func partitionFilter(key string, inside Cond) *Traversal {
	notPartition := Cond{Part: PartKey, Pred: &Pred{Op: Neq, Value: graph.String(key)}}
	return &Traversal{Steps: []Step{&Has{Meta: Meta{Name: "has"}, Conds: []Cond{inside, notPartition}}}}
}

// insertAfter inserts, after each step s, the steps that more(s) returns. The labels of s
// move to the last of them.
func insertAfter(steps []Step, more func(Step) []Step) []Step {
	var out []Step
	for _, s := range steps {
		out = append(out, s)
		added := more(s)
		if len(added) > 0 {
			end := added[len(added)-1].Info()
			end.Labels, s.Info().Labels = s.Info().Labels, nil
		}
		out = append(out, added...)
	}
	return out
}

// applyStrategies applies the strategies to the plan.
func (b *builder) applyStrategies() {
	for _, decorate := range b.decorate {
		var all []*Traversal
		Traversals(&b.root.Traversal, func(t *Traversal) { all = append(all, t) })
		for _, t := range all {
			decorate(t)
		}
	}
}

// isLazy reports whether a side effect is written one traverser at a time: other steps
// can then see it grow.
func isLazy(r *Root) bool {
	// visit reports whether t or a traversal nested in it writes such a side effect. If single is
	// true, t runs for one traverser at a time. Nested traversals always do, except those of
	// union(), choose() and repeat(), which run as their step does.
	var visit func(t *Traversal, single bool) bool
	visit = func(t *Traversal, single bool) bool {
		for _, s := range t.Steps {
			if single && writesSideEffect(s) {
				return true
			}
			_, union := s.(*Union)
			_, choose := s.(*Choose)
			_, repeat := s.(*Repeat)
			for _, c := range Children(s) {
				if visit(c, single || !union && !choose && !repeat) {
					return true
				}
			}
		}
		return false
	}
	return visit(&r.Traversal, false)
}

func writesSideEffect(s Step) bool {
	switch s := s.(type) {
	case *Aggregate, *SubgraphOf:
		return true
	case *Group:
		return s.SideEffect != ""
	case *GroupCount:
		return s.SideEffect != ""
	case *TreeOf:
		return s.SideEffect != ""
	}
	return false
}

// isTrue reports whether a value is the boolean true.
func isTrue(v graph.Value) bool { return v.Kind() == graph.KindBool && v.Bool() }
