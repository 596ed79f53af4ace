package syntax

import (
	"math"
	"math/big"
	"reflect"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sameTree compares trees without their positions.
var sameTree = cmp.Options{
	cmp.FilterPath(func(p cmp.Path) bool { return p.Last().Type() == spanType }, cmp.Ignore()),
	cmp.Comparer(func(a, b *big.Int) bool { return a.Cmp(b) == 0 }),
	cmp.Comparer(func(a, b time.Time) bool {
		_, x := a.Zone()
		_, y := b.Zone()
		return a.Equal(b) && x == y
	}),
	cmp.Comparer(func(a, b float64) bool {
		return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
	}),
	cmp.Comparer(func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }),
}

var spanType = reflect.TypeFor[Span]()
