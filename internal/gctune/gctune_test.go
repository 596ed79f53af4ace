package gctune

import (
	"runtime"
	"testing"
)

// TestHeapGrowthDependsOnTheLiveHeap changes the live heap and checks the
// resulting growth.
func TestHeapGrowthDependsOnTheLiveHeap(t *testing.T) {
	adjust()
	until(t, "small live heap", func(percent uint64) bool { return percent == maxPercent })
	large := make([]byte, minGrowth)
	until(t, "large live heap", func(percent uint64) bool { return percent == growthPercent })
	runtime.KeepAlive(large)
	until(t, "small live heap again", func(percent uint64) bool { return percent == maxPercent })
}

// until collects garbage until the growth has the wanted value.
func until(t *testing.T, what string, condition func(percent uint64) bool) {
	t.Helper()
	for range 1000 {
		runtime.GC()
		runtime.Gosched() // lets the finalizer run
		if condition(read("/gc/gogc:percent")) {
			return
		}
	}
	t.Errorf("%s, and the heap grows by %d per cent", what, read("/gc/gogc:percent"))
}
