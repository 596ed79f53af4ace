package value

import "math"

// Random is the generator of java.util.Random, a 48-bit linear congruential generator:
// queries with a seed make the same choices as in TinkerPop.
type Random struct{ state int64 }

const (
	randomMultiplier = 0x5DEECE66D
	randomMask       = 1<<48 - 1
)

// NewRandom returns a generator with the seed.
func NewRandom(seed int64) *Random {
	return &Random{state: (seed ^ randomMultiplier) & randomMask}
}

func (r *Random) next(bits uint) int32 {
	r.state = (r.state*randomMultiplier + 0xB) & randomMask
	return int32(r.state >> (48 - bits))
}

// Int64 returns 64 random bits.
func (r *Random) Int64() int64 {
	hi := int64(r.next(32))
	return hi<<32 + int64(r.next(32))
}

// Intn returns a number in [0, n).
func (r *Random) Intn(n int32) int32 {
	if n&(-n) == n { // a power of two
		return int32((int64(n) * int64(r.next(31))) >> 31)
	}
	for {
		bits := r.next(31)
		val := bits % n
		if bits-val+(n-1) >= 0 { // negative by overflow if bits is beyond the last complete multiple of n
			return val
		}
	}
}

// Float64 returns a number in [0, 1).
func (r *Random) Float64() float64 {
	hi := int64(r.next(26))
	return float64(hi<<27+int64(r.next(27))) * math.Pow(2, -53)
}

// Shuffle permutes n elements randomly.
func (r *Random) Shuffle(n int, swap func(i, j int)) {
	for i := n; i > 1; i-- {
		swap(i-1, int(r.Intn(int32(i))))
	}
}
