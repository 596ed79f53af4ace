package graph

import "math/bits"

// hashTable returns an open-addressing hash table of the numbers below n. It has
// room for capacity numbers and is at most two thirds full. A slot holds
// number+1, or 0 when it is free.
func hashTable(n, capacity int, hash func(uint32) uint64) []uint32 {
	capacity = max(n, capacity)
	t := make([]uint32, 1<<bits.Len(uint(capacity+capacity/2)))
	for i := range uint32(n) {
		insert(t, hash(i), i)
	}
	return t
}

// hasRoom reports whether a table with n numbers has capacity for another one.
func hasRoom(t []uint32, n int) bool { return (n+1)*3 <= len(t)*2 }

// insert adds x, which must not be in the table. The table must have capacity.
func insert(t []uint32, hash uint64, x uint32) {
	mask := uint64(len(t) - 1)
	i := hash & mask
	for t[i] != 0 {
		i = (i + 1) & mask
	}
	t[i] = x + 1
}

// probe returns the number with the given hash for which accept returns true. It also calls
// accept for some numbers with other hashes.
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
