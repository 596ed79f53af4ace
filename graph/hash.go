package graph

import (
	"hash/maphash"
	"math"
	"math/bits"
)

// seed makes hashes unpredictable, so that nobody can choose keys that collide.
var seed = maphash.MakeSeed()

// hashString returns a hash of s that is valid in this process only.
func hashString(s string) uint64 { return maphash.String(seed, s) }

var seed1, seed2 = hashString("1"), hashString("2") | 1

// mix combines two words into one hash.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^seed1, b^seed2)
	return hi ^ lo
}

// Hash returns a hash of v. Values that are [Value.Equal] have the same hash. It
// differs between processes.
func (v Value) Hash() uint64 {
	k := uint64(v.kind)
	switch v.kind {
	case KindString:
		return hashString(v.Str())
	case KindFloat, KindDouble:
		if v.isNaN() {
			return mix(k, 0)
		}
	case KindBigInt:
		return mix(k, maphash.Bytes(seed, v.BigInt().Bytes()))
	case KindBigDecimal:
		u, s := v.BigDecimal()
		return mix(k^uint64(uint32(s))<<8, maphash.Bytes(seed, u.Bytes()))
	case KindUUID:
		u := v.UUID()
		return mix(k, maphash.Bytes(seed, u[:]))
	case KindList:
		h := k
		for _, e := range v.Elems() {
			h = mix(h, e.Hash())
		}
		return h
	case KindSet:
		return unorderedHash(k, v.Elems(), Value.Hash)
	case KindMap:
		return unorderedHash(k, v.Entries(), Entry.Hash)
	case KindEntry:
		return v.Entry().Hash()
	case KindOpaque:
		return k
	}
	return mix(k^uint64(v.aux)<<8^uint64(uint16(v.off))<<40, v.num)
}

// Hash returns a hash of the entry.
func (e Entry) Hash() uint64 { return mix(e.Key.Hash(), e.Value.Hash()) }

func unorderedHash[T any](k uint64, s []T, hash func(T) uint64) uint64 {
	var h uint64
	for _, x := range s {
		h += hash(x)
	}
	return mix(k, h)
}

// idHash returns a hash of an id. Numbers of the same value have the same hash, whatever their
// kinds: 1, 1L, 1.0 and 1.00M are one id, and so are 0.5 and 0.50M.
func idHash(v Value) uint64 {
	if n, ok := v.wholeNumber(); ok {
		return mix(uint64(KindLong), uint64(n))
	}
	if v.IsNumber() {
		// The hash uses the nearest float, because the float 0.1 equals 0.1M and a double that is not
		// the double 0.1. It drops the last two bits, because rounding 7.038531e-26M to a double and
		// then to a float returns the float after 7.038531e-26f. No other float has a neighbour like this.
		return mix(uint64(KindFloat), uint64(math.Float32bits(float32(v.nearestDouble()))>>2))
	}
	return v.Hash()
}
