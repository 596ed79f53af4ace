package graph

import (
	"iter"
	"math/bits"
)

// Bits is a bit set of small numbers.
type Bits []uint64

// NewBits returns a set with capacity for the numbers below n.
func NewBits(n int) Bits { return make(Bits, (n+63)/64) }

// Has reports whether i is in the set. Numbers beyond its capacity are not.
func (b Bits) Has(i uint32) bool { return int(i>>6) < len(b) && b[i>>6]&(1<<(i&63)) != 0 }

// Set adds i, which must be within the capacity of the set.
func (b Bits) Set(i uint32) { b[i>>6] |= 1 << (i & 63) }

// Clear removes i, which must be within the capacity of the set.
func (b Bits) Clear(i uint32) { b[i>>6] &^= 1 << (i & 63) }

// Count returns the size of the set.
func (b Bits) Count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// All returns the members in ascending order.
func (b Bits) All() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for i, w := range b {
			for ; w != 0; w &= w - 1 {
				if !yield(uint32(i<<6 + bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}
