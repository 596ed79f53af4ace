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

func (s *Order) shuffles() bool {
	return len(s.Bys) > 0 && s.Bys[len(s.Bys)-1].Sort == Shuffle
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
}
