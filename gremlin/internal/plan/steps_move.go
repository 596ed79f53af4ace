package plan

import "vigil/graph"

// Graph starts from, or goes to, vertices or edges of the graph.
type Graph struct {
	Meta
	Edges bool
	ByID  bool          // only those with IDs
	IDs   []graph.Value // ids or elements
	Mid   bool          // not at the start of the query
	Conds []Cond        // pulled in from has steps that follow
}

// Move goes from vertices to their neighbours or edges.
type Move struct {
	Meta
	Dir    Direction
	ToEdge bool
	Some   bool // only over edges with Over labels
	Over   []string
}

// EdgeEnd goes from edges to the vertices at their ends.
type EdgeEnd struct {
	Meta
	Dir Direction
}

// OtherEnd goes from an edge to the end the traverser did not come from.
type OtherEnd struct {
	Meta
	Simple bool // the edge was reached from a vertex by the moves before
}

// Properties goes to properties, or to their values.
type Properties struct {
	Meta
	Values bool
	Some   bool
	Keys   []string
	Filter *Traversal // which properties exist (SubgraphStrategy)
}

// ElementPart goes to the id, label, key or value of an element.
type ElementPart struct {
	Meta
	Part Part
}

// Owner goes from a property to its element.
type Owner struct{ Meta }

// MapMode says what a PropertyMap holds.
type MapMode uint8

// The kinds of property maps.
const (
	ValueMap MapMode = iota
	PropertyMapOf
	ElementMap
)

// Tokens to include in a PropertyMap.
const (
	WithIDs = 1 << iota
	WithLabels
	WithKeys
	WithValues
	WithAll = WithIDs | WithLabels | WithKeys | WithValues
)

// PropertyMap makes a map of an element's properties.
type PropertyMap struct {
	Meta
	Mode   MapMode
	Some   bool
	Keys   []string
	Tokens int
	By     *By
	Filter *Traversal // which properties exist (SubgraphStrategy)
}
