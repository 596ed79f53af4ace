package plan

import "vigil/graph"

// Constant replaces every object by a value.
type Constant struct {
	Meta
	Value graph.Value
}

// Fold collects all objects in a list, or reduces them with an operator.
type Fold struct {
	Meta
	Reduce Operator // "" for a list
	Seed   graph.Value
}

// Count counts traversers.
type Count struct {
	Meta
	Of Step // a Move or Graph whose results are counted without producing them
}

// CountLocal counts the items of a collection.
type CountLocal struct{ Meta }

// ReduceOp is the operation of a Reduce.
type ReduceOp uint8

// The reductions.
const (
	Sum ReduceOp = iota
	Min
	Max
	Mean
)

// Reduce reduces all objects to one number.
type Reduce struct {
	Meta
	Op ReduceOp
}

// ReduceLocal reduces a collection to one number.
type ReduceLocal struct {
	Meta
	Op ReduceOp
}

// Order sorts traversers.
type Order struct {
	Meta
	Bys   []By
	Limit int64 // number of results needed; negative for all
}

// hasShuffle reports whether the order is random: a shuffle only counts in the last by().
func (o *Order) hasShuffle() bool {
	return len(o.Bys) > 0 && o.Bys[len(o.Bys)-1].Sort == Shuffle
}

// OrderLocal sorts a collection.
type OrderLocal struct {
	Meta
	Bys []By
}

// PathOf emits the path.
type PathOf struct {
	Meta
	From, To string
	Bys      []By
}

// Project builds a map with one by() per key.
type Project struct {
	Meta
	Keys []string
	Bys  []By
}

// Select emits labelled objects, side effects or map values.
type Select struct {
	Meta
	Pop  Pop
	Keys []string
	One  bool // a single object and not a map
	Bys  []By
}

// SelectColumn emits the keys or values of a map.
type SelectColumn struct {
	Meta
	Values bool
}

// SelectBy selects the key that a traversal yields.
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

// SackOf emits the sack.
type SackOf struct{ Meta }

// SackPut updates the sack.
type SackPut struct {
	Meta
	Op Operator
	By *By
}

// Loops emits the iteration count of a repeat.
type Loops struct {
	Meta
	Loop string
}

// Index pairs items with their index.
type Index struct {
	Meta
	AsMap bool
}

// Unfold emits the items of a collection.
type Unfold struct{ Meta }

// Call applies a function of one value: toUpper, asNumber, combine.
type Call struct {
	Meta
	Local      bool // apply to each item of a collection
	Args       []graph.Value
	Traversals []*Traversal
}
