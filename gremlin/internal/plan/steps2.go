package plan

import "vigil/graph"

// Constant replaces every object by a value.
type Constant struct {
	Meta
	Value graph.Value
}

// Fold collects everything in a list, or reduces it with an operator.
type Fold struct {
	Meta
	Reduce Operator // "" for a list
	Seed   graph.Value
}

// Count counts traversers.
type Count struct {
	Meta
	Of Step // a Move or Graph whose results are counted without making them
}

// CountLocal counts the items of a collection.
type CountLocal struct{ Meta }

// ReduceOp is what a Reduce computes.
type ReduceOp uint8

// The reductions.
const (
	Sum ReduceOp = iota
	Min
	Max
	Mean
)

// Reduce computes one number of all.
type Reduce struct {
	Meta
	Op ReduceOp
}

// ReduceLocal computes one number of a collection.
type ReduceLocal struct {
	Meta
	Op ReduceOp
}

// Order sorts.
type Order struct {
	Meta
	Bys   []By
	Limit int64 // only the first so many are wanted; negative for all
}

// OrderLocal sorts a collection.
type OrderLocal struct {
	Meta
	Bys []By
}

// PathOf goes to the path.
type PathOf struct {
	Meta
	From, To string
	Bys      []By
}

// Project makes a map with one by() for each key.
type Project struct {
	Meta
	Keys []string
	Bys  []By
}

// Select goes to labelled objects, side effects or map values.
type Select struct {
	Meta
	Pop  Pop
	Keys []string
	One  bool // a single object and not a map
	Bys  []By
}

// SelectColumn goes to the keys or values of a map.
type SelectColumn struct {
	Meta
	Values bool
}

// SelectBy selects what a traversal names.
type SelectBy struct {
	Meta
	Pop Pop
	Key *Traversal
	By  *By
}

// Group groups by a key and reduces each group, as a result or a side effect.
type Group struct {
	Meta
	SideEffect string
	Key        *By
	Value      *By // nil: fold
}

// GroupCount counts by a key, as a result or a side effect.
type GroupCount struct {
	Meta
	SideEffect string
	By         *By
}

// TreeOf collects paths in a tree, as a result or a side effect.
type TreeOf struct {
	Meta
	SideEffect string
	Bys        []By
}

// Math computes an expression.
type Math struct {
	Meta
	Expr string
	Bys  []By
}

// Format fills in a template.
type Format struct {
	Meta
	Template string
	Bys      []By
}

// SackOf goes to the sack.
type SackOf struct{ Meta }

// SackPut puts something into the sack.
type SackPut struct {
	Meta
	Op Operator
	By *By
}

// Loops goes to the number of rounds of a repeat.
type Loops struct {
	Meta
	Loop string
}

// Index pairs items with their position.
type Index struct {
	Meta
	AsMap bool
}

// Unfold goes to the items of a collection.
type Unfold struct{ Meta }

// Call applies a function of one value: toUpper, asNumber, combine.
type Call struct {
	Meta
	Local      bool // to each item of a collection
	Args       []graph.Value
	Traversals []*Traversal
	Fn         any // compiled by package exec, which knows the functions
}

// MapTo replaces each object by the first result of a traversal.
type MapTo struct {
	Meta
	Traversal *Traversal
}

// FlatMap replaces each object by the results of a traversal.
type FlatMap struct {
	Meta
	Traversal *Traversal
}

// Local runs a traversal for each object by itself.
type Local struct {
	Meta
	Traversal *Traversal
}

// Match solves patterns together.
type Match struct {
	Meta
	Patterns []Pattern
	Any      bool // one pattern is enough (or)
	Whole    bool // somebody looks at whole paths, of which patterns are part
	Start    string
	Vars     []string
}

// A Pattern of a match: a traversal from one label to another, or a connective
// of patterns, or a where() over labels.
type Pattern struct {
	Start, End string // End "" for a test
	Traversal  *Traversal
	Not        bool
	Nested     *Match
	Where      Step
	Needs      []string // labels that must be bound before
}

// Union takes the results of all traversals.
type Union struct {
	Meta
	Traversals []*Traversal
	Start      bool
	AnyOrder   bool // results may come in any order
}

// Pick says when an Option is taken.
type Pick uint8

// The picks.
const (
	PickPred         Pick = iota // the choice satisfies the predicate
	PickAny                      // always
	PickNone                     // no other option fits
	PickUnproductive             // the choice has no result
)

// An Option of a Choose.
type Option struct {
	Pick      Pick
	Pred      *Pred
	Traversal *Traversal
}

// Choose sends each object to options that fit what a traversal says of it.
type Choose struct {
	Meta
	Choice  By
	Test    *Traversal // if-then-else: the choice is whether this has a result
	Options []Option
	First   bool // only the first option that fits (choose), or all (branch)
}

// Coalesce takes the first traversal that has results.
type Coalesce struct {
	Meta
	Traversals []*Traversal
}

// Optional takes the results of a traversal, or the object itself.
type Optional struct {
	Meta
	Traversal *Traversal
}

// Repeat runs a traversal over and over.
type Repeat struct {
	Meta
	Loop       string
	Body       *Traversal
	Until      *Traversal
	Emit       *Traversal
	EmitAll    bool
	Times      int64 // negative for not given
	UntilFirst bool
	EmitFirst  bool
	Merge      bool // traversers at the same object may be merged between rounds

	// MergeByPath says that those may be that also came by the same labels.
	MergeByPath bool
}

// Aggregate collects everything under a name.
type Aggregate struct {
	Meta
	SideEffect string
	By         *By
}

// SubgraphOf collects edges under a name.
type SubgraphOf struct {
	Meta
	SideEffect string
}

// SideEffect runs a traversal for what it does.
type SideEffect struct {
	Meta
	Traversal *Traversal
}

// Cap goes to what was collected under names.
type Cap struct {
	Meta
	Keys []string
}

// Inject adds values to the stream.
type Inject struct {
	Meta
	Values []graph.Value
	Start  bool
}

// Barrier waits for all traversers and merges equal ones.
type Barrier struct {
	Meta
	NormSack bool
}

// Bulk merges equal traversers on the way; the optimiser puts it in.
type Bulk struct{ Meta }

// Fail ends the query.
type Fail struct {
	Meta
	Message string
}
