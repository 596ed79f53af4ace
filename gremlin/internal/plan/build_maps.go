package plan

import (
	"fmt"
	"slices"

	"vigil/gremlin/syntax"
)

// scopes builds the steps that use labels, side effects and paths.
func (b *builder) scopes(s syntax.Step, sc scope, _ bool) (Step, error) {
	switch s.Name {
	case "where":
		return b.where(s.Args, sc)
	case "select":
		return b.selects(s.Args, sc)
	case "match":
		return b.match(s.Args, sc)
	case "path":
		return &PathOf{}, nil
	case "tree":
		name, err := b.optionalName(s.Args)
		return &TreeOf{SideEffect: name}, err
	case "math":
		expr, _, err := b.name(s.Args[0])
		return &Math{Expr: expr}, err
	case "format":
		template, ok, err := b.name(s.Args[0])
		if err == nil && !ok {
			err = fmt.Errorf("Format string for Format step can't be null.")
		}
		return &Format{Template: template}, err
	case "loops":
		name, err := b.optionalName(s.Args)
		return &Loops{Loop: name}, err
	case "sack":
		if len(s.Args) == 0 {
			return &SackOf{}, nil
		}
		op, _ := token(s.Args[0], syntax.Operator)
		return &SackPut{Op: Operator(op)}, nil
	case "project":
		names, err := b.names(s.Args)
		if err == nil && hasDuplicates(names) {
			err = fmt.Errorf("keys must be unique in ProjectStep")
		}
		return &Project{Keys: names}, err
	}
	return nil, nil
}

func hasDuplicates(names []string) bool {
	sorted := slices.Sorted(slices.Values(names))
	return len(slices.Compact(sorted)) != len(names)
}

func (b *builder) optionalName(args []syntax.Arg) (string, error) {
	if len(args) == 0 {
		return "", nil
	}
	return b.mustName(args[0])
}

// mustName returns a name that is neither null nor empty.
func (b *builder) mustName(a syntax.Arg) (string, error) {
	name, _, err := b.name(a)
	if err == nil && name == "" {
		err = fmt.Errorf("a name must not be empty")
	}
	return name, err
}

func (b *builder) selects(args []syntax.Arg, sc scope) (Step, error) {
	pop := PopLast
	if p, ok := token(args[0], syntax.Pop); ok {
		pop = map[string]Pop{"first": PopFirst, "last": PopLast, "all": PopAll, "mixed": PopMixed}[p]
		args = args[1:]
	}
	if c, ok := token(args[0], syntax.Column); ok {
		return &SelectColumn{Values: c == "values"}, nil
	}
	if _, ok := args[0].(*syntax.Traversal); ok {
		t, err := b.child(args[0], sc)
		return &SelectBy{Pop: pop, Key: t}, err
	}
	names, err := b.names(args)
	return &Select{Pop: pop, Keys: names, One: len(names) == 1}, err
}

// where builds a comparison of labels, or a filter with or without labels.
func (b *builder) where(args []syntax.Arg, sc scope) (Step, error) {
	start := ""
	if len(args) == 2 {
		name, _, err := b.name(args[0])
		if err != nil {
			return nil, err
		}
		start, args = name, args[1:]
	}
	if p, ok := args[0].(*syntax.Predicate); ok {
		pred, err := b.pred(p)
		return &WherePred{Start: start, Pred: pred}, err
	}
	t, err := b.child(args[0], sc)
	if err != nil {
		return nil, err
	}
	if readsLabels(t) {
		err = scopeWhere(t)
	}
	return &Filter{Traversal: t}, err
}

// readsLabels reports whether a traversal starts or ends at a label.
func readsLabels(t *Traversal) bool {
	if len(t.Steps) == 0 {
		return false
	}
	switch s := t.Steps[0].(type) {
	case *Identity:
		if startsAt(s) {
			return true
		}
	case *And:
		if slices.ContainsFunc(s.Traversals, readsLabels) {
			return true
		}
	case *Or:
		if slices.ContainsFunc(s.Traversals, readsLabels) {
			return true
		}
	case *Not:
		if readsLabels(s.Traversal) {
			return true
		}
	}
	return len(last(t).Info().Labels) > 0
}

// startsAt reports whether s stands for an as() at the start of a traversal.
func startsAt(s *Identity) bool { return s.Name == "as" && len(s.Labels) > 0 }

// scopeWhere converts the start and end labels of a where() traversal to steps.
func scopeWhere(t *Traversal) error {
	switch s := t.Steps[0].(type) {
	case *And:
		return scopeAll(s.Traversals)
	case *Or:
		return scopeAll(s.Traversals)
	case *Not:
		return scopeAll([]*Traversal{s.Traversal})
	case *Identity:
		if startsAt(s) {
			if len(s.Labels) > 1 {
				return fmt.Errorf("The start step of a where()-traversal can only have one label: %s", s.Labels)
			}
			t.Steps[0] = &WhereStart{Meta{Name: "as"}, s.Labels[0]}
		}
	}
	end := last(t).Info()
	if len(end.Labels) == 0 {
		return nil
	}
	if len(end.Labels) > 1 {
		return fmt.Errorf("The end step of a where()-traversal can only have one label: %s", end.Labels)
	}
	if _, ok := t.Steps[0].(*WhereStart); !ok {
		const current = "" // start at the current object, not at a label
		t.Steps = slices.Insert(t.Steps, 0, Step(&WhereStart{Meta{Name: "as"}, current}))
	}
	t.Steps = append(t.Steps, &WhereEnd{Meta{Name: "as"}, end.Labels[0]})
	end.Labels = nil
	return nil
}

func scopeAll(ts []*Traversal) error {
	for _, t := range ts {
		if !readsLabels(t) {
			continue
		}
		if err := scopeWhere(t); err != nil {
			return err
		}
	}
	return nil
}

// maps builds the steps with one result per object.
func (b *builder) maps(s syntax.Step, sc scope, _ bool) (Step, error) {
	switch s.Name {
	case "identity":
		return &Identity{}, nil
	case "constant":
		v, err := b.value(s.Args[0])
		return &Constant{Value: v}, err
	case "index":
		return &Index{}, nil
	case "unfold":
		return &Unfold{}, nil
	case "map":
		t, err := b.child(s.Args[0], sc)
		return &MapTo{Traversal: t}, err
	case "flatMap":
		t, err := b.child(s.Args[0], sc)
		return &FlatMap{Traversal: t}, err
	}
	return nil, nil
}

// reducers builds the steps that count, aggregate, sort and collect.
func (b *builder) reducers(s syntax.Step, _ scope, _ bool) (Step, error) {
	local, args := scopeArg(s.Args)
	switch s.Name {
	case "count":
		if local {
			return &CountLocal{}, nil
		}
		return &Count{}, nil
	case "sum", "min", "max", "mean":
		op := map[string]ReduceOp{"sum": Sum, "min": Min, "max": Max, "mean": Mean}[s.Name]
		if local {
			return &ReduceLocal{Op: op}, nil
		}
		return &Reduce{Op: op}, nil
	case "fold":
		if len(args) == 0 {
			return &Fold{}, nil
		}
		seed, err := b.value(args[0])
		op, _ := token(args[1], syntax.Operator)
		return &Fold{Reduce: Operator(op), Seed: seed}, err
	case "order":
		if local {
			return &OrderLocal{}, nil
		}
		return &Order{Limit: -1}, nil
	case "group":
		name, err := b.optionalName(args)
		return &Group{SideEffect: name}, err
	case "groupCount":
		name, err := b.optionalName(args)
		return &GroupCount{SideEffect: name}, err
	}
	return nil, nil
}
