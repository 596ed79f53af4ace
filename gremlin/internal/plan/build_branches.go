package plan

import (
	"fmt"

	"vigil/graph"
	"vigil/gremlin/internal/value"
	"vigil/gremlin/syntax"
)

// branches builds the branching steps.
func (b *builder) branches(s syntax.Step, sc scope, first bool) (Step, error) {
	switch s.Name {
	case "union":
		ts, err := b.unionChildren(s.Args, sc, first)
		return &Union{Traversals: ts, Start: first}, err
	case "choose":
		return b.choose(s.Args, sc)
	case "branch":
		by, err := b.by(s.Args, sc)
		by.Productive = false // ProductiveByStrategy affects only by()
		return &Choose{Choice: by}, err
	case "coalesce":
		ts, err := b.children(s.Args, sc)
		return &Coalesce{Traversals: ts}, err
	case "optional":
		t, err := b.child(s.Args[0], sc)
		return &Optional{Traversal: t}, err
	case "local":
		t, err := b.child(s.Args[0], sc)
		return &Local{Traversal: t}, err
	}
	return nil, nil
}

// unionChildren builds the traversals of a union. At the start of a query each of them is a source.
func (b *builder) unionChildren(args []syntax.Arg, sc scope, first bool) ([]*Traversal, error) {
	ts, err := b.children(args, sc)
	if err != nil || !first {
		return ts, err
	}
	for _, t := range ts {
		makeSource(t)
	}
	return ts, nil
}

// makeSource converts the first step of a traversal to a source.
func makeSource(t *Traversal) {
	if len(t.Steps) == 0 {
		return
	}
	switch s := t.Steps[0].(type) {
	case *Graph:
		s.Mid = false
	case *Inject:
		s.Start = true
	case *Union:
		s.Start = true
		for _, c := range s.Traversals {
			makeSource(c)
		}
	}
}

func (b *builder) choose(args []syntax.Arg, sc scope) (Step, error) {
	if len(args) == 1 {
		by, err := b.by(args, sc)
		by.Productive = false // as in branches
		return &Choose{Choice: by, First: true}, err
	}
	test, err := b.child(args[0], sc)
	if err != nil {
		return nil, err
	}
	c := &Choose{Test: test, First: true}
	for i, a := range args[1:] { // then, else
		t, err := b.child(a, sc)
		if err != nil {
			return nil, err
		}
		p := &Pred{Op: Eq, Value: graph.Bool(i == 0)}
		c.Options = append(c.Options, Option{Pick: PickPred, Pred: p, Traversal: t})
	}
	return c, nil
}

// effects builds the side-effect steps and a few others.
func (b *builder) effects(s syntax.Step, sc scope, first bool) (Step, error) {
	switch s.Name {
	case "aggregate":
		name, err := b.mustName(s.Args[0])
		return &Aggregate{SideEffect: name}, err
	case "subgraph":
		name, err := b.mustName(s.Args[0])
		return &SubgraphOf{SideEffect: name}, err
	case "sideEffect":
		t, err := b.child(s.Args[0], sc)
		return &SideEffect{Traversal: t}, err
	case "cap":
		names, err := b.names(s.Args)
		return &Cap{Keys: names}, err
	case "inject":
		if sc.inLoop {
			return nil, fmt.Errorf("The parent of inject()-step can not be repeat()-step")
		}
		vs, err := b.values(s.Args)
		return &Inject{Values: vs, Start: first}, err
	case "barrier":
		_, norm := firstToken(s.Args, syntax.Barrier)
		return &Barrier{NormSack: norm}, nil
	case "fail":
		message := "fail() step triggered"
		if len(s.Args) > 0 {
			m, _, err := b.name(s.Args[0])
			if err != nil {
				return nil, err
			}
			message = m
		}
		return &Fail{Message: message}, nil
	case "profile":
		b.root.Terminal = "profile"
		return &Identity{}, nil
	}
	return nil, nil
}

// firstToken is token for the first argument, if there is one.
func firstToken(args []syntax.Arg, e syntax.Enum) (string, bool) {
	if len(args) == 0 {
		return "", false
	}
	return token(args[0], e)
}

// callNames are the steps that compute a value from the current one, such as trim(). Package
// exec implements them.
var callNames = map[string]bool{
	"asBool": true, "asDate": true, "asNumber": true, "asString": true, "combine": true, "concat": true, "conjoin": true,
	"dateAdd": true, "dateDiff": true, "difference": true, "disjunct": true, "intersect": true, "length": true, "lTrim": true,
	"merge": true, "product": true, "replace": true, "reverse": true, "rTrim": true, "split": true, "substring": true,
	"toLower": true, "toUpper": true, "trim": true,
}

// calls builds the steps of callNames. It has nothing to do with Gremlin's step call().
func (b *builder) calls(s syntax.Step, sc scope, _ bool) (Step, error) {
	if !callNames[s.Name] {
		return nil, nil
	}
	c := &Call{}
	args := s.Args
	c.Local, args = scopeArg(args)
	for _, a := range args {
		if _, ok := a.(*syntax.Traversal); ok {
			t, err := b.child(a, sc)
			if err != nil {
				return nil, err
			}
			c.Traversals = append(c.Traversals, t)
			continue
		}
		v, err := b.value(a)
		if err != nil {
			return nil, err
		}
		c.Args = append(c.Args, v)
	}
	return c, b.checkCall(s.Name, c)
}

// checkCall checks what the parser cannot: the kinds of variables, and numbers that are too
// large. Package exec relies on it.
func (b *builder) checkCall(name string, c *Call) error {
	switch name {
	case "dateAdd":
		return requireInt(c.Args[1])
	case "substring":
		return requireAll(c.Args, requireInt)
	case "concat":
		return requireAll(c.Args, requireText)
	case "asNumber":
		if len(c.Args) == 0 {
			return nil
		}
		t, _ := value.As[value.Token](c.Args[0])
		if _, ok := value.NumberKind(string(t)); !ok && t != "NUMBER" {
			return fmt.Errorf("asNumber() requires a numeric type token, got %s", t)
		}
	case "conjoin":
		if c.Args[0].IsNull() {
			return fmt.Errorf("Input delimiter to conjoin step can't be null.")
		}
	}
	return nil
}

// requireAll returns the first error of require for the values.
func requireAll(vs []graph.Value, require func(graph.Value) error) error {
	for _, v := range vs {
		if err := require(v); err != nil {
			return err
		}
	}
	return nil
}
