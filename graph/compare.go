package graph

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// Equal reports whether v and w are the same value of the same kind: int 1
// differs from long 1, and NaN equals NaN. Map keys, sets and deduplication use
// this equality. Sets and maps are equal regardless of order. Elements are equal
// when their handles are. Opaque values are equal when == says so; types that do
// not support == are never equal.
func (v Value) Equal(w Value) bool {
	if v.kind != w.kind {
		return false
	}
	switch v.kind {
	case KindString:
		return v.num == w.num && (v.ptr == w.ptr || v.Str() == w.Str())
	case KindFloat, KindDouble:
		return v.num == w.num || v.isNaN() && w.isNaN()
	case KindBigInt:
		return v.BigInt().Cmp(w.BigInt()) == 0
	case KindBigDecimal:
		vu, vs := v.BigDecimal()
		wu, ws := w.BigDecimal()
		return vs == ws && vu.Cmp(wu) == 0
	case KindUUID:
		return v.UUID() == w.UUID()
	case KindList:
		return slices.EqualFunc(v.Elems(), w.Elems(), Value.Equal)
	case KindSet:
		return sameMembers(v.Elems(), w.Elems(), Value.Equal, Value.Hash)
	case KindMap:
		return sameMembers(v.Entries(), w.Entries(), Entry.Equal, Entry.Hash)
	case KindEntry:
		return v.Entry().Equal(w.Entry())
	case KindOpaque:
		return opaqueEqual(v.Opaque(), w.Opaque())
	}
	return v.num == w.num && v.aux == w.aux && v.off == w.off
}

// Equal reports whether key and value are equal in the sense of [Value.Equal].
func (e Entry) Equal(f Entry) bool { return e.Key.Equal(f.Key) && e.Value.Equal(f.Value) }

func opaqueEqual(a, b any) (equal bool) {
	defer func() { _ = recover() }() // a type that does not support == equals nothing
	return a == b
}

// sameMembers reports whether two collections without duplicates have the same
// members in any order.
func sameMembers[T any](a, b []T, equal func(T, T) bool, hash func(T) uint64) bool {
	if len(a) != len(b) {
		return false
	}
	if len(a) <= 8 {
		for _, x := range a {
			if !slices.ContainsFunc(b, func(y T) bool { return equal(x, y) }) {
				return false
			}
		}
		return true
	}
	indexes := make(map[uint64][]int, len(b))
	for i, y := range b {
		h := hash(y)
		indexes[h] = append(indexes[h], i)
	}
	for _, x := range a {
		if !slices.ContainsFunc(indexes[hash(x)], func(i int) bool { return equal(x, b[i]) }) {
			return false
		}
	}
	return true
}

// Eq reports whether a and b are equal in the sense of Gremlin's eq: numbers are
// compared by value regardless of width, NaN equals nothing, and values of
// different types are not equal.
func Eq(a, b Value) bool {
	if a.kind == KindString && b.kind == KindString {
		return a.num == b.num && (a.ptr == b.ptr || a.Str() == b.Str())
	}
	if rank(a.kind) != rank(b.kind) || a.isNaN() || b.isNaN() {
		return false
	}
	switch a.kind {
	case KindList:
		return slices.EqualFunc(a.Elems(), b.Elems(), Eq)
	case KindSet:
		return slices.EqualFunc(sorted(a.Elems(), Order), sorted(b.Elems(), Order), Eq)
	case KindMap:
		return slices.EqualFunc(sorted(a.Entries(), orderEntries), sorted(b.Entries(), orderEntries), eqEntries)
	case KindEntry:
		return eqEntries(a.Entry(), b.Entry())
	case KindOpaque:
		return a.Equal(b)
	}
	return Order(a, b) == 0
}

func eqEntries(a, b Entry) bool { return Eq(a.Key, b.Key) && Eq(a.Value, b.Value) }

// Compare orders two values of one type. It returns false when they have no
// order: different types, NaN, or collections that contain such values or differ
// in length. It is the order of Gremlin's lt, lte, gt and gte.
func Compare(a, b Value) (int, bool) {
	if !isOrderable(a, b) {
		return 0, false
	}
	return Order(a, b), true
}

func isOrderable(a, b Value) bool {
	if rank(a.kind) != rank(b.kind) || a.isNaN() || b.isNaN() {
		return false
	}
	entries := func(x, y Entry) bool { return isOrderable(x.Key, y.Key) && isOrderable(x.Value, y.Value) }
	switch a.kind {
	case KindList:
		return slices.EqualFunc(a.Elems(), b.Elems(), isOrderable)
	case KindSet:
		return slices.EqualFunc(sorted(a.Elems(), Order), sorted(b.Elems(), Order), isOrderable)
	case KindMap:
		return slices.EqualFunc(sorted(a.Entries(), orderEntries), sorted(b.Entries(), orderEntries), entries)
	case KindEntry:
		return entries(a.Entry(), b.Entry())
	case KindOpaque:
		return a.Equal(b)
	}
	return true
}

// Order is a total order of all values, the order of Gremlin's order step: null,
// booleans, numbers, dates, strings, UUIDs, elements, sets, lists, maps.
// Elements are ordered by handle, and opaque values are all equal; callers that
// need another order for these must compare them first.
func Order(a, b Value) int {
	if ra, rb := rank(a.kind), rank(b.kind); ra != rb {
		return cmp.Compare(ra, rb)
	}
	switch a.kind {
	case KindByte, KindShort, KindInt, KindLong, KindBigInt, KindFloat, KindDouble, KindBigDecimal:
		return compareNumbers(a, b)
	case KindDateTime:
		return cmp.Or(cmp.Compare(int64(a.num), int64(b.num)), cmp.Compare(a.aux, b.aux), cmp.Compare(a.off, b.off))
	case KindString:
		return strings.Compare(a.Str(), b.Str())
	case KindUUID:
		return orderUUIDs(a.UUID(), b.UUID())
	case KindList:
		return slices.CompareFunc(a.Elems(), b.Elems(), Order)
	case KindSet:
		return slices.CompareFunc(sorted(a.Elems(), Order), sorted(b.Elems(), Order), Order)
	case KindMap:
		return slices.CompareFunc(sorted(a.Entries(), orderEntries), sorted(b.Entries(), orderEntries), orderEntries)
	case KindEntry:
		return orderEntries(a.Entry(), b.Entry())
	case KindOpaque:
		return 0
	}
	return cmp.Or(cmp.Compare(a.num, b.num), cmp.Compare(a.aux, b.aux), cmp.Compare(a.off, b.off))
}

func orderEntries(a, b Entry) int { return cmp.Or(Order(a.Key, b.Key), Order(a.Value, b.Value)) }

// orderUUIDs orders UUIDs like Java: as two signed halves.
func orderUUIDs(a, b [16]byte) int {
	a[0], b[0], a[8], b[8] = a[0]^0x80, b[0]^0x80, a[8]^0x80, b[8]^0x80
	return bytes.Compare(a[:], b[:])
}

func sorted[T any](s []T, order func(T, T) int) []T {
	s = slices.Clone(s)
	slices.SortFunc(s, order)
	return s
}

// rank maps all numeric kinds to one rank. The other kinds already are in Gremlin's order.
func rank(k Kind) Kind {
	if k > KindByte && k <= KindBigDecimal {
		return KindByte
	}
	return k
}
