package plan

// A Cond is one condition of a Has: a part of the element satisfies a predicate.
type Cond struct {
	Part Part
	Key  string
	Null bool  // the key is null, which no element has
	Pred *Pred // nil: the property exists
}

// Has keeps elements that satisfy all conditions.
type Has struct {
	Meta
	Conds []Cond
}

// HasNot keeps elements without a property.
type HasNot struct {
	Meta
	Key  string
	Null bool
}

// Is keeps objects that satisfy a predicate.
type Is struct {
	Meta
	Pred *Pred
}

// Filter keeps objects for which the traversal has a result.
type Filter struct {
	Meta
	Traversal *Traversal
}

// Not keeps objects for which the traversal has no result.
type Not struct {
	Meta
	Traversal *Traversal
}

// And keeps objects for which all traversals have a result.
type And struct {
	Meta
	Traversals []*Traversal
}

// Or keeps objects for which some traversal has a result.
type Or struct {
	Meta
	Traversals []*Traversal
}

// WherePred compares labelled objects. The predicate's values are labels.
type WherePred struct {
	Meta
	Start string // "" for the current object
	Pred  *Pred
	Bys   []By
}

// WhereStart begins a where() traversal at a labelled object.
type WhereStart struct {
	Meta
	Label string
}

// WhereEnd ends a where() traversal: the object must be the labelled one.
type WhereEnd struct {
	Meta
	Label string
}

// Range keeps traversers from Low up to High; a negative High means no limit.
type Range struct {
	Meta
	Low, High int64
}

// RangeLocal cuts a collection.
type RangeLocal struct {
	Meta
	Low, High int64
}

// Tail keeps the last N.
type Tail struct {
	Meta
	N int64
}

// TailLocal keeps the last N items of a collection.
type TailLocal struct {
	Meta
	N int64
}

// Dedup keeps the first of equal objects.
type Dedup struct {
	Meta
	Over []string // labels whose objects are compared; empty for the current object
	By   *By
}

// DedupLocal converts a collection to a set.
type DedupLocal struct{ Meta }

// Sample keeps N random traversers.
type Sample struct {
	Meta
	N  int64
	By *By
}

// SampleLocal keeps N random items of a collection.
type SampleLocal struct {
	Meta
	N int64
}

// Coin keeps each traverser with a probability.
type Coin struct {
	Meta
	Probability float64
}

// PathFilter keeps paths without repetition, or only those with repetition.
type PathFilter struct {
	Meta
	Simple   bool
	From, To string
	Bys      []By
}

// Discard keeps nothing.
type Discard struct{ Meta }

// TimeLimit passes traversers for a limited time.
type TimeLimit struct {
	Meta
	Millis int64
}

// Quantifier says how many items must satisfy a predicate.
type Quantifier uint8

// The quantifiers.
const (
	AllItems Quantifier = iota
	AnyItem
	NoItem
)

// Items keeps collections by how many of their items satisfy a predicate.
type Items struct {
	Meta
	Quantifier Quantifier
	Pred       *Pred
}

// Identity changes nothing.
type Identity struct{ Meta }
