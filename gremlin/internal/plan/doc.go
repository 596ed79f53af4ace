// Package plan converts the syntax tree of a query to a logical plan: it attaches
// modulators to their steps, converts predicates and literals to values, and
// applies strategies.
//
// A plan describes the meaning of a query independently of a graph. It is built
// without optimisation ([Build]), then rewritten ([Optimise]) and annotated with
// the parts of the path that each step must store ([Annotate]).
package plan

import "vigil/graph"

// A Traversal is a chain of steps.
type Traversal struct {
	Steps []Step
}

// A Step is one step of a chain: a pointer to one of the step types of this package.
type Step interface {
	// Info returns the common part of the step.
	Info() *Meta
}

// Meta is the common part of all steps.
type Meta struct {
	Name   string   // name of the step in a query
	Labels []string // labels of as()

	// Annotate sets the following fields.
	Extend   bool     // results extend the path
	Attach   bool     // labels are attached to the current object
	DropPath bool     // this step uses the path, and no later step does
	Forget   []string // labels that are lost here; see keptLabels
	ID       int      // number within the plan, for profile and seeds
	free     bool     // no later step uses the path, whether or not this one does
}

// Info returns m itself; embedding Meta makes a type a [Step].
func (m *Meta) Info() *Meta { return m }

// A Root is the plan of a whole query.
type Root struct {
	Traversal
	Sack        *Sack
	SideEffects []SideEffectInit
	Seed        *int64 // seed of random choices
	NoBulk      bool   // withBulk(false): merged traversers count as one, so the optimiser merges none
	FullPath    bool   // store paths even if no step uses them
	Lazy        bool   // each traverser sees the side effects of those before it; see isLazy
	Take        int64  // number of results needed; negative for all
	Terminal    string // terminal step, "" for none
}

// Sack is the configuration of withSack().
type Sack struct {
	Initial graph.Value
	Merge   Operator // operator that merges sacks of merged traversers; "" for none
}

// A SideEffectInit is the configuration of withSideEffect().
type SideEffectInit struct {
	Key     string
	Initial graph.Value
	Reduce  Operator // "" for the default of the writing step
}

// Operator is a binary operator: sum, minus, addAll.
type Operator string

// Direction of a move.
type Direction uint8

// The directions.
const (
	Out Direction = iota
	In
	Both
)

// Pop selects among several objects with one label.
type Pop uint8

// The pops.
const (
	PopLast Pop = iota
	PopFirst
	PopAll
	PopMixed
)

// Part is a part of an element or map entry that a token denotes.
type Part uint8

// The parts.
const (
	PartProperty Part = iota // a property by key
	PartID
	PartLabel
	PartKey
	PartValue
	PartKeys   // keys of a map
	PartValues // values of a map
)

// ByKind is the kind of value that a by() yields.
type ByKind uint8

// The kinds of by().
const (
	ByIdentity ByKind = iota
	ByKey
	ByPart
	ByTraversal
)

// Sort is the direction of an order.
type Sort uint8

// The directions of an order.
const (
	Asc Sort = iota
	Desc
	Shuffle
)

// A By is a by() modulator.
type By struct {
	Kind       ByKind
	Key        string
	Part       Part
	Traversal  *Traversal
	Sort       Sort
	Ordered    bool // Sort was given
	Productive bool // null instead of no value (ProductiveByStrategy)
}
