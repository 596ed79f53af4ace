package value

import "vigil/graph"

// Keys numbers distinct values in the order of first insertion: it is a hash
// table from value to index. The zero Keys is empty.
type Keys struct {
	vals   []graph.Value
	hashes []uint64
	slots  []int32 // index+1, or 0 when free; the length is a power of two
}

// Len returns the number of values.
func (k *Keys) Len() int { return len(k.vals) }

// At returns the i-th value.
func (k *Keys) At(i int) graph.Value { return k.vals[i] }

// All returns the values in order. They must not be modified.
func (k *Keys) All() []graph.Value { return k.vals }

// Reset removes all values and keeps the memory for reuse.
func (k *Keys) Reset() {
	clear(k.vals)
	k.vals, k.hashes = k.vals[:0], k.hashes[:0]
	clear(k.slots)
}

// Find returns the index of v, or -1.
func (k *Keys) Find(v graph.Value) int {
	if len(k.vals) == 0 {
		return -1
	}
	i, _ := k.slot(v, Hash(v))
	return int(k.slots[i]) - 1
}

// Put returns the index of v and whether v is new.
func (k *Keys) Put(v graph.Value) (i int, fresh bool) {
	if 2*(len(k.vals)+1) > len(k.slots) {
		k.grow()
	}
	h := Hash(v)
	slot, found := k.slot(v, h)
	if found {
		return int(k.slots[slot]) - 1, false
	}
	k.vals = append(k.vals, v)
	k.hashes = append(k.hashes, h)
	k.slots[slot] = int32(len(k.vals))
	return len(k.vals) - 1, true
}

// slot returns the slot of v, or the free slot for it.
func (k *Keys) slot(v graph.Value, h uint64) (index int, found bool) {
	mask := len(k.slots) - 1
	for i := int(h) & mask; ; i = (i + 1) & mask {
		p := k.slots[i]
		if p == 0 {
			return i, false
		}
		if k.hashes[p-1] == h && Equal(k.vals[p-1], v) {
			return i, true
		}
	}
}

func (k *Keys) grow() {
	size := 16
	for size < 4*len(k.vals) {
		size *= 2
	}
	k.slots = make([]int32, size)
	mask := len(k.slots) - 1
	for p, h := range k.hashes {
		i := int(h) & mask
		for k.slots[i] != 0 {
			i = (i + 1) & mask
		}
		k.slots[i] = int32(p + 1)
	}
}
