package graph

// Compact rebuilds the graph, which Patch does only when much was removed.
func (g *Graph) Compact() (*Graph, error) { return g.compact() }

// DecodeBody decodes what lies between the mark of a snapshot and its checksum.
func DecodeBody(body []byte) (*Graph, error) { return decodeBody(body) }

// SnapshotMark is how a snapshot begins.
const SnapshotMark = snapshotMark
