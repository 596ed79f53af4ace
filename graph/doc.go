// Package graph implements an immutable property graph with columnar storage.
//
// A [Graph] is designed for many readers and few writers: it never changes,
// every method is safe for concurrent use, and returned slices must not be
// modified. A changed graph is a new one, made with a [Builder] or from an
// existing graph with [Graph.Patch], which shares everything that the change
// does not affect (copy on write).
//
// # Storage
//
// Vertices and edges are dense uint32 handles. A handle is valid only in the
// graph that returned it. The elements of one label form a table: row i of the
// table is element VerticesOf(label)[i] as long as no row was removed. Each
// property key of the label is a [Column] of that table, typed if all its values
// have one type. Strings are interned: equal strings of one graph have the same
// code.
//
// Adjacency lists are in compressed sparse row form, one per direction. The
// edges of a vertex are contiguous and ordered by edge label. So the neighbours
// over all labels and those over one label are both subslices, and a degree is a
// subtraction.
//
// # Hidden edges
//
// An edge may refer to a vertex that the graph does not contain. Such an edge is
// stored but hidden: it is in no slice and no count. It becomes visible when a
// patch adds the missing vertex, and hidden again when the vertex is removed.
// [Graph.HiddenEdges] counts hidden edges.
//
// # Unknown cells
//
// A property whose value could not be read is neither absent nor present. The
// cell is unknown and has the reason; see [Column.Unknown].
package graph
