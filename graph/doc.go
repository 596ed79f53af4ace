// Package graph holds an immutable property graph in columns.
//
// A [Graph] is made for many readers and few writers: once built it never
// changes, every method is safe for concurrent use, and nothing it returns may
// be modified. Changing a graph means making another one, either from nothing
// with a [Builder] or from the graph before with [Graph.Patch], which shares
// everything that the change does not touch.
//
// # Shape
//
// Vertices and edges are dense uint32 handles. A handle is valid only for the
// graph that gave it out. The elements of one label form a table: row i of the
// table is element VerticesOf(label)[i] as long as no row was removed, and each
// property key that the label uses is a [Column] of that table, typed where
// all its values are of one type. Strings are interned: two equal strings of
// one graph have one code.
//
// Neighbours are kept in compressed rows, once per direction, and the edges of
// one vertex lie together ordered by edge label. So the neighbours over all
// labels and those over one label are both a plain slice, and a degree is a
// subtraction.
//
// # Edges to nowhere
//
// An edge may name a vertex that the graph does not hold (yet). Such an edge is
// kept but cannot be seen: it is in no slice and no count. It appears when a
// patch brings the missing vertex, and hides again when the vertex goes.
// [Graph.HiddenEdges] counts them.
//
// # Unknown cells
//
// A property whose value could not be read is neither absent nor present. The
// cell is unknown and carries the reason; see [Column.Unknown].
package graph
