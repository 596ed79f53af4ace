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
	large := make([]byte, 80<<20)
	until(t, "large live heap", func(percent uint64) bool { return percent <= growthPercent })
	runtime.KeepAlive(large)
	until(t, "small live heap again", func(percent uint64) bool { return percent == maxPercent })
}

func TestGrowthOfLiveHeaps(t *testing.T) {
	for _, tt := range []struct{ live, goal uint64 }{ // in megabytes
		{1, 3}, {14, 49}, {30, 86}, {52, 108}, {100, 252}, {1024, 3024},
	} {
		if goal := tt.live + tt.live*percentFor(tt.live<<20)/100; goal > tt.goal || goal < tt.goal-tt.goal/50 {
			t.Errorf("a live heap of %d MB may grow to %d MB, want %d MB", tt.live, goal, tt.goal)
		}
	}
}

// until collects garbage until the growth has the wanted value.
func until(t *testing.T, what string, condition func(percent uint64) bool) {
	t.Helper()
	for range 1000 {
		runtime.GC()
		runtime.Gosched() // lets the cleanup run
		if condition(read("/gc/gogc:percent")) {
			return
		}
	}
	t.Errorf("%s, and the heap grows by %d per cent", what, read("/gc/gogc:percent"))
}
