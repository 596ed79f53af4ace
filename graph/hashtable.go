package graph

import "math/bits"

// hashTable returns an open-addressing table of the numbers below n with room
// for as many as room says, at most two thirds full. A slot holds number+1, or 0
// when it is free.
func hashTable(n, room int, hash func(uint32) uint64) []uint32 {
	room = max(n, room)
	t := make([]uint32, 1<<bits.Len(uint(room+room/2)))
	for i := range uint32(n) {
		insert(t, hash(i), i)
	}
	return t
}

// roomy reports whether a table that holds n numbers may take another one.
func roomy(t []uint32, n int) bool { return (n+1)*3 <= len(t)*2 }

// insert puts x, which must not be there yet, into a table that has room.
func insert(t []uint32, hash uint64, x uint32) {
	mask := uint64(len(t) - 1)
	i := hash & mask
	for t[i] != 0 {
		i = (i + 1) & mask
	}
	t[i] = x + 1
}

// probe finds the number with the given hash that is accepted.
func probe(t []uint32, hash uint64, accept func(uint32) bool) (uint32, bool) {
	if len(t) == 0 {
		return 0, false
	}
	mask := uint64(len(t) - 1)
	for i := hash & mask; t[i] != 0; i = (i + 1) & mask {
		if x := t[i] - 1; accept(x) {
			return x, true
		}
	}
	return 0, false
}
