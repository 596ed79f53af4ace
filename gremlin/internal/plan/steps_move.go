package plan

import "vigil/graph"

// Graph emits vertices or edges of the graph, at the start or within a query.
type Graph struct {
	Meta
	Edges bool
	ByID  bool          // only the elements in IDs
	IDs   []graph.Value // ids or elements
	Mid   bool          // not at the start of the query
	Conds []Cond        // conditions of the following has steps
}

// Move moves from vertices to their neighbours or edges.
type Move struct {
	Meta
	Dir        Direction
	ToEdge     bool
	ByLabel    bool // only edges with a label in EdgeLabels
	EdgeLabels []string
}

// EdgeEnd moves from edges to their end points.
type EdgeEnd struct {
	Meta
	Dir Direction
}

// OtherEnd moves from an edge to the end point from which the traverser did not come.
type OtherEnd struct {
	Meta
	Simple bool // the edges carry the vertex from which they were reached; no path is needed
}

// Properties emits properties, or their values.
type Properties struct {
	Meta
	Values bool
	Some   bool // only the properties with a key in Keys
	Keys   []string
	Filter *Traversal // restricts the visible properties (SubgraphStrategy)
}

// ElementPart emits the id, label, key or value of an element.
type ElementPart struct {
	Meta
	Part Part
}

// Owner moves from a property to its element.
type Owner struct{ Meta }

// MapMode says which step builds a PropertyMap.
type MapMode uint8

// The steps that build a PropertyMap.
const (
	ValueMap      MapMode = iota
	PropertyMapOf         // propertyMap(): the values are properties
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

// PropertyMap builds a map of an element's properties.
type PropertyMap struct {
	Meta
	Mode   MapMode
	Some   bool // only the properties with a key in Keys
	Keys   []string
	Tokens int
	By     *By
	Filter *Traversal // restricts the visible properties (SubgraphStrategy)
}
