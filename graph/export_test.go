package graph

// Compact rebuilds the graph, which Patch does only after many removals.
func (g *Graph) Compact() (*Graph, error) { return g.compact() }

// DecodeBody decodes the part of a snapshot between its magic number and its checksum.
func DecodeBody(body []byte) (*Graph, error) { return decodeBody(body) }

// SnapshotMagic is the magic number of snapshots.
const SnapshotMagic = snapshotMagic
