package plan

import "vigil/graph"

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

// SideEffect runs a traversal for its side effects.
type SideEffect struct {
	Meta
	Traversal *Traversal
}

// Cap emits the values of side effects.
type Cap struct {
	Meta
	Keys []string
}

// Inject adds values to the stream.
type Inject struct {
	Meta
	Values []graph.Value
	Start  bool // a source: it has no input
}

// Barrier collects all traversers and merges equal ones.
type Barrier struct {
	Meta
	NormSack bool
}

// Bulk merges equal traversers; the optimiser inserts it.
type Bulk struct{ Meta }

// Fail ends the query.
type Fail struct {
	Meta
	Message string
}
