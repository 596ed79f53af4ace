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

// Is keeps what satisfies a predicate.
type Is struct {
	Meta
	Pred *Pred
}

// Filter keeps what the traversal has a result for.
type Filter struct {
	Meta
	Traversal *Traversal
}

// Not keeps what the traversal has no result for.
type Not struct {
	Meta
	Traversal *Traversal
}

// And keeps what all traversals have a result for.
type And struct {
	Meta
	Traversals []*Traversal
}

// Or keeps what some traversal has a result for.
type Or struct {
	Meta
	Traversals []*Traversal
}

// WherePred compares labelled objects. The predicate's values are labels.
type WherePred struct {
	Meta
	Start string // "" for the object at hand
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

// Range keeps those from Low up to High; a High below zero is no limit.
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

// Dedup keeps the first of equals.
type Dedup struct {
	Meta
	Over []string // labels whose objects are compared; none for the object at hand
	By   *By
}

// DedupLocal makes a set of a collection.
type DedupLocal struct{ Meta }

// Sample keeps N at random.
type Sample struct {
	Meta
	N  int64
	By *By
}

// SampleLocal keeps N items of a collection at random.
type SampleLocal struct {
	Meta
	N int64
}

// Coin keeps each with a probability.
type Coin struct {
	Meta
	Probability float64
}

// PathFilter keeps paths without repetition, or with.
type PathFilter struct {
	Meta
	Simple   bool
	From, To string
	Bys      []By
}

// Discard keeps nothing.
type Discard struct{ Meta }

// TimeLimit lets traversers pass for a time.
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
