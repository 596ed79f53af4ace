// Package plan turns the tree of a query into a logical plan: steps with their
// modulators gathered, predicates and literals as values, strategies applied.
//
// A plan says what a query means and knows nothing of a particular graph. It is
// first built as written ([Build]), then rewritten ([Optimise]) and annotated
// with what each step has to remember ([Annotate]).
package plan

import "vigil/graph"

// A Traversal is a chain of steps.
type Traversal struct {
	Steps []Step
}

// A Step is one link of a chain: a pointer to one of the step types of this
// package.
type Step interface {
	// Info returns what all steps have in common.
	Info() *Meta
}

// Meta is what all steps have in common.
type Meta struct {
	Name   string   // how the step is called in a query
	Labels []string // given by as()

	// Annotate fills in the rest.
	Extend   bool     // results are added to the path
	Attach   bool     // labels are attached to the current object
	DropPath bool     // nobody looks at the path from here on
	Forget   []string // labels that are lost here; see keptLabels
	ID       int      // number within the plan, for profile and seeds
	free     bool     // nobody looks at the path after this step
}

// Info returns m itself; embedding Meta makes a type a [Step].
func (m *Meta) Info() *Meta { return m }

// A Root is the plan of a whole query.
type Root struct {
	Traversal
	Sack        *Sack
	SideEffects []SideEffectInit
	Seed        *int64 // of everything random
	NoBulk      bool   // equal traversers are not merged
	FullPath    bool   // the path is kept even if nobody seems to look at it
	Lazy        bool   // side effects are visible one traverser at a time
	Take        int64  // only so many results are wanted; negative for all
	Terminal    string // how results are taken, "" for all
}

// Sack is what withSack() says.
type Sack struct {
	Initial graph.Value
	Merge   Operator // how sacks are merged with their traversers; "" for not
}

// A SideEffectInit is what withSideEffect() says.
type SideEffectInit struct {
	Key     string
	Initial graph.Value
	Reduce  Operator // "" for the default of whoever writes
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

// Pop says which of several objects with one label is meant.
type Pop uint8

// The pops.
const (
	PopLast Pop = iota
	PopFirst
	PopAll
	PopMixed
)

// Part is a part of an element or map entry that a token stands for.
type Part uint8

// The parts.
const (
	PartProperty Part = iota // a property by key
	PartID
	PartLabel
	PartKey
	PartValue
	PartKeys   // of a map
	PartValues // of a map
)

// ByKind says what a by() looks at.
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
	Productive bool // null instead of nothing (ProductiveByStrategy)
}
