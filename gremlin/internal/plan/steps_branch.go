package plan

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
	PickTest                     // a traversal from the choice has a result
)

// An Option of a Choose.
type Option struct {
	Pick      Pick
	Pred      *Pred
	Test      *Traversal
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
