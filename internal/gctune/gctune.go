// Package gctune tunes the garbage collector: it trades memory for processor
// time.
package gctune

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Heap growth between collections. By default Go lets the heap grow by 100 per
// cent, which is little for a server: most of its allocations are short-lived,
// such as requests and pages of a cloud's responses. Collecting less often saves
// more than a tenth of the processor time of reading accounts (see
// bench/collect).
const (
	minGrowth     = 56 << 20 // bytes by which the heap may always grow, within maxPercent
	smallHeap     = 24 << 20 // bytes; a larger live heap may grow by growthPercent of what exceeds this
	growthPercent = 200
	maxPercent    = 250 // maximum growth in per cent of the live heap: the percentage for a small heap would be huge, and still apply when it has grown
)

// Tune sets the growth of the heap, unless GOGC is set.
func Tune() {
	if os.Getenv("GOGC") == "" {
		adjust()
	}
}

// adjust sets the growth for the current live heap, and again after the next
// collection.
func adjust() {
	live := max(1, read("/gc/heap/live:bytes"))
	percent := int(percentFor(live))
	if now := int(read("/gc/gogc:percent")); percent > now+now/10 || percent < now-now/10 {
		debug.SetGCPercent(percent) // stops the world briefly
	}
	adjustLimit()
	// The sentinel is garbage at once: its cleanup runs after the next collection.
	type sentinel struct{ _ *byte } // the pointer keeps it out of the tiny allocator, which would delay its cleanup
	runtime.AddCleanup(new(sentinel), func(struct{}) { adjust() }, struct{}{})
}

// percentFor returns the growth for a live heap, in per cent of it.
func percentFor(live uint64) uint64 {
	growth := max(minGrowth, (max(live, smallHeap)-smallHeap)*growthPercent/100)
	return min(maxPercent, growth*100/live)
}

// read returns a runtime metric.
func read(name string) uint64 {
	return readAll(name)[0]
}

// readAll returns runtime metrics.
func readAll(names ...string) []uint64 {
	samples := make([]metrics.Sample, len(names))
	for i, name := range names {
		samples[i].Name = name
	}
	metrics.Read(samples)
	values := make([]uint64, len(names))
	for i, s := range samples {
		values[i] = s.Value.Uint64()
	}
	return values
}
