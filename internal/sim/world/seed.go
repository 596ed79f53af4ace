package world

import (
	"fmt"
	"strconv"
	"strings"
)

// A Seed is the source of all random values. Seeds are derived from each other
// by name, so that a value depends only on its names.
type Seed uint64

// With derives the seed for a name, with the hash FNV-1a.
func (s Seed) With(name string) Seed {
	h := uint64(s) ^ 14695981039346656037
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	return Seed(mix(h))
}

// Nth derives the i-th seed.
func (s Seed) Nth(i int) Seed { return Seed(mix(uint64(s) + uint64(i)*0x9e3779b97f4a7c15)) }

// Intn returns a number from 0 to n-1, or 0 if n is 0.
func (s Seed) Intn(n int) int {
	if n <= 0 {
		return 0
	}
	return int(mix(uint64(s)) % uint64(n))
}

// Share returns true for the given fraction of all seeds.
func (s Seed) Share(share float64) bool {
	return float64(mix(uint64(s))>>11)/(1<<53) < share
}

// PickOne returns one of the values.
func PickOne[T any](s Seed, values ...T) T { return values[s.Intn(len(values))] }

// Hex returns n hexadecimal digits.
func (s Seed) Hex(n int) string {
	var b strings.Builder
	for b.Len() < n {
		s = s.Nth(1)
		fmt.Fprintf(&b, "%016x", uint64(s))
	}
	return b.String()[:n]
}

// Numbered returns n hexadecimal digits, at least 9, that look random and
// encode the number i.
func (s Seed) Numbered(i, n int) string {
	return fmt.Sprintf("%08x", (uint32(i)^uint32(s))*odd) + s.Nth(i).Hex(n-8)
}

// Number returns the number encoded by Numbered.
func (s Seed) Number(digits string) (i int, ok bool) {
	if len(digits) < 9 {
		return 0, false
	}
	x, err := strconv.ParseUint(digits[:8], 16, 32)
	if err != nil {
		return 0, false
	}
	i = int(uint32(x)*inverse ^ uint32(s))
	return i, s.Numbered(i, len(digits)) == digits
}

// UUID returns a UUID that encodes the number i.
func (s Seed) UUID(i int) string {
	d := s.Numbered(i, 32)
	return d[:8] + "-" + d[8:12] + "-4" + d[13:16] + "-a" + d[17:20] + "-" + d[20:]
}

// UUIDNumber returns the number encoded by UUID.
func (s Seed) UUIDNumber(uuid string) (i int, ok bool) {
	if len(uuid) != 36 {
		return 0, false
	}
	x, err := strconv.ParseUint(uuid[:8], 16, 32)
	if err != nil {
		return 0, false
	}
	i = int(uint32(x)*inverse ^ uint32(s))
	return i, s.UUID(i) == uuid
}

// odd scrambles the numbers in names. Because it is odd, it has an inverse modulo 2^32.
const odd uint32 = 0x9e3779b1

// inverse is the multiplicative inverse of odd, by Newton's method: each step doubles the
// number of correct bits, of which there are three at first.
var inverse = func() uint32 {
	v := odd
	for range 5 {
		v *= 2 - odd*v
	}
	return v
}()

// mix distributes the bits of x over the result. It is the finalizer of SplitMix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
