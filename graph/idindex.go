package graph

// An idIndex finds elements by id. It keeps elements that patches added in a
// separate table, so that the base table can be shared.
type idIndex struct {
	table   []uint32 // see hashTable
	base    int      // number of elements in table
	patched []uint32 // table of elements added by patches; holds handle-base
	added   int      // number of elements in patched
}

// find returns the handle for an id. An id keeps its handle when its element is removed, and the
// id of a vertex that was not added yet has a handle as soon as an edge refers to it.
func (e *elements) find(id Value) (Handle, bool) {
	return e.findWhere(id, func(Handle) bool { return true })
}

// findWhere returns the element with an id for which accept returns true.
func (e *elements) findWhere(id Value, accept func(Handle) bool) (Handle, bool) {
	if e.ids == nil {
		// Eq rejects -0.0, whose whole number is 0.
		n, ok := id.wholeNumber()
		if !ok || n < 0 || n >= int64(len(e.positions.items)) || !Eq(id, Long(n)) {
			return 0, false
		}
		return Handle(n), accept(Handle(n))
	}
	h := idHash(id)
	if x, ok := probe(e.byID.table, h, func(x uint32) bool { return Eq(e.id(x), id) && accept(x) }); ok {
		return x, true
	}
	base := uint32(e.byID.base)
	x, ok := probe(e.byID.patched, h, func(x uint32) bool { return Eq(e.id(base+x), id) && accept(base+x) })
	return base + x, ok
}

// add adds the next element, whose id has the given hash. The table of patched
// elements must not be shared.
func (x *idIndex) add(hash uint64, id func(Handle) Value) {
	if !hasRoom(x.patched, x.added) {
		base := uint32(x.base)
		x.patched = hashTable(x.added, 2*x.added+8, func(i uint32) uint64 { return idHash(id(base + i)) })
	}
	insert(x.patched, hash, uint32(x.added))
	x.added++
}

func (x idIndex) bytes() int64 { return 4 * int64(cap(x.table)+cap(x.patched)) }
