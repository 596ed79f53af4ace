package graph

// An idIndex finds elements by id. Elements that patches brought are kept apart
// from the table of the base, so that the table can be shared.
type idIndex struct {
	table []uint32 // see hashTable
	late  map[uint64][]Handle
}

// find returns the element with an id. It may be one that is not there.
func (e *elements) find(id Value) (Handle, bool) {
	if e.ids == nil {
		if !id.IsInteger() || id.Int() < 0 || id.Int() >= int64(len(e.places)) {
			return 0, false
		}
		return Handle(id.Int()), true
	}
	h := idHash(id)
	accept := func(x uint32) bool { return Eq(e.id(x), id) }
	if x, ok := probe(e.byID.table, h, accept); ok {
		return x, true
	}
	for _, x := range e.byID.late[h] {
		if accept(x) {
			return x, true
		}
	}
	return 0, false
}

func (x idIndex) bytes() int64 { return 4*int64(cap(x.table)) + 64*int64(len(x.late)) }
