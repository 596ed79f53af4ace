package plan

import (
	"fmt"
	"time"

	"vigil/graph"
	"vigil/gremlin/syntax"
)

// An Error is the error of a query that is syntactically correct but invalid.
type Error struct {
	Pos  syntax.Pos
	Text string
}

// Error returns the position and the message.
func (e *Error) Error() string {
	if e.Pos.Line == 0 {
		return e.Text
	}
	return e.Pos.String() + ": " + e.Text
}

// Binding holds the external values of a query.
type Binding struct {
	Vars map[string]graph.Value // values of variables
	Now  time.Time              // value of datetime()
	UUID func() [16]byte        // value of UUID()
}

// Build builds the plan of a query without optimisation.
func Build(q *syntax.Query, bind Binding) (*Root, error) {
	b := &builder{bind: bind, root: &Root{Take: -1}}
	if err := b.source(q.Source); err != nil {
		return nil, err
	}
	t, err := b.chain(q.Steps, scope{root: true})
	if err != nil {
		return nil, withPosition(syntax.Step{}, err)
	}
	b.root.Traversal = *t
	if err := b.terminal(q.Terminal); err != nil {
		return nil, err
	}
	b.applyStrategies()
	if b.late != nil {
		return nil, withPosition(syntax.Step{}, b.late)
	}
	b.root.Lazy = isLazy(b.root)
	return b.root, nil
}

// builder is the state of building a plan.
type builder struct {
	bind       Binding
	root       *Root
	productive []string // productiveKeys of ProductiveByStrategy: by() yields null for every other key that is missing
	allProduce bool     // ProductiveByStrategy without keys: by() yields null for every missing key
	noConnect  bool     // infix and() and or() are disabled
	decorate   []func(*Traversal)
	verify     []func(*Traversal) error
	late       error // of a traversal that a strategy builds when it is applied
}

// scope describes the context of a chain.
type scope struct {
	root   bool // the steps of the query itself
	repeat bool // the body of a repeat
	inLoop bool // anywhere within a repeat
}

// chain builds a traversal and attaches modulators to their steps.
func (b *builder) chain(steps []syntax.Step, sc scope) (*Traversal, error) {
	t := &Traversal{}
	if !b.noConnect {
		steps = syntax.Connect(steps, sc.root)
	}
	for i, s := range steps {
		if err := b.step(t, s, sc, i == 0 && sc.root); err != nil {
			return nil, withPosition(s, err)
		}
	}
	for _, s := range t.Steps {
		if r, ok := s.(*Repeat); ok && r.Body == nil {
			return nil, fmt.Errorf("The repeat()-traversal was not defined: %s needs a repeat()", r.Name)
		}
		if sc.repeat && isReducing(s) {
			return nil, fmt.Errorf("The parent of a reducing/supplying barrier can not be repeat()-step: %s()", s.Info().Name)
		}
	}
	for _, verify := range b.verify {
		if err := verify(t); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// withPosition adds the position of a step to an error that has none. The zero Step has no
// position.
func withPosition(s syntax.Step, err error) error {
	switch err.(type) {
	case *Error, *syntax.Error:
		return err
	}
	return &Error{Pos: s.Pos, Text: err.Error()}
}

// isReducing reports whether a step reduces all traversers to one result.
func isReducing(s Step) bool {
	switch s := s.(type) {
	case *Fold, *Count, *Reduce, *Cap:
		return true
	case *Group:
		return s.SideEffect == ""
	case *GroupCount:
		return s.SideEffect == ""
	case *TreeOf:
		return s.SideEffect == ""
	}
	return false
}

// step adds one step to a chain, or applies it as a modulator to the previous step.
func (b *builder) step(t *Traversal, s syntax.Step, sc scope, first bool) error {
	if done, err := b.modulate(t, s, sc); done || err != nil {
		return err
	}
	for _, family := range []func(syntax.Step, scope, bool) (Step, error){
		b.moves, b.filters, b.scopes, b.maps, b.reducers, b.branches, b.effects, b.calls,
	} {
		step, err := family(s, sc, first)
		if err != nil {
			return err
		}
		if step != nil {
			step.Info().Name = s.Name
			t.Steps = append(t.Steps, step)
			return nil
		}
	}
	return fmt.Errorf("%s() is not supported", s.Name)
}

// child builds the traversal of an argument.
func (b *builder) child(a syntax.Arg, sc scope) (*Traversal, error) {
	switch a := a.(type) {
	case *syntax.Traversal:
		return b.chain(a.Steps, scope{inLoop: sc.inLoop})
	case *syntax.Predicate:
		p, err := b.pred(a)
		if err != nil {
			return nil, err
		}
		return &Traversal{Steps: []Step{&Is{Meta: Meta{Name: "is"}, Pred: p}}}, nil
	}
	return nil, fmt.Errorf("a traversal was expected")
}

// children builds the traversals of all arguments.
func (b *builder) children(args []syntax.Arg, sc scope) ([]*Traversal, error) {
	out := make([]*Traversal, len(args))
	for i, a := range args {
		t, err := b.child(a, sc)
		if err != nil {
			return nil, err
		}
		out[i] = t
	}
	return out, nil
}

// terminal records the terminal step.
func (b *builder) terminal(s *syntax.Step) error {
	if s == nil {
		return nil
	}
	b.root.Terminal = s.Name
	switch s.Name {
	case "next", "tryNext", "hasNext":
		b.root.Take = 1
	}
	if len(s.Args) == 1 {
		n, err := b.int(s.Args[0])
		if err != nil {
			return withPosition(*s, err)
		}
		b.root.Take = max(n, 0)
	}
	return nil
}
