// Package gctune sets how much memory the servers take to save processor time.
package gctune

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// How much a heap grows before it is collected. Go lets it grow by as much as is in
// use, which is little: most of what a server allocates is a page of a cloud's
// answer or a request, and gone a moment later. Collecting it less often takes more
// than a tenth off the processor time of reading accounts (see bench/collect).
const (
	growth = 200      // per cent of what is in use, or
	least  = 96 << 20 // bytes if that is more, but not more than
	most   = 400      // per cent: much may soon be in use of a heap that was small
)

// Tune sets the growth of the heap, unless the environment does (GOGC).
func Tune() {
	if os.Getenv("GOGC") == "" {
		adjust()
	}
}

// adjust sets the growth for what is in use now, and does it again after the next
// collection.
func adjust() {
	live := max(1, read("/gc/heap/live:bytes"))
	percent := int(min(most, max(growth, least*100/live)))
	if now := int(read("/gc/gogc:percent")); percent > now+now/10 || percent < now-now/10 {
		debug.SetGCPercent(percent) // it stops the world for a moment
	}
	adjustLimit()
	type sentinel struct{ _ *byte } // a pointer keeps it from sharing its memory with other small objects
	runtime.AddCleanup(new(sentinel), func(struct{}) { adjust() }, struct{}{})
}

// read returns a measure of the runtime.
func read(name string) uint64 {
	return readAll(name)[0]
}

// readAll returns measures of the runtime.
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
