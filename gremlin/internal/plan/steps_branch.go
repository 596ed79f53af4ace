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

// Local runs a traversal for each object separately.
type Local struct {
	Meta
	Traversal *Traversal
}

// Match solves patterns jointly.
type Match struct {
	Meta
	Patterns []Pattern
	Any      bool     // one pattern is enough (or)
	Whole    bool     // a later step uses the whole path, which includes the objects of the patterns
	Start    string   // label of the incoming object
	Vars     []string // labels whose objects form the result
}

// A Pattern of a match: a traversal from one label to another, a connective of
// patterns, or a where() over labels.
type Pattern struct {
	Start, End string // End "" for a test
	Traversal  *Traversal
	Not        bool
	Nested     *Match
	Where      Step
	Needs      []string // labels that must be bound first
}

// Union combines the results of all traversals.
type Union struct {
	Meta
	Traversals []*Traversal
	Start      bool // a source: it has no input
	AnyOrder   bool // results may have any order
}

// Pick says when an Option is selected.
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

// Choose sends each object to the options that a traversal selects.
type Choose struct {
	Meta
	Choice  By         // selects by its value, if Test is nil
	Test    *Traversal // if-then-else: selects by whether this has a result
	Options []Option
	First   bool // use only the first matching option (choose), not all (branch)
}

// Coalesce uses the first traversal that has results.
type Coalesce struct {
	Meta
	Traversals []*Traversal
}

// Optional yields the results of a traversal, or the object itself if there are none.
type Optional struct {
	Meta
	Traversal *Traversal
}

// Repeat runs a traversal iteratively.
type Repeat struct {
	Meta
	Loop       string // name for loops(), "" for none
	Body       *Traversal
	Until      *Traversal
	Emit       *Traversal
	EmitAll    bool
	Times      int64 // negative for not given
	UntilFirst bool  // until() or times() precedes repeat()
	EmitFirst  bool  // emit() precedes repeat()
	Merge      bool  // traversers at the same object may be merged between iterations

	// MergeByPath allows merging traversers at the same object whose paths have the same
	// labelled objects.
	MergeByPath bool
}
